"""Speed of the kernels: seconds and rates, beside Libra's figures, and growth with the data.

Kernels run in this process on one thread, after a warm-up, the least of several runs; whole
commands run as processes of their own, see `pairs`. Peers' figures are those of
`workflow/peer_timings.tsv`: Libra 1.1.2, user seconds of the whole process on one core of a machine
of the same kind, reading the data and writing the model included.
"""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.circuits import measure_circuits
from benchmarks.conversion import measure_conversion
from benchmarks.growth import measure_growth
from benchmarks.gssl import measure_generated
from benchmarks.logistic import measure_logistic
from benchmarks.measure import (
    RECORDED,
    SYNTHETIC,
    Bench,
    Figure,
    compare_seconds,
    describe_score,
    measure_seconds,
)
from benchmarks.pairs import PROGRAMS, measure_pairs
from benchmarks.rows import Rows
from benchmarks.weights import measure_gradient, measure_weights
from mnlearn.data.dataset import Dataset
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.weights.descent import Penalty
from mnlearn.models.dependency_network import Trees, tree_network
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.models.tree_features import tree_features
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say
from mnlearn.scoring.any_model import pll
from mnlearn_studies.datasets.embedded import load_embedded
from mnlearn_studies.datasets.prepare import prepare_dataset
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.study.folders import data_folder

# Libra's trees: examples on each side of a split, and count added per value.
LIBRA_LEAST = 10.0
LIBRA_PSEUDOCOUNT = 0.5


Parts = tuple[Dataset, Dataset, Dataset]
EMBEDDED = ("grid", "digits")


def _load_data(names: Collection[str]) -> dict[str, Parts]:
    """Return the datasets named; if none is, the embedded ones and the benchmarks at hand."""
    for name in names:
        if name not in (*EMBEDDED, *load_registry()):
            known = ", ".join((*EMBEDDED, *load_registry()))
            raise InputError(f"dataset {name}: expected one of {known}.")
    data = {name: load_embedded(name, 0) for name in EMBEDDED if not names or name in names}
    for name in load_registry():
        if names and name not in names:
            continue
        try:
            splits = prepare_dataset(name, data_folder(), 0)
        except InputError as error:
            if names:
                raise
            say(f"without {name}: {error}")
            continue
        data[name] = splits["train"], splits["valid"], splits["test"]
    return data


def _measure_trees(
    bench: Bench, name: str, train: Dataset, test: Dataset, *, split_penalty: float
) -> float:
    seconds = measure_seconds(lambda: _libra_trees(train, split_penalty))
    peer = bench.peer(name, rf"dnlearn -i {name}\.train\.data -ps {split_penalty:g}")
    score = pll(tree_network(_libra_trees(train, split_penalty)), test).mean
    bench.add(
        Figure(
            f"trees, split penalty {split_penalty:g}",
            name,
            seconds,
            f"{train.n_vars / seconds:,.0f} trees/s",
            **compare_seconds(peer, seconds),
            note=describe_score(score, peer),
        )
    )
    return seconds


def _libra_trees(train: Dataset, split_penalty: float) -> Trees:
    """Return the trees that Libra grows: the same to the last digit it prints."""
    kappa = float(np.exp(-split_penalty))
    return learn_tree_path(train, kappa, LIBRA_LEAST, pseudocount=LIBRA_PSEUDOCOUNT).trees


def _measure_dataset(bench: Bench, name: str, parts: Parts) -> None:
    """Measure conversion, weight learning, scoring and sampling on one dataset."""
    train, _, test = parts
    # The split penalty of the trees whose features the peer learned weights for.
    at_ten = bench.peer(name, f"mnlearnw -m {name}-ps10.dn .*") is not None
    split_penalty = 10 if at_ten else 5
    if split_penalty == 5:
        _measure_trees(bench, name, train, test, split_penalty=5)
    trees = _libra_trees(train, split_penalty)
    seconds = measure_seconds(lambda: tree_features(trees, "prune"))
    n_features = len(tree_features(trees, "prune"))
    bench.add(Figure("features, prune", name, seconds, f"{n_features / seconds:,.0f} features/s"))
    task, of_libra = "conversion, 2n orders", f"{name}-ps{split_penalty}"
    converted = measure_conversion(bench, task, name, tree_network(trees), (train, test), of_libra)
    features = tree_features(trees, "default")
    arranged = measure_gradient(bench, name, features, train)
    command = f"mnlearnw -m {name}-ps{split_penalty}.dn -i {name}.train.data"
    if name in load_registry() and bench.peer(name, command) is None:
        return  # There is nothing to compare with, and it would take minutes.
    model = MarkovNetwork(train.schema, features, np.zeros(len(features)))
    for penalty, options in ((Penalty(None, 5.0), " -sd -1 -l1 5"), (Penalty(1.0), "")):
        peer = bench.peer(name, command + options)
        both = train, test
        model = measure_weights(
            bench, name, features, arranged, penalty=penalty, peer=peer, parts=both
        )
    seconds = measure_seconds(lambda: pll(model, test))
    cells = test.n_rows * test.n_vars
    bench.add(Figure("PLL", name, seconds, f"{cells / seconds / 1e6:,.0f} M conditionals/s"))
    gibbs = partial(_measure_gibbs, bench, name=name, test=test)
    gibbs("Gibbs, trees", model=tree_network(trees), command="gibbs -m nltcs-ps5.*")
    gibbs("Gibbs, converted network", model=converted, command="gibbs -m nltcs-dn2mn.*")
    gibbs("Gibbs, DTSL network", model=model, command="")


def _measure_gibbs(
    bench: Bench, task: str, name: str, model: Model, *, test: Dataset, command: str
) -> None:
    query = np.arange(0, model.n_vars, 4)
    terms = terms_of(model)
    # A part of the test rows is enough to measure a rate.
    rows = test.rows[:100] if test.n_vars > 60 else test.rows
    settings = Inference(samples=1000)
    seconds = measure_seconds(
        lambda: conditional_marginals(terms, rows, query, settings, seed=1), 1
    )
    found = conditional_marginals(terms, rows, query, Inference(samples=1), seed=1)
    drawn = len(found.probability) * len(query) * (settings.burn_in + settings.samples)
    rate = drawn / seconds
    note, ratio, peer_seconds = "", None, None
    peer = bench.peer(name, command)
    if peer is not None:
        theirs = test.n_examples * len(query) * 1100 / float(peer["user_seconds"])
        peer_seconds, ratio = float(peer["user_seconds"]), rate / theirs
        whole = peer_seconds / seconds
        note = f"the same job, equal evidence computed once: {whole:,.0f}x"
    figure_peer = "" if peer is None else str(peer["command"])
    text = f"{rate / 1e6:,.1f} M resamplings/s, {len(terms.weight):,} terms"
    bench.add(
        Figure(
            task,
            name,
            seconds,
            text,
            peer=figure_peer,
            peer_scope="" if peer is None else RECORDED,
            peer_seconds=peer_seconds,
            ratio=ratio,
            note=note,
        )
    )


def _measure_ten(bench: Bench, name: str, parts: Parts) -> None:
    if name in load_registry():
        _measure_trees(bench, name, parts[0], parts[2], split_penalty=10)


Step = Callable[[Bench, str, Parts], None]
# What is measured on each dataset, in this order; a name says what `--steps` measures again.
STEPS: dict[str, Step] = {
    "trees": _measure_ten,
    "logistic": lambda bench, name, parts: measure_logistic(bench, name, *parts[::2]),
    "gssl": lambda bench, name, parts: measure_generated(bench, name, *parts[:2]),
    "circuits": lambda bench, name, parts: measure_circuits(bench, name, *parts[::2]),
    "networks": _measure_dataset,
    **{program: partial(measure_pairs, program=program) for program in PROGRAMS},
}
# Steps that run kernels in this process.
WARM = ("trees", "logistic", "gssl", "circuits", "networks")


def run_bench(
    out: Path | None,
    names: Collection[str] = (),
    show: Callable[[str], None] = lambda line: None,
    steps: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Measure everything on the data at hand, show it and write it as CSV after each step.

    A step of a dataset is left out if `out` has its rows, of this code and machine.

    Parameters
    ----------
    out
        CSV file to write, or None.
    names
        Datasets to measure alone; the rows of other datasets in `out` are kept.
    show
        Called with each line of the table of figures, as soon as it is measured.
    steps
        Steps to measure alone, also where `out` has their rows; the rows of other steps are kept.

    Returns
    -------
    list of dict
        The rows of `out`, or those that were measured.

    Raises
    ------
    InputError
        A dataset or a step is unknown, or a download fails.
    """
    every = {**STEPS, "growth": measure_growth}
    for step in steps:
        if step not in every:
            raise InputError(f"step {step}: expected one of {', '.join(every)}.")
    data = {} if set(steps) == {"growth"} else _load_data(names)
    units = [(step, name) for name in data for step in STEPS]
    units += [] if names and "growth" not in steps else [("growth", SYNTHETIC)]
    units = [unit for unit in units if not steps or unit[0] in steps]
    rows = Rows(out)
    waiting = [unit for unit in units if steps or not rows.has(unit)]
    say(f"{len(units) - len(waiting)} of {len(units)} steps are measured already; warming up")
    for step in dict.fromkeys(step for step, _ in waiting if step in WARM):
        STEPS[step](Bench(), "grid", load_embedded("grid", 0))
    show(f"{'task':<28} {'data':<11} {'seconds':>11} {'vs Libra':>9}  rate")
    for step, name in waiting:
        bench = Bench(show)
        if step == "growth":
            measure_growth(bench)
        else:
            STEPS[step](bench, name, data[name])
        rows.replace((step, name), bench.figures)
    if not steps:
        rows.keep_only(units, names)
    return rows.rows
