"""The commands that score: `score`, and `compare` for two models."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.examples import Reader
from mnlearn.cli.files import check_data, check_outputs
from mnlearn.cli.options import (
    FILE,
    inference_options,
    json_option,
    memory_option,
    print_record,
    reading_options,
    seed_option,
    spell_option,
    threads_option,
)
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.metrics import METRIC_NAMES, METRICS, Metric, find_metric, usual_metric

if TYPE_CHECKING:
    from mnlearn.api.scores import How, ScoreResult
    from mnlearn.data.dataset import Dataset
    from mnlearn.models.model import Model


# So many impossible examples are named.
_LISTED = 20


def _explained(metric: Metric) -> str:
    first, *more = metric.help.splitlines()
    return "\n".join([f"{metric.name:<6}{first}", *(" " * 6 + line for line in more)])


_HELP = "Score MODEL on DATA, in nats per example; higher is better.\n\n\b\n" + "\n".join(
    map(_explained, METRICS)
)


@click.command(help=_HELP)
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option(
    "--metric",
    type=click.Choice(METRIC_NAMES, case_sensitive=False),
    help="Default: pll for Markov and dependency networks, ll for all other models.",
)
@inference_options(
    "How cmll gets its marginals, by default exactly where that is cheap (auto), else by Gibbs "
    "sampling, and ll the partition function, by default exactly. The methods:"
)
@click.option(
    "--ais",
    "chains",
    type=click.IntRange(min=2),
    help="Estimate ll by annealed importance sampling: chains of --samples steps each.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=1),
    help="Query groups of cmll and cll, drawn at random.  [default: 4]",
)
@click.option(
    "--groups",
    type=FILE,
    help="JSON file of query groups, lists of variables by name or by number from 0. A variable "
    "in no group is evidence only: the score has no term for it.",
)
@click.option(
    "--per-example",
    type=FILE,
    help="Write the score of every example to this CSV, in the order of DATA.",
)
@reading_options
@memory_option
@threads_option
@seed_option
@json_option
def score(
    *,
    model_path: Path,
    data_path: Path,
    metric: str | None,
    inference: str | None,
    settings: dict[str, Any],
    chains: int | None,
    folds: int | None,
    groups: Path | None,
    per_example: Path | None,
    reader: Reader,
    threads: int,
    seed: int,
    as_json: bool,
) -> None:
    """Score a model on data; the help of the command explains the scores."""
    import numpy as np

    from mnlearn.api.scores import describe_sampling, measure
    from mnlearn.data.incomplete import IncompleteData
    from mnlearn.data.tables import some_of
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.files import write_text
    from mnlearn.runtime.progress import say

    check_outputs([per_example], model_path, data_path, groups)
    model = load_model(model_path)
    asked = find_metric(usual_metric(model) if metric is None else metric)
    metric = asked.name
    if chains is not None and metric != "ll":
        raise InputError("--ais: expected --metric ll.")
    how = _how(inference, chains, settings, folds, groups, seed=seed, threads=threads)
    found = reader.like(model).load(data_path)
    is_exact = asked.sums_missing(how.inference)
    data: Any = found.data if is_exact else found.complete(data_path, _advice(model, metric))
    check_data(data_path, model, data)
    if isinstance(data, IncompleteData):
        counts = f"{data.n_with_missing} of {len(data.row_of)} examples"
        say(f"{data_path}: {counts} have missing cells, which are summed out.")
    result = measure(model, data, asked, how)
    note = describe_sampling(model, data, asked, how)
    if note is not None:
        say(f"{model_path}: {note}")
    if per_example is not None:
        values = "".join(f"{value!r}\n" for value in result.per_example.tolist())
        write_text(per_example, f"{metric}\n{values}")
    impossible = np.flatnonzero(np.isneginf(result.per_example))
    if len(impossible):
        places = impossible + 1 if found.lines is None else np.array(found.lines)[impossible]
        kind = "row" if found.lines is None else "line"
        listed = some_of(list(map(str, places.tolist())), _LISTED)
        subject = "1 example has" if len(impossible) == 1 else f"{len(impossible)} examples have"
        kind += "s" if len(impossible) > 1 else ""
        say(f"{data_path}: {subject} probability 0, {kind} {listed}.")
    record = _record_of(result, data)
    print_record(record | ({"impossible": len(impossible)} if len(impossible) else {}), as_json)


def _how(
    inference: str | None,
    chains: int | None,
    settings: dict[str, Any],
    folds: int | None,
    groups: Path | None,
    *,
    seed: int,
    threads: int,
) -> "How":
    """Return how a score is computed; --ais is a method of inference with its number of chains."""
    from mnlearn.api.scores import How
    from mnlearn.inference.settings import ANNEALED
    from mnlearn.runtime.files import read_json

    if chains is not None:
        if inference is not None:
            raise InputError("--ais: expected no --inference.")
        inference, settings = ANNEALED, {"chains": chains, **settings}
    query_groups = None
    if groups is not None:
        found = read_json(groups)
        query_groups = [] if found is None else found
    return How(
        folds,
        query_groups,
        inference,
        settings,
        seed,
        threads,
        groups_from=str(groups),
        spell=spell_option,
    )


def _advice(model: "Model", metric: str) -> str:
    """Return what can be done about missing cells in data to score."""
    advice = "fill them in with mnlearn impute"
    if not model.has_joint:
        return advice
    exact = "--metric ll" if metric != "ll" else "--metric ll without --ais and --inference"
    return f"{advice}, or use {exact}, which sums them out"


def _record_of(result: "ScoreResult", data: "Dataset") -> dict[str, Any]:
    record: dict[str, Any] = {
        "metric": result.metric,
        "mean": result.mean,
        "standard_error": result.stderr,
        "n_examples": data.n_examples,
    }
    if result.monte_carlo_error > 0.0:
        record["monte_carlo_error"] = result.monte_carlo_error
    if result.converged is not None:
        record["converged"] = result.converged
    return record


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.argument("other_path", metavar="OTHER", type=FILE)
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option(
    "--metric",
    type=click.Choice(METRIC_NAMES, case_sensitive=False),
    help="Default: ll if that is the usual score of both models, else pll.",
)
@reading_options
@threads_option
@seed_option
@json_option
def compare(
    *,
    model_path: Path,
    other_path: Path,
    data_path: Path,
    metric: str | None,
    reader: Reader,
    threads: int,
    seed: int,
    as_json: bool,
) -> None:
    """Compare the scores of two models on DATA, example by example.

    Prints the mean difference MODEL less OTHER in nats per example, its standard error, and the p
    value of a paired t-test. Examples to which a model gives probability 0 are counted apart.
    """
    from mnlearn.api.comparison import compare as compare_models
    from mnlearn.models.io.formats import load_model

    models = [load_model(model_path), load_model(other_path)]
    data = reader.like(models[0]).load(data_path).complete(data_path)
    for model in models:
        check_data(data_path, model, data)
    found = compare_models(models[0], models[1], data, metric, random_state=seed, n_jobs=threads)
    record = {
        "metric": found.metric,
        "mean_of_model": found.means[0],
        "mean_of_other": found.means[1],
        "difference": found.difference,
        "standard_error": found.stderr,
        "p_value": found.p_value if as_json or found.stderr else found.p_text,
        "n_examples": found.n_examples,
    }
    if any(found.impossible):
        record["impossible_in_model"], record["impossible_in_other"] = found.impossible
    print_record(record, as_json)
