"""What exists and what it will cost: datasets, their state, estimates of time and memory.

Estimates come from the recorded study: seconds and memory are fitted as powers of the number of
training rows, of variables and of the density over its datasets.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mnlearn.study.datasets.embedded import EMBEDDED
from mnlearn.study.datasets.registry import Benchmark, load_registry, registry_path
from mnlearn.study.datasets.verification import find_state

RECORDED_STUDY = "dtsl"
_COSTS = ["seconds_tuning", "seconds_inference", "peak_memory_mib"]
_MIN_DATASETS = 6
_FALLBACK_DENSITY = 0.3


@dataclass(frozen=True)
class Estimate:
    """A power law in rows, variables and density for the cost of one method."""

    coefficients: NDArray[np.float64]

    def __call__(self, n_rows: int, n_vars: int, density: float) -> float:
        """Return the estimated cost."""
        return float(np.exp(_features(n_rows, n_vars, density) @ self.coefficients))


def _features(n_rows: int, n_vars: int, density: float) -> NDArray[np.float64]:
    return np.array([1.0, np.log(n_rows), np.log(n_vars), np.log(density)])


def recorded_estimates(
    scores: pd.DataFrame, registry: Mapping[str, Benchmark]
) -> dict[str, dict[str, Estimate]]:
    """Return for each method of a recorded study the laws of its seconds and MiB.

    scores : tidy scores as from `study.gather.gather`. Methods with too few datasets are left out.
    """
    chosen = scores[(scores["variant"] == "") & scores["dataset"].isin(list(registry))]
    table = chosen.pivot_table(index=["method", "dataset"], columns="quantity", values="value")
    out: dict[str, dict[str, Estimate]] = {}
    for method in dict.fromkeys(chosen["method"]):
        cells = table.loc[method].reindex(columns=_COSTS).dropna()
        if len(cells) < _MIN_DATASETS:
            continue
        sizes = [registry[str(name)] for name in cells.index]
        x = np.array([_features(b.n_rows("train"), b.n_vars, b.density) for b in sizes])
        seconds = cells["seconds_tuning"] + cells["seconds_inference"]
        out[method] = {
            "seconds": _fit(x, seconds.to_numpy()),
            "mib": _fit(x, cells["peak_memory_mib"].to_numpy()),
        }
    return out


def _fit(x: NDArray[np.float64], y: NDArray[np.float64]) -> Estimate:
    solution = np.linalg.lstsq(x, np.log(np.maximum(y, 1e-3)), rcond=None)[0]
    return Estimate(np.asarray(solution, np.float64))


def dataset_rows(folder: Path) -> list[dict[str, Any]]:
    """Return one record per known dataset: sizes, state of its files, estimates per method."""
    registry = load_registry()
    path = registry_path().parent.parent / "results" / RECORDED_STUDY / "scores.csv"
    estimates: dict[str, dict[str, Estimate]] = {}
    if path.exists():
        estimates = recorded_estimates(pd.read_csv(path, keep_default_na=False), registry)
    rows = [
        _row(name, benchmark, benchmark.density, find_state(benchmark, folder), estimates)
        for name, benchmark in registry.items()
    ]
    return rows + [
        _row(name, entry, _FALLBACK_DENSITY, "embedded", estimates)
        for name, entry in EMBEDDED.items()
    ]


def _row(
    name: str,
    entry: Any,
    density: float,
    status: str,
    estimates: Mapping[str, Mapping[str, Estimate]],
) -> dict[str, Any]:
    sizes = {f"n_{split}": entry.n_rows(split) for split in ("train", "valid", "test")}
    cost = {
        method: {
            quantity: round(law(sizes["n_train"], entry.n_vars, density), 1)
            for quantity, law in laws.items()
        }
        for method, laws in estimates.items()
    }
    return {
        "name": name,
        "label": entry.label,
        "n_vars": entry.n_vars,
        **sizes,
        "state": status,
        "estimates": cost,
    }


def print_datasets(rows: list[dict[str, Any]]) -> None:
    """Print the records of `dataset_rows` as a table."""
    methods = list(rows[0]["estimates"]) if rows else []
    head = ["name", "label", "vars", "train", "valid", "test", "state"]
    body = []
    for row in rows:
        sizes = [f"{row[key]:,}" for key in ("n_vars", "n_train", "n_valid", "n_test")]
        cost = [
            f"{row['estimates'][m]['seconds']:,.0f} s, {row['estimates'][m]['mib']:,.0f} MiB"
            for m in methods
        ]
        body.append([row["name"], row["label"], *sizes, row["state"], *cost])
    lines = [[*head, *methods], *body]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        cells = [
            cell.rjust(width) if 2 <= k <= 5 or k > 6 else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        click.echo("  ".join(cells).rstrip())
    if methods:
        click.echo(
            "\nEstimates: one thread, whole grid and scores, from the recorded study "
            f"{RECORDED_STUDY}."
        )
