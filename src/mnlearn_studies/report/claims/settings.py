"""Claims about the set-up: settings of a study against those of its paper; unchecked claims."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.claims.evidence import (
    Entry,
    OneOrMore,
    Rule,
    collect_rows,
    columns_of,
    values_at,
)
from mnlearn_studies.report.claims.verdicts import SETUP, UNKNOWN, Outcome
from mnlearn_studies.report.material import Material

SETUP_RULE = (
    "the values that this study or its models use are compared with the published ones, without "
    "a tolerance. A set-up is not a result: where it differs, we deviate from the paper"
)


def _outcome(ours: str, deviates: str = "") -> Outcome:
    return Outcome(SETUP, ours, reason=f"deviates: {deviates}" if deviates else "")


@dataclass(frozen=True, kw_only=True)
class Setting(Entry):
    """A setting of the study, or of its models, against the published one.

    rule :
        - values: those that the study has at the dotted `paths`. The published text has one of
          three forms: `a; b; c`, all values in any order; `a to b`, the smallest and the largest
          value; `a, times b`, the smallest value and the factor between neighbours. Values that the
          study sets for some datasets only have to be the same;
        - combinations: the number of combinations of the values at `paths`;
        - recorded: the value of `a` that every scored model recorded;
        - scored: how many of the variants, `each` of the sources `a`, are scored for all sources.
    """

    kind_name = "setting"
    rule: Literal["values", "combinations", "recorded", "scored"] = "values"
    paths: tuple[str, ...] = ()
    a: OneOrMore = ()

    is_setup: ClassVar = True
    rules: ClassVar = {
        "values": Rule("setting", "values of the study", SETUP_RULE, ("paths",)),
        "combinations": Rule("setting", "number of combinations", SETUP_RULE, ("paths",)),
        "recorded": Rule("setting", "value of every model", SETUP_RULE, ("a",)),
        "scored": Rule("setting", "number of scored variants", SETUP_RULE, ("a",)),
    }

    def judge(self, material: Material) -> Outcome:
        if self.rule == "recorded":
            return super().judge(material)
        if self.rule == "scored":
            return self._judge_scored(material)
        values = []
        for path in self.paths:
            method = path.split(".")[1] if path.startswith("methods.") else None
            if method is not None and method not in material.study.methods:
                return Outcome(UNKNOWN, reason=f"the study does not have the method {method}")
            found = values_at(material.study, path)
            if found is None:
                return _outcome("", f"the study does not set {path}")
            values.append(found)
        if self.rule == "combinations":
            count = math.prod(map(len, values))
            same = count == self.published_number()
            return _outcome(str(count), "" if same else f"ours {count}")
        return self._judge_values([value for found in values for value in found], material)

    def _judge_values(self, values: Sequence[Any], material: Material) -> Outcome:
        ours = "; ".join(map(_text, values))
        if not _agrees(values, str(self.published)):
            return _outcome(ours, f"ours {ours}")
        exceptions = (_exceptions(path, material) for path in self.paths)
        others = next(filter(None, exceptions), [])
        return _outcome(ours, f"other values on {', '.join(others)}" if others else "")

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        values = np.unique(rows).tolist()
        ours = "; ".join(map(_text, values))
        return _outcome(ours, "" if values == [self.published_number()] else f"ours {ours}")

    def _judge_scored(self, material: Material) -> Outcome:
        sources = self.a if isinstance(self.a, tuple) else (self.a,)
        by_variant = list(zip(*(columns_of(material, source) for source in sources), strict=True))
        datasets = self.datasets_in(material)
        count = sum(not collect_rows(columns, datasets)[1] for columns in by_variant)
        ours = f"{count} of {len(by_variant)}"
        if count < len(by_variant):
            reason = f"{len(by_variant) - count} are not scored everywhere"
            return Outcome(UNKNOWN, ours, reason=reason)
        same = count == self.published_number()
        outcome = _outcome(ours, "" if same else f"ours {ours}")
        return dataclasses.replace(outcome, n_datasets=len(datasets))


def _exceptions(path: str, material: Material) -> list[str]:
    parts = path.split(".")
    if len(parts) != 4 or parts[0] != "methods" or parts[2] != "grid":
        return []
    method, name = material.study.content["methods"][parts[1]], parts[3]
    usual = method["grid"][name]
    exceptions = method.get("exceptions", {})
    return [d for d, other in exceptions.items() if name in other and other[name] != usual]


def _text(value: object) -> str:
    """Return a value as text in which 1, 1.0 and "1" are equal."""
    try:
        return f"{float(str(value)):.12g}"
    except ValueError:
        return str(value)


def _agrees(values: Sequence[Any], published: str) -> bool:
    try:
        if " to " in published:
            ends = sorted(float(part) for part in published.split(" to "))
            return [min(map(float, values)), max(map(float, values))] == ends
        if ", times " in published:
            first, factor = (float(part) for part in published.split(", times "))
            powers = [first * factor**k for k in range(len(values))]
            return all(math.isclose(a, b) for a, b in zip(sorted(values), powers, strict=True))
    except (TypeError, ValueError) as error:
        raise InputError(f"expected numbers, {error}.", where="published") from error
    return {_text(value) for value in values} == {_text(p.strip()) for p in published.split(";")}


@dataclass(frozen=True, kw_only=True)
class Stated(Entry):
    """How the data or the code follow a set-up, or how they deviate, in words.

    ours : what this study does. deviates : the difference, if there is one.
    """

    kind_name = "stated"
    ours: str
    deviates: str = ""

    is_setup: ClassVar = True
    rules: ClassVar = {
        "": Rule("in words", "", "we state in words what is done here; no number is compared")
    }

    def judge(self, material: Material) -> Outcome:
        return _outcome(self.ours, self.deviates)


@dataclass(frozen=True, kw_only=True)
class Unavailable(Entry):
    """A claim that is not checked, and what a check of it `needs`."""

    kind_name = "unavailable"
    needs: str

    rules: ClassVar = {"": Rule("no rule yet", "", "the verdict names what is missing")}

    def judge(self, material: Material) -> Outcome:
        return Outcome(UNKNOWN, reason=f"needs {self.needs}")
