"""The numbers of all cells of a study in one tidy table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.files import read_json

COLUMNS = ("study", "dataset", "method", "variant", "quantity", "value", "stderr")


def gather(cell_paths: list[Path]) -> pd.DataFrame:
    """Return the numbers of all cells, tidy: one row per number; see COLUMNS."""
    rows: list[tuple[Any, ...]] = []
    for path in cell_paths:
        cell = read_json(path)
        for variant, entry in cell["variants"].items():
            head = (cell["study"], cell["dataset"], cell["method"], variant)
            rows += [(*head, *numbers) for numbers in _numbers(cell, entry)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _numbers(cell: Mapping[str, Any], entry: Mapping[str, Any]) -> list[tuple[str, float, Any]]:
    out: list[tuple[str, float, Any]] = []
    for name, score in entry["scores"].items():
        out.append((name, score["mean"], score["stderr"]))
        if "monte_carlo_error" in score:
            out.append((f"{name}_monte_carlo_error", score["monte_carlo_error"], None))
        means = score.get("partitions", [])
        if len(means) > 1:
            spread = float(np.std(means, ddof=1))
            out.append((f"{name}_partition_mean", float(np.mean(means)), spread))
    out.append(("validation", entry["validation"], None))
    sizes = ("n_features", "n_features_generated", "mean_length")
    out += [(name, entry[name], None) for name in sizes if name in entry]
    seconds = entry["seconds"]
    out += [(f"seconds_{name}", value, None) for name, value in seconds.items()]
    learn, tuning = sum(seconds.values()), cell["seconds_tuning"]
    files = cell["seconds_read"] + cell["seconds_write"]
    out.append(("seconds_learn", learn, None))
    out.append(("seconds_tuning", tuning, None))
    # What a program that does nothing else would take, as papers time it.
    out.append(("seconds_learn_and_files", learn + files, None))
    out.append(("seconds_tuning_and_files", tuning + files, None))
    out.append(("seconds_inference", entry["seconds_inference"], None))
    chosen = {f"chosen_{name}": value for name, value in entry["parameters"].items()}
    for name, value in {**entry["details"], **chosen}.items():
        if isinstance(value, int | float):
            out.append((name, value, None))
    peak = max(cell["peak_memory_mib_learn"], cell["peak_memory_mib_score"])
    out.append(("peak_memory_mib", peak, None))
    return out
