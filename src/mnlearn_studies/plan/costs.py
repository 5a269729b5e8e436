"""What the parts of a study cost, estimated from what is recorded: seconds and memory.

`workflow/costs.tsv` has two numbers for each learner and quantity, which `workflow/costs.py` takes
from the recorded studies: the usual cost and the most, for a dataset of a million cells.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table
from mnlearn_studies.datasets.registry import load_datasets, registry_path
from mnlearn_studies.datasets.sample_names import parse_drawn
from mnlearn_studies.study.definition import Study

COLUMNS = ("learner", "quantity", "n_records", "usual", "most")
# Of learning for each point of the grid, as one product of its values; of the others in total.
QUANTITIES = (
    *("seconds_learn", "seconds_score", "seconds_time", "seconds_curve"),
    *("mib_learn", "mib_score"),
)
# Costs grow with this power of the number of cells of the training data.
_POWERS = {"seconds": 1.0, "mib": 0.3}
# Millions of cells of a dataset of which little is known before it is read.
UNKNOWN_SIZE = 4.0
# Larger costs would leave the range of numbers on some dataset.
_MOST = 1e12


class Cost(NamedTuple):
    """A cost in seconds or MiB: the usual one, and one that no recorded cost exceeds."""

    usual: float
    most: float


Laws = Mapping[tuple[str, str], Cost]


def costs_path() -> Path:
    """Return the file of the costs, which stands beside the dataset registry."""
    return registry_path().with_name("costs.tsv")


def load_laws(path: Path | None = None) -> dict[tuple[str, str], Cost]:
    """Read the costs of a dataset of a million cells by learner and quantity."""
    laws = {}
    for where, row in read_table(path or costs_path(), COLUMNS):
        try:
            cost = Cost(float(row["usual"]), float(row["most"]))
        except ValueError as error:
            raise InputError(f"{where}: expected numbers, {error}.") from error
        if not 0 < cost.usual <= cost.most <= _MOST:
            raise InputError(f"{where}: expected 0 < usual <= most <= {_MOST:g}, got {cost}.")
        if row["quantity"] not in QUANTITIES:
            known = ", ".join(QUANTITIES)
            raise InputError(f"{where}, quantity: expected one of {known}.")
        laws[row["learner"], row["quantity"]] = cost
    return laws


def growth(dataset: str, quantity: str) -> float:
    """Return by how much a quantity is larger on a dataset than on one of a million cells."""
    return float(_millions_of_cells(dataset) ** _POWERS[quantity.partition("_")[0]])


def _millions_of_cells(dataset: str) -> float:
    """Return the examples times the variables; an unknown dataset is taken for middling."""
    sub = parse_drawn(dataset)
    entry = load_datasets().get(dataset if sub is None else sub.base)
    if entry is None or not entry.rows:
        return UNKNOWN_SIZE
    return (entry.n_rows("train") if sub is None else sub.size) * entry.n_vars / 1e6


def estimate_cost(
    laws: Laws, study: Study, method: str, dataset: str, quantity: str
) -> Cost | None:
    """Return what a method of a study costs on a dataset; None if nothing of its learner is known.

    quantity : one of `QUANTITIES`; of learning the cost is of the whole grid.
    """
    law = laws.get((study.learner(method), quantity))
    if law is None:
        return None
    times = growth(dataset, quantity)
    if quantity == "seconds_learn":
        times *= n_products(study.grid(method, dataset))
    return Cost(times * law.usual, times * law.most)


def n_products(grid: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of points of a grid as one product; a search may visit fewer."""
    return math.prod(len(values) for values in grid.values())
