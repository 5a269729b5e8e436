"""Tables of kind `spread`: how much a score depends on a setting, such as the seed."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from mnlearn_studies.report.products import Material
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
    value_cell,
)
from mnlearn_studies.study.published import Number, Source
from mnlearn_studies.study.reading import Decimals, at_least

# Names in the CSV file, and headings.
_NUMBERS = {
    "n": "models",
    "mean": "mean",
    "sd": "sd",
    "lowest": "lowest",
    "highest": "highest",
    "standard_error": "standard error",
    "sd_over_standard_error": "sd / standard error",
}


@dataclass(frozen=True)
class Group:
    """Methods that differ in one setting, and the heading of their rows."""

    head: str
    methods: Annotated[tuple[str, ...], at_least(2, "names")]


@dataclass(frozen=True, kw_only=True)
class Spread(TableEntry):
    """A row for each dataset and group of methods: mean and spread of a score over the methods.

    The standard deviation has the divisor n - 1. Beside it stand the standard error of a score over
    test examples, in the mean over the methods, and the ratio of the two.

    Attributes
    ----------
    quantity : str
        Which score.
    groups : tuple of Group
        The methods. A group has no row on a dataset on which fewer than two have the score.
    """

    quantity: str
    groups: tuple[Group, ...]
    decimals: Decimals = 4

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        rows = []
        for group in self.groups:
            found = [material.numbers(Source(name, self.quantity)) for name in group.methods]
            for dataset in material.datasets:
                scores = [by_dataset[dataset] for by_dataset in found if dataset in by_dataset]
                if len(scores) > 1:
                    names = label_cell(material, dataset), Cell(group.head, group.head)
                    rows.append(Row((*names, *self._cells(scores, group.methods)), (dataset,)))
        rows.sort(key=lambda row: material.datasets.index(row.datasets[0]))
        return Table(
            columns=("dataset", "learner", *_NUMBERS),
            header=(("dataset", "learner", *_NUMBERS.values()),),
            alignment="ll" + "r" * len(_NUMBERS),
            body=tuple(rows),
        )

    def _cells(self, scores: list[Number], methods: tuple[str, ...]) -> list[Cell]:
        """Return the numbers of a row."""
        values = np.array([score.value for score in scores])
        sd = float(values.std(ddof=1))
        shown = [float(values.mean()), sd, float(values.min()), float(values.max())]
        method, *others = methods
        cells = [value_cell(len(scores), 0, method)]
        cells += [value_cell(value, self.decimals, method) for value in shown]
        errors = [score.stderr for score in scores if score.stderr is not None]
        error = float(np.mean(errors)) if errors else 0.0
        if error:
            cells += [value_cell(error, self.decimals, method), value_cell(sd / error, 2, method)]
        cells += [Cell(method=method)] * (len(_NUMBERS) - len(cells))
        return [replace(cell, others=tuple(others)) for cell in cells]
