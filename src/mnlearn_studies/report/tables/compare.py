"""Tables of kind `compare`: a row per dataset, or one of ours above one of published numbers."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mnlearn.learning.ising.comparison import holm
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import counted
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import Comparison, geometric_mean, wilcoxon
from mnlearn_studies.report.tables.columns import COMPUTED, Column
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
    number_cell,
    significant,
)
from mnlearn_studies.study.published import Number, Place, paired
from mnlearn_studies.study.reading import Decimals, Pair


class Filled:
    """Columns with their numbers by name and dataset."""

    def __init__(self, columns: Sequence[Column], material: Material) -> None:
        self.columns, self.labels = columns, material.labels
        self.data = {c.name: material.numbers(c.source) for c in columns if c.source}
        for c in columns:
            if c.computed:
                key, a, b = c.computed
                pairs = paired(self.data[a], self.data[b], self.data[a], as_printed=False)
                values = {d: COMPUTED[key](x, y) for d, x, y in pairs}
                self.data[c.name] = {d: Number(v) for d, v in values.items() if v is not None}
        heads = [c.title for c in columns]
        # How sentences name a column: by its group as well if headings repeat.
        self.titles = {
            c.name: f"{c.title} ({c.group})" if c.group and heads.count(c.title) > 1 else c.title
            for c in columns
        }

    def cells(self, dataset: str) -> list[Cell]:
        """Return the cells of a dataset's row; the best of each rank is bold."""
        best = self._best(dataset)
        found = {c.name: self._cell(c, self.data[c.name].get(dataset)) for c in self.columns}
        return [dataclasses.replace(cell, bold=name in best) for name, cell in found.items()]

    def _cell(self, c: Column, number: Number | None) -> Cell:
        used = (c.name, *(c.computed or ()))
        sources = [other.source for other in self.columns if other.name in used and other.source]
        methods = dict.fromkeys(source.method for source in sources if not source.is_published)
        cell = number_cell(number, c.decimals)
        if number is not None:
            text = cell.text
            if c.minus:
                text = f"{number.value:+.{c.decimals}f}"
            if c.stderr and number.stderr is not None:
                text += f" ± {number.stderr:.{c.decimals}f}"
            stderr = number.stderr if c.stderr else None
            cell = dataclasses.replace(cell, text=text, stderr=stderr)
        return dataclasses.replace(cell, methods=tuple(methods))

    def _best(self, dataset: str) -> set[str]:
        """Return the columns that are best of their rank; several if they show equal numbers."""
        best: set[str] = set()
        for rank in {c.rank for c in self.columns if c.rank}:
            shown = {
                c.name: c.rounded(self.data[c.name][dataset].value) * (-1 if c.lower else 1)
                for c in self.columns
                if c.rank == rank and dataset in self.data[c.name]
            }
            if len(shown) > 1:
                best |= {name for name, value in shown.items() if value == max(shown.values())}
        return best

    def mean_row(
        self, head: tuple[str, tuple[Cell, ...]], names: Sequence[str], datasets: Sequence[str]
    ) -> Row:
        """Return a footer with the means of some columns over the datasets that have them all.

        A column without any number leaves out no dataset.
        """
        kind, side = head
        averaged = [name for name in names if self.data[name]]
        complete = [d for d in datasets if all(d in self.data[name] for name in averaged)]
        cells = [Cell(f"{kind.replace('_', ' ')} of {len(complete)}"), *side]
        for c in self.columns:
            values = [self.data[c.name][d].value for d in complete if c.name in averaged]
            if values and kind == "geometric_mean" and min(values) <= 0.0:
                raise InputError(f"geometric_mean: expected numbers above 0 in column {c.name}.")
            mean = geometric_mean if kind == "geometric_mean" else np.mean
            cells.append(self._cell(c, Number(float(mean(values)))) if values else Cell())
        return Row(tuple(cells), tuple(complete), footer=True)

    def tests(self, pairs: Iterable[Pair], datasets: Sequence[str]) -> list[str]:
        """Return a sentence on Wilcoxon's test for each pair of columns that share a dataset.

        The first column wins where its value is better. Holm's rule corrects for these tests.
        """
        lower = {c.name for c in self.columns if c.lower}
        tested: dict[Pair, Comparison] = {}
        for a, b in pairs:
            values = [(x, y) for _, x, y in paired(self.data[a], self.data[b], datasets)]
            if not values:
                continue
            first, second = np.array(values).T * (-1 if a in lower else 1)
            tested[a, b] = wilcoxon(first, second)
        adjusted = holm([found.p for found in tested.values()])
        return [
            f"{self.titles[a]} against {self.titles[b]}: {counted(found.wins, 'win')}, "
            f"{counted(found.ties, 'tie')}, {counted(found.losses, 'loss', 'losses')} on "
            f"{counted(found.n, 'dataset')}; two-sided Wilcoxon signed-rank p = "
            f"{significant(found.p)} ({'exact' if found.exact else 'normal approximation'}), "
            f"{significant(p)} by Holm's rule for {counted(len(tested), 'test')}; effect "
            f"{found.effect:+.2f} (rank-biserial correlation)."
            for ((a, b), found), p in zip(tested.items(), adjusted, strict=True)
        ]

    def published_notes(self, datasets: Sequence[str]) -> list[str]:
        """Return the notes on published numbers; those with the same note share a sentence."""
        whole: dict[str, list[str]] = {}
        named: dict[tuple[str, str, str], list[str]] = {}
        for c in self.columns:
            numbers = {d: self.data[c.name][d] for d in datasets if d in self.data[c.name]}
            notes = {number.note for number in numbers.values()}
            if c.is_published and len(numbers) > 1 and len(notes) == 1 and notes != {""}:
                whole.setdefault(notes.pop(), []).append(self.titles[c.name])
                continue
            for dataset, number in numbers.items():
                if c.is_published and number.note:
                    key = (self.titles[c.name], str(number.printed), number.note)
                    named.setdefault(key, []).append(self.labels.get(dataset, dataset))
        return [f"{', '.join(of)}: {note}." for note, of in whole.items()] + [
            f"{', '.join(of)}, {name} {printed}: {note}."
            for (name, printed, note), of in named.items()
        ]

    def matches(self, pairs: Iterable[Pair], published: "Filled", datasets: list[str]) -> list[str]:
        """Return for each pair of a column of ours and a published one how often they are equal."""
        out = []
        for ours, theirs in pairs:
            known = {d: published.data[theirs][d] for d in datasets if d in published.data[theirs]}
            equal = sum(
                d in self.data[ours]
                and round(self.data[ours][d].value, n.decimals or 0)
                == round(n.value, n.decimals or 0)
                for d, n in known.items()
            )
            if known:
                out.append(
                    f"{self.titles[ours]}: ours is equal to the published number on {equal} of "
                    f"{counted(len(known), 'dataset')}."
                )
        return out


@dataclass(frozen=True, kw_only=True)
class Compare(TableEntry):
    """A table with a row per dataset; columns are ours, published or computed.

    decimals : of columns that do not say. mean, geometric_mean : names of columns to average over
    the datasets that have them all. tests : pairs of names of columns that Wilcoxon's test
    compares. matches : pairs, of which a note counts how often they are equal. published : a table
    of a paper, whose numbers stand in a second row under ours; `matches` compares with these.
    """

    kind_name = "compare"
    columns: tuple[Column, ...]
    decimals: Decimals = 3
    mean: tuple[str, ...] = ()
    geometric_mean: tuple[str, ...] = ()
    tests: tuple[Pair, ...] = ()
    matches: tuple[Pair, ...] = ()
    published: Place | None = None

    def check(self, where: str) -> None:
        """Refuse names of no column, or of a column that is computed later."""
        used = [name for c in self.columns for name in (c.computed or ())[1:]]
        used += [*self.mean, *self.geometric_mean, *(name for pair in self.tests for name in pair)]
        used += [name for pair in self.matches for name in pair]
        known = {c.name for c in self.columns}
        for name in used:
            if name not in known:
                raise InputError(f"no column is named {name!r}.", where=where)
        if self.published and any(c.method is None for c in self.columns):
            raise InputError("expected the key 'method' in each column.", where=where)
        waiting = {c.name for c in self.columns if c.computed}
        for c in self.columns:
            key, *parts = c.computed or ("",)
            for name in parts:
                if name in waiting:
                    fault = (
                        "expected columns of numbers or columns that are computed before it, got "
                        f"{name!r}."
                    )
                    raise InputError(fault, where=f"{where}, column {c.name}, {key}")
            waiting.discard(c.name)

    @property
    def shown(self) -> list[Column]:
        """The columns with their decimals; None stands for three significant digits."""
        usual = self.decimals
        return [
            dataclasses.replace(
                c,
                decimals=None if c.significant else usual if c.decimals is None else c.decimals,
            )
            for c in self.columns
        ]

    def tabulate(self, material: Material) -> Table:
        columns = self.shown
        ours = theirs = Filled(columns, material)
        sides: list[tuple[Filled, tuple[Cell, ...]]] = [(ours, ())]
        if self.published:
            theirs = Filled([c.in_paper(self.published) for c in columns], material)
            words = ("ours", "published")
            sides = [(of, (Cell(w, w),)) for of, w in zip((ours, theirs), words, strict=True)]
        own = [ours.data[c.name] for c in columns if c.source and not c.is_published]
        datasets = material.in_any(own)
        rows = [
            Row((label_cell(material, d), *side, *of.cells(d)), (d,))
            for d in datasets
            for of, side in sides
            if of is ours or any(d in found for found in of.data.values())
        ]
        kinds = {"mean": self.mean, "geometric_mean": self.geometric_mean}
        means = [
            of.mean_row((kind, side), names, datasets)
            for kind, names in kinds.items()
            for of, side in sides
            if names and datasets
        ]
        side = ("",) if self.published else ()
        groups = [("", *side, *(c.group for c in columns))] if any(c.group for c in columns) else []
        return Table(
            columns=("dataset", *(["numbers"] if side else []), *(c.name for c in columns)),
            header=(*groups, ("dataset", *side, *(c.title for c in columns))),
            alignment="l" * (1 + len(side)) + "r" * len(columns),
            body=(*rows, *means),
            notes=(
                *ours.tests(self.tests, datasets),
                *ours.matches(self.matches, theirs, datasets),
                *theirs.published_notes(datasets),
            ),
            with_stderr=tuple(c.name for c in columns if c.stderr),
        )
