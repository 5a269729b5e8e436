"""The appendix of a study: every point of a method's grid on every dataset, as a page."""

import html
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from mnlearn.files import write_text
from mnlearn.methods import load_method
from mnlearn.pages import page
from mnlearn.study import Study

# What a reader looks for, where a method records it: heading and format.
_SHOWN = {
    "validation": ("validation score", "{:.4f}"),
    "seconds_weights": ("seconds for weights", "{:.2f}"),
    "n_candidates": ("features", "{:,.0f}"),
    "n_features": ("features kept", "{:,.0f}"),
    "mean_length": ("mean length", "{:.2f}"),
    "n_iterations": ("iterations", "{:.0f}"),
    "stopped_by": ("stopped by", "{}"),
}

_FILTER = """
const input = document.querySelector('input');
input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(' ').filter(Boolean);
  document.querySelectorAll('tbody tr').forEach(row => {
    const cells = [...row.cells].map(cell => cell.textContent.toLowerCase());
    row.hidden = !words.every(word => cells.some(cell => cell.startsWith(word)));
  });
});
"""


def write_appendix(study: Study, method: str, labels: Mapping[str, str], folder: Path) -> None:
    """Write the last stage of tuning on all datasets to `folder`/appendix/<method>.html.

    The page has a row per point of the grid, the best of a dataset bold; columns sort on a
    click, and a field leaves the rows that have a cell beginning with each word typed. The
    numbers are those of the traces, `folder`/tuning/<dataset>/<method>.csv; datasets without one
    are left out.
    """
    parameters = load_method(study.learner(method)).stages[-1].parameters
    rows: list[str] = []
    heads: list[str] = []
    for dataset in study.datasets:
        path = folder / "tuning" / dataset / f"{method}.csv"
        if not path.exists():
            continue
        trace = pd.read_csv(path)
        trace = trace[trace["stage"] == trace["stage"].max()]
        shown = {name: entry for name, entry in _SHOWN.items() if name in trace.columns}
        heads = ["dataset", *parameters, *(head for head, _ in shown.values())]
        best = trace["validation"].idxmax()
        for index, point in trace.iterrows():
            cells = [labels.get(dataset, dataset)]
            cells += [_text(point[name]) for name in parameters]
            cells += [form.format(point[name]) for name, (_, form) in shown.items()]
            rows.append(_row(cells, "td", bold=index == best))
    title = f"{load_method(study.learner(method)).title}: every setting"
    body = [
        f"<h1>{html.escape(title)}</h1>",
        "<p>Sort by a click on a heading. Best by validation score: bold. Learning of weights was "
        "stopped by convergence (gap, decrease), by the number of iterations, or by the judge: on "
        "validation data the weights got worse, or would not have come up to the best of another "
        "prior with the same features.</p>",
        '<p><input size="60" placeholder="filter, for example: nltcs positive"></p>',
        f'<table class="numbers"><thead>{_row(heads, "th")}</thead><tbody>',
        *rows,
        "</tbody></table>",
    ]
    write_text(folder / "appendix" / f"{method}.html", page(title, "\n".join(body), _FILTER))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _row(cells: list[str], tag: str, bold: bool = False) -> str:
    style = ' style="font-weight: bold"' if bold else ""
    inside = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{style}>{inside}</tr>"
