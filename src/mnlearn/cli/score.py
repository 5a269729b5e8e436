"""The command `mnlearn score`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mnlearn.cli.files import check_data, check_outputs
from mnlearn.cli.options import (
    FILE,
    expansion_option,
    inference_options,
    json_option,
    reading_options,
    seed_option,
    threads_option,
)
from mnlearn.cli.printing import print_record
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.metrics import METRICS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnlearn.data.dataset import Dataset
    from mnlearn.data.reading import Reading
    from mnlearn.inference.annealing import Annealing
    from mnlearn.inference.score import Score
    from mnlearn.inference.settings import Inference
    from mnlearn.models.io.native import Model


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--metric", type=click.Choice(METRICS), default="pll", show_default=True)
@inference_options
@click.option(
    "--ais",
    "chains",
    type=click.IntRange(min=2),
    help="Estimate ll by annealed importance sampling: chains of --samples steps each.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Query groups of cmll and cll.",
)
@click.option("--groups", type=FILE, help="JSON file of query groups, lists of variables.")
@click.option(
    "--per-example",
    type=FILE,
    help="Write the score of every example to this CSV, in the order of DATA.",
)
@reading_options
@expansion_option
@threads_option
@seed_option
@json_option
def score(
    *,
    model_path: Path,
    data_path: Path,
    metric: str,
    inference: "Inference",
    chains: int | None,
    folds: int,
    groups: Path | None,
    per_example: Path | None,
    reading: "Reading",
    limit: ExpansionLimit,
    threads: int,
    seed: int,
    as_json: bool,
) -> None:
    """Score MODEL on DATA, in nats per example; higher is better.

    \b
    pll   log-pseudo-likelihood: every variable given all others
    cmll  conditional marginal log-likelihood: every variable given the other query groups
    cll   conditional log-likelihood of each query group given the others (exact)
    ll    log-likelihood (exact: circuits, and networks that one can be compiled of;
          the partition function is the Bethe estimate with --inference bp, and a lower bound
          with --inference meanfield, so that ll is too high);
          missing cells are summed out, exactly
    """
    from mnlearn.data.examples import load_examples
    from mnlearn.inference.annealing import Annealing
    from mnlearn.inference.score import with_impossible_rows
    from mnlearn.inference.settings import ITERATIVE
    from mnlearn.models.io.formats import load_model

    if chains is not None and metric != "ll":
        raise InputError("--ais: expected --metric ll.")
    check_outputs([per_example], model_path, data_path, groups)
    model = load_model(model_path)
    found = load_examples(data_path, limit, replace(reading, names=model.names))
    is_exact = metric == "ll" and chains is None and inference.method not in ITERATIVE
    # Exact likelihoods sum missing cells out.
    data: Any = found.data if is_exact else found.complete(data_path, _advice(model, metric))
    check_data(data_path, model, data)
    query = _query_groups(groups, model.n_vars, folds, seed)
    annealing = None if chains is None else Annealing(chains, inference.samples)
    how = _How(inference, annealing, query, threads, seed)
    result = with_impossible_rows(_measure(metric, model, data, how))
    if per_example is not None:
        _write_scores(per_example, metric, result.per_row[data.row_of])
    print_record(_record_of(metric, result, data), as_json)


def _advice(model: "Model", metric: str) -> str:
    """Return what can be done about missing cells in data to score."""
    from mnlearn.models.dependency_network import DependencyNetwork

    advice = "fill them in with mnlearn impute"
    if isinstance(model, DependencyNetwork):
        return advice
    exact = "--metric ll" if metric != "ll" else "--metric ll without --ais and --inference"
    return f"{advice}, or use {exact}, which sums them out"


class _How(NamedTuple):
    """How a score is computed; annealing : only where the partition function is estimated by it."""

    inference: "Inference"
    annealing: "Annealing | None"
    groups: list[list[int]]
    threads: int
    seed: int


def _measure(metric: str, model: "Model", data: Any, how: _How) -> "Score":
    from mnlearn.data.incomplete import IncompleteData
    from mnlearn.inference.settings import ITERATIVE
    from mnlearn.runtime.random_streams import stream_seed
    from mnlearn.scoring import any_model

    inference, threads = how.inference, how.threads
    if metric == "pll":
        return any_model.pll(model, data, threads)
    if metric == "ll" and how.annealing is not None:
        seed = stream_seed(how.seed, "ais")
        return any_model.annealed_ll(model, data, how.annealing, seed, threads=threads)
    if metric == "ll" and inference.method in ITERATIVE:
        return any_model.approximate_ll(model, data, inference)
    if isinstance(data, IncompleteData):
        return any_model.marginal_ll(model, data, threads)
    if metric == "ll":
        return any_model.ll(model, data, threads)
    if metric == "cll":
        return any_model.cll(model, data, how.groups, threads)
    seed = stream_seed(how.seed, "gibbs")
    return any_model.cmll(model, data, how.groups, inference, seed=seed, threads=threads)


def _query_groups(path: Path | None, n_vars: int, folds: int, seed: int) -> list[list[int]]:
    """Return the query groups in a file, or drawn ones."""
    from mnlearn.inference.query_groups import random_partition, read_groups
    from mnlearn.runtime.random_streams import stream

    if path is not None:
        return read_groups(path, n_vars)
    return random_partition(n_vars, folds, stream(seed, "query groups"))


def _write_scores(path: Path, metric: str, values: "NDArray[np.float64]") -> None:
    """Write the scores of the examples as a CSV with one column."""
    from mnlearn.runtime.files import write_text

    write_text(path, f"{metric}\n" + "".join(f"{value!r}\n" for value in values.tolist()))


def _record_of(metric: str, result: "Score", data: "Dataset") -> dict[str, Any]:
    record: dict[str, Any] = {
        "metric": metric,
        "mean": result.mean,
        "standard_error": result.standard_error,
        "n_examples": data.n_examples,
    }
    if result.monte_carlo_error:
        record["monte_carlo_error"] = result.monte_carlo_error
    if result.converged is not None:
        record["converged"] = result.converged
    return record
