"""The command `mnlearn compare`."""

from pathlib import Path

import click

from mnlearn.cli.examples import Reader
from mnlearn.cli.files import check_data
from mnlearn.cli.options import (
    FILE,
    json_option,
    print_record,
    reading_options,
    seed_option,
    threads_option,
)
from mnlearn.scoring.metrics import METRIC_NAMES


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
        "p_value": found.p_value,
        "n_examples": found.n_examples,
    }
    if any(found.impossible):
        record["impossible_in_model"], record["impossible_in_other"] = found.impossible
    print_record(record, as_json)
