"""Speed of circuits: growing them until they predict as well as Libra's, and evaluating them."""

import itertools
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Bench, Figure, compare_seconds, measure_seconds
from benchmarks.peer_circuits import find_peers
from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.evaluation import UNKNOWN, Batch, Evaluator, LogSpace
from mnlearn.kernels.circuits.evaluation import LANES
from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import CircuitGrowth, Growing
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.weights.descent import Penalty
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.scoring.any_model import ll

PENALTY = Penalty(0.5, 1.0)
EDGE_COST = 0.1
# The split costs of the runs of Libra.
MARKOV_SPLIT_COST, BAYES_SPLIT_COST = 5.0, 2.0
LARGEST = 200_000
# Where circuits are large enough to be evaluated from memory and not from a cache.
LARGE = ("plants",)


def measure_circuits(bench: Bench, name: str, train: Dataset, test: Dataset) -> None:
    """Measure the learners beside Libra's runs on a dataset, and evaluation where it is large."""
    commands = {
        "acmn": [rf"acmn -i {name}\.train\.data", rf"acmn -i {name}\.train\.data \(settings.*\)"],
        "acbn": [rf"acbn -i {name}\.train\.data"],
    }
    starts: dict[str, tuple[Callable[[], Any], float]] = {
        "acmn": (lambda: MarkovGrowth(train, PENALTY), MARKOV_SPLIT_COST),
        "acbn": (lambda: BayesGrowth(train, 0.5), BAYES_SPLIT_COST),
    }
    for method, patterns in commands.items():
        start, split_cost = starts[method]
        for peer in (bench.peer(name, pattern) for pattern in patterns):
            if peer is not None:
                _measure_growth(
                    bench, name, method, start, split_cost=split_cost, test=test, peer=peer
                )
    if name in LARGE or name == "grid":
        start, split_cost = starts["acmn"]
        budget = LARGEST if name in LARGE else 2_000
        growth = CircuitGrowth(start(), EDGE_COST, split_cost, budget)
        growth.grow(budget)
        _measure_evaluation(bench, name, growth.model.model(), test)


def _measure_growth(
    bench: Bench,
    name: str,
    method: str,
    start: Callable[[], Growing],
    *,
    split_cost: float,
    test: Dataset,
    peer: Any,
) -> None:
    """Measure how long growth takes to the peer's test log-likelihood; scoring is left out."""
    target = float(peer["test_score"])
    seconds, score, circuit = 0.0, -np.inf, None
    model = None
    for budget in itertools.takewhile(
        lambda n: n <= LARGEST, (int(2_000 * 1.25**k) for k in range(100))
    ):
        began = time.process_time()
        if model is None:
            model = start()
            growth = CircuitGrowth(model, EDGE_COST, split_cost, LARGEST)
        growth.grow(budget)
        circuit = model.model()
        seconds += time.process_time() - began
        score = ll(circuit, test).mean
        if score >= target or growth.ended:
            break
    assert circuit is not None
    reached = "" if score >= target else ", not reached"
    bench.add(
        Figure(
            f"{method} to LL {target:.3f}",
            name,
            seconds,
            f"{circuit.n_edges:,} edges",
            **compare_seconds(peer, seconds),
            note=f"test LL {score:.4f}, Libra {target:.4f}{reached}",
        )
    )


def _measure_evaluation(bench: Bench, name: str, circuit: ArithmeticCircuit, test: Dataset) -> None:
    """Measure evaluation and differentiation beside a copy of the values that they touch.

    Without evidence, as while weights are learned, and given test examples, as in scores; these
    beside other libraries where they are installed.
    """
    # Every edge reads a value going up, and a value and a flow going down, and writes a flow.
    gathered = np.zeros((circuit.n_edges, LANES))
    copied = np.empty((circuit.n_edges, LANES))
    copy = 2 * measure_seconds(lambda: np.copyto(copied, gathered))
    batches: dict[str, Batch | LogSpace] = {
        "log space": LogSpace(circuit, circuit.weight),
        "plain numbers": Batch(circuit, circuit.features is not None),
    }
    evidence = {"": np.full((LANES, circuit.n_vars), UNKNOWN, np.uint8)}
    evidence[" of examples"] = test.rows[:LANES]
    for (given, rows), (numbers, batch) in itertools.product(evidence.items(), batches.items()):
        seconds = measure_seconds(partial(_up_and_down, batch, rows))
        share = f", {seconds / copy:.1f} times a copy of their operands"
        bench.add(
            _describe_evaluation(f"circuit{given}, {numbers}", name, circuit, seconds, share=share)
        )
    # Scores are computed in plain numbers, which were measured last.
    for peer, prepare in find_peers().items() if name in LARGE else ():
        theirs = measure_seconds(prepare(circuit, test.rows[:LANES]))
        found = _describe_evaluation("circuit of examples", name, circuit, seconds)
        bench.add(
            replace(
                found,
                peer=peer,
                peer_scope="in-process, in turn",
                peer_seconds=theirs,
                ratio=theirs / seconds,
            )
        )
    evaluator = Evaluator(circuit, circuit.features is not None)
    seconds = measure_seconds(lambda: evaluator.expectations(circuit.weight))
    bench.add(_describe_evaluation("circuit, plain, one row", name, circuit, seconds, n_rows=1))


def _up_and_down(batch: Batch | LogSpace, rows: NDArray[np.uint8]) -> None:
    batch.values(rows)
    batch.flows()


def _describe_evaluation(
    task: str,
    name: str,
    circuit: ArithmeticCircuit,
    seconds: float,
    *,
    n_rows: int = LANES,
    share: str = "",
) -> Figure:
    rate = f"{circuit.n_edges * n_rows / seconds / 1e6:,.0f} M edges/s"
    note = f"up and down, {circuit.n_edges:,} edges, {n_rows} at a time{share}"
    return Figure(task, name, seconds, rate, note=note)
