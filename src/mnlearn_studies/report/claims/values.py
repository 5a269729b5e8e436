"""Claims about single values: lengths, sizes, times, choices and growth."""

import numpy as np
from scipy import stats

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.claims.counts import collect_rows, count_brief
from mnlearn_studies.report.claims.evidence import (
    A_AND_B,
    A,
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
    values_at,
)
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    COUNT_TOLERANCE,
    FASTER,
    MORE,
    OFTEN,
    RATIO_TOLERANCE,
    REPRODUCED,
    SMALLER,
    UNKNOWN,
    Outcome,
)
from mnlearn_studies.report.options import NUMBER, NUMBERS, TEXT, needed
from mnlearn_studies.report.tables.table import significant
from mnlearn_studies.study.published import Number

VALUE_TOLERANCE = 0.01
SLOPE_TOLERANCE = 0.2
# A rank correlation below this is weak.
WEAK_CORRELATION = 0.3


def _value(entry: Entry, evidence: Evidence) -> tuple[str, Number | None]:
    dataset = str(entry["dataset"])
    return dataset, numbers_at(entry, evidence, "a").get(dataset)


def judge_value(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare one number: that of `a` on `dataset`."""
    dataset, found = _value(entry, evidence)
    if found is None:
        return incomplete("", 0, [dataset])
    published = published_number(entry, evidence)
    difference = found.value - published
    agrees = abs(difference) <= VALUE_TOLERANCE * abs(published)
    verdict = REPRODUCED if agrees else CONTRADICTED
    return Outcome(verdict, f"{found.value:.4g}", signed(difference), n_datasets=1)


def judge_exceeds(entry: Entry, evidence: Evidence) -> Outcome:
    """Say whether `a` on `dataset` exceeds the published bound.

    limit : dotted path of a grid in the study, whose largest value ends the growth. A value that
    this limit stopped is not judged.
    """
    dataset, found = _value(entry, evidence)
    if found is None:
        return incomplete("", 0, [dataset])
    bound = published_number(entry, evidence)
    path = str(entry["limit"])
    grid = values_at(path, evidence)
    if grid is None:
        raise InputError(f"{claim_name(entry, evidence)}, limit: the study does not set {path}.")
    limit = max(float(tried) for tried in grid)
    ours = f"{found.value:,.0f}"
    if found.value > bound:
        return Outcome(REPRODUCED, ours, n_datasets=1)
    if found.value >= limit * (1 - VALUE_TOLERANCE):
        reason = f"our limit of {limit:,.0f} ended the growth"
        return Outcome(UNKNOWN, ours, reason=reason, n_datasets=1)
    return Outcome(CONTRADICTED, ours, n_datasets=1)


def judge_seconds(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare a time, that of `a` on `dataset`, which the paper calls long."""
    dataset, found = _value(entry, evidence)
    if found is None:
        return incomplete("", 0, [dataset])
    published = published_positive(entry, evidence)
    relative = found.value / published - 1
    verdict = FASTER if relative < 0 else MORE
    if abs(relative) <= RATIO_TOLERANCE:
        verdict = REPRODUCED
    difference = signed(found.value - published)
    return Outcome(verdict, significant(found.value), difference, n_datasets=1)


def judge_slow(entry: Entry, evidence: Evidence) -> Outcome:
    """Say whether `a` often takes more than `limit` seconds."""
    limit = float(entry["limit"])
    rows, missing = collect_rows([numbers_at(entry, evidence, "a")], datasets_of(entry, evidence))
    count = sum(a > limit for (a,) in rows)
    if missing:
        return incomplete(f"{count} of {len(rows)}", len(rows), missing)
    verdict = REPRODUCED if count >= OFTEN * len(rows) else FASTER
    return Outcome(verdict, f"{count} of {len(rows)}", n_datasets=len(rows))


def judge_distribution(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare on how many datasets `a` has each of `values`."""
    datasets = datasets_of(entry, evidence)
    rows, missing = collect_rows([numbers_at(entry, evidence, "a")], datasets)
    found = [a for (a,) in rows]
    counts = [found.count(float(v)) for v in entry["values"]]
    ours = "; ".join(map(str, counts))
    if missing:
        return incomplete(ours, len(rows), missing)
    theirs = published_list(entry, evidence, len(counts))
    off = max(abs(a - b) for a, b in zip(counts, theirs, strict=True))
    verdict = REPRODUCED if off <= COUNT_TOLERANCE else CONTRADICTED
    return Outcome(verdict, ours, n_datasets=len(rows))


def judge_correlation(entry: Entry, evidence: Evidence) -> Outcome:
    """Say whether `a` grows with `b`, by Spearman's rank correlation."""
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b")]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    if missing:
        return incomplete("", len(rows), missing)
    a, b = np.array(rows).T
    if not np.ptp(a) or not np.ptp(b):
        return Outcome(CONTRADICTED, "constant", n_datasets=len(rows))
    rho = float(stats.spearmanr(a, b).statistic)
    verdict = SMALLER if rho > 0 else CONTRADICTED
    if rho >= WEAK_CORRELATION:
        verdict = REPRODUCED
    return Outcome(verdict, f"{rho:.2f}", n_datasets=len(rows))


def judge_growth(entry: Entry, evidence: Evidence) -> Outcome:
    """Compare the power with which `a` grows in `b`: the slope of the logarithms."""
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b")]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    if missing:
        return incomplete("", len(rows), missing)
    table = np.array(rows)
    if (table <= 0).any():
        return Outcome(UNKNOWN, reason="a value is not positive", n_datasets=len(rows))
    slope = float(stats.linregress(np.log(table[:, 1]), np.log(table[:, 0])).slope)
    difference = slope - published_number(entry, evidence)
    if abs(difference) <= SLOPE_TOLERANCE:
        verdict = REPRODUCED
    else:
        verdict = MORE if difference < 0 else CONTRADICTED
    return Outcome(verdict, f"{slope:.2f}", f"{difference:+.2f}", n_datasets=len(rows))


KINDS = {
    "value": Kind(
        judge_value,
        "value",
        f"`reproduced` if our value is within {100 * VALUE_TOLERANCE:g} % of the published one, "
        "else `contradicted`",
        lambda entry: f"±{100 * VALUE_TOLERANCE:g} %",
        {**A, "dataset": needed(TEXT)},
    ),
    "exceeds": Kind(
        judge_exceeds,
        "bound",
        "`reproduced` if our value is above the published bound, `cannot be checked` if it is "
        f"within {100 * VALUE_TOLERANCE:g} % of the largest value that the study allows, else "
        "`contradicted`",
        lambda entry: "not judged at our limit",
        {**A, "dataset": needed(TEXT), "limit": needed(TEXT)},
    ),
    "seconds": Kind(
        judge_seconds,
        "absolute time",
        f"`reproduced` if our time is within {100 * RATIO_TOLERANCE:g} % of the published one, "
        "`faster here` if it is shorter; a longer time `holds more strongly`, because the papers "
        "report such times as long",
        lambda entry: f"±{100 * RATIO_TOLERANCE:g} %",
        {**A, "dataset": needed(TEXT)},
    ),
    "slow": Kind(
        judge_slow,
        "slow datasets",
        "`reproduced` if at least a third of the datasets take longer than the limit, else "
        "`faster here`",
        lambda entry: f"{count_brief(entry)}; limit {entry['limit']:,} s",
        {**A, "limit": needed(NUMBER)},
    ),
    "distribution": Kind(
        judge_distribution,
        "distribution",
        f"`reproduced` if every count differs by at most {COUNT_TOLERANCE} from the published "
        "one, else `contradicted`",
        lambda entry: f"every count ±{COUNT_TOLERANCE}",
        {**A, "values": needed(NUMBERS)},
    ),
    "correlation": Kind(
        judge_correlation,
        "rank correlation",
        f"`reproduced` if Spearman's rank correlation is at least {WEAK_CORRELATION}; a weaker "
        "positive one has a `smaller effect`, else it is `contradicted`",
        lambda entry: f"at least {WEAK_CORRELATION}",
        A_AND_B,
    ),
    "growth": Kind(
        judge_growth,
        "power of growth",
        f"`reproduced` if the slope of the logarithms over datasets is within {SLOPE_TOLERANCE} "
        "of the published power; slower growth `holds more strongly`, faster growth is "
        "`contradicted`",
        lambda entry: f"±{SLOPE_TOLERANCE}",
        A_AND_B,
    ),
}
