"""Tables of kind `ranks`: methods ranked over datasets and tested against each other."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np

from mnlearn.learning.ising.comparison import holm
from mnlearn_studies.report.products import Material
from mnlearn_studies.report.statistics import friedman, wilcoxon
from mnlearn_studies.report.tables.columns import RankedColumn
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    significant,
    value_cell,
)
from mnlearn_studies.study.reading import Level, at_least


@dataclass(frozen=True, kw_only=True)
class Ranks(TableEntry):
    """The mean rank of each method, and p-values of all pairs adjusted for their number."""

    columns: Annotated[tuple[RankedColumn, ...], at_least(3)]
    level: Level = 0.05

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        level, heads = self.level, [c.head for c in self.columns]
        sources = [c.source for c in self.columns if c.source]
        ours = tuple(source.method for source in sources if not source.is_published)
        data = [material.numbers(source) for source in sources]
        datasets = [d for d in material.datasets if all(d in found for found in data)]
        values = np.array([[found[d].value for found in data] for d in datasets])
        header = ("method", "mean rank", "best on", *heads)
        columns = ("method", "mean_rank", "best_on", *(f"p_against_{head}" for head in heads))
        alignment = "l" + "r" * (len(columns) - 1)
        if len(datasets) < 2:
            return Table(columns, (header,), alignment, (), notes=("Too few datasets are scored.",))
        ranked = friedman(values, level)
        pairs = list(combinations(range(len(heads)), 2))
        found = [wilcoxon(values[:, i], values[:, j]) for i, j in pairs]
        p = dict(zip(pairs, holm([comparison.p for comparison in found]), strict=True))
        rows = []
        for i in np.argsort(ranked.mean, kind="stable").tolist():
            n_best = int((values[:, i] == values.max(axis=1)).sum())
            cells = [Cell(heads[i], heads[i])]
            # Ranks and adjusted p-values depend on all methods.
            cells.append(replace(value_cell(float(ranked.mean[i]), 2), others=ours))
            cells.append(Cell(str(n_best), n_best, others=ours))
            for j in range(len(heads)):
                if i == j:
                    cells.append(Cell("–"))
                    continue
                adjusted = float(p[min(i, j), max(i, j)])
                text = "< 0.0001" if adjusted < 1e-4 else significant(adjusted)
                cells.append(Cell(text, adjusted, bold=adjusted <= level, others=ours))
            rows.append(Row(tuple(cells), tuple(datasets)))
        friedman_p = "< 0.0001" if ranked.p < 1e-4 else f"= {significant(ranked.p)}"
        notes = (
            f"{len(datasets)} datasets. Friedman's test: p {friedman_p}. Mean ranks that differ by "
            f"less than {ranked.critical_difference:.2f} are not told apart by Nemenyi's test at "
            f"{level:g}.",
            "The other columns: two-sided Wilcoxon signed-rank tests of each pair, p adjusted by "
            f"Holm's rule for the {len(pairs)} pairs; bold at {level:g}.",
        )
        return Table(columns, (header,), alignment, tuple(rows), notes=notes)
