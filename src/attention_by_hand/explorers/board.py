"""Explorer: controls beside the numbers they change. Stored, it is a still picture and words."""

import contextlib
import html

import ipywidgets as widgets
from IPython.display import display

from attention_by_hand.figures import panels

# Done by the page itself, at first and whenever something in the explorer changes. JupyterLab takes
# arrow keys and letters for its own commands, and must leave them to the controls. A slider's
# handle has no name, and says an index where its value is a choice; both stand beside it as text,
# so a screen reader can be told.
ON_THE_PAGE = """
const explorer = this.closest('.widget-vbox');
const tell = () => {
  for (const control of explorer.querySelectorAll('select, input, button, .noUi-handle')) {
    control.setAttribute('data-lm-suppress-shortcuts', 'true');
  }
  for (const slider of explorer.querySelectorAll('.widget-slider')) {
    const text = (part) => slider.querySelector(part).textContent;
    const handle = slider.querySelector('.noUi-handle');
    handle.setAttribute('aria-label', text('.widget-label'));
    handle.setAttribute('aria-valuetext', text('.widget-readout'));
  }
};
new MutationObserver(tell).observe(explorer, {childList: true, subtree: true});
tell();"""
STYLE = f"""<style onload="{ON_THE_PAGE}">
.abh-panels {{display: flex; flex-wrap: wrap; align-items: flex-start; gap: 4px 16px;
  overflow-x: auto; padding: 2px}}
.abh-panels table {{border-collapse: collapse; font-variant-numeric: tabular-nums}}
.abh-panels caption {{text-align: left; font-weight: 600; padding: 2px 0; color: inherit}}
.abh-panels th {{font-weight: 400; padding: 2px 6px; text-align: right}}
.abh-panels thead th {{text-align: center}}
.abh-panels td {{min-width: 50px; padding: 3px 4px; text-align: center}}
.abh-says {{min-height: 4.5em; margin-bottom: 6px}}
</style>"""


def view(widget):
    """Return what display() needs to show a widget live, without words."""
    shown = {"model_id": widget.model_id, "version_major": 2, "version_minor": 0}
    return {"application/vnd.jupyter.widget-view+json": shown}


class Explorer:
    """Controls, and a board of tables that is drawn anew from their values.

    title: one line. controls: name -> ipywidgets control. tables: a function of the controls'
    values, by name, that returns a list of Table. says: a function of these tables that returns
    one sentence. arrow: what stands in the still before the name of each table but the first; ""
    where they do not follow from each other. error: the last exception of a redraw, or None. The
    first one is raised.
    """

    def __init__(self, title, controls, tables, says, arrow="→ "):
        self.title, self.controls, self._tables, self._says = title, controls, tables, says
        self._arrow = arrow
        self.error, self._held = None, False
        self.board = widgets.HTML()
        for control in controls.values():
            control.observe(self.redraw, names="value")
        sliders = [c for c in controls.values() if isinstance(c, widgets.FloatSlider)]
        choices = [c for c in controls.values() if c not in sliders]
        for slider in sliders:
            slider.style.description_width = "100px"  # the longest name is not cut
        rows = [
            widgets.HBox(row, layout=widgets.Layout(flex_flow="row wrap"))
            for row in (choices, sliders)
            if row
        ]
        # Apart from the board: a new style would make the browser lay out the whole page again.
        style = widgets.HTML(STYLE, layout=widgets.Layout(display="none"))
        self.widget = widgets.VBox([style, *rows, self.board])
        self.redraw()
        if self.error:
            raise self.error

    def tables(self):
        """Return the Tables for the controls as they stand."""
        return self._tables(**{name: control.value for name, control in self.controls.items()})

    def picture(self):
        """Return the present state as a Picture."""
        tables = self.tables()
        return panels(self.title, tables, f"{self.title}. {self._says(tables)}", self._arrow)

    @contextlib.contextmanager
    def held(self):
        """Draw nothing meanwhile: for a control that sets others and is then drawn with them."""
        self._held = True
        try:
            yield
        finally:
            self._held = False

    def redraw(self, _change=None):
        """Compute and show the tables again. A failure shows one sentence and is kept in error."""
        if self._held:
            return
        try:
            tables = self.tables()
            boards = "".join(table.html(colored=True) for table in tables)
            says = html.escape(self._says(tables))
            self.board.value = (
                f'<div class="abh-says" aria-live="polite">{says}</div>'
                f'<div class="abh-panels">{boards}</div>'
            )
            self.error = None
        except Exception as error:
            self.error = error
            self.board.value = (
                f"<p>This explorer could not be drawn: {html.escape(str(error))} "
                "Run the cell again to start afresh.</p>"
            )

    def _ipython_display_(self):
        still, details = self.picture().bundles()
        # Live, the board holds the numbers itself, so an empty view takes the place of the details.
        for (data, metadata), live in ((still, self.widget), (details, widgets.HTML())):
            display({**data, **view(live)}, metadata=metadata, raw=True)
