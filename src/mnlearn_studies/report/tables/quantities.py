"""Quantities of a method and the published ones, for tables of times and sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from mnlearn_studies.report.options import Options
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, number_cell
from mnlearn_studies.study.published import Number, Source, numbers, source


@dataclass(frozen=True)
class Quantities:
    """Quantities of a method: ours, and the published ones if the options name a table of them.

    Attributes
    ----------
    method : str
        Label of the method.
    quantities : mapping of str to str
        Quantity of each heading.
    ours, theirs : mapping of str to mapping of str to Number
        Numbers by heading and dataset; `theirs` is empty if the options name no table.
    """

    method: str
    quantities: Mapping[str, str]
    ours: Mapping[str, Mapping[str, Number]]
    theirs: Mapping[str, Mapping[str, Number]]

    def cells(self, dataset: str, label: Cell, decimals: Mapping[str, int]) -> list[Cell]:
        """Return the cells of a dataset's row; `decimals` are those of our numbers, by heading."""
        return [
            label,
            *(
                number_cell(found.get(dataset), decimals.get(name), self.method)
                for name, found in self.ours.items()
            ),
            *(number_cell(found.get(dataset), None) for found in self.theirs.values()),
        ]

    def table(
        self, unit: str, last: tuple[str, str], rows: Sequence[Row], notes: Sequence[str]
    ) -> Table:
        """Return the table of rows that begin with `cells`.

        Parameters
        ----------
        unit : str
            Unit of the numbers, shown above the columns.
        last : (str, str)
            Name and heading of the column that compares ours with theirs, if there are published
            numbers.
        rows : sequence of Row
            The rows.
        notes : sequence of str
            Sentences below the table.
        """
        columns = [
            "dataset",
            *(self.quantities[name] for name in self.ours),
            *(f"published_{self.quantities[name]}" for name in self.theirs),
        ]
        upper = ["", *([f"{unit}, ours"] * len(self.ours))]
        upper += [f"{unit}, published"] * len(self.theirs)
        lower = ["dataset", *self.ours, *self.theirs]
        if self.theirs:
            columns.append(last[0])
            upper.append("")
            lower.append(last[1])
        return Table(
            columns=tuple(columns),
            header=(tuple(upper), tuple(lower)),
            alignment="l" + "r" * (len(columns) - 1),
            body=tuple(rows),
            notes=tuple(notes),
        )


def collect_quantities(
    material: Material, options: Options, quantities: Mapping[str, str], published: Sequence[str]
) -> Quantities:
    """Return the quantities of the method that the options name.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        method; published (study, table and method of the published numbers), if any.
    quantities : mapping of str to str
        Quantity of each heading.
    published : sequence of str
        Headings whose quantities are published.
    """
    method = str(options["method"])
    ours = {
        name: material.numbers(Source(method, quantity)) for name, quantity in quantities.items()
    }
    theirs = look_up_published(
        material.published, options, {name: quantities[name] for name in published}
    )
    return Quantities(method, quantities, ours, theirs)


def look_up_published(
    published: pd.DataFrame, options: Options, quantities: Mapping[str, str]
) -> dict[str, dict[str, Number]]:
    """Return the published numbers by heading and dataset; none if the options name no table."""
    if "published" not in options:
        return {}
    spec = options["published"]
    where = f"table {options['name']}, published"
    return {
        name: numbers(published.iloc[:0], published, source({**spec, "quantity": q}, where))
        for name, q in quantities.items()
    }
