"""Options of the commands of studies, and the values of options that are given as JSON."""

import json
from typing import Any

import click

from mnlearn.cli.options import FOLDER, MOST_GIGABYTES, READING, check_names, parse_inference
from mnlearn.cli.values import parse_json, parse_object
from mnlearn.runtime.errors import InputError
from mnlearn_studies.study.folders import data_folder

mirror_option = click.option(
    "--mirror",
    help="Folder or URL that has the data, or several with ':' between them; default: "
    "$MNLEARN_DATA_MIRROR, else their source.",
)


data_folder_option = click.option(
    "--folder",
    type=FOLDER,
    default=data_folder,
    help="Where the data are kept; default: results/data, where studies look for them.",
)


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
    value = parse_json(text, option)
    if not isinstance(value, list) or not all(type(x) is int and 1 <= x <= 100 for x in value):
        raise InputError(f"{option}: expected a list of whole numbers from 1 to 100, got {text}.")
    return value


def parse_further_inference(text: str, option: str) -> dict[str, dict[str, Any]]:
    """Return the inference settings by name that an option gives as a JSON object of objects."""
    given = parse_object(text, option)
    return {
        name: parse_inference(json.dumps(settings), f"{option}, {name}")
        for name, settings in given.items()
    }


def parse_local(text: str) -> dict[str, Any]:
    """Return how a person's own dataset is given; nothing for the datasets that mnlearn knows."""
    value = parse_object(text, "--local")
    if not value:
        return value
    names = ("train", "valid", "test", "fractions", "groups", "categories", "max_expanded")
    check_names(value, (*names, *READING), "--local")
    if "train" not in value:
        raise InputError("--local: expected train, a file.")
    if not isinstance(value.get("groups", ""), str):
        raise InputError(f"--local: expected a text as groups, got {json.dumps(value['groups'])}.")
    if not isinstance(value.get("categories", False), bool):
        found = json.dumps(value["categories"])
        raise InputError(f"--local: expected true or false as categories, got {found}.")
    for name in READING:
        texts = value.get(name, [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            found = json.dumps(value[name])
            raise InputError(f"--local: expected a list of texts as {name}, got {found}.")
    for name in ("train", "valid", "test"):
        if name in value and not isinstance(value[name], str):
            raise InputError(f"--local: expected a file as {name}, got {json.dumps(value[name])}.")
    shares = value.get("fractions", [])
    if not isinstance(shares, list) or any(type(share) not in (int, float) for share in shares):
        raise InputError(f"--local: expected numbers as fractions, got {json.dumps(shares)}.")
    limit = value.get("max_expanded", 1)
    if type(limit) not in (int, float) or not 0 < limit <= MOST_GIGABYTES:
        raise InputError(
            f"--local: expected a number above 0 and of at most {MOST_GIGABYTES:g} as "
            f"max_expanded, got {json.dumps(limit)}."
        )
    return value
