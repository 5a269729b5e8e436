"""Tables of kind `datasets`: sizes of the benchmark datasets, ours and published."""

from dataclasses import dataclass

from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
    number_cell,
)
from mnlearn_studies.study.published import Place

_QUANTITIES = {
    "n_train": "training",
    "n_valid": "validation",
    "n_test": "test",
    "n_vars": "variables",
    "density": "density",
}


@dataclass(frozen=True, kw_only=True)
class Datasets(TableEntry):
    """The numbers of examples and variables and the density of the study's datasets.

    The numbers are those of the registry; every download is checked against them.

    published : tables of papers: the table shows the first that has a number, the notes compare
    all. origin : whether notes give the domain and the citation of each dataset.
    """

    kind_name = "datasets"
    published: Place | tuple[Place, ...] = ()
    origin: bool = False

    def tabulate(self, material: Material) -> Table:
        registry = load_registry()
        ours = {d: registry[d].sizes() for d in material.labels if d in registry}
        places = self.published if isinstance(self.published, tuple) else (self.published,)
        papers = {
            place: {q: material.numbers(place.source("", q)) for q in _QUANTITIES}
            for place in places
        }
        # The first paper that has a number of a dataset is shown.
        theirs = {
            q: {d: n for of in reversed(papers.values()) for d, n in of[q].items()}
            for q in _QUANTITIES
        }
        printed = [quantity for quantity, found in theirs.items() if found]
        rows = []
        for dataset, sizes in ours.items():
            cells = [label_cell(material, dataset)]
            for value in sizes.values():
                text = f"{value:,}" if isinstance(value, int) else f"{value:.3f}"
                cells.append(Cell(text, value))
            cells += [number_cell(theirs[quantity].get(dataset), None) for quantity in printed]
            rows.append(Row(tuple(cells), (dataset,)))
        notes = []
        for place, found in papers.items():
            equal = [
                numbers[d].value == ours[d][q]
                for q, numbers in found.items()
                for d in ours
                if d in numbers
            ]
            notes.append(
                f"{place.study.upper()} Table {place.table}: {sum(equal)} of {len(equal)} "
                "published numbers are equal to ours."
            )
        if self.origin:
            for dataset in ours:
                known = registry[dataset]
                notes.append(f"{material.label(dataset)}: {known.domain}. {known.citation}.")
        heads = ("dataset", *_QUANTITIES.values(), *(_QUANTITIES[q] for q in printed))
        groups = (*[""] * (1 + len(_QUANTITIES)), *["published"] * len(printed))
        return Table(
            columns=("dataset", *_QUANTITIES, *(f"{q}_published" for q in printed)),
            header=(groups, heads) if printed else (heads,),
            body=tuple(rows),
            notes=tuple(notes),
        )
