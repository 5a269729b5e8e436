"""Tables with a row per dataset, or one of ours above one of the published numbers."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.products import Material
from mnlearn_studies.report.tables.columns import (
    Column,
    OfColumns,
    column_cells,
    column_data,
    exceeding_notes,
    match_notes,
    published_notes,
    wilcoxon_notes,
)
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    label_cell,
)
from mnlearn_studies.study.published import Place
from mnlearn_studies.study.reading import Pair


@dataclass(frozen=True, kw_only=True)
class Compare(OfColumns):
    """A table with a row per dataset; columns are ours, published or computed.

    matches : pairs of names of columns, of which a note counts how often they are equal.
    """

    matches: tuple[Pair, ...] = ()

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        columns = self.shown
        data = column_data(columns, material)
        ours = [c.name for c in columns if c.source and not c.is_published]
        datasets = [d for d in material.datasets if any(d in data[name] for name in ours)]
        rows = [
            Row((label_cell(material, d), *column_cells(d, columns, data)), (d,)) for d in datasets
        ]
        heads = ("dataset", *(c.title for c in columns))
        groups = [("", *(c.group for c in columns))] if any(c.group for c in columns) else []
        return Table(
            columns=("dataset", *(c.name for c in columns)),
            header=(*groups, heads),
            alignment="l" + "r" * len(columns),
            body=(*rows, *self.mean_rows(datasets, columns, data)),
            notes=(
                *wilcoxon_notes(columns, data, self.tests, datasets),
                *exceeding_notes(columns, data, datasets),
                *match_notes(columns, data, data, self.matches, datasets),
                *published_notes(columns, data, datasets, material.labels),
            ),
            with_stderr=tuple(c.name for c in columns if c.stderr),
        )


@dataclass(frozen=True, kw_only=True)
class StackedColumn(Column):
    """A column of ours; `published_quantity` is the name of the published number, if another."""

    published_quantity: str = ""

    def check(self, where: str) -> None:
        """Refuse a column without a method; see `Column.check`."""
        if self.method is None:
            raise InputError("expected the key 'method'.", where=where)
        super().check(where)


@dataclass(frozen=True, kw_only=True)
class Stacked(OfColumns):
    """Two rows per dataset under the same columns: ours, and the numbers of a `published` table.

    The best of each rank is bold in each row. Tests compare our numbers. matches : names of
    columns, of which a note counts how often the two rows are equal.
    """

    published: Place
    columns: tuple[StackedColumn, ...]
    matches: tuple[str, ...] = ()

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        columns = self.shown
        theirs = self._published_columns(columns)
        data, published = column_data(columns, material), column_data(theirs, material)
        datasets = [d for d in material.datasets if any(d in found for found in data.values())]
        body = []
        for dataset in datasets:
            label = label_cell(material, dataset)
            cells = column_cells(dataset, columns, data)
            body.append(Row((label, *_side("ours"), *cells), (dataset,)))
            if any(dataset in found for found in published.values()):
                cells = column_cells(dataset, theirs, published)
                body.append(Row((label, *_side("published"), *cells), (dataset,)))
        means = zip(
            self.mean_rows(datasets, columns, data, *_side("ours")),
            self.mean_rows(datasets, theirs, published, *_side("published")),
            strict=True,
        )
        heads = ("dataset", "", *(c.title for c in columns))
        return Table(
            columns=("dataset", "numbers", *(c.name for c in columns)),
            header=(("", "", *(c.group for c in columns)), heads),
            alignment="ll" + "r" * len(columns),
            body=(*body, *(row for pair in means for row in pair)),
            notes=(
                *match_notes(
                    columns, data, published, [(name, name) for name in self.matches], datasets
                ),
                *wilcoxon_notes(columns, data, self.tests, datasets),
                *published_notes(theirs, published, datasets, material.labels),
            ),
            with_stderr=tuple(c.name for c in columns if c.stderr),
        )

    def _published_columns(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns with the published numbers as their source."""
        place = self.published
        return [
            dataclasses.replace(
                shown,
                quantity=own.published_quantity or own.quantity or "",
                study=place.study,
                table=place.table,
                stderr=False,
                minus=None,
                over=None,
                percent_less=None,
                exceeds=None,
            )
            for own, shown in zip(self.columns, columns, strict=True)
        ]


def _side(name: str) -> tuple[Cell, ...]:
    return (Cell(name, name),)
