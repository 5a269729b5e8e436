"""What the parts of a study cost, estimated from what is recorded: seconds and memory.

`workflow/costs.tsv` has a law for each method of the recorded studies, fitted by
`workflow/costs.py`. The cost is a constant times powers of the number of training examples, of
variables and of the density.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table
from mnlearn_studies.datasets.built import BUILT, UNAVAILABLE, Built
from mnlearn_studies.datasets.embedded import EMBEDDED
from mnlearn_studies.datasets.registry import Benchmark, load_registry, registry_path
from mnlearn_studies.datasets.sample_names import parse_drawn
from mnlearn_studies.study.definition import Study

COLUMNS = (
    *("study", "method", "learner", "quantity", "n_cells"),
    *("constant", "examples", "variables", "density", "margin"),
)
# Of learning for each point of the grid, as one product of its values; of the others in total.
QUANTITIES = (
    *("seconds_learn", "seconds_score", "seconds_time", "seconds_curve"),
    *("mib_learn", "mib_score"),
)
# Stands for a density that is not known.
DENSITY = 0.3


@dataclass(frozen=True)
class Size:
    """The size of a dataset: training examples, variables, share of ones."""

    n_examples: float
    n_vars: float
    density: float = DENSITY

    @property
    def logarithms(self) -> tuple[float, float, float]:
        """Return the logarithms of the three, near 0 for an ordinary dataset."""
        n_examples, n_vars = math.log(self.n_examples / 1e4), math.log(self.n_vars / 100)
        return n_examples, n_vars, math.log(self.density / 0.1)


# Of a person's own dataset little is known before it is read.
UNKNOWN_SIZE = Size(20_000, 200, DENSITY)


@dataclass(frozen=True)
class Law:
    """The cost of one method as a power law.

    log cost = constant + examples * log(n / 10,000) + variables * log(d / 100)
    + density * log(density / 0.1), for n training examples of d variables.

    margin : no recorded cost is more than this multiple of the law.
    """

    constant: float
    examples: float
    variables: float
    density: float
    margin: float

    def __call__(self, size: Size) -> float:
        """Return the estimated cost, in seconds or MiB."""
        powers = (self.examples, self.variables, self.density)
        return math.exp(
            self.constant + sum(a * b for a, b in zip(powers, size.logarithms, strict=True))
        )


# The largest size that each number of a law may have.
_MOST = {"constant": 100.0, "examples": 10.0, "variables": 10.0, "density": 10.0, "margin": 1e6}

Laws = Mapping[tuple[str, str, str], Law]


def costs_path() -> Path:
    """Return the file of the laws, which stands beside the dataset registry."""
    return registry_path().with_name("costs.tsv")


def load_laws(path: Path | None = None) -> dict[tuple[str, str, str], Law]:
    """Read the laws by (study, method, quantity); those of a learner by ("", learner, quantity).

    Raises
    ------
    InputError
        The file is missing or malformed; the sentence names the line.
    """
    path = path or costs_path()
    laws = {}
    for where, row in read_table(path, COLUMNS):
        try:
            law = Law(*(float(row[name]) for name in COLUMNS[-5:]))
        except ValueError as error:
            raise InputError(f"{where}: expected numbers, {error}.") from error
        # Larger ones would leave the range of numbers on some dataset.
        for name, most in _MOST.items():
            if not abs(float(row[name])) <= most:
                raise InputError(
                    f"{where}, {name}: expected a number of at most {most:g}, got {row[name]}."
                )
        if row["quantity"] not in QUANTITIES:
            raise InputError(
                f"{where}, quantity: expected one of {', '.join(QUANTITIES)}, "
                f"got {row['quantity']!r}."
            )
        laws[row["study"], row["method"] or row["learner"], row["quantity"]] = law
    return laws


def dataset_size(name: str) -> Size:
    """Return the size of a dataset; one that mnlearn does not know is taken for middling."""
    sub = parse_drawn(name)
    if sub is not None:
        return replace(dataset_size(sub.base), n_examples=sub.size)
    described: dict[str, Benchmark | Built] = {**load_registry(), **BUILT}
    if name in described:
        entry = described[name]
        return Size(entry.n_rows("train"), entry.n_vars, entry.density)
    if name in UNAVAILABLE:
        return replace(UNKNOWN_SIZE, n_vars=UNAVAILABLE[name].n_vars)
    if name in EMBEDDED:
        return Size(EMBEDDED[name].n_rows("train"), EMBEDDED[name].n_vars)
    return UNKNOWN_SIZE


@dataclass(frozen=True)
class EstimatedCost:
    """An estimated cost in seconds or MiB, and a limit that no recorded cost exceeds."""

    expected: float
    limit: float


def estimate_cost(
    laws: Laws,
    study: Study,
    method: str,
    dataset: str,
    *,
    quantity: str,
    asking: str | None = None,
) -> EstimatedCost | None:
    """Return what a method of a study costs on a dataset; None if its learner has no law.

    Parameters
    ----------
    laws : mapping
        See `load_laws`.
    study, method, dataset
        The study, the label of the method in it, and the dataset.
    quantity : str
        One of `QUANTITIES`; of learning the cost is of the whole grid.
    asking : str, optional
        The study that queries the models, if that is another one.
    """
    learner = study.learner(method)
    of_method = laws.get((asking or study.name, method, quantity))
    law = of_method or laws.get(("", learner, quantity))
    if law is None:
        return None
    expected = law(dataset_size(dataset))
    if quantity == "seconds_learn":
        expected *= n_products(study.grid(method, dataset))
    return EstimatedCost(expected, law.margin * expected)


def n_products(grid: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of points of a grid as one product; a search may visit fewer."""
    return math.prod(len(values) for values in grid.values())
