"""Speed of circuits: growing them until they predict as well as Libra's, and evaluating them."""

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from mnlearn.bayes_growth import BayesGrowth
from mnlearn.bench.measure import Bench, Figure, against, seconds_of
from mnlearn.circuit_growth import CircuitGrowth, Growing
from mnlearn.data.dataset import Dataset
from mnlearn.kernels.circuit import (
    LANES,
    log_space_flows,
    log_values,
    plain_flows,
    plain_flows_of_lanes,
    plain_values,
    plain_values_of_lanes,
)
from mnlearn.markov_growth import MarkovGrowth
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.penalty import Penalty
from mnlearn.scores import ll

PENALTY = Penalty(0.5, 1.0)
EDGE_COST = 0.1
# Of the models that Libra's figures are for, and of larger ones.
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
                _until(bench, name, method, start, split_cost, test, peer)
    if name in LARGE or name == "grid":
        start, split_cost = starts["acmn"]
        budget = LARGEST if name in LARGE else 2_000
        growth = CircuitGrowth(start(), EDGE_COST, split_cost, budget)
        growth.grow(budget)
        _measure_evaluation(bench, name, growth.model.model())


def _until(
    bench: Bench,
    name: str,
    method: str,
    start: Callable[[], Growing],
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
        began = time.perf_counter()
        if model is None:
            model = start()
            growth = CircuitGrowth(model, EDGE_COST, split_cost, LARGEST)
        growth.grow(budget)
        circuit = model.model()
        seconds += time.perf_counter() - began
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
            *against(peer, seconds),
            note=f"test LL {score:.4f}, Libra {target:.4f}{reached}",
        )
    )


def _measure_evaluation(bench: Bench, name: str, circuit: ArithmeticCircuit) -> None:
    """Measure evaluation and differentiation beside a copy of the values that they touch."""
    arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
    leaves = np.concatenate([np.zeros(2 * circuit.n_vars), circuit.weight])
    values, flows = np.empty((circuit.n_nodes, LANES)), np.empty((circuit.n_nodes, LANES))
    values[: circuit.n_leaves] = leaves[:, None]
    scratch = np.empty((2, LANES))
    plain, plain_flow = np.empty(circuit.n_nodes), np.empty(circuit.n_nodes)
    plain[: circuit.n_leaves] = np.exp(leaves)
    lanes = np.empty((circuit.n_nodes, LANES))
    lanes[: circuit.n_leaves] = np.exp(leaves)[:, None]

    def in_log_space() -> None:
        log_values(*arrays, values, *scratch)
        log_space_flows(*arrays, values, flows)

    def in_plain_numbers() -> None:
        plain_values(*arrays, plain)
        plain_flows(*arrays, plain, plain_flow)

    def in_plain_lanes() -> None:
        plain_values_of_lanes(*arrays, lanes)
        plain_flows_of_lanes(*arrays, lanes, flows, scratch[0])

    # Every edge reads a value going up, and a value and a flow going down, and writes a flow.
    gathered = np.zeros((circuit.n_edges, LANES))
    copied = np.empty((circuit.n_edges, LANES))
    copy = 2 * seconds_of(lambda: np.copyto(copied, gathered))
    for task, work, rows in (
        ("circuit, log space", in_log_space, LANES),
        ("circuit, plain numbers", in_plain_lanes, LANES),
        ("circuit, plain, one row", in_plain_numbers, 1),
    ):
        seconds = seconds_of(work)
        rate = circuit.n_edges * rows / seconds / 1e6
        share = f", {seconds / copy:.1f} times a copy of their operands" if rows == LANES else ""
        bench.add(
            Figure(
                task, name, seconds, f"{rate:,.0f} M edges/s",
                note=f"up and down, {circuit.n_edges:,} edges, {rows} at a time{share}",
            )
        )  # fmt: skip
