"""The appendix of a study: a page with every setting of a method on every dataset."""

import html
from collections.abc import Mapping
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

# Heading and format by column.
_Columns = Mapping[str, tuple[str, str]]
_AS_IT_IS = "{}"
_SCORE = {"validation": ("validation score", "{:.4f}")}
_SCORES = {**_SCORE, "pll": ("test PLL", "{:.4f}"), "cmll": ("test CMLL", "{:.4f}")}
_SIZES = {"n_features": ("features kept", "{:,.0f}"), "mean_length": ("mean length", "{:.2f}")}
# Columns of a trace that the page shows where a method records them.
_POINTS = {
    **_SCORE,
    "seconds_weights": ("seconds for weights", "{:.2f}"),
    "n_candidates": ("features", "{:,.0f}"),
    **_SIZES,
    "n_iterations": ("iterations", "{:.0f}"),
    "stopped_by": ("stopped by", _AS_IT_IS),
}
# Quantities of the scores that the page shows, of structure settings and of chosen models.
_SETTINGS = {
    **_SCORES,
    "n_features_generated": ("features", "{:,.0f}"),
    **_SIZES,
    "mean_seconds_weights": ("mean seconds for weights", "{:.3f}"),
}
_CHOSEN = {
    **_SCORES,
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

    Its tables are the chosen models, the variants of the method, and the grid points of the last
    stage of tuning; datasets without numbers and tables without rows are left out.
    """
    learner = load_learner(study.learner(method))
    title = f"{learner.title}: every setting"
    path = folder / "scores.csv"
    scores = read_scores(path) if path.exists() else pd.DataFrame(columns=list(COLUMNS))
    scores = scores[(scores["study"] == study.name) & (scores["method"] == method)]
    is_chosen = scores["variant"] == ""
    traces = []
    for dataset in study.datasets:
        trace = find_version(folder / "tuning", dataset, method, ".csv")
        if trace is not None:
            columns = ("stage", "validation", *learner.stages[-1].parameters)
            points = read_frame(trace, columns)
            traces.append(points[points["stage"] == points["stage"].max()].assign(dataset=dataset))
    parameters = {name: (name, _AS_IT_IS) for name in learner.stages[-1].parameters}
    setting = {"variant": ("setting", _AS_IT_IS)}
    body = [
        f"<h1>{html.escape(title)}</h1>",
        "<p>A click on a heading sorts a table. Where a dataset has several rows, the one with the "
        "best validation score is marked.</p>",
        '<p><input aria-label="filter" placeholder="filter, for example: nltcs best"></p>',
        *_table(
            "Chosen models",
            "The model that validation chose of all settings. Seconds are those of its setting "
            "alone; the search over all settings has a column of its own.",
            _show(_wide(scores[is_chosen], study), labels, _CHOSEN).drop(columns="best"),
        ),
        *_table(
            "Structure settings",
            "Each row has the weight setting that validation chose for this structure. The mean "
            "seconds for weights are over all its weight settings, during the search, where one "
            "setting starts at the weights of another.",
            _show(_wide(scores[~is_chosen], study), labels, {**setting, **_SETTINGS}),
        ),
        *_table(
            "Points of the grid",
            "Weight learning came to its optimum (gap, decrease, rounding), or it ended before "
            "(iterations, behind), because the score would not have come up to the best of another "
            "prior with the same features, had it gained as much as the objective might still "
            "fall.",
            _show(
                pd.concat([pd.DataFrame(), *traces], ignore_index=True),
                labels,
                {**parameters, **_POINTS},
            ),
        ),
    ]
    write_text(folder / "appendix" / f"{method}.html", html_page(title, "\n".join(body), _FILTER))


def _wide(scores: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return a row for each dataset and variant with a validation score, in the study's order."""
    table = scores.pivot_table("value", ["dataset", "variant"], "quantity", sort=False)
    table = table.reset_index().reindex(columns=["dataset", "variant", *table.columns])
    places = {dataset: place for place, dataset in enumerate(study.datasets)}
    if "validation" in table:
        table = table[table["dataset"].isin(places) & table["validation"].notna()]
    else:
        table = table.iloc[:0]
    return table.sort_values(
        "dataset", key=lambda names: names.map(places), kind="stable", ignore_index=True
    )


def _show(frame: pd.DataFrame, labels: Mapping[str, str], columns: _Columns) -> pd.DataFrame:
    """Return the texts of a table under those columns that it has."""
    if frame.empty:
        return pd.DataFrame(columns=["dataset", "best"])
    of_dataset = frame.groupby("dataset")["validation"]
    is_best = frame.index.isin(of_dataset.idxmax()) & (of_dataset.transform("size") > 1)
    shown = {"dataset": frame["dataset"].map(lambda name: labels.get(name, name))}
    for name, (head, form) in columns.items():
        if name in frame:
            shown[head] = frame[name].map(lambda value, form=form: _text(value, form))
    return pd.DataFrame({**shown, "best": is_best.map({True: "best", False: ""})})


def _text(value: Any, form: str) -> str:
    if pd.isna(value):
        return ""
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
