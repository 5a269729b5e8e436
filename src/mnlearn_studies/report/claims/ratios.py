"""Claims about the ratios of two quantities: their mean, a share, a range."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn_studies.report.claims.evidence import ClaimSource, Entry, Rule, signed
from mnlearn_studies.report.claims.verdicts import (
    RATIO_TOLERANCE,
    UNKNOWN,
    Outcome,
    graded,
    ratio_verdict,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import geometric_mean
from mnlearn_studies.report.tables.table import significant

# A share is at most 1, so shares are compared by their difference and not by their ratio.
SHARE_TOLERANCE = 0.02
# The papers round the ends of a range: 7.8 and 257.9 become "7 to 250".
RANGE_TOLERANCE = 0.2
PERCENT = f"{100 * RATIO_TOLERANCE:g} %"

_NOT_POSITIVE = Outcome(UNKNOWN, reason="a ratio is not positive")
_SHARE = Rule(
    "mean share",
    f"±{SHARE_TOLERANCE}",
    f"`reproduced` if our mean share is within {SHARE_TOLERANCE} of the published one; a "
    "larger one `holds more strongly`, a smaller one above a half has a `smaller effect`, "
    "else it is `contradicted`",
)


@dataclass(frozen=True, kw_only=True)
class _OfRatios(Entry):
    """A claim about the ratios of `a` to `b`, NaN where `b` is 0."""

    a: ClaimSource
    b: ClaimSource

    needs_one_job: ClassVar = True

    def ratios(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ratio of each dataset."""
        return np.array([x / y if y else math.nan for x, y in rows.tolist()])


@dataclass(frozen=True, kw_only=True)
class Ratio(_OfRatios):
    """The mean ratio of `a` to `b`, the mean `share` of `a` in `b`, or the `rest` of this share."""

    kind_name = "ratio"
    rule: Literal["ratio", "share", "rest"] = "ratio"
    mean: Literal["arithmetic", "geometric"] = "arithmetic"

    rules: ClassVar = {
        "ratio": Rule(
            "mean ratio",
            f"{{0.mean}}, ±{PERCENT}",
            f"`reproduced` if our mean ratio is within {PERCENT} of the published one. A ratio "
            "further from 1 on the published side `holds more strongly`, one nearer to 1 on that "
            "side has a `smaller effect`, and one on the other side of 1 is `contradicted`",
        ),
        "share": _SHARE,
        "rest": _SHARE,
    }

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        ratios = self.ratios(rows)
        if self.rule != "ratio":
            return self._compare_share(ratios)
        if not (ratios > 0).all():
            return _NOT_POSITIVE
        mean = float(ratios.mean()) if self.mean == "arithmetic" else geometric_mean(ratios)
        published = self.published_number(is_divisor=True)
        return Outcome(ratio_verdict(mean, published), significant(mean), signed(mean - published))

    def _compare_share(self, ratios: NDArray[np.float64]) -> Outcome:
        if np.isnan(ratios).any():
            return Outcome(UNKNOWN, reason="the divisor of a share is 0")
        mean = float(1 - ratios.mean() if self.rule == "rest" else ratios.mean())
        difference = mean - self.published_number()
        near = abs(difference) <= SHARE_TOLERANCE
        verdict = graded(near, more=difference > 0, smaller=mean > 0.5)
        return Outcome(verdict, f"{mean:.3f}", f"{difference:+.3f}")


@dataclass(frozen=True, kw_only=True)
class Range(_OfRatios):
    """The mean of ratios in a published range, `7 to 250`, or their `ends` against its ends."""

    kind_name = "range"
    rule: Literal["mean", "ends"] = "mean"

    rules: ClassVar = {
        "mean": Rule(
            "order of magnitude",
            f"arithmetic, ±{PERCENT}",
            "`reproduced` if our mean speed-up is in the published range, whose ends give way by "
            f"{PERCENT}; above it `holds more strongly`, below it but above 1 it has a `smaller "
            "effect`, else it is `contradicted`",
        ),
        "ends": Rule(
            "range of ratios",
            f"±{100 * RANGE_TOLERANCE:g} %",
            "`reproduced` if the least and the greatest speed-up are within "
            f"{100 * RANGE_TOLERANCE:g} % of the published ones; `holds more strongly` if neither "
            "is lower; a `smaller effect` if we are faster on every dataset; else `contradicted`",
        ),
    }

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        ratios = self.ratios(rows)
        if not (ratios > 0).all():
            return _NOT_POSITIVE
        low, high = self.published_list(2, separator=" to ")
        if self.rule == "ends":
            least, greatest = float(ratios.min()), float(ratios.max())
            relative = np.array([least / low - 1, greatest / high - 1])
            is_near = bool((np.abs(relative) <= RANGE_TOLERANCE).all())
            is_more = bool((relative >= -RANGE_TOLERANCE).all())
            ours = f"{significant(least)} to {significant(greatest)}"
            return Outcome(graded(is_near, more=is_more, smaller=least > 1), ours)
        mean = float(ratios.mean())
        is_more = mean > high * (1 + RATIO_TOLERANCE)
        is_near = not is_more and mean >= low * (1 - RATIO_TOLERANCE)
        return Outcome(graded(is_near, more=is_more, smaller=mean > 1), significant(mean))
