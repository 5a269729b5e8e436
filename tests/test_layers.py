"""Imports run one way between the folders of the package, and in no circle inside a folder."""

import ast
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
    ["kernels", "runtime"],
]
LINE = {name: number for number, names in enumerate(FOLDERS) for name in names}
FACE = Path(LIBRARY, "__init__.py")
MODULES = sorted(
    path.relative_to(ROOT)
    for package in (LIBRARY, STUDIES)
    for path in (ROOT / package).rglob("*.py")
    if path != ROOT / FACE
)
# What an `__init__.py` holds would be part of the digest of all that import it, so most are empty.
FACES = [
    "mnlearn/cli",
    "mnlearn/methods",
    "mnlearn/models/io/libra",
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


IMPORTED = {path: set(own_imports(ROOT / path)) for path in MODULES}


def test_every_module_is_in_a_folder():
    assert {room(path) for path in MODULES} == set(LINE)


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_run_one_way(path):
    for imported in IMPORTED[path]:
        if imported != FACE.with_suffix("") and room(imported) != room(path):
            assert LINE[room(imported)] > LINE[room(path)], f"{path} imports {imported}"


def test_the_library_names_nothing_of_the_studies():
    for path in MODULES:
        if path.parts[0] == LIBRARY and path.parts[1:] != ("runtime", "code_digest.py"):
            assert STUDIES not in (ROOT / path).read_text(), path


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=str)
def test_imports_inside_a_folder_run_in_no_circle(folder):
    """Each file and each sub-folder is one node."""
    inside = nx.DiGraph()
    for path in MODULES:
        for imported in IMPORTED[path]:
            if path.is_relative_to(folder) and imported.is_relative_to(folder):
                one, other = (p.relative_to(folder).parts[0] for p in (path, imported))
                if one.removesuffix(".py") != other:
                    inside.add_edge(one.removesuffix(".py"), other)
    assert list(nx.simple_cycles(inside)) == []


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=str)
def test_an_init_holds_nothing_but_its_docstring(path):
    if path.parent.as_posix() not in FACES:
        assert len(ast.parse((ROOT / path).read_text()).body) == 1


# The cache of kernels also asks where the user keeps caches.
KERNELS = [p for p in MODULES if room(p) == "kernels" and p.name != "cache.py"]


@pytest.mark.parametrize("path", KERNELS, ids=str)
def test_kernels_know_nothing_of_the_rest(path):
    for name in imports(ROOT / path):
        top = name.split(".")[0]
        outside = ("heapq", "sys", "types", "typing", "numpy", "numba", "llvmlite")
        assert top in outside or name.startswith("mnlearn.kernels")


# A method names the module of its scores, for the code that scores its models; it scores nothing.
SCORERS = ("networks", "circuits", "feature_trees", "hidden_trees")
DECLARED = [*(("mnlearn.scoring", s) for s in SCORERS), ("mnlearn.inference.score", "Scorer")]
FORBIDDEN = ("scoring", "learning.tuning", "inference", "study", *SCORERS)


def scoring_in(source):
    """Lines of a method's file in which something could be scored or tuned."""
    tree = ast.parse(source)
    named = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "scorer"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [
                f"{module}.{alias.name}".removeprefix("mnlearn.")
                for alias in node.names
                if alias.asname or (module, alias.name) not in DECLARED
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name.removeprefix("mnlearn.") for alias in node.names]
        elif isinstance(node, ast.Name) and node.id in SCORERS and id(node) not in named:
            names = [node.id]
        else:
            continue
        if any(f"{name}.".startswith(f"{place}.") for name in names for place in FORBIDDEN):
            yield node.lineno


@pytest.mark.parametrize("path", [p for p in MODULES if room(p) == "methods"], ids=str)
def test_methods_do_not_score_or_tune(path):
    assert list(scoring_in((ROOT / path).read_text())) == []


@pytest.mark.parametrize(
    "line",
    [
        "from mnlearn.scoring.any_model import pll",
        "from mnlearn.scoring.networks import pll",
        "from mnlearn import scoring",
        "from mnlearn.scoring import any_model",
        "from mnlearn.scoring import networks as own",
        "import mnlearn.scoring.circuits",
        "from mnlearn.learning.tuning import validation_score",
        "from mnlearn.inference.marginals import conditional_log_likelihood",
        "score = networks.pll(network, data)",
        "scorer: ClassVar[Scorer] = networks.pll",
        "from mnlearn.inference.score import Score",
    ],
)
def test_a_method_that_scores_or_tunes_is_found(line):
    source = (ROOT / LIBRARY / "methods" / "atomic.py").read_text()
    assert list(scoring_in(f"{source}\n{line}\n")) == [source.count("\n") + 2]
