"""Tables of kind `datasets`: sizes of the benchmark datasets, ours and published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mnlearn_studies.datasets.registry import Entry, load_registry
from mnlearn_studies.report.products import Labels, Material
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
    number_cell,
)
from mnlearn_studies.study.published import Number, Place

_QUANTITIES = {
    "n_train": "training",
    "n_valid": "validation",
    "n_test": "test",
    "n_vars": "variables",
    "density": "density",
}

# Numbers of a table of a paper by quantity and dataset.
_Published = Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True, kw_only=True)
class Datasets(TableEntry):
    """The numbers of examples and variables and the density of the study's datasets.

    The numbers are those of the registry; every download is checked against them.

    Attributes
    ----------
    published : Place or tuple of Place
        Tables of papers: the table shows the first that has a number, the notes compare all.
    origin : bool
        Whether notes give the domain and the citation of each dataset.
    """

    published: Place | tuple[Place, ...] = ()
    origin: bool = False

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        registry = load_registry()
        papers = self._papers(material)
        shown = {
            quantity: [found[quantity] for found in papers.values() if quantity in found]
            for quantity in _QUANTITIES
        }
        theirs = [quantity for quantity, found in shown.items() if found]
        rows = []
        known = [d for d in material.labels if d in registry]
        for dataset in known:
            ours = registry[dataset].sizes()
            cells = [label_cell(material, dataset)]
            cells += [
                Cell(f"{value:,}" if isinstance(value, int) else f"{value:.3f}", value)
                for value in ours.values()
            ]
            for quantity in theirs:
                number = next((of[dataset] for of in shown[quantity] if dataset in of), None)
                cells.append(number_cell(number, None))
            rows.append(Row(tuple(cells), (dataset,)))
        heads = [*_QUANTITIES.values(), *(_QUANTITIES[quantity] for quantity in theirs)]
        groups = ("", *[""] * len(_QUANTITIES), *["published"] * len(theirs))
        columns = ("dataset", *_QUANTITIES, *(f"{quantity}_published" for quantity in theirs))
        return Table(
            columns=columns,
            header=(groups, ("dataset", *heads)) if theirs else (("dataset", *heads),),
            alignment="l" + "r" * (len(columns) - 1),
            body=tuple(rows),
            notes=(
                *_agreement(papers, {d: registry[d].sizes() for d in known}),
                *(_origin(registry[d], material.labels) for d in known if self.origin),
            ),
        )

    def _papers(self, material: Material) -> Mapping[str, _Published]:
        """Return the published numbers by the name of their table in sentences."""
        out = {}
        for place in self.published if isinstance(self.published, tuple) else (self.published,):
            found = {q: material.numbers(place.source("", q)) for q in _QUANTITIES}
            shown = {quantity: numbers for quantity, numbers in found.items() if numbers}
            out[f"{place.study.upper()} Table {place.table}"] = shown
        return out


def _agreement(
    papers: Mapping[str, _Published], ours: Mapping[str, Mapping[str, int | float]]
) -> Sequence[str]:
    """Return a sentence per published table on how many of its numbers are equal to ours."""
    notes = []
    for name, quantities in papers.items():
        equal = [
            of[dataset].value == numbers[quantity]
            for quantity, of in quantities.items()
            for dataset, numbers in ours.items()
            if dataset in of
        ]
        notes.append(f"{name}: {sum(equal)} of {len(equal)} published numbers are equal to ours.")
    return notes


def _origin(benchmark: Entry, labels: Labels) -> str:
    label = labels.get(benchmark.name, benchmark.label)
    return f"{label}: {benchmark.domain}. {benchmark.citation}."
