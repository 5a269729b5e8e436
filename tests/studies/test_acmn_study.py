"""The study `acmn`, with circuits of few edges, on samples of a known network."""

import numpy as np
import pandas as pd
import pytest

from made_study import make_all, make_plan
from mnlearn.data.examples import load_dataset
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.models.io.formats import load_model
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.records import learn
from mnlearn_studies.records.gather import gather, read_scores
from mnlearn_studies.records.record import Record
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.tables import make_table
from mnlearn_studies.study.definition import Study, load_study
from mnlearn_studies.study.published import load_published

GIVEN = load_study(registry_path().parent / "studies" / "acmn.yaml").content
LIMITS = [120, 250, 600]
GRIDS = {
    "acmn": {"l1": [1, 5], "split_cost": [2], "edge_cost": [0.1], "max_edges": LIMITS},
    "acbn": {"split_cost": [2, 5], "edge_cost": [0.1], "max_edges": LIMITS},
}
PAIRS = [["acbn", "acmn"], ["acmn", "acbn"]]
STUDY = {
    **GIVEN,
    "datasets": ["triples"],
    "methods": {name: {"grid": grid, "cmll": "chosen"} for name, grid in GRIDS.items()},
    "cmll": {
        "groups": 4,
        "partitions": {"default": 1, "exceptions": {}},
        "inference": {"method": "gibbs", "burn_in": 10, "samples": 50},
    },
    "queries": {"examples": 1, "percentages": [50], "methods": []},
    "divergences": PAIRS,
    "timed": [], "paired": [],
}  # fmt: skip
# Test LL of the best circuit within each limit, as the program gave it when this was written.
GOLDEN = {
    "acmn": {"120": -7.8948, "250": -7.5197, "600": -7.2293},
    "acbn": {"120": -7.8276, "250": -7.6267, "600": -7.2793},
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """The plan of a run, whose records are made."""
    folder = tmp_path_factory.mktemp("acmn")
    made = make_plan(folder, STUDY, seed=0)
    with pytest.MonkeyPatch.context() as patch:
        # Times do not matter here, so that no kernel has to be warmed up.
        patch.setattr(learn, "warm_up", lambda *_: None)
        patch.chdir(folder)
        make_all(made)
    return make_plan(folder, STUDY, seed=0)


@pytest.fixture(scope="module")
def scores(plan):
    """The gathered scores."""
    path = plan.results / "scores.csv"
    gather(plan.studies["s"], plan.kept("s")).to_csv(path, index=False)
    return read_scores(path)


def file(plan, kind, *names, of=""):
    return plan.path(Record(kind, "" if kind == "data" else "s", "triples", names), of)


def model(plan, method, variant="chosen"):
    return load_model(file(plan, "models", method).parent / f"{variant}.npz")


def value(scores, method, quantity, variant=""):
    found = scores[
        (scores["method"] == method)
        & (scores["quantity"] == quantity)
        & (scores["variant"] == variant)
    ]
    assert len(found) == 1, (method, quantity, variant)
    return float(found["value"].iloc[0])


@pytest.mark.parametrize("method", GRIDS)
def test_the_best_model_of_each_edge_limit_is_kept_and_scored(plan, scores, method):
    names = {"", *map(str, LIMITS)}
    assert set(scores[scores["method"] == method]["variant"]) == names
    kept = file(plan, "models", method).parent.glob("*.npz")
    assert {path.stem for path in kept} == {name or "chosen" for name in names}
    trace = pd.read_csv(file(plan, "cells", method, of="trace"))
    test = load_dataset(file(plan, "data", of="test"))
    for limit in LIMITS:
        circuit = model(plan, method, str(limit))
        assert circuit.n_edges == value(scores, method, "n_edges", str(limit)) <= limit
        best = trace[trace["max_edges"] == limit]["validation"].max()
        assert value(scores, method, "validation", str(limit)) == pytest.approx(best)
        exact = test.weight @ log_value(circuit, test.rows) / test.n_examples
        ll = exact - log_partition(circuit)
        assert value(scores, method, "ll", str(limit)) == pytest.approx(ll, abs=1e-9)
    validation = [value(scores, method, "validation", str(limit)) for limit in LIMITS]
    assert value(scores, method, "validation") == max(validation)
    assert value(scores, method, "chosen_max_edges") == LIMITS[int(np.argmax(validation))]
    own = scores[(scores["method"] == method) & (scores["quantity"] == "cmll")]
    assert own["variant"].tolist() == [""]


@pytest.mark.parametrize("method", GRIDS)
def test_log_likelihoods_are_as_they_were(scores, method):
    found = {variant: value(scores, method, "ll", variant) for variant in GOLDEN[method]}
    assert found == pytest.approx(GOLDEN[method], abs=5e-3)


def test_the_tables_of_the_study_show_the_numbers(scores):
    study, own = Study("acmn", {**GIVEN, "datasets": ["triples"]}), scores.assign(study="acmn")
    given = Material.of(study, own, load_published(), {"triples": "Triples"})
    entries = {entry["name"]: entry for entry in GIVEN["tables"]}

    def shown(name, **changes):
        entry = {**entries[name], **changes}
        table = make_table(given, entry)
        return dict(zip(table.columns, table.body[0].cells, strict=True))

    names = list(map(str, LIMITS))
    limits = shown("edge_limits", variants=names)
    assert limits["120"].value == value(scores, "acmn", "ll", "120")
    assert limits["chosen"].text == f"{value(scores, 'acmn', 'chosen_max_edges'):.0f}"
    validation = shown("edge_limits_validation_acbn", variants=names)
    assert validation["600"].value == value(scores, "acbn", "validation", "600")
    divergence = shown("divergence")
    assert all(cell.text for cell in divergence.values())
    assert divergence["kl_acmn_acbn"].value == value(scores, "acmn", "kl_to_acbn")
