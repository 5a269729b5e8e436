"""The steps of the pipeline as subcommands; a person can paste them from Snakemake's log.

This file has the steps that make records, except those that learn, which are in `cli.learn_steps`.
`cli.product_steps` has those that show what records say.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from mnlearn.cli.options import FILE, FOLDER, parse_inference, seed_option, threads_option
from mnlearn.cli.values import parse_object
from mnlearn.runtime.errors import InputError, name_data
from mnlearn_studies.cli.learn_steps import tune, tune_part
from mnlearn_studies.cli.options import (
    data_folder_option,
    mirror_option,
    parse_further_inference,
    parse_list,
    parse_local,
    recipe_option,
)
from mnlearn_studies.cli.product_steps import appendix, gather, index, page, write

_STUDY = click.option("--study", required=True)
_DATASET = click.option("--dataset", required=True)
_LABEL = click.option("--label", required=True, help="Name of the method in the study.")


def _with_identity(
    command: Callable[..., None], options: tuple[Callable[..., Any], ...], names: dict[str, str]
) -> Callable[..., None]:
    """Add options to a command that is given their values as one mapping, `identity`.

    names : the keys of the mapping by the names of the options.
    """

    @wraps(command)
    def run(**given: Any) -> None:
        identity = {key: given.pop(name) for name, key in names.items()}
        command(identity=identity, **given)

    for option in reversed(options):
        run = option(run)
    return run


def identity_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which record of a method on a dataset is made."""
    names = {"study": "study", "dataset": "dataset", "label": "method", "recipe": "recipe"}
    return _with_identity(command, (_STUDY, _LABEL, _DATASET, recipe_option), names)


def pair_identity_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say which record of two methods on a dataset is made."""
    names = {name: name for name in ("study", "dataset", "recipe")}
    return _with_identity(command, (_STUDY, _DATASET, recipe_option), names)


@click.command()
@click.argument("name", metavar="DATASET")
@click.option("--local", default="{}", help="How a person's own dataset is given, as JSON.")
@data_folder_option
@mirror_option
@seed_option
def prepare(name: str, local: str, folder: Path, mirror: str | None, seed: int) -> None:
    """Pipeline: bring a dataset into the native form, fetching or drawing it if needed."""
    from mnlearn_studies.datasets.prepare import prepare_dataset

    if name in (".", "..") or Path(name).name != name:
        raise InputError(f"dataset {name}: expected a name without folders.")
    prepare_dataset(name, folder, seed, parse_local(local), mirror=mirror)


@click.command()
@click.argument("train", type=FILE)
@click.option("--dataset", required=True)
@click.option("--groups", type=click.IntRange(min=1), required=True)
@click.option("--number", type=click.IntRange(min=1), required=True)
@click.option("--out", type=FILE, required=True)
@seed_option
def partition(train: Path, dataset: str, groups: int, number: int, out: Path, seed: int) -> None:
    """Pipeline: draw partitions of the variables into query groups."""
    from mnlearn.data.dataset import load_npz
    from mnlearn.inference.query_groups import partitions
    from mnlearn.runtime.files import write_json

    write_json(out, partitions(seed, dataset, load_npz(train).n_vars, groups, n=number))


@click.command("score-cell")
@click.argument("models", type=FOLDER)
@click.option("--groups", type=FILE, required=True)
@click.option("--test", type=FILE, required=True)
@click.option("--inference", required=True, help="Inference settings, as JSON.")
@click.option("--further", default="{}", help="Further inference settings by name, as JSON.")
@click.option("--cmll-of", type=click.Choice(["all", "chosen", "none"]), default="all")
@click.option("--checkpoints", type=FOLDER)
@click.option("--per-example", type=FILE, required=True)
@click.option("--trace", type=FILE, required=True, help="Write the grid points to this CSV.")
@click.option("--cell", type=FILE, required=True)
@recipe_option
@threads_option
def score_cell(
    models: Path,
    groups: Path,
    test: Path,
    inference: str,
    further: str,
    cmll_of: str,
    checkpoints: Path | None,
    per_example: Path,
    trace: Path,
    cell: Path,
    recipe: dict[str, Any],
    threads: int,
) -> None:
    """Pipeline: score a learned model and its variants on test data."""
    from mnlearn_studies.records import score

    with name_data(test):
        score.score_cell(
            models,
            test,
            groups,
            parse_inference(inference, "--inference"),
            checkpoint_folder=checkpoints,
            per_example_path=per_example,
            trace_path=trace,
            cell_path=cell,
            threads=threads,
            cmll_of=cmll_of,
            further=parse_further_inference(further, "--further"),
            recipe=recipe,
        )


@click.command("time-cell")
@click.argument("cell", type=FILE)
@click.option("--train", type=FILE, required=True)
@click.option("--network", type=FILE, help="Dependency network that the method builds on.")
@click.option("--out", type=FILE, required=True)
@recipe_option
@threads_option
def time_cell(
    cell: Path, train: Path, network: Path | None, out: Path, recipe: dict[str, Any], threads: int
) -> None:
    """Pipeline: learn the chosen model of a cell alone, from nothing, and time each part."""
    from mnlearn_studies.records import timing

    timing.time_cell(cell, train, recipe, out, threads=threads, network_path=network)


@click.command()
@click.argument("model", type=FILE)
@identity_options
@click.option("--out", type=FILE, required=True)
def structure(model: Path, out: Path, identity: dict[str, Any]) -> None:
    """Pipeline: write the couplings of a network, which a figure draws."""
    from mnlearn_studies.records.structure import write_structure

    write_structure(model, identity, out)


@click.command()
@click.argument("test", type=FILE)
@click.option("--dataset", required=True)
@click.option("--examples", type=click.IntRange(min=1), required=True)
@click.option("--out", type=FILE, required=True)
@seed_option
def queries(test: Path, dataset: str, examples: int, out: Path, seed: int) -> None:
    """Pipeline: draw test examples and the order in which their variables are queried."""
    from mnlearn.data.dataset import load_npz
    from mnlearn_studies.records.query_curve import draw_queries

    draw_queries(load_npz(test), dataset, examples, seed, path=out)


@click.command("query-curve")
@click.argument("model", type=FILE)
@identity_options
@click.option("--test", type=FILE, required=True)
@click.option("--queries", "queries_path", type=FILE, required=True)
@click.option("--percentages", required=True, help="Shares of the variables, as a JSON list.")
@click.option("--inference", default="{}", help="Gibbs settings for other models, as JSON.")
@click.option("--sampled", type=click.IntRange(min=1), help="Queries that other models answer.")
@click.option("--beliefs", is_flag=True, help="Other models answer by belief propagation as well.")
@click.option("--out", type=FILE, required=True)
@threads_option
@seed_option
def query_curve(
    model: Path,
    test: Path,
    queries_path: Path,
    percentages: str,
    inference: str,
    sampled: int | None,
    beliefs: bool,
    out: Path,
    identity: dict[str, Any],
    threads: int,
    seed: int,
) -> None:
    """Pipeline: answer queries of growing shares of the variables, with a circuit exactly."""
    from mnlearn_studies.records import query_curve

    with name_data(test):
        query_curve.query_curve(
            model,
            test,
            queries_path,
            parse_list(percentages, "--percentages"),
            inference=parse_inference(inference, "--inference"),
            identity=identity,
            seed=seed,
            out=out,
            n_sampled=sampled,
            threads=threads,
            with_beliefs=beliefs,
        )


@click.command("check-exports")
@click.argument("model", type=FILE)
@identity_options
@click.option("--test", type=FILE, required=True)
@click.option("--form", "forms", multiple=True, required=True, help="A suffix without the dot.")
@click.option("--out", type=FILE, required=True)
def check_exports(
    model: Path,
    test: Path,
    forms: tuple[str, ...],
    out: Path,
    identity: dict[str, Any],
) -> None:
    """Pipeline: write a model in other forms, read them again and compare the scores."""
    from mnlearn_studies.records import round_trip

    with name_data(test):
        round_trip.check_exports(model, test, forms, identity, out=out)


@click.command()
@pair_identity_options
@click.option("--first", type=(str, FILE), required=True, help="A method, its scores by example.")
@click.option("--second", type=(str, FILE), required=True, help="The one to compare it with.")
@click.option("--out", type=FILE, required=True)
def pair(
    first: tuple[str, Path],
    second: tuple[str, Path],
    out: Path,
    identity: dict[str, Any],
) -> None:
    """Pipeline: compare two methods test example by test example."""
    from mnlearn_studies.records.pair import compare_paired

    compare_paired(identity, first, second, out)


@click.command()
@pair_identity_options
@click.option("--first", type=(str, FILE), required=True, help="A method and its circuit.")
@click.option("--second", type=(str, FILE), required=True, help="The one to compare it with.")
@click.option("--out", type=FILE, required=True)
@threads_option
@seed_option
def divergence(
    first: tuple[str, Path],
    second: tuple[str, Path],
    out: Path,
    identity: dict[str, Any],
    threads: int,
    seed: int,
) -> None:
    """Pipeline: estimate the Kullback-Leibler divergence of a circuit from another."""
    from mnlearn_studies.records.divergence import estimate_divergence

    estimate_divergence(identity, first, second, seed=seed, out=out, threads=threads)


@click.command()
@click.argument("models", type=FOLDER)
@identity_options
@click.option("--test", type=FILE, required=True)
@click.option("--settings", required=True, help="Of inference, as JSON.")
@click.option("--out", type=FILE, required=True)
@threads_option
@seed_option
def likelihoods(
    models: Path,
    test: Path,
    settings: str,
    out: Path,
    identity: dict[str, Any],
    threads: int,
    seed: int,
) -> None:
    """Pipeline: score networks with approximate log Z; time inference in exact models."""
    from mnlearn_studies.records.likelihoods import compare_likelihoods

    compare_likelihoods(
        models,
        test,
        parse_object(settings, "--settings"),
        identity,
        seed=seed,
        out=out,
        threads=threads,
    )


@click.group()
def step() -> None:
    """Do one step of the pipeline, as the rules of the workflow do."""


for _command in (
    *(prepare, partition, tune, tune_part, score_cell, time_cell, structure, queries),
    *(query_curve, check_exports, pair, divergence, likelihoods),
    *(gather, write, page, appendix, index),
):
    step.add_command(_command)
