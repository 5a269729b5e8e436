"""Tables of kind `datasets`: the benchmark datasets, beside what a paper prints of them."""

import pandas as pd

from mnlearn.data.registry import Benchmark, load_registry
from mnlearn.products import Labels, Options, option
from mnlearn.published import Source, lookup
from mnlearn.tables.table import Cell, Row, Table, label_cell, number_cell

_QUANTITIES = {
    "n_train": "training",
    "n_valid": "validation",
    "n_test": "test",
    "n_vars": "variables",
    "density": "density",
}


def datasets(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return the numbers of examples and variables and the density of the study's datasets.

    They are those of the registry, which every fetched file is checked against. options:
    published (study and table of the printed numbers), if any.
    """
    registry = load_registry()
    printed = {}
    if "published" in options:
        where = f"study {study}, table {options['name']}, published"
        paper, table = (str(option(options["published"], key, where)) for key in ("study", "table"))
        for quantity in _QUANTITIES:
            found = lookup(published, Source("", quantity, study=paper, table=table))
            if found:
                printed[quantity] = found
    rows = []
    compared = equal = 0
    for dataset in (d for d in labels if d in registry):
        ours = _numbers(registry[dataset])
        cells = [label_cell(dataset, labels)]
        cells += [
            Cell(f"{value:,}" if isinstance(value, int) else f"{value:.3f}", value)
            for value in ours.values()
        ]
        for quantity, theirs in printed.items():
            cells.append(number_cell(theirs.get(dataset), None))
            if dataset in theirs:
                compared += 1
                equal += theirs[dataset].value == ours[quantity]
        rows.append(Row(tuple(cells), (dataset,)))
    columns = ("dataset", *_QUANTITIES, *(f"{quantity}_printed" for quantity in printed))
    heads = [*_QUANTITIES.values(), *(_QUANTITIES[quantity] for quantity in printed)]
    groups = ["", *[""] * len(_QUANTITIES), *["printed"] * len(printed)]
    header = (tuple(groups), ("dataset", *heads)) if printed else (("dataset", *heads),)
    notes = (f"{equal} of {compared} printed numbers are equal to ours.",) if printed else ()
    alignment = "l" + "r" * (len(columns) - 1)
    return Table(columns, header, alignment, tuple(rows), notes=notes)


def _numbers(benchmark: Benchmark) -> dict[str, int | float]:
    return {
        "n_train": benchmark.train.n_rows,
        "n_valid": benchmark.valid.n_rows,
        "n_test": benchmark.test.n_rows,
        "n_vars": benchmark.n_vars,
        "density": benchmark.density,
    }
