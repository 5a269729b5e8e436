"""The appendix of a study: a page with every setting of a method on every dataset."""

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from mnlearn.methods import load_learner
from mnlearn.runtime.files import write_text
from mnlearn_studies.records.files import find_version
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report.pages import html_page
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame
from mnlearn_studies.study.published import Source, numbers

# Columns of a trace that the page shows where a method records them: heading and format.
_POINTS = {
    "validation": ("validation score", "{:.4f}"),
    "seconds_weights": ("seconds for weights", "{:.2f}"),
    "n_candidates": ("features", "{:,.0f}"),
    "n_features": ("features kept", "{:,.0f}"),
    "mean_length": ("mean length", "{:.2f}"),
    "n_iterations": ("iterations", "{:.0f}"),
    "stopped_by": ("stopped by", "{}"),
}
# Quantities of the scores that the page shows, of structure settings and of chosen models.
_SETTINGS = {
    "validation": ("validation score", "{:.4f}"),
    "pll": ("test PLL", "{:.4f}"),
    "cmll": ("test CMLL", "{:.4f}"),
    "n_features_generated": ("features", "{:,.0f}"),
    "n_features": ("features kept", "{:,.0f}"),
    "mean_length": ("mean length", "{:.2f}"),
    "mean_seconds_weights": ("mean seconds for weights", "{:.3f}"),
}
_CHOSEN = {
    **{q: _SETTINGS[q] for q in ("validation", "pll", "cmll")},
    "seconds_structure": ("seconds for structure", "{:.3f}"),
    "seconds_features": ("seconds for features", "{:.3f}"),
    "seconds_weights": ("seconds for weights", "{:.3f}"),
    "seconds_learn": ("seconds in total", "{:.3f}"),
    "seconds_tuning": ("seconds of the search", "{:.3f}"),
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
    """Write all settings of a method on all datasets to `folder`/appendix/<method>.html.

    The page has three tables: the chosen models, the structure settings (the variants of the
    method), and the grid points of the last stage of tuning. In the last two tables the best row of
    each dataset by validation score is bold. Columns sort on a click. A field hides the rows in
    which no cell begins with one of the words that the reader types.

    Parameters
    ----------
    study : Study
        The study.
    method : str
        Label of the method in the study.
    labels : mapping of str to str
        Names of the datasets for readers.
    folder : Path
        Results of the study. scores.csv has the numbers of the first two tables, and
        tuning/<dataset>/<method>.csv those of the third. Datasets without numbers are left out, and
        so are tables without rows.
    """
    title = f"{load_learner(study.learner(method)).title}: every setting"
    body = [
        f"<h1>{html.escape(title)}</h1>",
        "<p>A click on a heading sorts a table. The best row of a dataset by validation score is "
        "bold.</p>",
        '<p><input size="60" placeholder="filter, for example: nltcs positive"></p>',
        *_score_tables(study, method, labels, folder / "scores.csv"),
        *_point_table(study, method, labels, folder / "tuning"),
    ]
    write_text(folder / "appendix" / f"{method}.html", html_page(title, "\n".join(body), _FILTER))


def _score_tables(study: Study, method: str, labels: Mapping[str, str], path: Path) -> list[str]:
    """Return the tables of the chosen models and of the structure settings."""
    if not path.exists():
        return []
    scores = read_scores(path)
    scores = scores[(scores["study"] == study.name) & (scores["method"] == method)]
    variants = [v for v in dict.fromkeys(scores["variant"]) if v]
    return [
        *_score_table(
            scores,
            study.datasets,
            labels,
            [""],
            columns=_CHOSEN,
            title="Chosen models",
            text="The model that validation chose of all settings. Seconds are those of its "
            "setting alone; the search over all settings has a column of its own.",
        ),
        *_score_table(
            scores,
            study.datasets,
            labels,
            variants,
            columns=_SETTINGS,
            title="Structure settings",
            text="Each row has the weight setting that validation chose for this structure. The "
            "mean seconds for weights are over all its weight settings, during the search, where "
            "one setting starts at the weights of another.",
        ),
    ]


def _score_table(
    scores: pd.DataFrame,
    datasets: Sequence[str],
    labels: Mapping[str, str],
    variants: Sequence[str],
    *,
    columns: Mapping[str, tuple[str, str]],
    title: str,
    text: str,
) -> list[str]:
    """Return the rows of variants on datasets, under the columns that have numbers."""
    method = str(scores["method"].iloc[0]) if len(scores) else ""
    empty = scores.iloc[:0]
    found = {
        (quantity, variant): numbers(scores, empty, Source(method, quantity, variant))
        for quantity in columns
        for variant in variants
    }
    shown = [q for q in columns if any(found[q, v] for v in variants)]
    rows = []
    for dataset in datasets:
        validation = {
            v: found["validation", v][dataset].value
            for v in variants
            if dataset in found["validation", v]
        }
        best = max(validation, key=lambda v: validation[v]) if len(validation) > 1 else None
        for variant in validation:
            cells = [labels.get(dataset, dataset), *([variant] if variant else [])]
            for quantity in shown:
                number = found[quantity, variant].get(dataset)
                cells.append("" if number is None else columns[quantity][1].format(number.value))
            rows.append(_row(cells, "td", bold=variant == best))
    heads = ["dataset", *(["setting"] if any(variants) else []), *(columns[q][0] for q in shown)]
    return _table(title, text, heads, rows)


def _point_table(study: Study, method: str, labels: Mapping[str, str], tuning: Path) -> list[str]:
    """Return the table of every grid point of the last stage of tuning."""
    parameters = load_learner(study.learner(method)).stages[-1].parameters
    traces = {}
    for dataset in study.datasets:
        path = find_version(tuning, dataset, method, ".csv")
        if path is not None:
            trace = read_frame(path, ("stage", "validation", *parameters))
            traces[dataset] = trace[trace["stage"] == trace["stage"].max()]
    present = {name for trace in traces.values() for name in trace.columns}
    shown = {name: entry for name, entry in _POINTS.items() if name in present}
    heads = ["dataset", *parameters, *(head for head, _ in shown.values())]
    rows = []
    for dataset, trace in traces.items():
        best = trace["validation"].idxmax()
        for index, point in trace.iterrows():
            cells = [labels.get(dataset, dataset)]
            cells += [_text(point[name]) for name in parameters]
            cells += [
                form.format(point[name]) if name in point else ""
                for name, (_, form) in shown.items()
            ]
            rows.append(_row(cells, "td", bold=index == best))
    text = (
        "Weight learning was stopped by convergence (gap, decrease), by the number of iterations, "
        "or by the judge: on validation data the weights got worse, or would not have come up to "
        "the best of another prior with the same features."
    )
    return _table("Points of the grid", text, heads, rows)


def _table(title: str, text: str, heads: list[str], rows: list[str]) -> list[str]:
    """Return a heading, a paragraph and a table; nothing if the table has no row."""
    if not rows:
        return []
    return [
        f"<h2>{html.escape(title)}</h2>",
        f"<p>{html.escape(text)}</p>",
        f'<table class="numbers"><thead>{_row(heads, "th")}</thead><tbody>',
        *rows,
        "</tbody></table>",
    ]


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _row(cells: list[str], tag: str, bold: bool = False) -> str:
    style = ' style="font-weight: bold"' if bold else ""
    inside = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
    return f"<tr{style}>{inside}</tr>"
