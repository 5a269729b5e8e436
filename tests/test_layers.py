"""Imports run one way: cli, then cells, methods and scores, inference, models, kernels."""

import ast
from pathlib import Path

import pytest

import mnlearn

ROOT = Path(mnlearn.__file__).parent
# A module may import from its own layer and from those above it in this list.
LAYERS = [
    [
        "runtime",
        "report",
        "study",
        "scoring",
        "learning",
        "runtime.errors",
        "kernels.jit",
        "runtime.random_streams",
        "runtime.threads",
        "runtime.progress",
        "runtime.code_digest",
    ],
    ["runtime.files", "runtime.provenance", "inference.query_groups"],
    ["runtime.arrays"],
    ["kernels"],
    ["data.dataset", "data.text", "data.splits", "study.datasets.registry", "study.datasets.fetch"],
    ["models"],
    [
        "data",
        "report.statistics",
        "study.definition",
        "study.datasets.embedded",
        "study.datasets.sources",
    ],
    [
        "inference",
        "learning.owlqn",
        "learning.penalty",
        "learning.weights.stored_likelihood",
        "learning.weights.packed_likelihood",
        "learning.trees",
        "learning.logistic",
        "learning.features.generation",
        "inference.circuits.conditioning",
        "learning.circuits.splitting",
        "learning.circuits.counts",
        "learning.latent_trees.chow_liu",
        "learning.latent_trees.distances",
        "learning.latent_trees.messages",
    ],
    [
        "learning.circuits.queue",
        "learning.latent_trees.tree",
        "inference.circuits.elimination",
        "learning.latent_trees.neighbour_joining",
        "learning.latent_trees.recursive_grouping",
    ],
    ["inference.circuits.compilation", "learning.latent_trees.search"],
    [
        "learning.weights.rewritten_likelihood",
        "learning.conversion",
        "learning.mixtures",
        "learning.neighbourhoods",
        "learning.ising",
    ],
    ["inference.score"],
    ["scoring.circuits", "scoring.networks"],
    ["scoring.any_model", "learning.weights.descent", "learning.method"],
    ["learning.circuits.bayes", "learning.circuits.markov", "learning.circuits.growth"],
    ["learning.weights.screening", "learning.weights.paths"],
    ["learning.features.bottom_up", "learning.features.bottom_up_exact"],
    ["learning.checkpoints", "methods"],
    ["learning.tuning", "study.cells.files", "study.gather"],
    [
        "study.cells.learn",
        "study.cells.score",
        "study.cells.timing",
        "study.cells.structure",
        "study.cells.pair",
        "study.cells.query_curve",
        "study.cells.divergence",
        "study.cells.round_trip",
        "study.published",
        "study.datasets.costs",
        "report.pages",
        "report.products",
    ],
    [
        "report.tables",
        "report.figures",
        "report.claims",
        "study.bench",
        "report.figures.ising",
        "report.appendix",
    ],
    ["study.recipes"],
    ["study.planning"],
    ["cli.reproduce"],
    ["cli.study_products"],
    ["cli.options"],
    ["cli.steps", "cli.ising"],
    ["cli"],
]
MODULES = sorted(p.relative_to(ROOT) for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


def level(module):
    """Position of the most specific entry that names the module or a package around it."""
    best = (-1, -1)
    for k, names in enumerate(LAYERS):
        for name in names:
            if module == name or module.startswith(name + "."):
                best = max(best, (len(name), k))
    assert best[0] >= 0, f"{module} is in no layer"
    return best[1]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def is_module(name):
    base = ROOT.joinpath(*name.split("."))
    return base.with_suffix(".py").exists() or (base / "__init__.py").exists()


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_run_one_way(path):
    own = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    for name in imports(ROOT / path):
        inner = name.removeprefix("mnlearn.")
        if name.startswith("mnlearn.") and is_module(inner):
            assert level(inner) <= level(own), f"{own} imports {inner}"


KERNELS = [p for p in MODULES if p.parts[0] == "kernels" and p.name != "jit.py"]


@pytest.mark.parametrize("path", KERNELS, ids=str)
def test_kernels_know_nothing_of_the_rest(path):
    for name in imports(ROOT / path):
        top = name.split(".")[0]
        outside = ("heapq", "typing", "numpy", "numba", "llvmlite")
        assert top in outside or name.startswith("mnlearn.kernels")


# A method names the module of its scores, for the code that scores its models; it scores nothing.
SCORERS = ("networks", "circuits")
FORBIDDEN = ("scoring", "learning.tuning", "inference", "cell_scoring", "paired_scores", *SCORERS)


def scoring_in(source):
    """Lines of a method's file in which something could be scored or tuned."""
    tree = ast.parse(source)
    named = {
        id(keyword.value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "scorer"
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [
                f"{module}.{alias.name}".removeprefix("mnlearn.")
                for alias in node.names
                if module != "mnlearn.scoring" or alias.asname or alias.name not in SCORERS
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name.removeprefix("mnlearn.") for alias in node.names]
        elif isinstance(node, ast.Name) and node.id in SCORERS and id(node) not in named:
            names = [node.id]
        else:
            continue
        if any(f"{name}.".startswith(f"{place}.") for name in names for place in FORBIDDEN):
            yield node.lineno


@pytest.mark.parametrize("path", [p for p in MODULES if p.parts[0] == "methods"], ids=str)
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
        "from mnlearn.inference.enumeration import conditional_log_likelihood",
        "score = networks.pll(network, data)",
        "score = Method(scorer=networks).scorer or networks.pll",
    ],
)
def test_a_method_that_scores_or_tunes_is_found(line):
    source = (ROOT / "methods" / "atomic.py").read_text()
    assert list(scoring_in(f"{source}\n{line}\n")) == [source.count("\n") + 2]
