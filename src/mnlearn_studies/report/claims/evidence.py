"""What claims are evaluated on: entries of a study, our scores and the published numbers."""

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import counted
from mnlearn_studies.report.claims.verdicts import NOISE, UNKNOWN, Outcome
from mnlearn_studies.report.material import Column, Material
from mnlearn_studies.report.tables.table import significant
from mnlearn_studies.study.content import ClaimEntry
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import NamedSource, Number, Source


@dataclass(frozen=True)
class ClaimSource(NamedSource):
    """A source of which several variants may count.

    variants : the mean over these variants, on datasets that have all of them. each : these
    variants, one after another.
    """

    variants: tuple[str, ...] = ()
    each: tuple[str, ...] = ()


OneOrMore = ClaimSource | tuple[ClaimSource, ...]


def values_at(study: Study, path: str) -> list[Any] | None:
    """Return the values of a study at a dotted path, as a list; None if there are none."""
    found: Any = study.content
    for key in path.split("."):
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return list(found) if isinstance(found, list) else [found]


def columns_of(material: Material, given: OneOrMore) -> list[Column]:
    """Return the numbers of one or more sources; one with `each` has a column per variant."""
    return [
        _column(material, dataclasses.replace(source, variant=variant))
        for source in (given if isinstance(given, tuple) else (given,))
        for variant in source.each or (source.variant,)
    ]


def _column(material: Material, source: ClaimSource) -> Column:
    if source.variants:
        columns = [
            _column(material, dataclasses.replace(source, variant=v, variants=()))
            for v in source.variants
        ]
        common = [d for d in columns[0] if all(d in other for other in columns)]
        return {d: _mean([column[d] for column in columns]) for d in common}
    return material.numbers(source)


def lacks(material: Material, source: Source) -> bool:
    """Whether our scores have no number of this method and quantity at all."""
    own = material.scores[material.scores["method"] == source.method]
    return not source.is_published and not (own["quantity"] == source.quantity).any()


class Rule(NamedTuple):
    """How a claim gets its verdict: which one when, in `text`, and in a few words in `brief`.

    In `brief`, `{0.mean}` stands for the option `mean`. reads : options that the rule needs and
    that no other rule of the kind reads, unless it says so.
    """

    title: str
    brief: str
    text: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry(ClaimEntry):
    """A claim of a study, of a kind that derives from this class.

    kind_name : what the study writes under `kind`. rules : of the kind; a kind with several has an
    option `rule`. is_setup : whether such claims are about the set-up and not about results. counts
    : whether a published number is a number of datasets. needs_one_job : whether times must be of
    one job on each dataset, because their size counts.
    """

    kind_name: ClassVar[str]
    rules: ClassVar[Mapping[str, Rule]]
    is_setup: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    needs_one_job: ClassVar[bool] = False

    @property
    def rule_used(self) -> Rule:
        """The rule of the claim."""
        return self.rules[getattr(self, "rule", "")]

    def check(self, where: str) -> None:
        """Refuse options that the rule does not read, or lacks; see `study.reading.read`."""
        for key in dict.fromkeys(key for rule in self.rules.values() for key in rule.reads):
            value = getattr(self, key)
            # A number that is not given is not equal to itself.
            is_given = value not in (None, ()) and value == value
            if key in self.rule_used.reads and not is_given:
                raise InputError(f"expected the key {key!r}.", where=where)
            if is_given and key not in self.rule_used.reads:
                advice = f"the rule is {self.rule_used.title!r}"
                raise InputError(f"no option {key!r}.", where=where, advice=advice)

    def judge(self, material: Material) -> Outcome:
        """Return what our numbers say about the claim."""
        columns, datasets = self.columns(material), self.datasets_in(material)
        rows, missing = collect_rows(columns, datasets)
        if not rows:
            return incomplete("", 0, missing)
        values = np.array(rows)
        outcome = self.compare(values, material)
        if missing and outcome.verdict != UNKNOWN:
            return incomplete(outcome.ours, len(rows), missing)
        known = [d for d in datasets if d not in missing]
        outcome = judge_noise(
            outcome, values, [[column[d] for column in columns] for d in known],
            lambda moved: self.compare(moved, material).verdict, needs_one_job=self.needs_one_job,
        )  # fmt: skip
        return dataclasses.replace(outcome, n_datasets=len(rows))

    def compare(self, rows: NDArray[np.float64], material: Material) -> Outcome:
        """Return what the values of the sources, one row per dataset, say about the claim.

        A kind of claim writes this or `judge`.
        """
        raise NotImplementedError

    def columns(self, material: Material) -> list[Column]:
        """Return the numbers of the sources of the claim, in the order of its options."""
        return [column for source in sources_in(self) for column in columns_of(material, source)]

    def datasets_in(self, material: Material) -> list[str]:
        """Return the datasets of the claim: all of the study unless the claim lists them."""
        return material.study.datasets if self.datasets is None else list(self.datasets)

    def brief(self, n_datasets: int) -> str:
        """Return the tolerance and the options of the claim in a few words."""
        return self.rule_used.brief.format(self)

    def published_number(self, *, is_divisor: bool = False) -> float:
        """Return the published value; raise InputError if it is not one number, or no divisor."""
        if isinstance(self.published, str):
            raise InputError(f"expected a number, got {self.published!r}.", where="published")
        if is_divisor and self.published <= 0.0:
            fault = f"expected a number above 0, got {self.published:g}."
            raise InputError(fault, where="published")
        return float(self.published)

    def published_list(self, n: int, separator: str = ";") -> list[float]:
        """Return the `n` published values; each may be a fraction such as 4/85."""
        try:
            values = [
                float(Fraction(part.strip())) for part in str(self.published).split(separator)
            ]
        except (ValueError, ZeroDivisionError) as error:
            raise InputError(f"expected numbers, {error}.", where="published") from error
        if len(values) != n:
            raise InputError(
                f"expected {counted(n, 'number')}, got {len(values)}.", where="published"
            )
        return values


def _mean(found: Sequence[Number]) -> Number:
    """Return the mean of the numbers of variants; times of variants are of one search."""
    value = sum(number.value for number in found) / len(found)
    ends = [
        None if None in of_end else sum(filter(None, of_end)) / len(found)
        for of_end in ([n.low for n in found], [n.high for n in found])
    ]
    return Number(value, job=found[0].job, low=ends[0], high=ends[1])


def collect_rows(
    columns: Sequence[Column], datasets: Sequence[str]
) -> tuple[list[list[float]], list[str]]:
    """Return the values of all columns on each dataset, and the datasets that lack one.

    Digits that no paper prints must not decide which method is better, so values are rounded.
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


def sources_in(value: object) -> Iterator[ClaimSource]:
    """Yield the sources in the options of a claim, in their order."""
    if isinstance(value, ClaimSource):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from sources_in(item)
    elif isinstance(value, Entry):
        for field in dataclasses.fields(value):
            yield from sources_in(getattr(value, field.name))


def incomplete(ours: str, n: int, missing: Sequence[str]) -> Outcome:
    """Return the outcome of a claim for which some datasets have not been scored."""
    reason = f"{n} of {counted(n + len(missing), 'dataset')} scored"
    if n:
        reason += f"; missing: {', '.join(missing)}"
    return Outcome(UNKNOWN, ours, reason=reason, n_datasets=n)


def signed(value: float) -> str:
    """Return a difference with its sign and three significant digits."""
    return ("-" if value < 0 else "+") + significant(abs(value))


# A time that was measured once may be off by this factor: four repeats of a record agreed within 15
# per cent.
ONCE = 1.15
# Beside a time of another job it may be off by this factor, and the ratio of two by its square: the
# ratio of two parts of a record changed by up to 3.4 when another machine made it again.
OTHER_JOB = 2.0


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
    found: Sequence[Sequence[Number]],
    verdict_on: Callable[[NDArray[np.float64]], str],
    *,
    needs_one_job: bool,
) -> Outcome:
    """Return the outcome of a claim, `within the noise` if its times allow another verdict.

    outcome : that of the medians, the `rows`, which are the values of the numbers `found`.
    verdict_on : the verdict on other rows. needs_one_job : whether times of different jobs are
    refused.
    """
    times = [k for k in range(rows.shape[1]) if any(row[k].job for row in found)]
    if not times or outcome.verdict == UNKNOWN:
        return outcome
    one_job = all(len({number.job for number in row if number.job}) <= 1 for row in found)
    if needs_one_job and not one_job:
        return Outcome(UNKNOWN, outcome.ours, reason="the times were not measured in one job")
    ends = np.array([[_ends(number, one_job) for number in row] for row in found])
    possible = {verdict_on(moved) for moved in _extremes(rows, ends, times)} - {outcome.verdict}
    if not possible:
        return outcome
    others = ", ".join(sorted(possible))
    reason = f"the medians give {outcome.verdict!r}, the spread of the times allows {others}"
    return dataclasses.replace(outcome, verdict=NOISE, reason=reason)


def _extremes(
    rows: NDArray[np.float64], ends: NDArray[np.float64], times: Sequence[int]
) -> Iterator[NDArray[np.float64]]:
    """Yield rows in which each column of times is at one end of its spread, on all datasets.

    One column of times beside other numbers is also tilted against these, which moves a slope.
    ends : the least and the most of each number.
    """
    for chosen in itertools.product((0, 1), repeat=len(times)):
        moved = rows.copy()
        for k, end in zip(times, chosen, strict=True):
            moved[:, k] = ends[:, k, end]
        yield moved
    others = [k for k in range(rows.shape[1]) if k not in times]
    if len(times) == 1 and others:
        (k,), beside = times, rows[:, others[0]]
        for low, high in ((0, 1), (1, 0)):
            moved = rows.copy()
            is_below = beside < np.median(beside)
            moved[:, k] = np.where(is_below, ends[:, k, low], ends[:, k, high])
            yield moved
