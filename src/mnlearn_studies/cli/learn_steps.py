"""The steps of the pipeline that learn: the search of a grid, whole or in parts."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.options import FILE, FOLDER, parse_inference, seed_option, threads_option
from mnlearn.cli.values import parse_object
from mnlearn_studies.cli.options import recipe_option

if TYPE_CHECKING:
    from mnlearn_studies.records.learn import CellInputs

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


def _inputs(
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
    checkpoints: Path | None,
    threads: int,
    seed: int,
) -> "CellInputs":
    """Return what `learn_cell` and `learn_part` are both given."""
    from mnlearn_studies.records.learn import CellInputs

    identity = {
        "study": study, "method": label, "dataset": dataset, "seed": seed, "recipe": recipe,
    }  # fmt: skip
    return CellInputs(
        learner=learner,
        identity=identity,
        train_path=train,
        valid_path=valid,
        network_path=network,
        values=parse_object(grid, "--grid"),
        cmll_settings=parse_inference(cmll, "--cmll", "groups"),
        checkpoint_folder=checkpoints,
        part_paths=parts,
        threads=threads,
    )


@click.command()
@_search_options
@click.option("--checkpoints", type=FOLDER, help="Folder for finished grid points.")
@click.option("--models", type=FOLDER, required=True)
def tune(models: Path, **options: Any) -> None:
    """Pipeline: search a grid on validation data; keep the best model of each variant."""
    from mnlearn_studies.records.learn import learn_cell

    learn_cell(_inputs(**options), models)


@click.command("tune-part")
@_search_options
@click.option("--round", "round_name", required=True, help="What is shared out.")
@click.option("--own", metavar="K/N", required=True, help="Which part of it this process does.")
@click.option("--checkpoints", type=FOLDER, required=True, help="Folder for what is learned.")
@click.option("--out", type=FILE, required=True)
def tune_part(round_name: str, own: str, out: Path, **options: Any) -> None:
    """Pipeline: do one part of the search of a grid; `tune` finds it in the checkpoints."""
    from mnlearn.learning.shares import Part
    from mnlearn_studies.records.learn_part import learn_part

    learn_part(_inputs(**options), round_name, Part.parse(own), out)
