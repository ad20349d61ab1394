"""Write the course as web pages into build/html: `make html`. Reading them needs no Jupyter."""

import html
import re
import shutil
import sys
from pathlib import Path

import nbformat
import refresh
from jinja2 import DictLoader
from nbconvert import HTMLExporter

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS, PAGES = ROOT / "notebooks", ROOT / "build" / "html"

# JupyterLab's page, with the alt text that the notebook holds, and fit for a narrow screen.
STYLE = """<style>
body {max-width: 60rem; margin: 0 auto; padding: 0 1rem}
.jp-InputPrompt, .jp-OutputPrompt {display: none}
.jp-RenderedImage img {max-width: 100%; height: auto}
.jp-OutputArea-output, .MathJax_Display, .MathJax {overflow-x: auto; overflow-y: hidden}
.jp-InputArea, .jp-InputArea-editor, .highlight pre {overflow-x: auto}
.jp-RenderedHTMLCommon {overflow-wrap: break-word}
.jp-RenderedHTMLCommon table {display: block; overflow-x: auto}
</style>"""
TEMPLATE = """{%- extends 'lab/index.html.j2' -%}
{%- block html_head_css -%}STYLE{%- endblock -%}
{%- block data_png scoped -%}
{%- set about = output.metadata['image/png'] -%}
<div class="jp-RenderedImage jp-OutputArea-output">
<img src="data:image/png;base64,{{ output.data['image/png'] | escape_html }}"
 alt="{{ about.alt | escape_html }}" width="{{ about.width }}" height="{{ about.height }}">
</div>
{%- endblock -%}
""".replace("STYLE", STYLE)
INDEX = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Attention by hand</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{max-width: 40rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 sans-serif}}
</style></head><body><main><h1>Attention by hand</h1>
<p>A reading copy: to run and change the lessons, open the notebooks in Jupyter.</p>
{lists}</main></body></html>
"""


def title_and_promise(notebook):
    title, promise = notebook.cells[0].source.split("\n\n")[:2]
    return title.removeprefix("# "), promise


def page(notebook, title):
    """One notebook as HTML; its links lead to pages."""
    notebook.metadata["title"] = title
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"(\]\([^)\s]+)\.ipynb\b", r"\1.html", cell.source)
    loader = DictLoader({"page.html.j2": TEMPLATE})
    exporter = HTMLExporter(extra_loaders=[loader], template_file="page.html.j2")
    return exporter.from_notebook_node(notebook)[0]


def write_pages(folder):
    """Write every notebook as a page, and a list of them all, into an empty folder."""
    lists = {}
    for path in refresh.notebooks_in(NOTEBOOKS):
        notebook = nbformat.read(path, as_version=4)
        title, promise = title_and_promise(notebook)
        place = path.relative_to(NOTEBOOKS).with_suffix(".html")
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(page(notebook, title), encoding="utf-8")
        lists.setdefault(place.parent.name, []).append(
            f'<li><a href="{place.as_posix()}">{html.escape(title)}</a><br>'
            f"{html.escape(promise)}</li>"
        )
    lists = "\n".join(
        f"{f'<h2>{track}</h2>' if track else ''}<ol>{''.join(lessons)}</ol>"
        for track, lessons in lists.items()
    )
    (folder / "index.html").write_text(INDEX.format(lists=lists), encoding="utf-8")


def main():
    shutil.rmtree(PAGES, ignore_errors=True)
    write_pages(PAGES)
    print(f"Open {PAGES / 'index.html'} in a browser.")


if __name__ == "__main__":
    sys.exit(main())
