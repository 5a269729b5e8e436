"""Claims that count datasets: where one method is better, or where a number is within bounds."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.claims.evidence import (
    ClaimSource,
    Entry,
    OneOrMore,
    Rule,
)
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    COUNT_TOLERANCE,
    FASTER,
    WORDS,
    Outcome,
    count_verdict,
)
from mnlearn_studies.report.material import Column, Material
from mnlearn_studies.study.published import Number

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
SLOW_RULE = (
    "`reproduced` if at least a third of the datasets take longer than the limit, else "
    "`faster here`"
)
# Whether the values of a dataset count, for rules that compare single values with bounds.
HOLDS: dict[str, Callable[["Count", Sequence[float]], bool]] = {
    "near": lambda of, x: abs(x[0] - x[1]) / x[2] < of.bound,
    "above": lambda of, x: x[0] - x[1] >= of.bound * abs(x[1]),
    "apart": lambda of, x: abs(x[0] - x[1]) >= of.bound * abs(x[1]),
    "similar": lambda of, x: abs(x[0] - x[1]) <= of.bound * abs(x[1]),
    "beyond": lambda of, x: x[0] >= of.bound * abs(x[1] - x[2]),
    "inside": lambda of, x: of.low <= x[0] <= of.high,
    "powers": lambda of, x: x[1] ** of.low <= x[0] <= x[1] ** of.high,
    "longer": lambda of, x: x[0] > of.bound,
}


def _rule(extras: str, *reads: str, title: str = "number of datasets") -> Rule:
    return Rule(title, extras, COUNT_RULE, reads)


@dataclass(frozen=True, kw_only=True)
class Count(Entry):
    """The number of datasets on which a rule holds.

    a, b, c : what is compared; only the rules `better`, `best` and those of cells take lists.
    rule :
        - better: every source of `a` is better than every source of `b`;
        - best: the best of the sources of `a` whose names are in `best` beats all its others;
        - cells: counts pairs and not datasets: each source of `a` against the same one of `b`;
        - most_cells: more than half of these pairs of a dataset are so;
        - near: `a` and `b` differ by less than `bound` nats per variable;
        - above: `a` exceeds `b` by at least `bound`, a share of the size of `b`; a bound below 0
          counts where `a` is at most this share below `b`;
        - apart, similar: they differ by at least, or by at most, the bound;
        - beyond: `a` is at least `bound` times the difference of `b` and `c`;
        - inside: `a` is from `low` to `high`;
        - powers: `a` is from `b` to the power `low` to `b` to the power `high`;
        - longer: `a` takes more than `bound` seconds, which the paper calls long.
    lower : whether lower values are better. ties : whether a tie of the best with another source
    counts. direction : which counts support the statement more strongly.
    """

    kind_name = "count"
    a: OneOrMore
    b: OneOrMore = ()
    c: ClaimSource | None = None
    rule: Literal[
        "better", "best", "cells", "most_cells", "near", "above", "apart", "similar", "beyond",
        "inside", "powers", "longer",
    ] = "better"  # fmt: skip
    best: tuple[str, ...] = ()
    bound: float = math.nan
    low: float = math.nan
    high: float = math.nan
    lower: bool = False
    ties: bool = False
    direction: Literal["more", "fewer", "neither"] = "more"

    counts: ClassVar = True
    rules: ClassVar = {
        "better": _rule("", "b"),
        "best": _rule("", "best"),
        "cells": _rule("", "b", title="number of cells"),
        "most_cells": _rule("; in more than half of the cells", "b"),
        "near": _rule("; bound {0.bound} nats per variable", "b", "bound"),
        "above": _rule("; bound {0.per_cent:g} %", "b", "bound"),
        "apart": _rule("; apart; bound {0.per_cent:g} %", "b", "bound"),
        "similar": _rule("; similar; bound {0.per_cent:g} %", "b", "bound"),
        "beyond": _rule("; factor {0.bound:g}", "b", "c", "bound"),
        "inside": _rule("; {0.low:g} to {0.high:g}", "low", "high"),
        "powers": _rule("; powers {0.low:g} to {0.high:g}", "b", "low", "high"),
        "longer": Rule("slow datasets", "; limit {0.bound:,} s", SLOW_RULE, ("bound",)),
    }

    def check(self, where: str) -> None:
        super().check(where)
        for key in ("a", "b"):
            given = getattr(self, key)
            if self.rule in HOLDS and given and isinstance(given, tuple):
                fault = f"expected a mapping with the rule {self.rule!r}, got a list."
                raise InputError(fault, where=f"{where}, {key}")
        for name in self.best:
            if name not in self._names:
                raise InputError(f"no column is named {name!r}.", where=f"{where}, best")
        if isinstance(self.published, str) and self.published not in WORDS:
            fault = f"expected a number or one of {', '.join(WORDS)}, got {self.published!r}."
            raise InputError(fault, where=f"{where}, published")

    @property
    def _names(self) -> list[str]:
        sources = self.a if isinstance(self.a, tuple) else (self.a,)
        return [source.name for source in sources for _ in source.each or ("",)]

    @property
    def per_cent(self) -> float:
        """The bound in per cent."""
        return 100 * self.bound

    def columns(self, material: Material) -> list[Column]:
        columns = super().columns(material)
        if self.rule == "near":
            columns.append({d: Number(known.n_vars) for d, known in load_registry().items()})
        return columns

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        n, n_columns = len(self._names), rows.shape[1]
        count, total, chance = sum(map(self._holding, rows.tolist())), len(rows), 0.5
        if self.rule == "cells":
            total *= n
        elif self.rule == "best":
            chance = len(self.best) / n
        elif self.rule == "better":
            chance = 1 / math.comb(n_columns, n)
        verdict = count_verdict(count, total, self.published, chance, direction=self.direction)
        if self.rule == "longer" and verdict == CONTRADICTED:
            verdict = FASTER
        difference = "" if isinstance(self.published, str) else f"{count - self.published:+g}"
        return Outcome(verdict, f"{count} of {total}", difference)

    def _holding(self, row: list[float]) -> int:
        if self.rule in HOLDS:
            return HOLDS[self.rule](self, row)
        n, values = len(self._names), [-x for x in row] if self.lower else row
        if self.rule == "better":
            return min(values[:n]) > max(values[n:])
        if "cells" in self.rule:
            n_better = sum(a > b for a, b in zip(values[:n], values[n:], strict=True))
            return n_better if self.rule == "cells" else 2 * n_better > n
        by_name = list(zip(self._names, values, strict=True))
        best = max(value for name, value in by_name if name in self.best)
        others = [value for name, value in by_name if name not in self.best]
        other = max(others, default=-math.inf)
        return best > other or (self.ties and best == other)

    def brief(self, n_datasets: int) -> str:
        if isinstance(self.published, str):
            text = f"`{self.published}` is {WORDS[self.published]}"
        else:
            text = "exact" if self.published in (0, n_datasets) else f"±{COUNT_TOLERANCE}"
        if self.direction != "more":
            is_neither = self.direction == "neither"
            text += "; no direction" if is_neither else f"; {self.direction} is stronger"
        text += "; lower is better" * self.lower + "; ties count" * self.ties
        return text + super().brief(n_datasets)
