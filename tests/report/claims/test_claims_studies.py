"""Every claim of every study: invented scores that support it, and others that contradict it."""

import copy

import pandas as pd
import pytest

from claim_cases import COLUMNS, evaluate
from mnlearn_studies.datasets.registry import load_registry, registry_path
from mnlearn_studies.report.claims.rendering import count_verdicts
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    LEGEND,
    REPRODUCED,
    SETUP,
    UNKNOWN,
    WORDS,
)
from mnlearn_studies.study.definition import Study, load_study

WORKFLOW = registry_path().parent
RESULTS = WORKFLOW.parent / "results"
N_VARS = {name: benchmark.n_vars for name, benchmark in load_registry().items()}
NAMES = ("dtsl", "dn2mn", "gssl", "acmn", "lem")
STUDIES = {name: load_study(WORKFLOW / "studies" / f"{name}.yaml") for name in NAMES}
# The record of `lem` is made after the others.
RECORDED = [name for name in NAMES if name != "lem" or (RESULTS / name / "scores.csv").exists()]
# They do not depend on scores.
NO_SCORES = ("setting values", "setting combinations", "stated", "unavailable", "example")
# The rule of a claim that does not say which.
USUAL = {
    "count": "better",
    "ratio": "ratio",
    "range": "mean",
    "value": "equal",
    "trend": "means",
    "setting": "values",
}


def rule_of(entry):
    """Return the kind of a claim and its rule."""
    rule = entry.get("rule", USUAL.get(entry["kind"]))
    return entry["kind"] if rule is None else f"{entry['kind']} {rule}"


ENTRIES = [
    pytest.param(study, entry, id=f"{name}-{entry['id']}-{k}")
    for name, study in STUDIES.items()
    for k, entry in enumerate(study.content["claims"])
]


def evaluated(study, entry, scores, published):
    alone = Study(study.name, {**study.content, "claims": [entry]})
    return evaluate(alone, scores, published)[0].outcome


@pytest.mark.parametrize(
    ("study", "entry"), [p for p in ENTRIES if p.values[1]["kind"] in ("count", "distribution")]
)
def test_published_counts_are_of_the_datasets_of_the_claim(study, entry):
    n, printed = len(entry.get("datasets", study.datasets)), entry["published"]
    if entry.get("rule") == "cells":
        first = entry["a"][0] if isinstance(entry["a"], list) else entry["a"]
        n *= len(first.get("each", [""]))
    if entry["kind"] == "distribution":
        counts = [int(part) for part in printed.split(";")]
        assert len(counts) == len(entry["values"])
        assert sum(counts) <= n
    else:
        assert printed in WORDS or 0 <= printed <= n


@pytest.mark.parametrize(
    ("study", "entry"), [p for p in ENTRIES if rule_of(p.values[1]) not in NO_SCORES]
)
def test_nothing_is_decided_without_scores(study, entry, published):
    empty = pd.DataFrame(columns=COLUMNS)
    assert evaluated(study, entry, empty, published).verdict == UNKNOWN


def others(value):
    """Return another value of the same form."""
    if isinstance(value, list):
        return [*value[:-1], others(value[-1])]
    return f"{value}x" if isinstance(value, str) else 3 * value


@pytest.mark.parametrize(
    ("study", "entry"), [p for p in ENTRIES if rule_of(p.values[1]) in NO_SCORES[:2]]
)
def test_another_setting_deviates(study, entry, published):
    """A set-up claim compares the study with the paper, and not the study with itself."""
    empty = pd.DataFrame(columns=COLUMNS)
    methods = {path.split(".")[1] for path in entry["paths"] if path.startswith("methods.")}
    ours = evaluated(study, entry, empty, published)
    if not methods <= set(study.methods):
        assert ours.verdict == UNKNOWN
        return
    content = copy.deepcopy(study.content)
    *path, last = entry["paths"][0].split(".")
    place = content
    for key in path:
        place = place[key]
    place.setdefault(last, ["x"])
    place[last] = place[last][:-1] if entry.get("rule") == "combinations" else others(place[last])
    changed = evaluated(Study(study.name, content), entry, empty, published)
    assert changed.verdict == SETUP
    assert changed.reason.startswith("deviates")
    assert changed != ours


@pytest.mark.parametrize(
    ("study", "entry"), [p for p in ENTRIES if p.values[1]["kind"] == "example"]
)
def test_examples_are_as_published_but_for_a_slip(study, entry, published):
    """Claim 70: the printed shares of a feature sum to (n - 1)/n."""
    empty = pd.DataFrame(columns=COLUMNS)
    expected = CONTRADICTED if entry["id"] == 70 else REPRODUCED
    assert evaluated(study, entry, empty, published).verdict == expected
    numbers = entry["published"].split(";")
    for k in range(len(numbers)):
        wrong = [*numbers[:k], "0.123", *numbers[k + 1 :]]
        slip = {**entry, "published": ";".join(wrong)}
        assert evaluated(study, slip, empty, published).verdict == CONTRADICTED


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_scores_give_every_claim_a_verdict(name, published):
    study = STUDIES[name]
    scores = pd.read_csv(
        RESULTS / name / "scores.csv", keep_default_na=False, na_values={"stderr": [""]}
    )
    found = evaluate(study, scores, published)
    assert {claim.outcome.verdict for claim in found} <= set(LEGEND)
    assert {claim.outcome.verdict for claim in found} >= {REPRODUCED, SETUP}
    missing = [c for c in found if c.outcome.verdict == UNKNOWN]
    assert all(claim.outcome.reason for claim in missing)
    results = [claim for claim in found if not claim.is_setup]
    assert count_verdicts(found).startswith(f"{len(results)} results: ")
    assert all(claim.brief.startswith(claim.title) for claim in found)


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_is_made_once(name):
    entries = STUDIES[name].content["claims"]
    said = [(entry["id"], entry["statement"]) for entry in entries]
    assert len(set(said)) == len(said)
