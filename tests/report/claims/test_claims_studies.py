"""Every claim of every study: invented scores that support it, and others that contradict it."""

import copy
import math

import numpy as np
import pandas as pd
import pytest

from claim_cases import COLUMNS, evaluate
from mnlearn_studies.datasets.registry import load_registry, registry_path
from mnlearn_studies.report.claims.rendering import count_verdicts
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    FASTER,
    LEGEND,
    MORE,
    REPRODUCED,
    SETUP,
    UNKNOWN,
)
from mnlearn_studies.study.definition import Study, load_study
from mnlearn_studies.study.published import is_time, load_published

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


class Scores:
    """Rows of scores of a study, written under the sources of its claims."""

    def __init__(self, study, entry):
        self.study, self.rows = study, {}
        self.datasets = entry.get("datasets", study.datasets)

    def put(self, specs, values):
        """Give the sources a value on each dataset; `values` is a function of its position."""
        for spec in specs if isinstance(specs, list) else [specs]:
            for k, dataset in enumerate(self.datasets):
                self.put_one(spec, dataset, float(values(k)))

    def put_one(self, spec, dataset, value):
        if "study" in spec:
            return
        variants = spec.get("variants", spec.get("each", [spec.get("variant", "")]))
        if "without" in spec:
            variants = ["left"]
            for variant, validation in [("left", -2.0), *((v, -1.0) for v in spec["without"])]:
                self.rows[dataset, spec["method"], variant, "validation"] = validation
        for variant in variants:
            self.rows[dataset, spec["method"], variant, spec["quantity"]] = value

    def frame(self):
        rows = [(self.study.name, *key, value, None) for key, value in self.rows.items()]
        # Times are of one job, whose runs took equally long.
        rows += [
            (*row[:4], f"{row[4]}_{end}", *row[5:])
            for row in rows
            if is_time(row[4])
            for end in ("min", "max")
        ]
        return pd.DataFrame(rows, columns=COLUMNS)


def count_wanted(entry, n, supports):
    """On how many of n datasets the scores should be as the claim says."""
    number = entry["published"]
    if isinstance(number, str):
        least, most = (n, n - 1) if number == "not all" else (0, n)
        return most if supports else least
    if supports:
        return number
    low = number > 1 and entry.get("direction") != "fewer"
    return 0 if low else n


def build(study, entry, supports):
    """Return scores that support or contradict a claim."""
    scores = Scores(study, entry)
    BUILDERS[rule_of(entry)](scores, entry, supports)
    return scores.frame()


def build_wins(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    better, worse = (1.0, 2.0) if entry.get("lower") else (2.0, 1.0)
    scores.put(entry["a"], lambda k: better if k < count else worse)
    scores.put(entry["b"], lambda k: worse if k < count else better)


def build_best_of(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    better, worse = (1.0, 2.0) if entry.get("lower") else (2.0, 1.0)
    for column in entry["a"]:
        own = column["name"] in entry["best"]
        scores.put(column, lambda k, own=own: better if (k < count) == own else worse)


def build_near(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    scores.put(entry["b"], lambda k: 0)
    for k, dataset in enumerate(scores.datasets):
        share = 0.9 if k < count else 1.1
        scores.put_one(entry["a"], dataset, share * entry["bound"] * N_VARS[dataset])


def build_margin(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    bound = entry["bound"]
    step = 0.001 if entry["rule"] != "similar" else -0.001
    scores.put(entry["b"], lambda k: -10)
    scores.put(entry["a"], lambda k: -10 + 10 * (bound + (step if k < count else -step)))


def build_beyond(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    scores.put(entry["b"], lambda k: -10)
    scores.put(entry["c"], lambda k: -12)
    scores.put(entry["a"], lambda k: 2 * entry["bound"] + (0.01 if k < count else -0.01))


def build_inside(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    scores.put(entry["a"], lambda k: entry["high"] if k < count else entry["low"] - 0.01)


def build_between_powers(scores, entry, supports):
    count = count_wanted(entry, len(scores.datasets), supports)
    scores.put(entry["b"], lambda k: 10)
    scores.put(entry["a"], lambda k: 10.0 ** (entry["high"] + (0 if k < count else 0.1)))


def build_cells(scores, entry, supports):
    scores.put(entry["a"], lambda k: int(supports))
    scores.put(entry["b"], lambda k: int(not supports))


def build_ratio(scores, entry, supports):
    ratio = float(entry["published"]) ** (1 if supports else -1)
    scores.put(entry["a"], lambda k: ratio)
    scores.put(entry["b"], lambda k: 1)


def build_range(scores, entry, supports):
    low, high = map(float, entry["published"].split(" to "))
    scores.put(entry["b"], lambda k: 1)
    scores.put(entry["a"], lambda k: (high if k else low) if supports else 0.9)


def build_orders(scores, entry, supports):
    low, high = map(float, entry["published"].split(" to "))
    scores.put(entry["b"], lambda k: 1)
    scores.put(entry["a"], lambda k: math.sqrt(low * high) if supports else 0.9)


def build_share(scores, entry, supports):
    share = entry["published"] if supports else 0.4
    scores.put(entry["b"], lambda k: 1)
    scores.put(entry["a"], lambda k: 1 - share if entry["rule"] == "rest" else share)


def build_trend(scores, entry, supports):
    means = [float(part) for part in entry["published"].split(";")]
    for mean, group in zip(means if supports else means[::-1], entry["a"], strict=True):
        scores.put(group, lambda k, mean=mean: mean)


def build_ordered(scores, entry, supports):
    scores.put(entry["a"], lambda k: 1 + supports)
    scores.put(entry["b"], lambda k: 2 - supports)


def build_single(scores, entry, supports):
    rule = entry.get("rule")
    factor = 1.0 if supports else {"time": 0.5}.get(rule, 0.1)
    shift = 1 if rule == "above" else 0
    scores.put_one(entry["a"], entry["dataset"], (entry["published"] + shift) * factor)


def build_slow(scores, entry, supports):
    scores.put(entry["a"], lambda k: entry["bound"] * (2 if supports else 0.5))


def build_distribution(scores, entry, supports):
    counts = [int(part) for part in entry["published"].split(";")]
    chosen = np.repeat(entry["values"], counts if supports else counts[::-1])
    scores.put(entry["a"], lambda k: chosen[k])


def build_correlation(scores, entry, supports):
    table = load_published()
    table = table[(table["study"] == entry["b"]["study"]) & (table["table"] == "1")]
    value = table[table["quantity"] == entry["b"]["quantity"]].set_index("dataset")["value"]
    sign = 1 if supports else -1
    scores.put(entry["a"], lambda k: sign * value[scores.datasets[k]])


def build_growth(scores, entry, supports):
    power = entry["published"] if supports else entry["published"] + 1
    scores.put(entry["b"], lambda k: k + 1)
    scores.put(entry["a"], lambda k: (k + 1) ** power)


def build_wilcoxon(scores, entry, supports):
    alike = entry["published"] == "not significant"
    sign = -1 if entry.get("lower") else 1
    scores.put(entry["b"], lambda k: 100)
    if alike and supports:
        scores.put(entry["a"], lambda k: 100 + (k + 1) * (-1) ** k)
    else:
        scores.put(entry["a"], lambda k: 100 + sign * (k + 1) * (1 if supports or alike else -1))


def build_recorded(scores, entry, supports):
    scores.put(entry["a"], lambda k: entry["published"] + (0 if supports else 1))


def build_compared(scores, entry, supports):
    for spec in entry["a"]:
        scores.put({**spec, "each": spec["each"][0 if supports else 1 :]}, lambda k: 1)


BUILDERS = {
    "count better": build_wins,
    "count best": build_best_of,
    "count near": build_near,
    "count above": build_margin,
    "count apart": build_margin,
    "count similar": build_margin,
    "count beyond": build_beyond,
    "count inside": build_inside,
    "count powers": build_between_powers,
    "count cells": build_cells,
    "count longer": build_slow,
    "ratio ratio": build_ratio,
    "ratio share": build_share,
    "ratio rest": build_share,
    "range ends": build_range,
    "range mean": build_orders,
    "trend means": build_trend,
    "trend order": build_ordered,
    "trend power": build_growth,
    "value equal": build_single,
    "value time": build_single,
    "value above": build_single,
    "distribution": build_distribution,
    "correlation": build_correlation,
    "test": build_wilcoxon,
    "setting recorded": build_recorded,
    "setting scored": build_compared,
}


def evaluated(study, entry, scores, published):
    alone = Study(study.name, {**study.content, "claims": [entry]})
    return evaluate(alone, scores, published)[0].outcome


@pytest.mark.parametrize(
    ("study", "entry"), [p for p in ENTRIES if rule_of(p.values[1]) not in NO_SCORES]
)
def test_scores_decide_the_verdict(study, entry, published):
    supported = evaluated(study, entry, build(study, entry, True), published)
    against = evaluated(study, entry, build(study, entry, False), published)
    if entry.get("rule") == "recorded":
        assert (supported.verdict, supported.reason) == (SETUP, "")
        assert against.reason.startswith("deviates: ours")
    elif entry.get("rule") == "scored":
        assert (supported.verdict, supported.reason) == (SETUP, "")
        assert against.verdict == UNKNOWN
    else:
        assert supported.verdict in (REPRODUCED, MORE), supported
        expected = FASTER if entry.get("rule") in ("time", "longer") else CONTRADICTED
        assert against.verdict == expected, against


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
