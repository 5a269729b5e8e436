"""The steps of the pipeline that learn: the search of a grid, whole or in parts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from mnlearn.cli.options import (
    FILE,
    FOLDER,
    parse_inference,
    parse_object,
    recipe_option,
    seed_option,
    threads_option,
)

# What both steps take; the last one is the first in the help.
_OPTIONS = (
    seed_option,
    threads_option,
    recipe_option,
    click.option(
        "--part",
        "parts",
        type=FILE,
        multiple=True,
        help="File of a part that was learned before, by `tune-part`.",
    ),
    click.option("--network", type=FILE, help="Dependency network to build on."),
    click.option("--cmll", default="{}", help="Settings to choose by validation CMLL, as JSON."),
    click.option("--grid", required=True, help="Values by parameter, as JSON."),
    click.option("--valid", type=FILE, required=True),
    click.option("--train", type=FILE, required=True),
    click.option("--dataset", required=True),
    click.option("--label", required=True, help="Name of the method in the study."),
    click.option("--study", required=True),
    click.argument("learner", metavar="METHOD"),
)


def _search_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in _OPTIONS:
        command = option(command)
    return command


def _arguments(
    *,
    learner: str,
    study: str,
    label: str,
    dataset: str,
    train: Path,
    valid: Path,
    grid: str,
    cmll: str,
    network: Path | None,
    parts: tuple[Path, ...],
    recipe: dict[str, Any],
    threads: int,
    seed: int,
) -> dict[str, Any]:
    """Return what `learn_cell` and `learn_part` are both given."""
    return {
        "name": learner,
        "identity": {
            "study": study, "method": label, "dataset": dataset, "seed": seed, "recipe": recipe,
        },
        "train_path": train,
        "valid_path": valid,
        "values": parse_object(grid, "--grid"),
        "cmll_settings": parse_inference(cmll, "--cmll", "groups"),
        "threads": threads,
        "network_path": network,
        "part_paths": parts,
    }  # fmt: skip


@click.command()
@_search_options
@click.option("--checkpoints", type=FOLDER, help="Folder for finished grid points.")
@click.option("--models", type=FOLDER, required=True)
def tune(checkpoints: Path | None, models: Path, **options: Any) -> None:
    """Pipeline: search a grid on validation data; keep the best model of each variant."""
    from mnlearn.study.cells.learn import learn_cell

    arguments = _arguments(**options)
    learn_cell(**arguments, checkpoint_folder=checkpoints, model_folder=models)


@click.command("tune-part")
@_search_options
@click.option("--round", "round_name", required=True, help="What is shared out.")
@click.option("--own", metavar="K/N", required=True, help="Which part of it this process does.")
@click.option("--checkpoints", type=FOLDER, required=True, help="Folder for what is learned.")
@click.option("--out", type=FILE, required=True)
def tune_part(round_name: str, own: str, checkpoints: Path, out: Path, **options: Any) -> None:
    """Pipeline: do one part of the search of a grid; `tune` finds it in the checkpoints."""
    from mnlearn.learning.shares import Part
    from mnlearn.study.cells.learn_part import learn_part

    part, arguments = Part.parse(own), _arguments(**options)
    learn_part(
        **arguments, checkpoint_folder=checkpoints, round_name=round_name, part=part, out=out
    )
