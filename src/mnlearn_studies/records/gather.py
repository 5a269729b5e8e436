"""The numbers of all cells of a study in one tidy table."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.files import CHOSEN, read_record, refuse_damaged
from mnlearn_studies.study.fold_means import with_means
from mnlearn_studies.study.frames import read_frame

Row = tuple[str, str, str, str, str, float, float | None]

COLUMNS = ("study", "dataset", "method", "variant", "quantity", "value", "stderr")


def gather(
    cell_paths: Sequence[Path] = (),
    *,
    paired_paths: Sequence[Path] = (),
    curve_paths: Sequence[Path] = (),
    export_paths: Sequence[Path] = (),
    timing_paths: Sequence[Path] = (),
    divergence_paths: Sequence[Path] = (),
    likelihood_paths: Sequence[Path] = (),
    trace_paths: Sequence[Path] = (),
    timed: Collection[str] = (),
) -> pd.DataFrame:
    """Return the numbers of all records of a study, tidy: one row per number; see COLUMNS.

    Means over folds stand at the end, see `study.samples`.

    Parameters
    ----------
    cell_paths : sequence of Path
        Records of scored cells.
    paired_paths : sequence of Path
        Records of `compare_paired`. The mean difference of a score from that of another method,
        with its standard error, is the quantity `<score>_less_<other>`.
    curve_paths : sequence of Path
        Records of `query_curve`. Where p per cent of the variables are queried the quantities are
        `cll_q<p>` (of circuits), `cmll_q<p>`, `seconds_q<p>`, `seconds_single_q<p>` (of circuits
        that answer one query at a time) and, where some models answer a part of the queries only,
        `cll_sampled_q<p>` and `cmll_sampled_q<p>` of that part. Of models that also answer by
        belief propagation there are `cmll_beliefs_q<p>`, `seconds_beliefs_q<p>` and the share of
        queries in which it converged, `converged_beliefs_q<p>`.
    export_paths : sequence of Path
        Records of `check_exports`; of each form `export_<form>`, the largest difference.
    timing_paths : sequence of Path
        Records of `time_cell`: the seconds of each part of learning the chosen model.
    divergence_paths : sequence of Path
        Records of `estimate_divergence`. The quantities of the first model are `kl_to_<other>` with
        its standard error, and once `n_nodes`, the nodes of its circuit.
    likelihood_paths : sequence of Path
        Records of `compare_likelihoods`, whose scores and numbers are quantities.
    trace_paths : sequence of Path
        CSV files of the grid points of cells, <dataset>/<method>.csv. Each variant gets
        `mean_seconds_weights`, the mean over its grid points.
    timed : collection of str
        Methods whose seconds come from `timing_paths` alone. Those of a search are shared by its
        grid points, so for these methods they are left out.
    """
    rows = _read_rows(paired_paths, _of_pair)
    rows += _read_cells(cell_paths, trace_paths, timed)
    kinds = (
        (timing_paths, _of_timing),
        (curve_paths, _of_curve),
        (export_paths, _of_export),
        (divergence_paths, _of_divergence),
        (likelihood_paths, _of_likelihoods),
    )
    for paths, of in kinds:
        rows += _read_rows(paths, of)
    # Each circuit's nodes are in the records of all its divergences.
    return with_means(pd.DataFrame(list(dict.fromkeys(rows)), columns=list(COLUMNS)))


def _read_cells(
    paths: Iterable[Path], trace_paths: Iterable[Path], timed: Collection[str]
) -> list[Row]:
    """Return the rows of scored cells; see `gather`."""
    traces = {(path.parent.name, path.stem): path for path in trace_paths}
    rows: list[Row] = []
    for path in paths:
        with refuse_damaged(path):
            cell = read_record(path)
            rows += _of_cell(cell, cell["method"] not in timed)
            trace = traces.get((cell["dataset"], cell["method"]))
            variant = load_learner(cell["learner"]).variant
        rows += _mean_seconds(cell, variant, trace)
    return rows


def read_scores(path: Path) -> pd.DataFrame:
    """Return the table that was written to a CSV file, with the empty variant as empty text.

    Raises
    ------
    InputError
        The file is missing or holds something else.
    """
    missing = {"value": [""], "stderr": [""]}
    frame = read_frame(path, COLUMNS, keep_default_na=False, na_values=missing)
    try:
        return frame.astype({"value": float, "stderr": float})
    except ValueError as error:
        raise InputError(f"{path}: expected numbers as value and stderr.") from error


def _read_rows(
    paths: Iterable[Path], of: Callable[[Mapping[str, Any]], Iterator[Row]]
) -> list[Row]:
    rows: list[Row] = []
    for path in paths:
        with refuse_damaged(path):
            rows += of(read_record(path))
    return rows


def _head(record: Mapping[str, Any]) -> tuple[str, str, str, str]:
    return record["study"], record["dataset"], record["method"], CHOSEN


def _of_pair(record: Mapping[str, Any]) -> Iterator[Row]:
    for quantity, difference in record["differences"].items():
        name = f"{quantity}_less_{record['less']}"
        yield (*_head(record), name, difference["mean"], difference["stderr"])


def _of_cell(cell: Mapping[str, Any], with_seconds: bool) -> Iterator[Row]:
    for variant, entry in cell["variants"].items():
        head = (cell["study"], cell["dataset"], cell["method"], variant)
        yield from ((*head, *numbers) for numbers in _numbers(cell, entry))
        if with_seconds:
            yield from ((*head, *numbers) for numbers in _seconds(entry["seconds"], cell))


def _of_timing(record: Mapping[str, Any]) -> Iterator[Row]:
    yield from ((*_head(record), *numbers) for numbers in _seconds(record["seconds"], record))


def _of_curve(record: Mapping[str, Any]) -> Iterator[Row]:
    for point in record["points"]:
        share = f"q{point['percentage']}"
        for name in ("cll", "cll_sampled", "cmll", "cmll_sampled", "cmll_beliefs"):
            if name in point:
                score = point[name]
                yield (*_head(record), f"{name}_{share}", score["mean"], score["stderr"])
        for name in ("seconds", "seconds_single", "seconds_beliefs"):
            if f"{name}_per_query" in point:
                yield (*_head(record), f"{name}_{share}", point[f"{name}_per_query"], None)
        if "converged_beliefs" in point:
            yield (*_head(record), f"converged_beliefs_{share}", point["converged_beliefs"], None)


def _of_export(record: Mapping[str, Any]) -> Iterator[Row]:
    for form, export in record["forms"].items():
        yield (*_head(record), f"export_{form}", export["largest_difference"], None)


def _of_divergence(record: Mapping[str, Any]) -> Iterator[Row]:
    kl = record["kl"]
    yield (*_head(record), f"kl_to_{record['other']}", kl["mean"], kl["stderr"])
    yield (*_head(record), "n_nodes", record["circuits"][record["method"]]["n_nodes"], None)


def _of_likelihoods(record: Mapping[str, Any]) -> Iterator[Row]:
    for variant, entry in record["variants"].items():
        head = (record["study"], record["dataset"], record["method"], variant)
        for name, score in entry.get("scores", {}).items():
            yield (*head, name, score["mean"], score["stderr"])
            if "monte_carlo_error" in score:
                yield (*head, f"{name}_monte_carlo_error", score["monte_carlo_error"], None)
        for name, value in entry["numbers"].items():
            yield (*head, name, float(value), None)


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
    tuning, files = cell["seconds_tuning"], cell["seconds_read"] + cell["seconds_write"]
    out.append(("seconds_tuning", tuning, None))
    # What a program that does nothing else would take, as papers time it.
    out.append(("seconds_tuning_and_files", tuning + files, None))
    of_inference = (name for name in entry if name.startswith("seconds_inference"))
    out += [(name, entry[name], None) for name in of_inference]
    chosen = {f"chosen_{name}": value for name, value in entry["parameters"].items()}
    for name, value in {**entry["details"], **chosen}.items():
        if name.startswith("seconds_"):
            continue
        if isinstance(value, int | float):
            # Truth values are numbers too.
            out.append((name, float(value), None))
        elif name in chosen:  # Numbers can be counted: 1 for the value, 0 for the others.
            parameter = name.removeprefix("chosen_")
            tried = {str(v["parameters"].get(parameter)) for v in cell["variants"].values()}
            out += [(f"{name}_{other}", float(other == value), None) for other in sorted(tried)]
    if "n_vars" in cell:
        out.append(("n_vars", cell["n_vars"], None))
    peak = max(cell["peak_memory_mib_learn"], cell["peak_memory_mib_score"])
    out.append(("peak_memory_mib", peak, None))
    return out


def _seconds(
    parts: Mapping[str, float], record: Mapping[str, Any]
) -> Iterator[tuple[str, float, Any]]:
    """Yield the seconds of each part of learning, their sum, and the sum with those of files."""
    for name, value in parts.items():
        yield f"seconds_{name}", value, None
    learn = sum(parts.values())
    yield "seconds_learn", learn, None
    files = record["seconds_read"] + record["seconds_write"]
    yield "seconds_learn_and_files", learn + files, None


def _mean_seconds(
    cell: Mapping[str, Any], names: Sequence[str], trace_path: Path | None
) -> list[Row]:
    """Return the mean seconds of weight learning over the grid points of each variant.

    names : the parameters of which each choice of values is a variant.
    """
    if trace_path is None or not names:
        return []
    trace = read_frame(trace_path, ("stage", *names))
    if "seconds_weights" not in trace:
        return []
    points = trace[trace["stage"] == trace["stage"].max()]
    variant = points[list(names)].astype(str).agg("-".join, axis=1)
    means = points.groupby(variant, sort=False)["seconds_weights"].mean()
    head = (cell["study"], cell["dataset"], cell["method"])
    return [(*head, name, "mean_seconds_weights", value, None) for name, value in means.items()]
