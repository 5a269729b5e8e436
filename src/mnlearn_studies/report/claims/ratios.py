"""Claims about ratios of two quantities: means, ranges, shares and trends."""

import math

import numpy as np
from numpy.typing import NDArray

from mnlearn_studies.report.claims.counts import collect_rows
from mnlearn_studies.report.claims.evidence import (
    A_AND_B,
    NUMBERS_OF_LIST,
    Entry,
    Evidence,
    Kind,
    claim_name,
    datasets_of,
    incomplete,
    numbers_at,
    published_list,
    published_number,
    published_positive,
    signed,
    source_numbers,
)
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    MORE,
    RATIO_TOLERANCE,
    REPRODUCED,
    SMALLER,
    UNKNOWN,
    Outcome,
    ratio_verdict,
)
from mnlearn_studies.report.options import FLAG, LISTS_OF_NAMES, TEXT, needed, one_of
from mnlearn_studies.report.statistics import geometric_mean
from mnlearn_studies.report.tables.table import significant

# A share is at most 1, so shares are compared by their difference and not by their ratio.
SHARE_TOLERANCE = 0.02
# The papers round the ends of a range: 7.8 and 257.9 become "7 to 250".
RANGE_TOLERANCE = 0.2
MEANS = ("arithmetic", "geometric")

_PERCENT = f"{100 * RATIO_TOLERANCE:g} %"
RATIO_RULE = (
    f"`reproduced` if our mean ratio is within {_PERCENT} of the published one. A ratio further "
    "from 1 on the published side `holds more strongly`, one nearer to 1 on that side has a "
    "`smaller effect`, and one on the other side of 1 is `contradicted`"
)


def _ratios(
    entry: Entry, evidence: Evidence, above: str = "a", below: str = "b"
) -> tuple[NDArray[np.float64], list[str]]:
    """Return the ratios, NaN where the divisor is 0, and the datasets that are not scored."""
    columns = [numbers_at(entry, evidence, key) for key in (above, below)]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    return np.array([x / y if y else math.nan for x, y in rows]), missing


def _unusable(ratios: NDArray[np.float64], missing: list[str]) -> Outcome | None:
    if not len(ratios):
        return incomplete("", 0, missing)
    if not (ratios > 0).all():
        return Outcome(UNKNOWN, reason="a ratio is not positive", n_datasets=len(ratios))
    return None


def _mean(entry: Entry, ratios: NDArray[np.float64]) -> float:
    name = entry.get("mean", MEANS[0])
    return float(ratios.mean()) if name == "arithmetic" else geometric_mean(ratios)


def _mean_ratio(
    entry: Entry, evidence: Evidence, ratios: NDArray[np.float64], missing: list[str]
) -> Outcome:
    unusable = _unusable(ratios, missing)
    if unusable:
        return unusable
    mean = _mean(entry, ratios)
    if missing:
        return incomplete(significant(mean), len(ratios), missing)
    published = published_positive(entry, evidence)
    verdict = ratio_verdict(mean, published)
    return Outcome(verdict, significant(mean), signed(mean - published), n_datasets=len(ratios))


def judge_ratio(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the mean ratio of `a` to `b`; mean : arithmetic (the default) or geometric."""
    return _mean_ratio(entry, evidence, *_ratios(entry, evidence))


def judge_speedup(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the mean of the time of `b` over the time of `a`; mean : as for `judge_ratio`."""
    return _mean_ratio(entry, evidence, *_ratios(entry, evidence, "b", "a"))


def judge_orders(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the order of magnitude of a mean speed-up with a range, `published: 10 to 10000`."""
    ratios, missing = _ratios(entry, evidence, "b", "a")
    unusable = _unusable(ratios, missing)
    if unusable:
        return unusable
    mean = _mean(entry, ratios)
    if missing:
        return incomplete(significant(mean), len(ratios), missing)
    low, high = published_list(entry, evidence, 2, separator=" to ")
    if mean > high * (1 + RATIO_TOLERANCE):
        verdict = MORE
    elif mean >= low * (1 - RATIO_TOLERANCE):
        verdict = REPRODUCED
    else:
        verdict = SMALLER if mean > 1 else CONTRADICTED
    return Outcome(verdict, significant(mean), n_datasets=len(ratios))


def judge_speedup_range(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the smallest and the largest speed-up of a dataset, `published: 7 to 250`."""
    ratios, missing = _ratios(entry, evidence, "b", "a")
    unusable = _unusable(ratios, missing)
    if unusable:
        return unusable
    ends = np.array([ratios.min(), ratios.max()])
    ours = " to ".join(significant(float(end)) for end in ends)
    if missing:
        return incomplete(ours, len(ratios), missing)
    theirs = published_list(entry, evidence, len(ends), separator=" to ")
    relative = ends / np.array(theirs) - 1
    if (np.abs(relative) <= RANGE_TOLERANCE).all():
        verdict = REPRODUCED
    elif (relative >= -RANGE_TOLERANCE).all():
        verdict = MORE
    else:
        verdict = SMALLER if ends[0] > 1 else CONTRADICTED
    return Outcome(verdict, ours, n_datasets=len(ratios))


def judge_share(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the mean share of `a` in `b`; rest : whether the share is 1 minus this ratio."""
    ratios, missing = _ratios(entry, evidence)
    if not len(ratios):
        return incomplete("", 0, missing)
    if np.isnan(ratios).any():
        return Outcome(UNKNOWN, reason="the divisor of a share is 0", n_datasets=len(ratios))
    mean = float(1 - ratios.mean() if entry.get("rest") else ratios.mean())
    if missing:
        return incomplete(f"{mean:.3f}", len(ratios), missing)
    difference = mean - published_number(entry, evidence)
    if abs(difference) <= SHARE_TOLERANCE:
        verdict = REPRODUCED
    elif difference > 0:
        verdict = MORE
    else:
        verdict = SMALLER if mean > 0.5 else CONTRADICTED
    return Outcome(verdict, f"{mean:.3f}", f"{difference:+.3f}", n_datasets=len(ratios))


def judge_trend(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare how means of a quantity change over `groups` of variants.

    method, quantity : what is averaged, over the variants of a group and then over datasets.
    published : the published means in the order of the groups, separated by semicolons.
    """
    spec = {key: entry[key] for key in ("method", "quantity")}
    columns = [
        source_numbers({**spec, "variants": group}, evidence, claim_name(entry, evidence))
        for group in entry["groups"]
    ]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    means = [float(mean) for mean in np.mean(rows, axis=0)] if rows else []
    ours = "; ".join(significant(mean) for mean in means)
    if missing:
        return incomplete(ours, len(rows), missing)
    theirs = published_list(entry, evidence, len(columns))
    if list(np.argsort(means)) == list(np.argsort(theirs)) and means[0] > 0:
        verdict = ratio_verdict(means[-1] / means[0], theirs[-1] / theirs[0])
    else:
        verdict = CONTRADICTED
    return Outcome(verdict, ours, n_datasets=len(rows))


def judge_ordered(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare arithmetic means over datasets: all of `high` should exceed all of `low`."""
    where = claim_name(entry, evidence)
    high, low = entry["high"], entry["low"]
    columns = [source_numbers(spec, evidence, where) for spec in [*high, *low]]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    means = [float(mean) for mean in np.mean(rows, axis=0)] if rows else []
    above, below = means[: len(high)], means[len(high) :]
    text = ", ".join(map(significant, above)) + " above " + ", ".join(map(significant, below))
    if missing:
        return incomplete(text if rows else "", len(rows), missing)
    true = sum(x > y for x in above for y in below)
    pairs = math.prod((len(above), len(below)))
    if true == pairs:
        verdict = REPRODUCED
    else:
        verdict = SMALLER if 2 * true > pairs else CONTRADICTED
        text = text.replace("above", "against")
    return Outcome(verdict, text, n_datasets=len(rows))


def _mean_brief(entry: Entry) -> str:
    return f"{entry.get('mean', MEANS[0])}, ±{_PERCENT}"


_MEAN_OF_A_AND_B = {**A_AND_B, "mean": one_of(MEANS)}
KINDS = {
    "ratio": Kind(judge_ratio, "mean ratio", RATIO_RULE, _mean_brief, _MEAN_OF_A_AND_B),
    "speedup": Kind(judge_speedup, "mean ratio", RATIO_RULE, _mean_brief, _MEAN_OF_A_AND_B),
    "orders": Kind(
        judge_orders,
        "order of magnitude",
        f"`reproduced` if our mean speed-up is in the published range, whose ends give way by "
        f"{_PERCENT}; above it `holds more strongly`, below it but above 1 it has a `smaller "
        "effect`, else it is `contradicted`",
        _mean_brief,
        _MEAN_OF_A_AND_B,
    ),
    "speedup_range": Kind(
        judge_speedup_range,
        "range of ratios",
        f"`reproduced` if the least and the greatest speed-up are within "
        f"{100 * RANGE_TOLERANCE:g} % of the published ones; `holds more strongly` if neither is "
        "lower; a `smaller effect` if we are faster on every dataset; else `contradicted`",
        lambda entry: f"±{100 * RANGE_TOLERANCE:g} %",
        A_AND_B,
    ),
    "share": Kind(
        judge_share,
        "mean share",
        f"`reproduced` if our mean share is within {SHARE_TOLERANCE} of the published one; a "
        "larger one `holds more strongly`, a smaller one above a half has a `smaller effect`, "
        "else it is `contradicted`",
        lambda entry: f"±{SHARE_TOLERANCE}",
        {**A_AND_B, "rest": FLAG},
    ),
    "trend": Kind(
        judge_trend,
        "trend of means",
        "`contradicted` if our means are in another order than the published ones; else the "
        f"ratio of the last mean to the first is judged as a mean ratio, within {_PERCENT}",
        lambda entry: f"last over first ±{_PERCENT}",
        {"method": needed(TEXT), "quantity": needed(TEXT), "groups": needed(LISTS_OF_NAMES)},
    ),
    "ordered": Kind(
        judge_ordered,
        "order of means",
        "`reproduced` if every mean that should be higher is higher than every one that should "
        "be lower; a `smaller effect` if this is true of more than half of the pairs; else "
        "`contradicted`",
        lambda entry: "arithmetic",
        {"high": NUMBERS_OF_LIST, "low": NUMBERS_OF_LIST},
    ),
}
