"""Numbers by dataset: those the papers print, and ours to set beside them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.study.reading import Limit

COLUMNS = ("study", "table", "dataset", "method", "quantity", "value", "note")
# YAML reads the numbers of tables as numbers.
TableName = Annotated[str | int | float, Limit("the name of a table", lambda value: True)]
_KEY = ["study", "table", "dataset", "method", "quantity"]


def load_published(path: Path | str | None = None) -> pd.DataFrame:
    """Read the published numbers, those beside the dataset registry if no path is given, in order.

    Returns the columns study, table, dataset, method, quantity and note as text, value as float,
    printed as the text of the value in the paper, decimals as its number of decimals.
    """
    path = Path(path or registry_path().with_name("published.tsv"))
    rows = [_parse(cells, where) for where, cells in read_table(path, COLUMNS)]
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "printed", "decimals"])
    repeated = frame.duplicated(_KEY)
    if repeated.any():
        number = int(repeated.to_numpy().argmax()) + 2
        raise InputError(f"{path}, line {number}: expected each number once, this one is repeated.")
    return frame


def _parse(cells: Mapping[str, str], where: str) -> tuple[Any, ...]:
    study, table, dataset, method, quantity, printed, note = cells.values()
    try:
        exponent = Decimal(printed).as_tuple().exponent
    except InvalidOperation:
        exponent = "n"
    if not isinstance(exponent, int):
        raise InputError(f"{where}, value: expected a number, got {printed!r}.")
    head = (study, table, dataset, method, quantity)
    return (*head, float(printed), note, printed, max(0, -exponent))


def tidy_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """Return scores with the empty variant as the empty text.

    pandas reads the empty fields of a CSV file as missing; `study.gather.gather` gives empty texts.
    """
    return scores.assign(variant=scores["variant"].astype(object).where(scores.variant.notna(), ""))


@dataclass(frozen=True)
class Number:
    """One number: its value, the text a paper prints (or None), standard error, note.

    job : of our seconds, what they were measured in; empty for other numbers. low, high : the least
    and the most seconds that were measured, if they were measured more than once.
    """

    value: float
    printed: str | None = None
    decimals: int | None = None
    stderr: float | None = None
    note: str = ""
    job: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Source:
    """Where the numbers of a column come from: a published table, or our scores.

    study, table : the paper and its table; empty for our own.
    method, variant, quantity : as in the scores. The variant is empty for the model that was
    chosen on validation data.
    """

    method: str
    quantity: str
    variant: str = ""
    study: str = ""
    table: TableName = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", str(self.table))

    def check(self, where: str) -> None:
        """Refuse a source of a paper without its table; see `study.reading.read`."""
        if self.study and not self.table:
            raise InputError("expected the key 'table'.", where=where)

    @property
    def is_published(self) -> bool:
        """Whether a paper prints the numbers."""
        return bool(self.study)

    def __str__(self) -> str:
        if self.is_published:
            return f"{self.quantity} of {self.method} in {self.study} table {self.table}"
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.quantity} of {self.method}{variant}"


@dataclass(frozen=True)
class NamedSource(Source):
    """A source with a name and a heading; both may be empty, and some parts of a study need one."""

    name: str = ""
    head: str = ""


@dataclass(frozen=True)
class Place:
    """A table of a paper."""

    study: str
    table: TableName

    def source(self, method: str, quantity: str) -> Source:
        """Return the source of a quantity of a method in the table."""
        return Source(method, quantity, study=self.study, table=self.table)


def lookup(published: pd.DataFrame, where: Source) -> dict[str, Number]:
    """Return the published numbers of a source by dataset."""
    found = published[
        (published["study"] == where.study)
        & (published["table"] == where.table)
        & (published["method"] == where.method)
        & (published["quantity"] == where.quantity)
    ]
    return {
        row.dataset: Number(row.value, row.printed, row.decimals, None, row.note)
        for row in found.itertuples()
    }


def numbers(scores: pd.DataFrame, published: pd.DataFrame, where: Source) -> dict[str, Number]:
    """Return the numbers of a source by dataset, ours or published; missing ones are absent.

    scores : tidy, see `tidy_scores`.
    """
    if where.is_published:
        return lookup(published, where)
    own = scores[(scores["method"] == where.method) & (scores["variant"] == where.variant)]
    own = own[own["value"].notna()]
    found = own[own["quantity"] == where.quantity]
    known = {
        row.dataset: Number(
            float(row.value), stderr=None if pd.isna(row.stderr) else float(row.stderr)
        )
        for row in found.itertuples()
    }
    return _with_spread(known, own, where) if is_time(where.quantity) else known


def is_time(quantity: str) -> bool:
    """Whether a quantity is a time that we measure."""
    return re.match(r"(mean_|milli)?seconds_", quantity) is not None


def _with_spread(
    known: Mapping[str, Number], own: pd.DataFrame, where: Source
) -> dict[str, Number]:
    """Return times with the least and the most that were measured, and with their job.

    Times that were measured more than once are of the one job that times all methods on a dataset;
    others are of a job of the method alone.
    """
    low, high = (
        own[own["quantity"] == f"{where.quantity}_{end}"].set_index("dataset")["value"].to_dict()
        for end in ("min", "max")
    )
    return {
        dataset: replace(
            number,
            job="times" if dataset in low else f"{where.method} alone",
            low=low.get(dataset),
            high=high.get(dataset),
        )
        for dataset, number in known.items()
    }


def paired(
    a: Mapping[str, Number],
    b: Mapping[str, Number],
    datasets: Iterable[str],
    as_printed: bool = True,
) -> list[tuple[str, float, float]]:
    """Return (dataset, value, value) where both are known.

    as_printed : where one of the two is printed, round the other to as many decimals: what the
        paper does not print must not decide who is better.
    """
    out = []
    for dataset in datasets:
        if dataset in a and dataset in b:
            first, second = a[dataset], b[dataset]
            decimals = [n.decimals for n in (first, second) if n.decimals is not None]
            values = (first.value, second.value)
            if as_printed and len(decimals) == 1:
                values = (round(values[0], decimals[0]), round(values[1], decimals[0]))
            out.append((dataset, *values))
    return out
