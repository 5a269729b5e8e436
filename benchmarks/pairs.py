"""The same task by other programs, where they are installed, and by this package, in one run.

Each is measured twice. As processes: the whole of `mnlearn` beside the whole of the other program.
In-process: the task alone, after a warm-up, beside what the other program says of its own loop.
Libra's programs say nothing of it; there it is their whole process again.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.judges import (
    compare_edges,
    compare_models,
    compare_posteriors,
    compare_regressions,
)
from benchmarks.measure import Bench, Figure, measure_seconds
from benchmarks.processes import ProgramError, measure_in_turn, run_program
from mnlearn.data.dataset import Dataset
from mnlearn.data.text_tables import save_text
from mnlearn.learning.ising.estimation import learn_ising
from mnlearn.learning.tuning import tune
from mnlearn.methods import load_learner
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.io.native import as_dependency_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say
from mnlearn_studies.datasets.registry import registry_path

# Libra reads the data without a header, the others with one.
TRAIN, TABLE = "train.data", "train.csv"
PENALTY = 2.0
TREES = {"kappa": float(np.exp(-10.0)), "min_leaf_examples": 10.0, "pseudocount": 0.5}
REGRESSIONS = {"lambda": PENALTY, "intercept": "penalised"}
WEIGHTS = {"sd": None, "l1": 5.0}
MARKOV_CIRCUIT = {"split_cost": 5.0, "sd": 0.5, "l1": 1.0}
# Task, learner, its settings, the pair whose network it builds on, the command of Libra and the
# file that it writes.
LIBRA: tuple[tuple[str, str, Mapping[str, Any], str, str, str], ...] = (
    ("trees, split penalty 10", "dn_tree", TREES, "", "dnlearn -ps 10", "trees.dn"),
    ("logistic, penalty 2", "dn_lr", REGRESSIONS, "", "dnlearn -logistic -l1 2", "logistic.dn"),
    ("conversion, 2n orders", "dn2mn", {}, "trees.dn", "dn2mn -m trees.dn -uniq", "dn2mn.mn"),
    ("weights, L1 5", "lw", WEIGHTS, "trees.dn", "mnlearnw -m trees.dn -sd -1 -l1 5", "lw.mn"),
    ("acmn", "acmn", MARKOV_CIRCUIT, "", "acmn", "acmn.ac"),
    ("acbn", "acbn", {"split_cost": 2.0}, "", "acbn", "acbn.ac"),
)
LIBLINEAR = Path(__file__).with_name("liblinear.py")
PYAGRUM = Path(__file__).with_name("posteriors.py")
# Rows of evidence of posterior marginals.
POSTERIORS = 100
GLMNET = registry_path().parent / "peers" / "ising_glmnet.R"
ISING = """
import sys, mnlearn as mn, pandas as pd
mn.Ising().fit(pd.read_csv(sys.argv[1])).edges_frame().to_csv(sys.argv[2], index=False)
"""


@dataclass(frozen=True)
class Pair:
    """A task by two programs.

    ours, theirs : the commands. work : the task in this process. judge : says how good both are,
    from what the programs wrote. has_loop : whether the other program prints the processor seconds
    of its loop.
    """

    task: str
    peer: str
    ours: list[str]
    theirs: list[str]
    work: Callable[[], Any]
    judge: Callable[[], str]
    has_loop: bool = False


def measure_pairs(
    bench: Bench, name: str, parts: tuple[Dataset, Dataset, Dataset], *, program: str
) -> None:
    """Measure the pairs of a program on a dataset. If it fails, that is said in one sentence."""
    train, _, test = parts
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_text(train.rename(None), folder / TRAIN)
        save_text(
            train.rename(train.schema.names),
            folder / TABLE,
        )
        for pair in PROGRAMS[program](folder, train, test):
            try:
                _measure(bench, name, pair, folder)
            except (ProgramError, InputError, ValueError, OSError) as error:
                say(f"without {pair.peer} on {name}: {error}")


def _measure(bench: Bench, name: str, pair: Pair, folder: Path) -> None:
    """Measure one pair, and add its two figures."""
    ours, theirs, printed = measure_in_turn(pair.ours, pair.theirs, folder)
    figure = Figure(
        pair.task, name, ours, scope="process", peer=pair.peer, peer_scope="process, in turn",
        peer_seconds=theirs, ratio=theirs / ours, note=pair.judge(),
    )  # fmt: skip
    scope = figure.peer_scope
    if pair.has_loop:
        theirs, scope = float(printed), "in-process, in turn"
    alone = measure_seconds(pair.work)
    bench.add(figure)
    bench.add(
        replace(
            figure, seconds=alone, scope="in-process", peer_scope=scope, peer_seconds=theirs,
            ratio=theirs / alone,
        )
    )  # fmt: skip


def _of_libra(folder: Path, train: Dataset, test: Dataset) -> Iterator[Pair]:
    """Yield the pairs of Libra's programs on the path, those that others build on first."""
    for task, method, settings, network, command, out in LIBRA:
        if shutil.which(command.split()[0]) is not None:
            ours, work = _fit(folder, train, method, settings, network=network, out=out)
            judge = partial(compare_models, folder / _ours(out), folder / out, test)
            theirs = [*command.split(), "-i", TRAIN, "-o", out]
            yield Pair(task, command, ours, theirs, work, judge)


def _of_liblinear(folder: Path, train: Dataset, test: Dataset) -> Iterator[Pair]:
    if find_spec("sklearn") is not None:
        out = "liblinear.csv"
        ours, work = _fit(folder, train, "dn_lr", REGRESSIONS, out=out)
        judge = partial(compare_regressions, folder / _ours(out), folder / out, test)
        theirs = [sys.executable, str(LIBLINEAR), TABLE, out, f"{PENALTY:g}"]
        peer = "scikit-learn, liblinear"
        yield Pair("logistic, penalty 2", peer, ours, theirs, work, judge, has_loop=True)


def _of_glmnet(folder: Path, train: Dataset, test: Dataset) -> Iterator[Pair]:
    if has_glmnet(folder):
        ours = [sys.executable, "-c", ISING, TABLE, "ours-edges.csv"]
        theirs = ["Rscript", str(GLMNET), TABLE, "edges.csv"]
        both = folder / "ours-edges.csv", folder / "edges.csv"
        judge = partial(compare_edges, *both, ("node_a", "node_b"))
        work = partial(learn_ising, train)
        yield Pair("Ising network, EBIC", "R, glmnet", ours, theirs, work, judge, has_loop=True)


def _of_pyagrum(folder: Path, train: Dataset, test: Dataset) -> Iterator[Pair]:
    """Yield posterior marginals of a tree, given half of the variables in rows of test data."""
    if find_spec("pyagrum") is not None:
        learner = load_learner("chow_liu")
        learned: Any = tune(learner, train, learner.grid({}), None).best.fitted.model
        tree = learned.to_bayesian_network()
        save_model(tree, folder / "tree.npz")
        save_model(tree, folder / "tree.bif")
        rows = test.schema.values(test.rows[:POSTERIORS])
        evidence = pd.DataFrame(rows, columns=test.schema.names).astype(str)
        evidence.iloc[:, 1::2] = "*"
        evidence.to_csv(folder / "evidence.csv", index=False)
        ours = [sys.executable, "-m", "mnlearn", "query", "tree.npz", "--threads", "1"]
        ours += ["--evidence", "evidence.csv", "--out", "ours-posteriors.csv"]
        theirs = [sys.executable, str(PYAGRUM), "tree.bif", "evidence.csv", "posteriors.csv"]
        judge = partial(
            compare_posteriors, folder / "ours-posteriors.csv", folder / "posteriors.csv"
        )
        work = partial(tree.query, evidence.replace("*", None))
        task = f"posteriors of a tree, {len(evidence)} rows"
        yield Pair(task, "pyAgrum, lazy propagation", ours, theirs, work, judge, has_loop=True)


# The steps of the bench that measure pairs: what yields those of each program that is installed.
PROGRAMS: dict[str, Callable[[Path, Dataset, Dataset], Iterator[Pair]]] = {
    "libra": _of_libra,
    "scikit-learn": _of_liblinear,
    "glmnet": _of_glmnet,
    "pyagrum": _of_pyagrum,
}


def has_glmnet(folder: Path) -> bool:
    """Return whether R is installed, with glmnet."""
    if shutil.which("Rscript") is None:
        return False
    try:
        run_program(["Rscript", "-e", "library(glmnet)"], folder)
    except ProgramError:
        return False
    return True


def _fit(
    folder: Path,
    train: Dataset,
    method: str,
    settings: Mapping[str, Any],
    *,
    out: str,
    network: str = "",
) -> tuple[list[str], Callable[[], Any]]:
    """Return the command that learns with one thread, and the same in this process."""
    command = [sys.executable, "-m", "mnlearn", "fit", method, "--threads", "1"]
    for key, value in settings.items():
        command += ["--set", f"{key}={'none' if value is None else value}"]
    command += ["--train", TRAIN, "--out", _ours(out)]
    command += ["--network", _ours(network)] if network else []

    def work() -> None:
        learner = load_learner(method)
        given = None
        if network:
            path = folder / _ours(network)
            given = as_dependency_network(load_model(path), path)
        grid = learner.grid({key: [value] for key, value in settings.items()})
        tune(learner, train, grid, None, threads=1, network=given)

    return command, work


def _ours(out: str) -> str:
    return f"ours-{out}.npz"
