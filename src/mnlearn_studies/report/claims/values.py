"""Claims about single values, distributions, trends, correlations and tests."""

import re
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.claims.evidence import (
    ClaimSource,
    Entry,
    OneOrMore,
    Rule,
    columns_of,
    signed,
    values_at,
)
from mnlearn_studies.report.claims.ratios import PERCENT
from mnlearn_studies.report.claims.verdicts import (
    COUNT_TOLERANCE,
    FASTER,
    RATIO_TOLERANCE,
    REPRODUCED,
    UNKNOWN,
    Outcome,
    graded,
    ratio_verdict,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import LEVEL, rank_sums, wilcoxon
from mnlearn_studies.report.tables.table import significant

VALUE_TOLERANCE = 0.01
SLOPE_TOLERANCE = 0.2
# A rank correlation below this is weak.
WEAK_CORRELATION = 0.3
# Above LEVEL and up to this p, an advantage in the published direction is a smaller effect.
MARGINAL = 0.1
# p-values agree if they differ by at most this factor.
P_FACTOR = 10
NOT_SIGNIFICANT = "not significant"

_NEAR = f"{100 * VALUE_TOLERANCE:g} %"


@dataclass(frozen=True, kw_only=True)
class Value(Entry):
    """One number, that of `a` on `dataset`.

    rule : `equal` to the published one; `above` a published bound, where a value is not judged that
    the largest value of the grid at the dotted path `limit` stopped; or a `time` in seconds that
    the paper calls long.
    """

    kind_name = "value"
    a: ClaimSource
    dataset: str
    rule: Literal["equal", "above", "time"] = "equal"
    limit: str | None = None

    rules: ClassVar = {
        "equal": Rule(
            "value",
            f"±{_NEAR}",
            f"`reproduced` if our value is within {_NEAR} of the published one, else "
            "`contradicted`",
        ),
        "above": Rule(
            "bound",
            "not judged at our limit",
            "`reproduced` if our value is above the published bound, `cannot be checked` if it is "
            f"within {_NEAR} of the largest value that the study allows, else `contradicted`",
            ("limit",),
        ),
        "time": Rule(
            "absolute time",
            f"±{PERCENT}",
            f"`reproduced` if our time is within {PERCENT} of the published one, `faster here` if "
            "it is shorter; a longer time `holds more strongly`, because the papers report such "
            "times as long",
        ),
    }

    def datasets_in(self, material: Material) -> list[str]:
        return [self.dataset]

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        value = float(rows[0, 0])
        if self.rule == "above":
            return self._compare_bound(value, material)
        published = self.published_number(is_divisor=self.rule == "time")
        if self.rule == "equal":
            near = abs(value - published) <= VALUE_TOLERANCE * abs(published)
            verdict, ours = graded(near), f"{value:.4g}"
        else:
            relative, ours = value / published - 1, significant(value)
            verdict = graded(abs(relative) <= RATIO_TOLERANCE, more=True)
            if relative < 0 and verdict != REPRODUCED:
                verdict = FASTER
        return Outcome(verdict, ours, signed(value - published))

    def _compare_bound(self, value: float, material: Material) -> Outcome:
        bound, grid = self.published_number(), values_at(material.study, str(self.limit))
        if grid is None:
            raise InputError(f"the study does not set {self.limit}.", where="limit")
        limit = max(map(float, grid))
        ours = f"{value:,.0f}"
        if bound >= value >= limit * (1 - VALUE_TOLERANCE):
            return Outcome(UNKNOWN, ours, reason=f"our limit of {limit:,.0f} ended the growth")
        return Outcome(graded(value > bound), ours)


@dataclass(frozen=True, kw_only=True)
class Distribution(Entry):
    """On how many datasets `a` has each of `values`; the published counts, `3; 4; 7`."""

    kind_name = "distribution"
    a: ClaimSource
    values: tuple[float, ...]

    rules: ClassVar = {
        "": Rule(
            "distribution",
            f"every count ±{COUNT_TOLERANCE}",
            f"`reproduced` if every count differs by at most {COUNT_TOLERANCE} from the published "
            "one, else `contradicted`",
        )
    }

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        counts = [int((rows == value).sum()) for value in self.values]
        theirs = self.published_list(len(counts))
        off = max(abs(a - b) for a, b in zip(counts, theirs, strict=True))
        return Outcome(graded(off <= COUNT_TOLERANCE), "; ".join(map(str, counts)))


@dataclass(frozen=True, kw_only=True)
class Trend(Entry):
    """How means over datasets change from source to source, or how `a` grows in `b`.

    rule : `means`, the means of the sources `a` in the order of the published means, `10; 20; 40`;
    `order`, every mean of `a` should exceed every mean of `b`; or `power`, the slope of the
    logarithms of `a` over those of `b`.
    """

    kind_name = "trend"
    a: OneOrMore
    b: OneOrMore = ()
    rule: Literal["means", "order", "power"] = "means"

    needs_one_job: ClassVar = True
    rules: ClassVar = {
        "means": Rule(
            "trend of means",
            f"last over first ±{PERCENT}",
            "`contradicted` if our means are in another order than the published ones; else the "
            f"ratio of the last mean to the first is judged as a mean ratio, within {PERCENT}",
        ),
        "order": Rule(
            "order of means",
            "arithmetic",
            "`reproduced` if every mean that should be higher is higher than every one that should "
            "be lower; a `smaller effect` if this is true of more than half of the pairs; else "
            "`contradicted`",
            ("b",),
        ),
        "power": Rule(
            "power of growth",
            f"±{SLOPE_TOLERANCE}",
            "`reproduced` if the slope of the logarithms over datasets is within "
            f"{SLOPE_TOLERANCE} of the published power; slower growth `holds more strongly`, "
            "faster growth is `contradicted`",
            ("b",),
        ),
    }

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        if self.rule == "power":
            return self._compare_power(rows)
        means = rows.mean(axis=0).tolist()
        if self.rule == "order":
            n = len(columns_of(material, self.a))
            return _order_of_means(means[:n], means[n:])
        theirs = self.published_list(len(means))
        same_order = list(np.argsort(means)) == list(np.argsort(theirs)) and means[0] > 0
        verdict = graded(False)
        if same_order:
            verdict = ratio_verdict(means[-1] / means[0], theirs[-1] / theirs[0])
        return Outcome(verdict, "; ".join(map(significant, means)))

    def _compare_power(self, rows: NDArray[np.float64]) -> Outcome:
        if (rows <= 0).any():
            return Outcome(UNKNOWN, reason="a value is not positive")
        slope = float(stats.linregress(np.log(rows[:, 1]), np.log(rows[:, 0])).slope)
        difference = slope - self.published_number()
        verdict = graded(abs(difference) <= SLOPE_TOLERANCE, more=difference < 0)
        return Outcome(verdict, f"{slope:.2f}", f"{difference:+.2f}")


def _order_of_means(above: list[float], below: list[float]) -> Outcome:
    true, pairs = sum(x > y for x in above for y in below), len(above) * len(below)
    word = "above" if true == pairs else "against"
    ours = f"{', '.join(map(significant, above))} {word} {', '.join(map(significant, below))}"
    return Outcome(graded(true == pairs, smaller=2 * true > pairs), ours)


@dataclass(frozen=True, kw_only=True)
class Correlation(Entry):
    """Whether `a` grows with `b`, by Spearman's rank correlation."""

    kind_name = "correlation"
    a: ClaimSource
    b: ClaimSource

    rules: ClassVar = {
        "": Rule(
            "rank correlation",
            f"at least {WEAK_CORRELATION}",
            f"`reproduced` if Spearman's rank correlation is at least {WEAK_CORRELATION}; a weaker "
            "positive one has a `smaller effect`, else it is `contradicted`",
        )
    }

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        a, b = rows.T
        if not np.ptp(a) or not np.ptp(b):
            return Outcome(graded(False), "constant")
        rho = float(stats.spearmanr(a, b).statistic)
        return Outcome(graded(rho >= WEAK_CORRELATION, smaller=rho > 0), f"{rho:.2f}")


@dataclass(frozen=True, kw_only=True)
class SignedRank(Entry):
    """Whether `a` is better than `b` by Wilcoxon's signed-rank test over datasets.

    The published text is a p-value, an upper bound such as `p < 0.05`, or `not significant`.
    lower : whether lower values are better.
    """

    kind_name = "test"
    a: ClaimSource
    b: ClaimSource
    lower: bool = False

    rules: ClassVar = {
        "": Rule(
            "Wilcoxon test",
            "",
            "two-sided, exact, ties left out; rank sums give the direction, and the effect is "
            "their difference as a share of their sum (rank-biserial correlation). The verdict is "
            "on the p-value without a correction, as in the papers; that by Holm's rule, for all "
            "tests of the paper, stands beside it. Where the paper finds "
            f"no significant difference, `reproduced` if our p is above {LEVEL}, else "
            f"`contradicted`. Where it finds one, `reproduced` if our p is at most {LEVEL} in the "
            f"same direction and within a factor of {P_FACTOR} of the published p, or below the "
            f"published bound; a smaller p `holds more strongly`, a larger one up to {MARGINAL} "
            "has a `smaller effect`; else `contradicted`",
        )
    }

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        first, second = (-rows if self.lower else rows).T
        result = wilcoxon(first, second)
        plus, minus = rank_sums(first - second)
        ours = (
            f"p {significant(result.p)}, rank sums {plus:g} for and {minus:g} against, effect "
            f"{result.effect:+.2f}"
        )
        return Outcome(p_verdict(result.p, plus > minus, *self._published_p()), ours, p=result.p)

    def _published_p(self) -> tuple[float | None, bool]:
        """Return the published p-value, None if not significant, and whether it is a bound."""
        text = str(self.published)
        if text == NOT_SIGNIFICANT:
            return None, False
        found = re.fullmatch(r"(?:p (<) )?([0-9]*\.?[0-9]+)", text)
        if not found or not 0 < float(found[2]) <= LEVEL:
            fault = (
                f"expected a p-value up to {LEVEL}, `p < VALUE`, or {NOT_SIGNIFICANT!r}, got "
                f"{text!r}."
            )
            raise InputError(fault, where="published")
        return float(found[2]), found[1] is not None

    def brief(self, n_datasets: int) -> str:
        text = str(self.published)
        if text == NOT_SIGNIFICANT:
            return f"p above {LEVEL}"
        return f"p up to {LEVEL}" + ("" if "<" in text else f", within a factor of {P_FACTOR}")


def p_verdict(p: float, favours: bool, published: float | None, is_bound: bool) -> str:
    """Return the verdict on a p-value; see `SignedRank._published_p`.

    favours : whether the difference is in the published direction.
    """
    if published is None:
        return graded(p > LEVEL)
    if p > MARGINAL or not favours:
        return graded(False)
    if is_bound:
        return graded(p <= LEVEL and p < published, smaller=True)
    is_less = p <= LEVEL and p * P_FACTOR < published
    near = p <= LEVEL and not is_less and p <= published * P_FACTOR
    return graded(near, more=is_less, smaller=True)
