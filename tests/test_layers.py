"""Imports run one way between the folders of the package, and in no circle inside a folder."""

import ast
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

import mnlearn

ROOT = Path(mnlearn.__file__).parents[1]
LIBRARY, STUDIES = "mnlearn", "mnlearn_studies"
# A folder may import from those in later lines, and from no other. All of the studies is one floor.
FOLDERS = [
    [STUDIES],
    ["cli"],
    ["api"],
    ["methods", "drawing"],
    ["learning", "scoring"],
    ["inference"],
    ["models", "data"],
    ["variables"],
    ["kernels", "runtime"],
]
LINE = {name: number for number, names in enumerate(FOLDERS) for name in names}
FACE = Path(LIBRARY, "__init__.py")
# `python -m mnlearn` runs the command.
DOOR = Path(LIBRARY, "__main__.py")
MODULES = sorted(
    path.relative_to(ROOT)
    for package in (LIBRARY, STUDIES)
    for path in (ROOT / package).rglob("*.py")
    if path not in (ROOT / FACE, ROOT / DOOR)
)
# What an `__init__.py` holds would be part of the digest of all that import it, so most are empty.
FACES = [
    "mnlearn/cli",
    "mnlearn/methods",
    "mnlearn_studies/records/kinds",
    "mnlearn_studies/report/claims",
    "mnlearn_studies/report/figures",
    "mnlearn_studies/report/tables",
]


def room(path):
    """The floor's item that a module belongs to."""
    return path.parts[1] if path.parts[0] == LIBRARY else STUDIES


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def own_imports(path):
    """Modules of this package that a module imports, as paths without suffix."""
    for name in imports(path):
        parts = name.split(".")
        if parts[0] not in (LIBRARY, STUDIES):
            continue
        for inner in (Path(*parts), Path(*parts[:-1])):
            if (ROOT / inner).with_suffix(".py").exists():
                yield inner
                break
            if (ROOT / inner / "__init__.py").exists():
                yield inner / "__init__"
                break


@cache
def imported():
    """What each module imports; not at the import of this one, which each worker of a run does."""
    return {path: set(own_imports(ROOT / path)) for path in MODULES}


def test_every_module_is_in_a_folder():
    assert {room(path) for path in MODULES} == set(LINE)


def test_imports_run_one_way():
    up = [
        f"{path} imports {other}"
        for path in MODULES
        for other in imported()[path]
        if other != FACE.with_suffix("") and room(other) != room(path)
        if LINE[room(other)] <= LINE[room(path)]
    ]
    assert up == []


def test_the_library_names_nothing_of_the_studies():
    for path in MODULES:
        if path.parts[0] == LIBRARY and path.parts[1:] != ("runtime", "code_digest.py"):
            assert STUDIES not in (ROOT / path).read_text(), path


def test_only_questions_to_models_find_a_higher_floor_by_its_name():
    """Text that names the module, which `imports` does not see."""
    named = {
        path.as_posix()
        for path in MODULES
        if path.parts[0] == LIBRARY and room(path) not in ("api", "cli")
        if "mnlearn.api" in (ROOT / path).read_text()
    }
    assert named == {"mnlearn/models/questions.py"}


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=str)
def test_imports_inside_a_folder_run_in_no_circle(folder):
    """Each file and each sub-folder is one node."""
    inside = nx.DiGraph()
    for path in MODULES:
        for other in imported()[path]:
            if path.is_relative_to(folder) and other.is_relative_to(folder):
                one, two = (p.relative_to(folder).parts[0] for p in (path, other))
                if one.removesuffix(".py") != two:
                    inside.add_edge(one.removesuffix(".py"), two)
    assert list(nx.simple_cycles(inside)) == []


def test_an_init_holds_nothing_but_its_docstring():
    for path in MODULES:
        if path.name == "__init__.py" and path.parent.as_posix() not in FACES:
            assert len(ast.parse((ROOT / path).read_text()).body) == 1, path


# The cache of kernels also asks where the user keeps caches.
KERNELS = [p for p in MODULES if room(p) == "kernels" and p.name != "cache.py"]


def test_kernels_know_nothing_of_the_rest():
    outside = ("heapq", "sys", "types", "typing", "numpy", "numba", "llvmlite")
    for path in KERNELS:
        for name in imports(ROOT / path):
            assert name.split(".")[0] in outside or name.startswith("mnlearn.kernels"), path


def test_methods_do_not_score_or_tune():
    """A method names the score that compares its models."""
    for path in MODULES:
        if room(path) == "methods":
            for module in imported()[path]:
                assert room(module) not in ("scoring", "inference"), path
                assert module != Path(LIBRARY, "learning", "tuning"), path
