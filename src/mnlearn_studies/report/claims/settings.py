"""Claims about the set-up: settings of a study against those of its paper; unchecked claims."""

import math
from collections.abc import Sequence
from typing import Any

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.claims.counts import collect_rows
from mnlearn_studies.report.claims.evidence import (
    A,
    Entry,
    Evidence,
    Kind,
    claim_name,
    datasets_of,
    incomplete,
    numbers_at,
    published_number,
    source_numbers,
    values_at,
)
from mnlearn_studies.report.claims.verdicts import SETUP, UNKNOWN, Outcome
from mnlearn_studies.report.options import NAMES, TEXT, needed


def _outcome(ours: str, deviates: str = "") -> Outcome:
    return Outcome(SETUP, ours, reason=f"deviates: {deviates}" if deviates else "")


def judge_setting(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the values that the study has at the dotted `paths` with the published values.

    The published text has one of three forms: `a; b; c`, all values in any order; `a to b`, the
    smallest and the largest value; `a, times b`, the smallest value and the factor between
    neighbours. Values that the study sets for some datasets only have to be the same.
    """
    found: list[Any] = []
    for path in entry["paths"]:
        method = path.split(".")[1] if path.startswith("methods.") else None
        if method is not None and method not in evidence.study.methods:
            return Outcome(UNKNOWN, reason=f"the study does not have the method {method}")
        values = values_at(path, evidence)
        if values is None:
            return _outcome("", f"the study does not set {path}")
        found += values
    ours = "; ".join(_text(value) for value in found)
    if not _agrees(found, str(entry["published"]), claim_name(entry, evidence)):
        return _outcome(ours, f"ours {ours}")
    for path in entry["paths"]:
        exceptions = _exceptions(path, evidence)
        if exceptions:
            return _outcome(ours, f"other values on {', '.join(exceptions)}")
    return _outcome(ours)


def _exceptions(path: str, evidence: Evidence) -> list[str]:
    """Return the datasets for which the study sets other values of a hyperparameter."""
    parts = path.split(".")
    if len(parts) != 4 or parts[0] != "methods" or parts[2] != "grid":
        return []
    method, name = evidence.study.content["methods"][parts[1]], parts[3]
    usual = method["grid"][name]
    exceptions = method.get("exceptions", {})
    return [d for d, other in exceptions.items() if name in other and other[name] != usual]


def _text(value: object) -> str:
    """Return a value as text in which 1, 1.0 and "1" are equal."""
    try:
        return f"{float(str(value)):.12g}"
    except ValueError:
        return str(value)


def _agrees(found: Sequence[Any], published: str, where: str) -> bool:
    try:
        if " to " in published:
            ends = sorted(float(part) for part in published.split(" to "))
            return [min(map(float, found)), max(map(float, found))] == ends
        if ", times " in published:
            first, factor = (float(part) for part in published.split(", times "))
            powers = [first * factor**k for k in range(len(found))]
            return all(math.isclose(a, b) for a, b in zip(sorted(found), powers, strict=True))
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}, published: expected numbers, {error}.") from error
    return {_text(value) for value in found} == {_text(p.strip()) for p in published.split(";")}


def judge_setups(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the number of combinations of the values at `paths` with the published number."""
    lengths = []
    for path in entry["paths"]:
        values = values_at(path, evidence)
        if values is None:
            return _outcome("", f"the study does not set {path}")
        lengths.append(len(values))
    count = math.prod(lengths)
    same = count == published_number(entry, evidence)
    return _outcome(str(count), "" if same else f"ours {count}")


def judge_recorded(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare a setting that every scored model recorded, `a`, with the published value."""
    rows, missing = collect_rows([numbers_at(entry, evidence, "a")], datasets_of(entry, evidence))
    values = sorted({a for (a,) in rows})
    ours = "; ".join(map(_text, values))
    if missing:
        return incomplete(ours, len(rows), missing)
    same = values == [published_number(entry, evidence)]
    return Outcome(SETUP, ours, "", "" if same else f"deviates: ours {ours}", len(rows))


def judge_compared(entry: Entry, evidence: Evidence) -> Outcome:
    """Count the `variants` that are scored for all `methods`; the paper compares this number.

    quantity : the score that each of them needs.
    """
    where, quantity = claim_name(entry, evidence), entry["quantity"]
    variants, datasets = entry["variants"], datasets_of(entry, evidence)
    count = 0
    for variant in variants:
        specs = [
            {"method": method, "variant": variant, "quantity": quantity}
            for method in entry["methods"]
        ]
        columns = [source_numbers(spec, evidence, where) for spec in specs]
        count += not collect_rows(columns, datasets)[1]
    ours, published = f"{count} of {len(variants)}", published_number(entry, evidence)
    if count < len(variants):
        return Outcome(UNKNOWN, ours, reason=f"{len(variants) - count} are not scored everywhere")
    same = count == published
    return Outcome(SETUP, ours, "", "" if same else f"deviates: ours {ours}", len(datasets))


def judge_stated(entry: Entry, evidence: Evidence) -> Outcome:
    """Say in words how the data or the code follow a set-up, or how they deviate.

    ours : what this study does. deviates : the difference, if there is one.
    """
    return _outcome(str(entry["ours"]), str(entry.get("deviates", "")))


def judge_unavailable(entry: Entry, evidence: Evidence) -> Outcome:
    """Say what a check of the claim `needs`."""
    return Outcome(UNKNOWN, reason=f"needs {entry['needs']}")


SETUP_RULE = (
    "the values that this study or its models use are compared with the published ones, without "
    "a tolerance. A set-up is not a result: where it differs, we deviate from the paper"
)
KINDS = {
    "setting": Kind(
        judge_setting,
        "setting",
        SETUP_RULE,
        lambda entry: "values of the study",
        {"paths": needed(NAMES)},
        True,
    ),
    "setups": Kind(
        judge_setups,
        "setting",
        SETUP_RULE,
        lambda entry: "number of combinations",
        {"paths": needed(NAMES)},
        True,
    ),
    "recorded": Kind(
        judge_recorded, "setting", SETUP_RULE, lambda entry: "value of every model", A, True
    ),
    "compared": Kind(
        judge_compared,
        "setting",
        SETUP_RULE,
        lambda entry: "number of scored variants",
        {"variants": needed(NAMES), "methods": needed(NAMES), "quantity": needed(TEXT)},
        True,
    ),
    "stated": Kind(
        judge_stated,
        "in words",
        "we state in words what is done here; no number is compared",
        lambda entry: "",
        {"ours": needed(TEXT), "deviates": TEXT},
        True,
    ),
    "unavailable": Kind(
        judge_unavailable,
        "no rule yet",
        "the verdict names what is missing",
        lambda entry: "",
        {"needs": needed(TEXT)},
    ),
}
