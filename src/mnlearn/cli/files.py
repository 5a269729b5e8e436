"""Checks of files before any work begins: grids, data, outputs."""

import math
from collections.abc import Iterable
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnlearn.runtime.atomic import check_place
from mnlearn.runtime.decompression import COMPRESSED
from mnlearn.runtime.errors import InputError, name_data

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset


def read_grid(path: Path | None) -> dict[str, Any]:
    """Return the grid in a YAML or JSON file of parameter: [values]; else an empty one."""
    if path is None:
        return {}
    from mnlearn.runtime.yaml_files import read_yaml

    grid = read_yaml(path)
    if not isinstance(grid, dict):
        raise InputError(f"{path}: expected parameters with lists of values.")
    for name, values in grid.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"{path}, parameter {name}: expected a number, got {value}.")
    return grid


def check_data(path: Path, model: Any, data: Any) -> None:
    """Refuse data or a model of other variables; say if their order alone decides."""
    from mnlearn.data.dataset import Dataset
    from mnlearn.data.tables import describe_order
    from mnlearn.inference.score import check_variables
    from mnlearn.runtime.progress import say

    with name_data(path):
        check_variables(model, data)
    schemas = model.schema, data.schema
    if isinstance(model, Dataset):
        schemas = data.schema, model.schema
    note = describe_order(schemas[0], schemas[1].names) if schemas[1].is_named else None
    if note is not None:
        say(f"{path}: {note}.")


def check_outputs(outputs: Iterable[Path | None], *inputs: Path | None) -> None:
    """Refuse outputs that are one file, a file that the same command reads, or no place for one."""
    written = [out for out in outputs if out is not None]
    # The weights of a d-DNNF are in a second file.
    written += [
        Path(f"{out}.csv") for out in written if ".nnf" in map(str.lower, out.suffixes[-2:])
    ]
    for first, second in combinations(written, 2):
        if first.resolve() == second.resolve():
            raise InputError(f"{second}: two outputs of this command; expected different files.")
    read = [source for source in inputs if source is not None]
    for out, source in product(written, read):
        # Devices such as a terminal may be both.
        if out.is_file() and source.is_file() and out.samefile(source):
            name = "" if str(out) == str(source) else f" as {source}"
            raise InputError(
                f"{out}: is read by this command{name}; expected another file to write."
            )
    for out in written:
        check_place(out)


def check_model_file(path: Path) -> None:
    """Refuse a file for a learned model from which no command could read the model again."""
    from mnlearn.models.io.formats import check_writable
    from mnlearn.models.io.suffixes import READ, form_of

    check_writable(path)
    suffix = form_of(path)
    if suffix not in READ:
        held = "a circuit for other programs" if suffix == ".nnf" else "the edges of a model"
        raise InputError(
            f"{path}: a {suffix} file holds {held} and cannot be read as a model; expected .npz, "
            f"from which `mnlearn convert` makes a {suffix} file."
        )


def check_text_form(path: Path) -> None:
    """Refuse a file for examples as text whose name claims that it is something else."""
    if str(path) == "-":
        return
    plain = path.with_suffix("") if path.suffix.lower() in COMPRESSED else path
    if plain.suffix.lower() not in (".data", ".csv", ".txt"):
        raise InputError(
            f"{path}: expected a text file of examples that ends in .data, .csv or .txt, perhaps "
            "with .gz, .xz or .bz2."
        )


def save_data(data: "Dataset", path: Path) -> None:
    """Write examples, natively or as text by the suffix."""
    from mnlearn.data.text_tables import save_text

    if path.suffix.lower() == ".npz":
        data.save(path)
    else:
        save_text(data, path)
