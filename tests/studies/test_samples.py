"""Samples of datasets: names, what a study has of them, means over the folds."""

import pandas as pd
import pytest
import yaml

from made_study import make_plan
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.sample_names import (
    Sample,
    base_of,
    expand_names,
    list_means,
    parse_sample,
)
from mnlearn_studies.records.gather import COLUMNS, mean_over_folds
from mnlearn_studies.study.definition import Study, load_study
from workflow_tree import TINY

KNOWN = [f"{base}-n{size}-f{fold}" for base in "ab" for size in (10, 100) for fold in range(2)]
SAMPLED = {
    **TINY,
    "samples": {"sizes": [10, 100], "folds": 2, "timed": {"sizes": [100], "folds": 1}},
    "datasets": ["a", "b"],
    "methods": {
        "atomic": {},
        "wide": {
            "learner": "atomic",
            "datasets": ["a"],
            "sizes": [100],
            "grid": {"sd": [1.0]},
            "exceptions": {"a": {"sd": [2.0]}},
        },
    },
    "timed": ["atomic"],
    "likelihoods": {
        "methods": ["atomic"],
        "timed": ["wide"],
        "beliefs": {},
        "annealing": {},
        "queries": {"examples": 5, "percentage": 50},
    },
    "unavailable": ["c"],
    "tables": [{"name": "t", "kind": "compare", "caption": "", "datasets": ["b", "a-n100"]}],
    "figures": [],
    "claims": [
        {"id": 1, "statement": "", "kind": "k", "published": 1, "datasets": ["a"]},
        {"id": 2, "statement": "", "kind": "k", "published": 1},
    ],
}


def test_names_of_samples():
    sample = parse_sample("msnbc-n1000-f0")
    assert sample == Sample("msnbc", 1000, 0)
    assert (sample.name, sample.mean) == ("msnbc-n1000-f0", "msnbc-n1000")
    assert sample.label("MSNBC") == "MSNBC, 1,000, fold 0"
    assert parse_sample("msnbc-n1000") == Sample("msnbc", 1000)
    for name in ("msnbc", "msnbc-n0-f1", "msnbc-n10-f", "a-b-n10", "A-n10", "a-n10-f1\n"):
        assert parse_sample(name) is None
        assert base_of(name) == name
    assert list_means([*KNOWN, "c"]) == ["a-n10", "a-n100", "b-n10", "b-n100"]


def test_short_names_stand_for_samples():
    assert expand_names(["b"], KNOWN, keep_means=True) == KNOWN[4:]
    assert expand_names(["a-n10", "b-n100-f1"], KNOWN, keep_means=True) == ["a-n10", "b-n100-f1"]
    assert expand_names(["a-n10"], KNOWN, keep_means=False) == KNOWN[:2]
    assert expand_names(["x", "a-n7"], KNOWN, keep_means=False) == ["x", "a-n7"]
    assert expand_names(["grid"], ["grid", "triples"], keep_means=False) == ["grid"]


@pytest.fixture
def load(tmp_path):
    (tmp_path / "studies").mkdir()

    def load(content):
        path = tmp_path / "studies/s.yaml"
        path.write_text(yaml.safe_dump(content))
        return load_study(path)

    return load


def test_a_study_of_samples(load):
    study = load(SAMPLED)
    assert study.datasets == KNOWN
    assert study.bases == ["a", "b"]
    assert study.methods_on("a-n100-f1") == ["atomic", "wide"]
    assert study.methods_on("a-n10-f1") == study.methods_on("b-n100-f1") == ["atomic"]
    assert study.grid("wide", "a-n100-f1") == {"sd": [2.0]}
    assert [d for d in KNOWN if study.is_timed(d)] == ["a-n100-f0", "b-n100-f0"]
    assert study.content["tables"][0]["datasets"] == [*KNOWN[4:], "a-n100"]
    assert study.content["claims"][0]["datasets"] == KNOWN[:4]
    labels = study.labels({"a": "A", "c": "Lost"})
    assert list(labels)[:4] == ["a", "a-n10", "a-n10-f0", "a-n10-f1"]
    assert (labels["a-n10"], labels["b-n100-f1"], labels["c"]) == (
        "A, 10",
        "b, 100, fold 1",
        "Lost",
    )
    fewer = load({**SAMPLED, "samples": {"sizes": [10, 100], "folds": [2, 1]}})
    assert fewer.datasets == [d for d in KNOWN if d not in ("a-n100-f1", "b-n100-f1")]
    plain = Study("s", TINY)
    assert plain.datasets == plain.bases == ["triples"]
    assert plain.is_timed("triples")
    assert plain.labels({}) == {"triples": "triples"}


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            {"samples": {"sizes": [0], "folds": 1}},
            "samples, size 1: expected a whole number from 1, got 0",
        ),
        ({"samples": {"sizes": [5]}}, "samples: expected the key 'folds'"),
        ({"samples": {"sizes": [5, 6], "folds": [1]}}, "samples.folds: expected one number"),
        (
            {"claims": [{**SAMPLED["claims"][0], "datasets": ["a-n"]}]},
            "claim 1, dataset 1: expected a name of lower-case letters",
        ),
    ],
)
def test_faults_in_samples_are_named(load, change, place):
    with pytest.raises(InputError, match=place):
        load({**SAMPLED, **change})


def test_what_a_run_makes_of_samples(load, tmp_path):
    content, whole = load({**SAMPLED, "datasets": ["a"]}).content, {"local": {"a": {"train": "x"}}}
    plan = make_plan(tmp_path, content, **whole)
    of = {kind: plan.records("s", kind) for kind in ("cells", "times", "likelihoods")}
    assert [record.dataset for record in of["times"]] == ["a-n100-f0"]
    assert len(of["cells"]) == 4 + 2
    assert [record.names[0] for record in of["likelihoods"]].count("wide") == 1
    assert len(of["likelihoods"]) == 4 + 1
    first, second = of["likelihoods"][:2]
    assert plan.recipe(first)["settings"]["queries"] == {"examples": 5, "percentage": 50}
    assert plan.recipe(first) != plan.recipe(second)
    assert make_plan(tmp_path, content, left_out={"a": "why"}, **whole).records("s", "cells") == []


def frame(rows):
    return pd.DataFrame([("s", *row) for row in rows], columns=list(COLUMNS))


def test_means_over_folds():
    scores = frame(
        [
            ("a-n10-f0", "m", "", "ll", -1.0, 0.5),
            ("a-n10-f1", "m", "", "ll", -4.0, 0.5),
            ("a-n10-f0", "m", "v", "ll", -3.0, None),
            ("a-n10-f1", "m", "v", "ll", -3.0, None),
            # Only one fold was timed.
            ("a-n10-f0", "m", "", "seconds", 2.0, None),
            # A method that has run on one fold so far.
            ("a-n10-f0", "other", "", "ll", -7.0, None),
            ("whole", "m", "", "ll", -9.0, None),
        ]
    )
    means = mean_over_folds(scores)
    found = {(r.dataset, r.method, r.variant, r.quantity): r for r in means.itertuples()}
    assert list(found) == [
        ("a-n10", "m", "", "ll"),
        ("a-n10", "m", "v", "ll"),
        ("a-n10", "other", "", "ll"),
    ]
    first = found["a-n10", "m", "", "ll"]
    assert (first.value, first.stderr) == (-2.5, pytest.approx(1.5))
    assert found["a-n10", "m", "v", "ll"].stderr == 0.0
    assert pd.isna(found["a-n10", "other", "", "ll"].stderr)
    assert len(mean_over_folds(scores[scores["dataset"] == "whole"])) == 0
