"""The appendix of a study: a page with every setting of a method on every dataset."""

import html
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from mnlearn.methods import load_learner
from mnlearn.runtime.files import write_text
from mnlearn_studies.records.files import find_version
from mnlearn_studies.records.gather import COLUMNS, read_scores
from mnlearn_studies.report.html import html_page, scrolling
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame

_Columns = Mapping[str, tuple[str, str]]
_AS_IT_IS = "{}"
# Columns of a trace that the page shows where a method records them: heading and format.
_POINTS = {
    "validation": ("validation score", "{:.4f}"),
    "seconds_weights": ("seconds for weights", "{:.2f}"),
    "n_candidates": ("features", "{:,.0f}"),
    "n_features": ("features kept", "{:,.0f}"),
    "mean_length": ("mean length", "{:.2f}"),
    "n_iterations": ("iterations", "{:.0f}"),
    "stopped_by": ("stopped by", _AS_IT_IS),
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
    method), and the grid points of the last stage of tuning. The last two tables name the best row
    of each dataset by validation score. Columns sort on a click. A field hides the rows in which no
    cell begins with one of the words that the reader types.

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
    scores = _read_scores(study, method, folder / "scores.csv")
    is_chosen = scores["variant"] == ""
    body = [
        f"<h1>{html.escape(title)}</h1>",
        "<p>A click on a heading sorts a table. Where a dataset has several rows, the one with the "
        "best validation score is marked.</p>",
        '<p><input aria-label="filter" placeholder="filter, for example: nltcs best"></p>',
        *_table(
            "Chosen models",
            "The model that validation chose of all settings. Seconds are those of its setting "
            "alone; the search over all settings has a column of its own.",
            _list_scores(scores[is_chosen], labels, _CHOSEN).drop(columns=["setting", "best"]),
        ),
        *_table(
            "Structure settings",
            "Each row has the weight setting that validation chose for this structure. The mean "
            "seconds for weights are over all its weight settings, during the search, where one "
            "setting starts at the weights of another.",
            _list_scores(scores[~is_chosen], labels, _SETTINGS),
        ),
        *_table(
            "Points of the grid",
            "Weight learning came to its optimum (gap, decrease, rounding), or it ended before "
            "(iterations, behind), because the score would not have come up to the best of another "
            "prior with the same features, had it gained as much as the objective might still "
            "fall.",
            _list_points(study, method, labels, folder / "tuning"),
        ),
    ]
    write_text(folder / "appendix" / f"{method}.html", html_page(title, "\n".join(body), _FILTER))


def _read_scores(study: Study, method: str, path: Path) -> pd.DataFrame:
    """Return the scores of a method, in the order of the study's datasets."""
    if not path.exists():
        return pd.DataFrame(columns=list(COLUMNS))
    scores = read_scores(path)
    scores = scores[(scores["study"] == study.name) & (scores["method"] == method)]
    places = {dataset: place for place, dataset in enumerate(study.datasets)}
    scores = scores[scores["dataset"].isin(places) & scores["value"].notna()]
    return scores.sort_values("dataset", key=lambda names: names.map(places), kind="stable")


def _list_scores(
    scores: pd.DataFrame, labels: Mapping[str, str], columns: _Columns
) -> pd.DataFrame:
    """Return a row for each setting of each dataset that has a validation score."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in scores.itertuples():
        cells = rows.setdefault((row.dataset, row.variant), {"setting": row.variant})
        cells[row.quantity] = row.value
    listed = [{"dataset": d, **cells} for (d, _), cells in rows.items() if "validation" in cells]
    return _show(pd.DataFrame(listed), labels, {"setting": ("setting", _AS_IT_IS), **columns})


def _list_points(
    study: Study, method: str, labels: Mapping[str, str], tuning: Path
) -> pd.DataFrame:
    """Return a row for each grid point of the last stage of tuning."""
    parameters = load_learner(study.learner(method)).stages[-1].parameters
    traces = [pd.DataFrame()]
    for dataset in study.datasets:
        path = find_version(tuning, dataset, method, ".csv")
        if path is not None:
            trace = read_frame(path, ("stage", "validation", *parameters))
            traces.append(trace[trace["stage"] == trace["stage"].max()].assign(dataset=dataset))
    columns = {name: (name, _AS_IT_IS) for name in parameters}
    return _show(pd.concat(traces, ignore_index=True), labels, {**columns, **_POINTS})


def _show(frame: pd.DataFrame, labels: Mapping[str, str], columns: _Columns) -> pd.DataFrame:
    """Return the texts of a table under those columns that it has.

    frame : with the columns `dataset` and `validation`, unless it is empty.
    """
    if frame.empty:
        return pd.DataFrame(columns=["dataset", "setting", "best"])
    of_dataset = frame.groupby("dataset")["validation"]
    is_best = frame.index.isin(of_dataset.idxmax()) & (of_dataset.transform("size") > 1)
    shown = {"dataset": frame["dataset"].map(lambda name: labels.get(name, name))}
    for name, (head, form) in columns.items():
        if name in frame:
            texts = frame[name].map(partial(_format, form), na_action="ignore")
            shown[head] = texts.fillna("")
    return pd.DataFrame({**shown, "best": is_best.map({True: "best", False: ""})})


def _format(form: str, value: object) -> str:
    return f"{value:g}" if form == _AS_IT_IS and isinstance(value, float) else form.format(value)


def _table(title: str, text: str, rows: pd.DataFrame) -> list[str]:
    """Return a heading, a paragraph and a table; nothing if the table has no row."""
    if rows.empty:
        return []
    # Longer texts would be cut.
    with pd.option_context("display.max_colwidth", None):
        lines = rows.to_html(index=False, border=0, classes="points").splitlines()
    table = "".join(map(str.strip, lines)).replace("<tr", "\n<tr")
    attributes = " ".join(f'{name}="{value}"' for name, value in scrolling(title).items())
    return [f"<h2>{title}</h2>", f"<p>{text}</p>", f"<div {attributes}>\n{table}\n</div>"]
