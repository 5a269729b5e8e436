"""Tables of kind `paired`: differences of a method and others, paired by test example."""

from dataclasses import dataclass

from scipy import stats

from mnlearn.learning.ising.comparison import holm
from mnlearn_studies.report.products import Material
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
)
from mnlearn_studies.study.published import Source
from mnlearn_studies.study.reading import Decimals, Level


@dataclass(frozen=True, kw_only=True)
class Paired(TableEntry):
    """Mean differences over test examples with paired standard errors.

    A difference is bold if it differs from 0 at `level` by a two-sided z-test; p-values are
    adjusted by Holm's rule for all differences of the table.

    Attributes
    ----------
    method : str
        The method.
    against : tuple of str
        Labels of other methods, which the study pairs with it.
    quantity : str
        Which score.
    """

    method: str
    against: tuple[str, ...]
    quantity: str = "cmll"
    decimals: Decimals = 3
    level: Level = 0.05

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        method, others, decimals = self.method, self.against, self.decimals
        data = {
            other: material.numbers(Source(method, f"{self.quantity}_less_{other}"))
            for other in others
        }
        datasets = [d for d in material.datasets if any(d in found for found in data.values())]
        places = [(d, other) for d in datasets for other in others if d in data[other]]
        p = {}
        for dataset, other in places:
            number = data[other][dataset]
            z = number.value / number.stderr if number.stderr else 0.0
            p[dataset, other] = 2 * float(stats.norm.sf(abs(z)))
        adjusted = dict(zip(p, holm(list(p.values())), strict=True))
        rows = []
        for dataset in datasets:
            cells = [label_cell(material, dataset)]
            for other in others:
                if dataset not in data[other]:
                    cells.append(Cell(method=method))
                    continue
                number = data[other][dataset]
                text = f"{number.value:+.{decimals}f}"
                if number.stderr is not None:
                    text += f" ± {number.stderr:.{decimals}f}"
                bold = adjusted[dataset, other] <= self.level
                cells.append(
                    Cell(
                        text, number.value, bold, method=method, stderr=number.stderr,
                        others=(other,),
                    )
                )  # fmt: skip
            rows.append(Row(tuple(cells), (dataset,)))
        notes = []
        for other in others:
            told = [d for d in datasets if adjusted.get((d, other), 1.0) <= self.level]
            better = sum(data[other][d].value > 0 for d in told)
            notes.append(
                f"Against {other}: significantly better on {better} datasets, worse on "
                f"{len(told) - better}, of {sum(d in data[other] for d in datasets)}."
            )
        names = tuple(f"less_{other}" for other in others)
        return Table(
            columns=("dataset", *names),
            header=(("dataset", *(f"less {other}" for other in others)),),
            alignment="l" + "r" * len(others),
            body=tuple(rows),
            notes=tuple(notes),
            with_stderr=names,
        )
