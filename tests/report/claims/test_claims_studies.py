"""Every claim of every study: invented scores that support it, and others that contradict it."""

import copy
import re

import numpy as np
import pandas as pd
import pytest

from claim_cases import COLUMNS, evaluate
from mnlearn_studies.datasets.registry import load_registry, registry_path
from mnlearn_studies.report.claims import KINDS
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    FASTER,
    LEGEND,
    MORE,
    NOISE,
    REPRODUCED,
    SETUP,
    SLIP,
    UNKNOWN,
    WORDS,
    count_verdicts,
    to_csv,
    to_text,
)
from mnlearn_studies.report.material import Material, read_entry
from mnlearn_studies.study.definition import Study, load_study

WORKFLOW = registry_path().parent
RESULTS = WORKFLOW.parent / "results"
N_VARS = {name: benchmark.n_vars for name, benchmark in load_registry().items()}
NAMES = ("dtsl", "dn2mn", "gssl", "acmn", "lem")
STUDIES = {name: load_study(WORKFLOW / "studies" / f"{name}.yaml") for name in NAMES}
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


def candidate_rows(entry, n_rows, n_columns):
    """Yield rows of sources: what the published numbers suggest, then rows at random.

    All rows of a random candidate are one of two draws, the first of some rows and the second of
    the others.
    """
    text = f"{entry['published']} {[entry.get(k, '') for k in ('bound', 'low', 'high')]}"
    printed = [float(part) for part in re.findall(r"-?\d+\.?\d*", text)]
    steps = np.arange(1.0, n_rows + 1)
    for power in (1, 2, -1, *printed):
        if abs(power) < 10:
            yield np.column_stack([steps**power, *[steps] * (n_columns - 1)])
    for numbers in (printed, printed[::-1]):
        if len(numbers) >= n_columns:
            yield np.tile(numbers[:n_columns], (n_rows, 1))
        if entry["kind"] == "distribution" and len(numbers) == len(entry["values"]):
            counts = np.array(numbers, int)
            yield np.repeat(entry["values"], counts)[:n_rows, None].astype(float)
    for number in printed:
        for value in (number, 1.005 * number, 0.5 * number):
            yield np.column_stack([np.full(n_rows, value), *[np.ones(n_rows)] * (n_columns - 1)])
    for n_first in range(1, n_columns):
        for high, low in ((2.0, 1.0), (1.0, 2.0)):
            yield np.tile(np.where(np.arange(n_columns) < n_first, high, low), (n_rows, 1))
    signs = (-1.0) ** steps
    for difference in (steps, -steps, steps * signs):
        yield np.column_stack([100 + difference, *[np.full(n_rows, 100.0)] * (n_columns - 1)])
    rng = np.random.default_rng(0)
    known = np.array([0.0, 1, 2, 10, -10, *printed, *(-10 - 10 * np.array(printed))])
    for _ in range(2000):
        first, second = rng.choice(known, (2, n_columns)) * rng.choice([0.999, 1, 1.001], n_columns)
        yield np.where(np.arange(n_rows)[:, None] < rng.integers(n_rows + 1), first, second)


@pytest.mark.parametrize(
    ("study", "entry"),
    [p for p in ENTRIES if rule_of(p.values[1]) not in NO_SCORES and "paths" not in p.values[1]
     and p.values[1]["kind"] != "setting"],
)  # fmt: skip
def test_each_claim_can_be_supported_and_contradicted(study, entry, published):
    material = Material.of(study, pd.DataFrame(columns=COLUMNS), published, {})
    rule = read_entry(study, "claims", entry, KINDS)
    shape = len(rule.datasets_in(material)), len(rule.columns(material))
    found = set()
    for rows in candidate_rows(entry, *shape):
        if rows.shape == shape:
            found.add(rule.compare(rows, material).verdict)
        if found & {REPRODUCED, MORE} and found & {CONTRADICTED, FASTER}:
            return
    raise AssertionError(f"only {found}")


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
    expected = SLIP if entry["id"] == 70 else REPRODUCED
    assert evaluated(study, entry, empty, published).verdict == expected
    numbers = entry["published"].split(";")
    for k in range(len(numbers)):
        wrong = [*numbers[:k], "0.123", *numbers[k + 1 :]]
        slip = {**entry, "published": ";".join(wrong)}
        assert evaluated(study, slip, empty, published).verdict in (CONTRADICTED, SLIP)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_scores_give_every_claim_a_verdict(name, published):
    study = STUDIES[name]
    scores = pd.read_csv(
        RESULTS / name / "scores.csv", keep_default_na=False, na_values={"stderr": [""]}
    )
    found = evaluate(study, scores, published)
    assert {claim.outcome.verdict for claim in found} <= set(LEGEND)
    assert {claim.outcome.verdict for claim in found} >= {REPRODUCED, SETUP}
    open_claims = [c for c in found if c.outcome.verdict in (CONTRADICTED, SLIP, UNKNOWN, NOISE)]
    without = [(claim.id, claim.statement) for claim in open_claims if not claim.cause]
    assert not without, "give each a cause, a slip, or what a check needs"
    results = [claim for claim in found if not claim.is_setup]
    paragraphs = count_verdicts(found).split("\n\n")
    assert paragraphs[0].startswith(f"{len(results)} results: ")
    assert len(paragraphs) == 1 + (len(results) < len(found))
    assert all(claim.brief.startswith(claim.title) for claim in found)
    # The files of the study say what its scores give.
    assert (RESULTS / name / "claims.csv").read_text() == to_csv(found)
    title = str(study.content["title"])
    assert (RESULTS / name / "claims.md").read_text() == to_text(title, found)


@pytest.mark.parametrize(("study", "entry"), [p for p in ENTRIES if "cause" in p.values[1]])
def test_a_cause_names_what_shows_it(study, entry):
    assert entry["cause"]["shown_by"]
    for place in entry["cause"]["shown_by"]:
        other, colon, rest = place.rpartition(": ")
        content = STUDIES[other].content if colon else study.content
        kind, name = rest.split()
        known = {
            "table": {table["name"] for table in content["tables"]},
            "figure": {figure["name"] for figure in content["figures"]},
            "claim": {str(claim["id"]) for claim in content["claims"]},
            "decision": {path.name[:4] for path in (WORKFLOW.parent / "docs/decisions").iterdir()},
        }
        assert name in known[kind], place


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_is_made_once(name):
    entries = STUDIES[name].content["claims"]
    said = [(entry["id"], entry["statement"]) for entry in entries]
    assert len(set(said)) == len(said)
