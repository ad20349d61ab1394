"""A real JupyterLab in a real Chromium, for the tests and the bench to drive.

python tools/browser.py     see that there is a Chromium, or fetch the one playwright offers
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from course import LAB_SETTINGS
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
# JupyterLab renders only the cells near the window, unless told otherwise.
TEST_SETTINGS = {
    **LAB_SETTINGS,
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
IDLE = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
BUSY = ".jp-InputPrompt:text-is('[*]:')"
ERRORS = (
    ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error'], "
    ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
)
SECONDS = 60
MISSING = (
    "The browser tests need Chromium or Chrome, which was neither found nor to be had from "
    "playwright. Install one, for example `sudo apt install chromium`, then run this again."
)


def chromium():
    """The path of a Chromium or Chrome of this machine, or of the one playwright keeps, or None."""
    found = [path for path in map(shutil.which, NAMES) if path]
    found += [path for path in PLACES if os.path.exists(path)]
    if found:
        return found[0]
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


@contextlib.contextmanager
def server(folder, settings=TEST_SETTINGS, **environment):
    """Serve the notebooks of a folder in JupyterLab; gives the address, with {path} to fill in.

    settings: JupyterLab's. environment: variables for the server and its kernels.
    """
    with tempfile.TemporaryDirectory() as home:
        own = {
            "JUPYTER_CONFIG_DIR": f"{home}/config",
            "JUPYTER_RUNTIME_DIR": f"{home}/runtime",
            "JUPYTERLAB_SETTINGS_DIR": f"{home}/settings",
            "JUPYTERLAB_WORKSPACES_DIR": f"{home}/workspaces",
            "JUPYTER_PREFER_ENV_PATH": "1",
            **environment,
        }
        for name, values in settings.items():
            path = Path(home, "settings", f"{name.replace(':', '/')}.jupyterlab-settings")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(values))
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
        command += ["--ServerApp.port=0", "--ServerApp.ip=127.0.0.1", "--LabApp.news_url="]
        command += [f"--ServerApp.root_dir={folder}", "--KernelManager.transport_encryption=auto"]
        command += ["--LabApp.expose_app_in_browser=True"]  # for `turn_to`
        log = Path(home, "log")
        with log.open("w") as written:
            child = subprocess.Popen(command, env=os.environ | own, stdout=written, stderr=written)
        try:
            info = _when_up(child, Path(home, "runtime"), log)
            yield f"{info['url']}doc/tree/{{path}}?token={info['token']}&reset"
        finally:
            child.terminate()
            child.wait()


def _when_up(child, runtime, log):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and child.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            with contextlib.suppress(ValueError, urllib.error.URLError):
                info = json.loads(path.read_text())
                urllib.request.urlopen(f"{info['url']}api/status?token={info['token']}")
                return info
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")


@contextlib.contextmanager
def browser():
    """A headless Chromium."""
    path = chromium()
    if path is None:
        raise RuntimeError(MISSING)
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=path, args=OPTIONS)
        try:
            yield chrome
        finally:
            chrome.close()


def opened(chrome, address, path):
    """Open a notebook and wait until its kernel is ready; gives the page."""
    page = chrome.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(SECONDS * 1000)
    page.goto(address.format(path=path))
    ready(page)
    return page


def turn_to(page, path):
    """Close what the page shows and open another notebook: a third of the time of a new page."""
    page.evaluate(
        """async (path) => {
          const {commands, shell} = window.jupyterapp;
          for (const shown of [...shell.widgets('main')]) {
            await shown.sessionContext?.shutdown();  // a launcher has none
            shown.dispose();  // without asking whether to save
          }
          await commands.execute('docmanager:open', {path});
        }""",
        path,
    )
    ready(page)


def ready(page):
    """Wait for the kernel. Without one, JupyterLab answers Run All by asking which to start."""
    page.locator("#jp-main-statusbar").get_by_text(re.compile(r"\| Idle$")).wait_for()
    page.wait_for_selector(IDLE)


def run_all(page):
    """Run all cells and wait for the end."""
    start_all(page)
    wait_for_end(page)


def wait_for_end(page):
    """Wait until no cell is running."""
    page.wait_for_selector(BUSY, state="detached")
    page.wait_for_selector(IDLE)


def start_all(page):
    """Run all cells and wait until the first has begun."""
    page.evaluate(
        """() => {
          const prompts = () => [...document.querySelectorAll('.jp-InputPrompt')];
          const seen = new MutationObserver(() => {
            window.started ||= prompts().some((prompt) => prompt.textContent === '[*]:');
          });
          window.started = false;
          seen.observe(document.querySelector('.jp-Notebook'), {subtree: true, childList: true});
        }"""
    )
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:text-is('Run All Cells')")
    page.wait_for_function("window.started")


def save(page):
    """Save the notebook and wait until it is saved."""
    page.keyboard.press("Control+s")
    page.wait_for_selector("[data-status=idle]")
    page.wait_for_selector(".jp-mod-dirty", state="detached")


def end_kernels(address):
    """Shut down every kernel of the server."""
    url, _, token = address.partition("doc/tree/{path}?")
    with urllib.request.urlopen(f"{url}api/kernels?{token}") as answer:
        for kernel in json.load(answer):
            request = urllib.request.Request(
                f"{url}api/kernels/{kernel['id']}?{token}", method="DELETE"
            )
            urllib.request.urlopen(request).close()


def main():
    if chromium() is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"])
    return None if chromium() else f"==> {MISSING}"


if __name__ == "__main__":
    sys.exit(main())
