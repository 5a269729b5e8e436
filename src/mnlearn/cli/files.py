"""Files that commands read or refuse before any work begins: groups, grids, data."""

import math
from pathlib import Path
from typing import Any

from mnlearn.runtime.errors import InputError


def read_groups(path: Path, n_vars: int) -> list[list[int]]:
    """Return the query groups in a JSON file.

    Raises
    ------
    InputError
        The file does not hold disjoint groups of the variables 0 to n_vars - 1.
    """
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


def read_grid(path: Path | None) -> dict[str, Any]:
    """Return the grid in a YAML or JSON file of parameter: [values]; an empty one without a file.

    Raises
    ------
    InputError
        The file is not YAML, does not name parameters, or has a number that is not finite.
    """
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


def check_data(path: Path, model: Any, data: Any) -> None:
    """Refuse data whose variables are not those of a model, or of other data.

    Parameters
    ----------
    path
        File to name in the message.
    model
        Model or dataset that says which variables are expected.
    data
        Dataset or model that is checked.
    """
    from mnlearn.inference.score import check_variables

    try:
        check_variables(model, data)
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix('data: ')}") from error


def check_text_form(path: Path) -> None:
    """Refuse a file for examples as text whose name claims that it is something else."""
    plain = path.with_suffix("") if path.suffix in (".gz", ".xz") else path
    if plain.suffix not in (".data", ".csv", ".txt"):
        raise InputError(
            f"{path}: expected a text file of examples that ends in .data, .csv or .txt, perhaps "
            "with .gz or .xz."
        )
