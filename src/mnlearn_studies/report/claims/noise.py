"""Claims about our times: whether a verdict could be another one within the spread of the times."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn_studies.report.claims.verdicts import NOISE, UNKNOWN, Outcome
from mnlearn_studies.report.material import Column
from mnlearn_studies.study.published import Number

# A time that was measured once may be off by this factor: four repeats of a record agreed within 15
# per cent.
ONCE = 1.15
# Beside a time of another job it may be off by this factor, and the ratio of two by its square: the
# ratio of two parts of a record changed by up to 3.4 when another machine made it again.
OTHER_JOB = 2.0
_TWO_JOBS = "the times were not measured in one job"


@dataclass(frozen=True, eq=False)
class Spread:
    """Between what times are, by dataset and column; numbers that are no times are as they are.

    low, high : float64, shape (n_datasets, n_columns). times : the columns that are times. one_job
    : whether those of each dataset were measured in one job.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    times: tuple[int, ...]
    one_job: bool


def find_spread(columns: Sequence[Column], datasets: Sequence[str]) -> Spread:
    """Return the spread of numbers on datasets that all columns have."""
    rows = [[column[dataset] for column in columns] for dataset in datasets]
    jobs = [{number.job for number in row if number.job} for row in rows]
    one_job = all(len(each) <= 1 for each in jobs)
    ends = np.array([[_ends(number, one_job) for number in row] for row in rows])
    times = tuple(k for k in range(len(columns)) if any(row[k].job for row in rows))
    return Spread(ends[:, :, 0], ends[:, :, 1], times, one_job)


def _ends(number: Number, one_job: bool) -> tuple[float, float]:
    if not number.job:
        return number.value, number.value
    factor = 1.0 if one_job else OTHER_JOB
    if number.low is None or number.high is None:
        factor = max(factor, ONCE)
        return number.value / factor, number.value * factor
    return number.low / factor, number.high * factor


def judge_noise(
    outcome: Outcome,
    rows: NDArray[np.float64],
    spread: Spread,
    verdict_on: Callable[[NDArray[np.float64]], str],
    *,
    needs_one_job: bool,
) -> Outcome:
    """Return the outcome of a claim, `within the noise` if its times allow another verdict.

    outcome : that of the medians, the `rows`. verdict_on : the verdict on other rows.
    needs_one_job : whether times of different jobs are refused.
    """
    if not spread.times or outcome.verdict == UNKNOWN:
        return outcome
    if needs_one_job and not spread.one_job:
        return Outcome(UNKNOWN, outcome.ours, reason=_TWO_JOBS)
    possible = {verdict_on(moved) for moved in _extremes(rows, spread)} - {outcome.verdict}
    if not possible:
        return outcome
    others = ", ".join(sorted(possible))
    reason = f"the medians give {outcome.verdict!r}, the spread of the times allows {others}"
    return dataclasses.replace(outcome, verdict=NOISE, reason=reason)


def _extremes(rows: NDArray[np.float64], spread: Spread) -> Iterator[NDArray[np.float64]]:
    """Yield rows in which each column of times is at one end of its spread, on all datasets.

    One column of times beside other numbers is also tilted against these, which moves a slope.
    """
    ends = (spread.low, spread.high)
    for chosen in itertools.product(ends, repeat=len(spread.times)):
        moved = rows.copy()
        for k, end in zip(spread.times, chosen, strict=True):
            moved[:, k] = end[:, k]
        yield moved
    others = [k for k in range(rows.shape[1]) if k not in spread.times]
    if len(spread.times) == 1 and others:
        (k,), beside = spread.times, rows[:, others[0]]
        for low, high in (ends, ends[::-1]):
            moved = rows.copy()
            moved[:, k] = np.where(beside < np.median(beside), low[:, k], high[:, k])
            yield moved
