"""Options that several commands share, and what is read from them."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import available_threads

F = TypeVar("F", bound=Callable[..., Any])
DATA_FOLDER = Path("results/data")
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)

seed_option = click.option("--seed", default=20, show_default=True, help="Seed of all randomness.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=available_threads,
    help="Threads to use; the result does not depend on it. Default: all processors.",
)
mirror_option = click.option(
    "--mirror",
    help="Folder or URL that has the benchmark data; default: $MNLEARN_DATA_MIRROR, else their "
    "source.",
)


def inference_options(command: F) -> F:
    """Add the options that say how conditional marginals are computed."""
    for option in (
        click.option("--samples", default=1000, show_default=True, help="Sweeps counted."),
        click.option("--burn-in", default=100, show_default=True, help="Sweeps not counted."),
        click.option(
            "--inference",
            type=click.Choice(["gibbs", "exact"]),
            default="gibbs",
            show_default=True,
            help="Gibbs sampling, or enumeration of up to 2^20 states.",
        ),
    ):
        command = option(command)
    return command


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """Return `key=value` arguments as a dictionary."""
    out: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting}: expected key=value.")
        out[name.strip()] = value.strip()
    return out


def parse_json(text: str, option: str) -> Any:
    """Return the JSON value of an option."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{option}: is not JSON: {error.msg}.") from error


def parse_object(text: str, option: str) -> dict[str, Any]:
    """Return the JSON object of an option."""
    value = parse_json(text, option)
    if not isinstance(value, dict):
        raise InputError(f"{option}: expected a JSON object, got {text}.")
    return value


def _parse_recipe(_context: click.Context, _option: click.Parameter, text: str) -> dict[str, Any]:
    return parse_object(text, "--recipe")


recipe_option = click.option(
    "--recipe",
    default="{}",
    callback=_parse_recipe,
    help="What the record depends on, as JSON; it goes into the record.",
)


def parse_list(text: str, option: str) -> list[int]:
    """Return whole numbers from 1 to 100 that an option gives as a JSON list."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{option}: is not JSON ({error}).") from error
    if not isinstance(value, list) or not all(type(x) is int and 1 <= x <= 100 for x in value):
        raise InputError(f"{option}: expected a list of whole numbers from 1 to 100.")
    return value


def parse_inference(text: str, option: str, *more: str) -> dict[str, Any]:
    """Return the inference settings of an option, and whole numbers of at least 1 named `more`."""
    from mnlearn.inference.settings import Inference

    value = parse_object(text, option)
    for name in more:
        if value and not (type(value.get(name)) is int and value[name] >= 1):
            raise InputError(f"{option}: expected {name}, a whole number of at least 1.")
    for name, kind in {"method": str, "burn_in": int, "samples": int}.items():
        if name in value and type(value[name]) is not kind:
            raise InputError(f"{option}: {name} cannot be {json.dumps(value[name])}.")
    known = ["method", "burn_in", "samples", *more]
    if unknown := [name for name in value if name not in known]:
        raise InputError(f"{option}: expected some of {', '.join(known)}, got {unknown[0]}.")
    Inference(**{name: item for name, item in value.items() if name not in more})
    return value


def parse_local(text: str) -> dict[str, Any]:
    """Return how a person's own dataset is given; nothing for the datasets that mnlearn knows."""
    value = parse_object(text, "--local")
    if not value:
        return value
    known = ("train", "valid", "test", "fractions")
    if unknown := [name for name in value if name not in known]:
        raise InputError(f"--local: expected some of {', '.join(known)}, got {unknown[0]}.")
    if "train" not in value:
        raise InputError("--local: expected train, a file.")
    for name in ("train", "valid", "test"):
        if name in value and not isinstance(value[name], str):
            raise InputError(f"--local: expected a file as {name}, got {json.dumps(value[name])}.")
    shares = value.get("fractions", [])
    if not isinstance(shares, list) or any(type(share) not in (int, float) for share in shares):
        raise InputError(f"--local: expected numbers as fractions, got {json.dumps(shares)}.")
    return value


def read_groups(path: Path, n_vars: int) -> list[list[int]]:
    """Return the query groups in a JSON file."""
    from mnlearn.inference.score import check_groups
    from mnlearn.runtime.files import read_json

    groups = read_json(path)
    if (
        not isinstance(groups, list)
        or not groups
        or not all(isinstance(group, list) and group for group in groups)
        or not all(type(v) is int for group in groups for v in group)
    ):
        raise InputError(f"{path}: expected a list of query groups, lists of variables from 0.")
    try:
        check_groups(groups, n_vars)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return groups


def check_data(path: Path, model: Any, data: Any) -> None:
    """Refuse data with other variables than the model's, or than other data's, by its file."""
    from mnlearn.inference.score import check_variables

    try:
        check_variables(model, data)
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix('data: ')}") from error


def check_text_form(path: Path) -> None:
    """Refuse to write examples as text into a file that claims to be something else."""
    plain = path.with_suffix("") if path.suffix in (".gz", ".xz") else path
    if plain.suffix not in (".data", ".csv", ".txt"):
        raise InputError(
            f"{path}: expected a text file of examples that ends in .data, .csv or .txt, perhaps "
            "with .gz or .xz."
        )


def read_grid(path: Path | None) -> dict[str, Any]:
    """Return the grid in a YAML or JSON file of parameter: [values]."""
    if path is None:
        return {}
    import yaml

    from mnlearn.runtime.files import read_text

    try:
        grid = yaml.safe_load(read_text(path))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be parsed"
        raise InputError(f"{path}{line}: is not YAML: {problem}.") from error
    if not isinstance(grid, dict):
        raise InputError(f"{path}: expected parameters with lists of values.")
    for name, values in grid.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"{path}, parameter {name}: expected a number, got {value}.")
    return grid
