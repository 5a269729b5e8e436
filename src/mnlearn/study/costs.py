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

from mnlearn.data.dataset import load_npz
from mnlearn.data.splits import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table
from mnlearn.study.datasets.built import BUILT, UNAVAILABLE, Built
from mnlearn.study.datasets.embedded import EMBEDDED, Embedded
from mnlearn.study.datasets.registry import Benchmark, load_registry, registry_path
from mnlearn.study.datasets.sample_names import parse_drawn
from mnlearn.study.datasets.verification import find_state
from mnlearn.study.definition import Study, load_study
from mnlearn.study.folders import own_file

COLUMNS = (
    *("study", "method", "learner", "quantity", "n_cells"),
    *("constant", "examples", "variables", "density", "margin"),
)
# Of learning for each point of the grid, as one product of its values; of the others in total.
QUANTITIES = (
    *("seconds_learn", "seconds_score", "seconds_time", "seconds_curve"),
    *("mib_learn", "mib_score"),
)
# The study whose methods `mnlearn datasets` shows.
SHOWN_STUDY = "dtsl"
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
class Cost:
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
) -> Cost | None:
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
    return Cost(expected, law.margin * expected)


def n_products(grid: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of points of a grid as one product; a search may visit fewer."""
    return math.prod(len(values) for values in grid.values())


def dataset_rows(
    folder: Path, local: Mapping[str, Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return one record per known dataset: sizes, state of its files, estimates per method.

    Parameters
    ----------
    folder : Path
        The data folder.
    local : mapping, optional
        A person's own datasets, as the configuration gives them. Their sizes are None until a study
        has prepared them, and they have no estimates.

    """
    workflow = registry_path().parent
    shown = (costs_path(), workflow / "studies" / f"{SHOWN_STUDY}.yaml")
    laws: Laws = {}
    study = None
    if all(path.exists() for path in shown):
        laws, study = load_laws(), load_study(shown[1])
    registry = load_registry()
    entries: dict[str, Benchmark | Built | Embedded] = {**registry, **BUILT, **EMBEDDED}
    states: dict[str, str] = {name: find_state(entry, folder) for name, entry in registry.items()}
    states |= {name: find_state(entry.source, folder) for name, entry in BUILT.items()}
    rows = [
        {
            "name": name,
            "label": entry.label,
            "n_vars": entry.n_vars,
            **{f"n_{split}": entry.n_rows(split) for split in SPLITS},
            "state": states.get(name, "embedded"),
            "estimates": {} if study is None else _estimates(laws, study, name),
        }
        for name, entry in entries.items()
    ]
    rows += [
        {
            "name": name,
            "label": missing.label,
            "n_vars": missing.n_vars,
            **{f"n_{split}": None for split in SPLITS},
            "state": "unavailable",
            "estimates": {} if study is None else _estimates(laws, study, name),
        }
        for name, missing in UNAVAILABLE.items()
    ]
    return rows + [_own_row(name, entry, folder) for name, entry in (local or {}).items()]


def _own_row(name: str, entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the record of a person's own dataset."""
    files = [own_file(entry[split]) for split in SPLITS if split in entry]
    prepared = {split: folder / name / f"{split}.npz" for split in SPLITS}
    sizes: dict[str, int | None] = dict.fromkeys(("n_vars", *(f"n_{split}" for split in SPLITS)))
    if all(path.exists() for path in prepared.values()):
        for split, path in prepared.items():
            data = load_npz(path)
            # The weights of examples may sum to any number.
            sizes |= {"n_vars": data.n_vars, f"n_{split}": round(data.n_examples)}
    state = "own" if all(path.exists() for path in files) else "own, missing"
    return {"name": name, "label": name, **sizes, "state": state, "estimates": {}}


def _estimates(laws: Laws, study: Study, dataset: str) -> dict[str, dict[str, float]]:
    """Return the seconds and MiB of the methods of a study on a dataset, grid and scores."""
    found = {}
    for method in study.methods:
        costs = [
            estimate_cost(laws, study, method, dataset, quantity=f"{unit}_{step}")
            for unit in ("seconds", "mib")
            for step in ("learn", "score")
        ]
        values = [cost.expected for cost in costs if cost is not None]
        if len(values) == len(costs):
            seconds, mib = sum(values[:2]), max(values[2:])
            found[method] = {"seconds": round(seconds, 1), "mib": round(mib, 1)}
    return found


def dataset_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the records of `dataset_rows` as the lines of a table."""
    methods = list(rows[0]["estimates"]) if rows else []
    head = ["name", "label", "vars", "train", "valid", "test", "state"]
    body = []
    for row in rows:
        counts = [row[key] for key in ("n_vars", *(f"n_{split}" for split in SPLITS))]
        sizes = ["?" if count is None else f"{count:,}" for count in counts]
        costs = [
            f"{row['estimates'][m]['seconds']:,.0f} s, {row['estimates'][m]['mib']:,.0f} MiB"
            if m in row["estimates"]
            else ""
            for m in methods
        ]
        body.append([row["name"], row["label"], *sizes, row["state"], *costs])
    lines = [[*head, *methods], *body]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    shown = []
    for line in lines:
        words = [
            word.rjust(width) if 2 <= k <= 5 or k > 6 else word.ljust(width)
            for k, (word, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(words).rstrip())
    if methods:
        note = "Estimates: one thread, whole grid and scores, from the recorded study"
        shown += ["", f"{note} {SHOWN_STUDY}."]
    return shown


def unavailable_line(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the sentence on the datasets among the records that cannot be had."""
    missing = [row["name"] for row in rows if row["state"] == "unavailable"]
    return (
        f"{', '.join(missing)}: no public copy was found; name your own files under local in "
        "config.yaml."
    )
