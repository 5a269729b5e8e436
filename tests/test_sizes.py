"""No file, function, kernel or folder of the package grows beyond what is read at one sitting."""

import ast
from pathlib import Path

import mnlearn

ROOT = Path(mnlearn.__file__).parents[1]
MODULES = {path.relative_to(ROOT): path.read_text("utf-8") for path in ROOT.rglob("*.py")}
LINES_OF_FILE = 400
LINES_OF_FUNCTION = 60
LINES_OF_KERNEL = 40
ENTRIES_AT_ROOT = 15

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
    for node in ast.walk(ast.parse(MODULES[path])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.end_lineno - node.lineno + 1


def test_files_are_short():
    lengths = {str(path): len(text.splitlines()) for path, text in MODULES.items()}
    assert {path: n for path, n in lengths.items() if n > LINES_OF_FILE} == {}


def test_functions_are_short():
    too_long = {}
    for path in MODULES:
        limit = LINES_OF_KERNEL if path.parts[1] == "kernels" else LINES_OF_FUNCTION
        place = path.as_posix().removeprefix("mnlearn/")
        too_long |= {f"{place}:{name}": n for name, n in functions(path) if n > limit}
    assert {place: n for place, n in too_long.items() if place not in LONG_KERNELS} == {}
    assert set(LONG_KERNELS) <= set(too_long), "an exception is not needed any more"


def test_the_root_has_few_entries():
    entries = [p.name for p in Path(mnlearn.__file__).parent.iterdir() if p.name != "__pycache__"]
    assert len(entries) <= ENTRIES_AT_ROOT
