"""The picture of the packages, and what pages for contributors name, are those of the code."""

import ast
import re
from pathlib import Path

import pytest

from test_layers import LIBRARY, ROOT, STUDIES, imported

DOCS = Path(__file__).parent.parent.parent / "docs"
PLACE = re.compile(r'<text id="(\w+)-(\w+)" [^>]*y="(\d+)"')
REPOSITORY = DOCS.parent
PAGES = ("CONTRIBUTING.md", "docs/adding.md", "docs/architecture.md", "docs/releasing.md")
# Files and folders that pages name in full, or as seen from a package. Words in capitals stand for
# names that a person chooses.
NAMED = re.compile(r"`([a-z][\w.]*/[\w./-]*)[^`]*`")
FUNCTION = re.compile(r"`([\w/]+\.py):([\w.]+)`")


def drawn():
    """Return the height of each folder in the picture, by package and folder."""
    found = PLACE.findall((DOCS / "images" / "architecture.svg").read_text(encoding="utf-8"))
    return {(package, folder): int(y) for package, folder, y in found}


def test_the_picture_has_every_folder():
    packages = [ROOT / name for name in (LIBRARY, STUDIES)]
    folders = [path.parent for package in packages for path in package.glob("*/__init__.py")]
    assert sorted(drawn()) == sorted((path.parent.name, path.name) for path in folders)


def test_imports_go_down_in_the_picture():
    y = drawn()
    rooms = {path: path.parts[:2] for path in imported()}
    for path, others in imported().items():
        for other in others:
            here, there = rooms[path], other.parts[:2]
            if here in y and there in y and here != there:
                assert y[here] < y[there], f"{path} imports {other}"


def named():
    """Return the functions that the page names, as (file, name)."""
    return FUNCTION.findall((DOCS / "architecture.md").read_text(encoding="utf-8"))


def test_the_journey_is_there():
    assert len(named()) > 10


@pytest.mark.parametrize(("file", "name"), named())
def test_a_function_that_the_page_names_is_in_its_file(file, name):
    body = ast.parse((ROOT / LIBRARY / file).read_text(encoding="utf-8")).body
    for part in name.split("."):
        (node,) = [node for node in body if getattr(node, "name", None) == part]
        body = node.body


@pytest.mark.parametrize("page", PAGES)
def test_the_files_that_a_page_names_are_there(page):
    names = NAMED.findall((REPOSITORY / page).read_text(encoding="utf-8"))
    places = [REPOSITORY, ROOT / LIBRARY, ROOT / STUDIES]
    made = ("results/", "build/", "cells/")
    assert names
    for name in names:
        chosen = any(part.split(".")[0].isupper() for part in name.split("/"))
        if not chosen and not name.startswith(made):
            assert any((place / name).exists() for place in places), f"{page} names {name}"
