"""Claims about Wilcoxon's signed-rank test over datasets."""

import re

import numpy as np

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.claims.counts import collect_rows
from mnlearn_studies.report.claims.evidence import (
    A_AND_B,
    Entry,
    Evidence,
    Kind,
    claim_name,
    datasets_of,
    incomplete,
    numbers_at,
)
from mnlearn_studies.report.claims.verdicts import CONTRADICTED, MORE, REPRODUCED, SMALLER, Outcome
from mnlearn_studies.report.options import FLAG
from mnlearn_studies.report.statistics import rank_sums, wilcoxon
from mnlearn_studies.report.tables.table import significant

LEVEL = 0.05
# Above LEVEL and up to this p, an advantage in the published direction is a smaller effect.
MARGINAL = 0.1
# p-values agree if they differ by at most this factor.
P_FACTOR = 10
NOT_SIGNIFICANT = "not significant"


def judge_signed_rank(entry: Entry, evidence: Evidence) -> Outcome:
    """Test by Wilcoxon's signed-rank test whether `a` is better than `b`.

    published : a p-value, an upper bound such as `p < 0.05`, or `not significant`. lower : whether
    lower values are better.
    """
    columns = [numbers_at(entry, evidence, key) for key in ("a", "b")]
    rows, missing = collect_rows(columns, datasets_of(entry, evidence))
    if missing:
        return incomplete("", len(rows), missing)
    table = (-1 if entry.get("lower") else 1) * np.array(rows)
    result = wilcoxon(table[:, 0], table[:, 1])
    plus, minus = rank_sums(table[:, 0] - table[:, 1])
    ours = f"p {significant(result.p)}, rank sums {plus:g} for and {minus:g} against"
    verdict = _verdict(result.p, plus > minus, *_published(entry, evidence))
    return Outcome(verdict, ours, n_datasets=result.n)


def _published(entry: Entry, evidence: Evidence) -> tuple[float | None, bool]:
    """Return the published p-value, None if not significant, and whether it is a bound."""
    text = str(entry["published"])
    if text == NOT_SIGNIFICANT:
        return None, False
    found = re.fullmatch(r"(?:p (<) )?([0-9]*\.?[0-9]+)", text)
    if not found or not 0 < float(found[2]) <= LEVEL:
        where = claim_name(entry, evidence)
        raise InputError(
            f"{where}, published: expected a p-value up to {LEVEL}, `p < VALUE`, or "
            f"{NOT_SIGNIFICANT!r}, got {text!r}."
        )
    return float(found[2]), found[1] is not None


def _verdict(p: float, favours: bool, published: float | None, is_bound: bool) -> str:
    if published is None:
        return REPRODUCED if p > LEVEL else CONTRADICTED
    if p > MARGINAL or not favours:
        return CONTRADICTED
    if p > LEVEL:
        return SMALLER
    if is_bound:
        return REPRODUCED if p < published else SMALLER
    if p * P_FACTOR < published:
        return MORE
    return SMALLER if p > published * P_FACTOR else REPRODUCED


def _brief(entry: Entry) -> str:
    text = str(entry["published"])
    if text == NOT_SIGNIFICANT:
        return f"p above {LEVEL}"
    return f"p up to {LEVEL}" + ("" if "<" in text else f", within a factor of {P_FACTOR}")


KINDS = {
    "wilcoxon": Kind(
        judge_signed_rank,
        "Wilcoxon test",
        "two-sided, exact, ties left out; rank sums give the direction. Where the paper finds no "
        f"significant difference, `reproduced` if our p is above {LEVEL}, else `contradicted`. "
        f"Where it finds one, `reproduced` if our p is at most {LEVEL} in the same direction and "
        f"within a factor of {P_FACTOR} of the published p, or below the published bound; a "
        f"smaller p `holds more strongly`, a larger one up to {MARGINAL} has a `smaller effect`; "
        "else `contradicted`",
        _brief,
        {**A_AND_B, "lower": FLAG},
    )
}
