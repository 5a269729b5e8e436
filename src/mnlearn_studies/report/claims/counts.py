"""Claims that count datasets: where one method is better, or where a number is within bounds."""

import math
from collections.abc import Callable, Sequence

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.claims.evidence import (
    A_AND_B,
    NUMBERS_OF,
    NUMBERS_OF_COLUMNS,
    NUMBERS_OF_EACH,
    A,
    Entry,
    Evidence,
    Kind,
    claim_name,
    datasets_of,
    incomplete,
    numbers_at,
    source_numbers,
    sources_at,
)
from mnlearn_studies.report.claims.verdicts import COUNT_TOLERANCE, WORDS, Outcome, count_verdict
from mnlearn_studies.report.options import FLAG, NAMES, NUMBER, PAIRS, TEXT, needed, one_of
from mnlearn_studies.study.published import Number

DIRECTIONS = ("more", "fewer", "neither")
# Whether a difference is related to its bound as the statement says.
RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "above": lambda difference, bound: difference >= bound,
    "apart": lambda difference, bound: abs(difference) >= bound,
    "similar": lambda difference, bound: abs(difference) <= bound,
}

COUNT_RULE = (
    f"`reproduced` if our count differs from the published one by at most {COUNT_TOLERANCE}, or "
    "not at all where the paper says all or none. A count further in the direction of the "
    "statement `holds more strongly`. A count further in the other direction has a `smaller "
    "effect` while it is above what chance would give (10 of 20 for two equal methods), and is "
    "`contradicted` otherwise. Where the "
    "paper gives a word instead of a count, the column `rule` says what the word stands for; "
    "a count for which it is untrue is `contradicted`, or has a `smaller effect` if the word is "
    "`all` and the count is a majority"
)


def collect_rows(
    columns: Sequence[dict[str, Number]], datasets: Sequence[str]
) -> tuple[list[list[float]], list[str]]:
    """Return the values of all columns on each dataset, and the datasets that lack one.

    Values are rounded to the fewest decimals that a paper prints: digits that the paper does not
    print must not decide which method is better.
    """
    rows, missing = [], []
    for dataset in datasets:
        found = [column[dataset] for column in columns if dataset in column]
        if len(found) < len(columns):
            missing.append(dataset)
            continue
        decimals = min((n.decimals for n in found if n.decimals is not None), default=12)
        rows.append([round(n.value, decimals) for n in found])
    return rows, missing


def _judge(
    entry: Entry, evidence: Evidence, count: int, total: int, *, missing: list[str], chance: float
) -> Outcome:
    """Return the outcome of a count; `chance` is its expected share for equally good methods."""
    ours = f"{count} of {total}"
    if missing:
        return incomplete(ours, total, missing)
    published, where = entry["published"], claim_name(entry, evidence)
    direction = entry.get("direction", "more")
    if isinstance(published, str) and published not in WORDS:
        raise InputError(
            f"{where}, published: expected a number or one of {', '.join(WORDS)}, got "
            f"{published!r}."
        )
    verdict = count_verdict(count, total, published, chance, direction=direction)
    difference = "" if isinstance(published, str) else f"{count - published:+g}"
    return Outcome(verdict, ours, difference, n_datasets=total)


def judge_wins(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` is better than `b`; each may be a list of sources.

    With lists, every source of `a` has to be better than every source of `b`. lower : whether lower
    values are better.
    """
    first, second = sources_at(entry, evidence, "a"), sources_at(entry, evidence, "b")
    rows, missing = collect_rows([*first, *second], datasets_of(entry, evidence))
    sign, n = (-1 if entry.get("lower") else 1), len(first)
    count = sum(min(sign * x for x in r[:n]) > max(sign * x for x in r[n:]) for r in rows)
    chance = 1 / math.comb(n + len(second), n)
    return _judge(entry, evidence, count, len(rows), missing=missing, chance=chance)


def judge_best_of(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which a column named in `best` beats all other `columns`.

    ties : whether a tie with another column counts. lower : whether lower values are better.
    """
    where = claim_name(entry, evidence)
    specs, best = entry["columns"], entry["best"]
    names = [str(spec["name"]) for spec in specs]
    for name in best:
        if name not in names:
            raise InputError(f"{where}, best: no column is named {name!r}.")
    columns = [source_numbers(spec, evidence, where) for spec in specs]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    sign, ties, count = (-1 if entry.get("lower") else 1), entry.get("ties", False), 0
    for row in rows:
        values = {name: sign * value for name, value in zip(names, row, strict=True)}
        own = max(values[name] for name in best)
        other = max((v for name, v in values.items() if name not in best), default=-math.inf)
        count += own > other or (ties and own == other)
    return _judge(entry, evidence, count, len(rows), missing=missing, chance=len(best) / len(names))


def judge_near(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` and `b` differ by less than `bound` nats per variable."""
    bound = float(entry["bound"])
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b")]
    n_vars = {name: benchmark.n_vars for name, benchmark in load_registry().items()}
    datasets = datasets_of(entry, evidence)
    count, total = 0, 0
    missing = [d for d in datasets if d not in n_vars or any(d not in c for c in columns)]
    for dataset in [d for d in datasets if d not in missing]:
        difference = columns[0][dataset].value - columns[1][dataset].value
        count += abs(difference) / n_vars[dataset] < bound
        total += 1
    return _judge(entry, evidence, count, total, missing=missing, chance=0.5)


def judge_margin(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` exceeds `b` by at least `bound`, a share of |b|.

    A negative bound counts the datasets on which `a` is at most this share below `b`. relation :
    `apart` counts where the two differ by at least the bound in either direction, `similar` where
    they differ by at most the bound.
    """
    bound, relation = float(entry["bound"]), entry.get("relation", "above")
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b")]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    holds = RELATIONS[relation]
    count = sum(holds(a - b, bound * abs(b)) for a, b in rows)
    return _judge(entry, evidence, count, len(rows), missing=missing, chance=0.5)


def judge_beyond(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` is at least `bound` times the difference of `b` and `c`."""
    bound = float(entry["bound"])
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b", "c")]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    count = sum(a >= bound * abs(b - c) for a, b, c in rows)
    return _judge(entry, evidence, count, len(rows), missing=missing, chance=0.5)


def judge_inside(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` is at least `low` and at most `high`."""
    low, high = (float(entry[key]) for key in ("low", "high"))
    rows, missing = collect_rows([numbers_at(entry, evidence, "a")], datasets_of(entry, evidence))
    count = sum(low <= a <= high for (a,) in rows)
    return _judge(entry, evidence, count, len(rows), missing=missing, chance=0.5)


def judge_between_powers(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the datasets on which `a` is from `b` to the power `low` to `b` to the power `high`."""
    low, high = (float(entry[key]) for key in ("low", "high"))
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b")]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    count = sum(b**low <= a <= b**high for a, b in rows)
    return _judge(entry, evidence, count, len(rows), missing=missing, chance=0.5)


def judge_cells(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the cells in which one variant is better than another.

    A cell is a dataset with a pair of variants from `pairs`; the first of the pair should be
    better. method, quantity : what is compared; higher is better.
    """
    spec = {key: entry[key] for key in ("method", "quantity")}
    where, datasets = claim_name(entry, evidence), datasets_of(entry, evidence)
    count, total, lacking = 0, 0, set()
    for pair in entry["pairs"]:
        columns = [source_numbers({**spec, "variant": v}, evidence, where) for v in pair]
        rows, missing = collect_rows(columns, datasets)
        count += sum(a > b for a, b in rows)
        total += len(rows)
        lacking |= set(missing)
    if lacking:
        missing = [d for d in datasets if d in lacking]
        return incomplete(f"{count} of {total}", len(datasets) - len(missing), missing)
    found = _judge(entry, evidence, count, total, missing=[], chance=0.5)
    return Outcome(found.verdict, found.ours, found.difference, n_datasets=len(datasets))


def count_brief(entry: Entry) -> str:
    """Return the tolerance and the options of a claim that counts."""
    published = entry["published"]
    if isinstance(published, str):
        text = f"`{published}` is {WORDS.get(published, published)}"
    else:
        exact = published in (0, len(entry.get("datasets", ())))
        text = "exact" if exact else f"±{COUNT_TOLERANCE}"
    extras = []
    direction = entry.get("direction", "more")
    if direction != "more":
        extras.append("no direction" if direction == "neither" else f"{direction} is stronger")
    if entry.get("lower"):
        extras.append("lower is better")
    if entry.get("ties"):
        extras.append("ties count")
    if entry.get("relation", "above") != "above":
        extras.append(str(entry["relation"]))
    if entry["kind"] == "near":
        extras.append(f"bound {entry['bound']} nats per variable")
    if entry["kind"] == "margin":
        extras.append(f"bound {100 * entry['bound']:g} %")
    if entry["kind"] == "inside":
        extras.append(f"{entry['low']:g} to {entry['high']:g}")
    if entry["kind"] == "between_powers":
        extras.append(f"powers {entry['low']:g} to {entry['high']:g}")
    if entry["kind"] == "beyond":
        extras.append(f"factor {entry['bound']:g}")
    return "; ".join([text, *extras])


_TITLE = "number of datasets"
_DIRECTION = {"direction": one_of(DIRECTIONS)}
KINDS = {
    "wins": Kind(
        judge_wins,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {"a": NUMBERS_OF_EACH, "b": NUMBERS_OF_EACH, "lower": FLAG, **_DIRECTION},
    ),
    "best_of": Kind(
        judge_best_of,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {
            "columns": NUMBERS_OF_COLUMNS,
            "best": needed(NAMES),
            "lower": FLAG,
            "ties": FLAG,
            **_DIRECTION,
        },
    ),
    "near": Kind(
        judge_near,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {**A_AND_B, "bound": needed(NUMBER), **_DIRECTION},
    ),
    "margin": Kind(
        judge_margin,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {**A_AND_B, "bound": needed(NUMBER), "relation": one_of(RELATIONS), **_DIRECTION},
    ),
    "beyond": Kind(
        judge_beyond,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {**A_AND_B, "c": NUMBERS_OF, "bound": needed(NUMBER), **_DIRECTION},
    ),
    "inside": Kind(
        judge_inside,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {**A, "low": needed(NUMBER), "high": needed(NUMBER), **_DIRECTION},
    ),
    "between_powers": Kind(
        judge_between_powers,
        _TITLE,
        COUNT_RULE,
        count_brief,
        {**A_AND_B, "low": needed(NUMBER), "high": needed(NUMBER), **_DIRECTION},
    ),
    "cells": Kind(
        judge_cells,
        "number of cells",
        COUNT_RULE,
        count_brief,
        {"method": needed(TEXT), "quantity": needed(TEXT), "pairs": needed(PAIRS), **_DIRECTION},
    ),
}
