"""Tables of kind `edge_limits`: what a lower limit on the edges of a circuit costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mnlearn_studies.report.by_variant import ByVariant, numbers_by_variant
from mnlearn_studies.report.products import Material
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
    value_cell,
)
from mnlearn_studies.study.published import Source
from mnlearn_studies.study.reading import Decimals


@dataclass(frozen=True, kw_only=True)
class EdgeLimits(TableEntry):
    """The score at the largest limit of edges, and the loss at every smaller limit.

    The last column has the limit of the model that validation chose.

    Attributes
    ----------
    method : str
        The method, with a variant for each limit.
    limits : tuple of int
        The limits.
    quantity : str
        Which score.
    """

    method: str
    limits: tuple[int, ...]
    quantity: str = "ll"
    decimals: Decimals = 3

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        largest, *smaller = limits = [str(n) for n in sorted(self.limits, reverse=True)]
        by_limit = numbers_by_variant(material.scores, self.method, self.quantity, limits)
        chosen = material.numbers(Source(self.method, "chosen_max_edges"))
        datasets = [d for d in material.datasets if any(d in of for of in by_limit.values())]
        rows = []
        for dataset in datasets:
            best = by_limit[largest].get(dataset)
            values = [None if best is None else best.value]
            values += [_loss(by_limit, largest, limit, dataset) for limit in smaller]
            cells = [self._cell(value) for value in values]
            limit_chosen = Cell()
            if dataset in chosen:
                edges = int(chosen[dataset].value)
                limit_chosen = Cell(f"{edges:,}", edges, method=self.method)
            rows.append(Row((label_cell(material, dataset), *cells, limit_chosen), (dataset,)))
        heads = [f"{int(limit):,}" for limit in limits]
        return Table(
            columns=("dataset", largest, *(f"loss_{n}" for n in smaller), "chosen"),
            header=(
                ("", "score at", *["loss at"] * len(smaller), "limit"),
                ("dataset", *heads, "chosen"),
            ),
            alignment="l" + "r" * (len(limits) + 1),
            body=(*rows, *self._means(by_limit, datasets)),
        )

    def _cell(self, value: float | None, decimals: int | None = None) -> Cell:
        places = self.decimals if decimals is None else decimals
        return Cell() if value is None else value_cell(value, places, self.method)

    def _means(self, by_limit: ByVariant, datasets: Sequence[str]) -> list[Row]:
        """Return the mean losses over the datasets that have all limits, in nats and per cent."""
        complete = [d for d in datasets if all(d in of for of in by_limit.values())]
        if not complete:
            return []
        best, *others = (np.array([of[d].value for d in complete]) for of in by_limit.values())
        nats = [Cell(f"mean of {len(complete)}"), self._cell(float(best.mean()))]
        per_cent = [Cell("mean, % of the score"), Cell()]
        for loss in (best - other for other in others):
            nats.append(self._cell(float(loss.mean())))
            per_cent.append(self._cell(float((100 * loss / np.abs(best)).mean()), 2))
        return [Row((*cells, Cell()), tuple(complete), footer=True) for cells in (nats, per_cent)]


def _loss(by_limit: ByVariant, largest: str, limit: str, dataset: str) -> float | None:
    if dataset not in by_limit[largest] or dataset not in by_limit[limit]:
        return None
    return by_limit[largest][dataset].value - by_limit[limit][dataset].value
