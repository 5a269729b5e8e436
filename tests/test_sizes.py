"""No file, function, kernel or folder of the package grows beyond what is read at one sitting."""

import ast
from pathlib import Path

import pytest

import mnlearn

ROOT = Path(mnlearn.__file__).parent
MODULES = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py"))
LINES_OF_FILE = 400
LINES_OF_FUNCTION = 60
LINES_OF_KERNEL = 40
ENTRIES_AT_ROOT = 14

# Kernels that may be longer, with the reason.
LONG_KERNELS = {
    "kernels/circuits/split_costs.py:edges_of_copies": "split in three it took 49 % longer",
    "kernels/circuits/split_costs.py:edges_of_split": "not split yet; called for each candidate",
    "kernels/circuits/splitting.py:plan_split": "split in three, inlined, it took 4 to 8 % longer",
    "kernels/circuits/splitting.py:write_split": "split in eight it took 31 % longer or more",
    "kernels/conversion.py:merge_subfeatures": "not split yet",
    "kernels/search/generation.py:generalise": "split in six, inlined, it took 1 to 6 % longer",
}


def functions(path):
    """Yield every function of a module and its number of lines, without the decorators."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


def is_kernel(path):
    return path.parts[0] == "kernels"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_file_is_short(path):
    assert len((ROOT / path).read_text().splitlines()) <= LINES_OF_FILE


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_functions_are_short(path):
    limit = LINES_OF_KERNEL if is_kernel(path) else LINES_OF_FUNCTION
    too_long = [
        f"{name}: {n_lines} lines, expected at most {limit}"
        for name, n_lines in functions(path)
        if n_lines > limit and f"{path.as_posix()}:{name}" not in LONG_KERNELS
    ]
    assert too_long == []


@pytest.mark.parametrize("place", sorted(LONG_KERNELS))
def test_an_exception_is_needed(place):
    path, name = place.split(":")
    lengths = dict(functions(Path(path)))
    assert lengths[name] > LINES_OF_KERNEL, f"{place} is short: remove the exception"


def test_the_root_has_few_entries():
    entries = [p.name for p in ROOT.iterdir() if p.name != "__pycache__"]
    assert len(entries) <= ENTRIES_AT_ROOT
