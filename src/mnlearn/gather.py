"""The numbers of all cells of a study in one tidy table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.files import read_json

COLUMNS = ("study", "dataset", "method", "variant", "quantity", "value", "stderr")


def gather(
    cell_paths: Sequence[Path] = (),
    paired_paths: Sequence[Path] = (),
    curve_paths: Sequence[Path] = (),
    export_paths: Sequence[Path] = (),
    divergence_paths: Sequence[Path] = (),
) -> pd.DataFrame:
    """Return the numbers of all cells, tidy: one row per number; see COLUMNS.

    paired_paths : records of `compare_paired`; the mean difference of a score from that of another
        method, with its standard error, is the quantity `<score>_less_<other>`.
    curve_paths : records of `query_curves`; where p per cent of the variables are queried the
        quantities are `cll_q<p>` (of circuits), `cmll_q<p>`, `seconds_q<p>`, `seconds_single_q<p>`
        (of circuits that answer one query at a time) and, where some models answer a part of the
        queries only, `cll_sampled_q<p>` and `cmll_sampled_q<p>` of that part. Of models that also
        answer by belief propagation `cmll_beliefs_q<p>`, `seconds_beliefs_q<p>` and the share of
        queries in which it converged, `converged_beliefs_q<p>`.
    export_paths : records of `check_exports`; of each form `export_<form>`, the largest difference.
    divergence_paths : records of `estimate_divergence`; the quantities of the first model are
        `kl_to_<other>` with its standard error, and once `n_nodes`, the nodes of its circuit.
    """
    rows: list[tuple[Any, ...]] = []
    for path in paired_paths:
        record = read_json(path)
        head = (record["study"], record["dataset"], record["method"], "")
        for quantity, difference in record["differences"].items():
            name = f"{quantity}_less_{record['less']}"
            rows.append((*head, name, difference["mean"], difference["stderr"]))
    for path in cell_paths:
        cell = read_json(path)
        for variant, entry in cell["variants"].items():
            head = (cell["study"], cell["dataset"], cell["method"], variant)
            rows += [(*head, *numbers) for numbers in _numbers(cell, entry)]
    for path in curve_paths:
        curve = read_json(path)
        head = (curve["study"], curve["dataset"], curve["method"], "")
        for point in curve["points"]:
            share = f"q{point['percentage']}"
            for name in ("cll", "cll_sampled", "cmll", "cmll_sampled", "cmll_beliefs"):
                if name in point:
                    score = point[name]
                    rows.append((*head, f"{name}_{share}", score["mean"], score["stderr"]))
            for name in ("seconds", "seconds_single", "seconds_beliefs"):
                if f"{name}_per_query" in point:
                    rows.append((*head, f"{name}_{share}", point[f"{name}_per_query"], None))
            if "converged_beliefs" in point:
                rows.append((*head, f"converged_beliefs_{share}", point["converged_beliefs"], None))
    for path in export_paths:
        record = read_json(path)
        head = (record["study"], record["dataset"], record["method"], "")
        for form, export in record["forms"].items():
            rows.append((*head, f"export_{form}", export["largest_difference"], None))
    rows += _divergences(divergence_paths)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _divergences(paths: Sequence[Path]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    # A method may be in several pairs; its number of nodes stands once.
    nodes: dict[tuple[Any, ...], int] = {}
    for path in paths:
        record = read_json(path)
        head = (record["study"], record["dataset"], record["method"], "")
        kl = record["kl"]
        rows.append((*head, f"kl_to_{record['other']}", kl["mean"], kl["stderr"]))
        nodes[head] = record["circuits"][record["method"]]["n_nodes"]
    return rows + [(*head, "n_nodes", value, None) for head, value in nodes.items()]


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
        elif name in chosen:  # Numbers can be counted: 1 for the value, 0 for the others.
            parameter = name.removeprefix("chosen_")
            tried = {str(v["parameters"].get(parameter)) for v in cell["variants"].values()}
            out += [(f"{name}_{other}", float(other == value), None) for other in sorted(tried)]
    peak = max(cell["peak_memory_mib_learn"], cell["peak_memory_mib_score"])
    out.append(("peak_memory_mib", peak, None))
    return out
