"""Columns of a table with a row per dataset: ours, published, or computed from two others."""

from dataclasses import dataclass, replace

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.tables.table import significant
from mnlearn_studies.study.published import Place, Source, TableName
from mnlearn_studies.study.reading import Decimals, Pair

# How a column is computed from two others, by the key of its options.
COMPUTED = {
    "minus": lambda x, y: x - y,
    "over": lambda x, y: x / y if y else None,
    "percent_less": lambda x, y: 100 * (1 - x / y) if y else None,
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: the keys of a source, or one of three keys with the names of two other columns.

    - name, head, group: name in the CSV file, heading (the name, if empty), and heading above a
      group of columns.
    - method, quantity, variant, study, table: see `study.published.Source`.
    - minus, over, percent_less: two columns, of which the numbers are computed: their difference;
      their ratio; by how many per cent the first is less.
    - decimals: those of the table, if None; significant: three significant digits instead of
      decimals; stderr: with standard errors.
    - published_quantity: in the paper of a table with such rows; that of ours, if empty.
    - rank: the best of all columns of equal rank is bold; lower: lower is better.
    """

    name: str
    head: str = ""
    group: str = ""
    method: str | None = None
    quantity: str | None = None
    variant: str = ""
    study: str = ""
    table: TableName = ""
    minus: Pair | None = None
    over: Pair | None = None
    percent_less: Pair | None = None
    decimals: Decimals | None = None
    significant: bool = False
    rank: str = ""
    lower: bool = False
    stderr: bool = False
    published_quantity: str = ""

    def check(self, where: str) -> None:
        """Refuse a column without numbers, or with options that contradict each other."""
        given = [key for key in COMPUTED if getattr(self, key)]
        if len(given) > 1:
            fault = f"expected one of {', '.join(COMPUTED)}, got {' and '.join(given)}."
            raise InputError(fault, where=where)
        for key in ("minus", "stderr"):
            if self.significant and getattr(self, key):
                fault = f"expected decimals in a column with {key!r}."
                raise InputError(fault, where=f"{where}, significant")
        for key in ("method", "quantity"):
            if not given and getattr(self, key) is None:
                raise InputError(f"expected the key {key!r}.", where=where)
        if self.study and not self.table:
            raise InputError("expected the key 'table'.", where=where)

    @property
    def title(self) -> str:
        """The heading."""
        return self.head or self.name

    @property
    def computed(self) -> tuple[str, str, str] | None:
        """The key of `COMPUTED` and the names of two columns; None for a column of numbers."""
        return next(((key, *getattr(self, key)) for key in COMPUTED if getattr(self, key)), None)

    @property
    def source(self) -> Source | None:
        """Where the numbers come from; None for a computed column."""
        if self.method is None or self.quantity is None or self.computed:
            return None
        return Source(self.method, self.quantity, self.variant, self.study, self.table)

    @property
    def is_published(self) -> bool:
        """Whether the numbers are those of a paper."""
        return self.source is not None and self.source.is_published

    def in_paper(self, place: Place) -> "Column":
        """Return the column with the published numbers as its source."""
        source = place.source("", self.published_quantity or self.quantity or "")
        return replace(
            self, quantity=source.quantity, study=source.study, table=source.table, stderr=False,
            minus=None, over=None, percent_less=None,
        )  # fmt: skip

    def rounded(self, value: float) -> float:
        """Return a value as the column displays it."""
        return float(significant(value)) if self.decimals is None else round(value, self.decimals)


@dataclass(frozen=True, kw_only=True)
class RankedColumn(Column):
    """A column of a method that is ranked, with its heading. It may be one of another table."""

    name: str = ""

    def check(self, where: str) -> None:
        super().check(where)
        if not self.head:
            raise InputError("expected the key 'head'.", where=where)
        if self.source is None:
            raise InputError("expected a column of numbers, not a computed one.", where=where)
