"""The study `lem` as it is, with a few small samples in place of its data."""

import numpy as np
import pytest

from made_study import make
from mnlearn.inference.query_groups import partitions
from mnlearn.runtime.files import write_json
from mnlearn_studies.datasets.embedded import load_embedded
from mnlearn_studies.records.gather import gather, read_scores
from mnlearn_studies.report import claims, tables
from mnlearn_studies.report.claims.verdicts import UNKNOWN
from mnlearn_studies.report.figures import draw
from mnlearn_studies.report.figures.canvas import NOTHING
from mnlearn_studies.report.figures.of_lem import SERIES, draw_learning_curves
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.definition import load_study
from mnlearn_studies.study.published import tidy_scores
from workflow_tree import ROOT

# The tests share what one run makes, which takes two minutes.
pytestmark = [pytest.mark.nightly, pytest.mark.long, pytest.mark.xdist_group("lem study")]
STUDY = load_study(ROOT / "workflow/studies/lem.yaml")
# Every dataset at the largest size; the table of thresholds is of 1,000 examples.
SAMPLES = [
    *(f"{base}-n10000-f0" for base in STUDY.bases),
    *(f"{base}-n1000-f0" for base in ("msnbc", "adult")),
    "msnbc-n1000-f1",
]
LABELS = {d: d.capitalize() for d in (*STUDY.bases, *STUDY.content["unavailable"])}
N_EXAMPLES = 80


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """The scores of all methods on the samples, made by the steps of the workflow."""
    folder = tmp_path_factory.mktemp("lem")
    splits = dict(zip(("train", "valid", "test"), load_embedded("triples", 7), strict=True))
    for name, data in splits.items():
        data.take(np.arange(N_EXAMPLES)).save(folder / f"{name}.npz")
    write_json(folder / "groups.json", partitions(7, "d", splits["test"].n_vars, 4, n=1))
    paths = {"cells": [], "likelihoods": [], "times": []}
    for dataset in SAMPLES:
        for method in STUDY.methods_on(dataset):
            make_records(folder, dataset, method, paths)
    gather(STUDY, paths).to_csv(folder / "scores.csv", index=False)
    return read_scores(folder / "scores.csv")


def make_records(folder, dataset, method, paths):
    """Learn, score and time one cell; add its records to the lists of paths."""
    place, cell = folder / dataset / method, folder / "cells" / dataset / f"{method}.json"
    splits = {split: str(folder / f"{split}.npz") for split in ("train", "valid", "test")}
    tuning, compared = str(place / "tuning.json"), STUDY.content["likelihoods"]

    def write(kind, out, recipe, **inputs):
        inputs = {**splits, **inputs}
        make(kind, out, recipe, method=method, study="lem", dataset=dataset, inputs=inputs, seed=7)
        if kind in paths:
            paths[kind].append(out)

    grid = {"grid": STUDY.grid(method, dataset), "criterion": {}}
    write("models", tuning, {"learner": STUDY.learner(method), **grid})
    scored = {"inference": STUDY.inference(dataset), "cmll_of": STUDY.cmll_of(method, dataset)}
    write("cells", cell, scored, models=tuning, groups=str(folder / "groups.json"))
    is_timed = STUDY.is_timed(dataset)
    if method in (*compared["methods"], *(compared["timed"] if is_timed else [])):
        settings = {**compared, "annealing": {"n_chains": 10, "n_steps": 10}}
        recipe = {"settings": settings, "seed": 7}
        write("likelihoods", place / "likelihoods.json", recipe, models=tuning)
    if method in STUDY.content["timed"] and is_timed:
        write("times", place / "time.json", {"searches": {}}, cells=str(cell))


@pytest.mark.parametrize("product", STUDY.content["tables"], ids=lambda product: product["name"])
def test_every_column_of_every_table_has_numbers(product, scores, published):
    table = tables.make_table(Material.of(STUDY, scores, published, LABELS), product)
    assert table.body
    shown = [any(row.cells[k].text for row in table.body) for k in range(len(table.columns))]
    assert all(shown), [c for c, found in zip(table.columns, shown, strict=True) if not found]


@pytest.mark.parametrize("product", STUDY.content["figures"], ids=lambda product: product["name"])
def test_every_figure_is_drawn(product, scores, published, tmp_path):
    own = tidy_scores(scores)
    if product["kind"] == "growth":
        # All samples here have the same number of variables, and growth needs several.
        grows = own["quantity"] == product["series"][0]["x"]["quantity"]
        own.loc[grows, "value"] *= 1 + own["dataset"][grows].map(
            {d: k for k, d in enumerate(SAMPLES)}
        ).fillna(0.0)
    material = Material(STUDY, own, published, STUDY.labels(LABELS), tmp_path, {})
    texts = [text.get_text() for text in draw(material, product).axes[0].texts]
    assert NOTHING not in texts


def test_figure_2_has_every_series_and_says_what_is_not_available(scores, published, tmp_path):
    material = Material(STUDY, tidy_scores(scores), published, STUDY.labels(LABELS), tmp_path, {})
    figure = draw_learning_curves(material)
    heads = [text.get_text() for text in figure.legends[0].get_texts()]
    assert heads == [series.head for series in SERIES]
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:3] == ["(a) Alarm", "(b) Traffic", "(c) Temperature"]
    assert titles[3:6] == ["(d) Msnbc", "(e) Adult", "(f) Minutes; ours below"]


def test_claims_on_what_is_scored_have_a_verdict(scores, published):
    found = claims.evaluate(Material.of(STUDY, scores, published, {}))
    judged = {claim.id for claim in found if claim.outcome.verdict != UNKNOWN}
    assert judged >= {29, 30, 31, 32, 33, 34, 35, 38, 40, 41, 42, 44, 148, 151, 152, 153}
    unavailable = [claim for claim in found if claim.kind == "unavailable"]
    assert all(claim.outcome.reason.startswith("needs ") for claim in unavailable)
