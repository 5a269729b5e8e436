"""Queries of growing size: how well, and how fast, circuits answer them on test examples."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.arrays import read_arrays, write_arrays
from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.errors import InputError
from mnlearn.files import write_json
from mnlearn.inference.circuits import UNKNOWN, conditionals, log_value
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.files import load_model
from mnlearn.provenance import provenance
from mnlearn.scores import check_variables
from mnlearn.streams import stream


def draw_queries(test: Dataset, dataset: str, n_examples: int, seed: int, path: Path) -> None:
    """Draw test examples and, for each of them, the order in which its variables are queried.

    Writes `example`, int64 of (n_examples,), places in the test data in ascending order, and
    `rank`, uint16 of (n_examples, n_vars): a query of n variables asks for those of rank below
    n, given all others. So the variables of a query are among those of every larger one.
    """
    rng = stream(seed, dataset, "queries")
    n_given = len(test.row_of)
    chosen = rng.permutation(n_given)[:n_examples]
    rank = np.argsort(rng.random((len(chosen), test.n_vars)), axis=1).astype(np.uint16)
    write_arrays(
        path,
        {"kind": np.array("queries"), "example": np.sort(chosen).astype(np.int64), "rank": rank},
    )


def query_curve(
    model_path: Path,
    test_path: Path,
    queries_path: Path,
    percentages: Sequence[int],
    identity: Mapping[str, Any],
    out: Path,
    threads: int = 1,
) -> None:
    """Write how well a circuit answers queries of growing shares of the variables.

    percentages : of the variables that are queried. For each the record has the conditional
        log-likelihood and the conditional marginal log-likelihood of the query variables, nats
        per query variable, and the seconds per query, evaluations of several queries at a time.

    Raises
    ------
    InputError
        The model is not a circuit, or the queries are not of its variables.
    """
    model, test = load_model(model_path), load_npz(test_path)
    if not isinstance(model, ArithmeticCircuit):
        raise InputError(f"{model_path}: expected a circuit, for which queries are exact.")
    check_variables(model, test)
    arrays = read_arrays(queries_path)
    rank = arrays.get("rank")
    if rank is None or rank.shape[1:] != (test.n_vars,):
        raise InputError(f"{queries_path}: expected queries of {test.n_vars} variables.")
    rows = test.rows[test.row_of[arrays["example"]]]
    # The first use compiles or loads the kernels.
    conditionals(model, rows[:1])
    points = [_point(model, rows, rank, percentage, threads) for percentage in percentages]
    record = {**identity, "scored_by": provenance("query_curves"), "n_queries": len(rows)}
    write_json(out, {**record, "points": points})


def _point(
    circuit: ArithmeticCircuit,
    rows: NDArray[np.uint8],
    rank: NDArray[np.uint16],
    percentage: int,
    threads: int,
) -> dict[str, Any]:
    n_query = max(1, round(circuit.n_vars * percentage / 100))
    asked = rank < n_query
    evidence = np.where(asked, UNKNOWN, rows).astype(np.uint8)
    began = time.perf_counter()
    log_evidence, p = conditionals(circuit, evidence, threads)
    seconds = time.perf_counter() - began
    cll = (log_value(circuit, rows, threads) - log_evidence) / n_query
    with np.errstate(divide="ignore"):
        log_own = np.log(np.where(rows, p[:, :, 1], p[:, :, 0]))
    cmll = np.where(asked, log_own, 0.0).sum(axis=1) / n_query
    return {
        "percentage": percentage,
        "n_query_variables": n_query,
        "cll": _mean(cll),
        "cmll": _mean(cmll),
        "seconds_per_query": seconds / len(rows),
    }


def _mean(values: NDArray[np.float64]) -> dict[str, float]:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "stderr": error}
