"""Where EM of a hidden Chow-Liu tree starts: the tree, and its first tables."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.latent_trees.chow_liu import PairTables
from mnlearn.models.hidden_tree import NO_PARENT, HiddenTree

STARTS = ("clusters", "random")
# Iterations of EM of the mixture whose components are the hidden values at the start.
_ITERATIONS = 10
# Share of the examples that may have other values at both ends of an edge at the start.
_LEAK = 0.2
# Pseudocount of the Chow-Liu tree, as of the learner `chow_liu`.
_PAIRS = 1.0
_ROWS = 4096
# Emissions are at least so far from 0 and 1, which EM could not leave.
_MARGIN = 1e-6


def start_tree(data: Dataset, n_states: int, start: str, rng: np.random.Generator) -> HiddenTree:
    """Return the hidden Chow-Liu tree at which EM starts.

    Parameters
    ----------
    data : Dataset
        The training data.
    n_states : int
        Number of values of each hidden variable.
    start : {"clusters", "random"}
        With "clusters" the values are the components of a mixture of independent variables, and
        change along an edge for few examples. With "random" all tables are random.
    rng : numpy.random.Generator
        The source of all random numbers.
    """
    parent = PairTables(data, _PAIRS).tree().astype(np.int32)
    if start == "random":
        transition, emission = _random_tables(data, n_states, rng)
    else:
        transition, emission = _tables_of_clusters(data, n_states, rng, parent)
    root = parent == NO_PARENT
    transition[root] = transition[root][:, :1]
    return HiddenTree(parent, transition, emission, data.names)


def _random_tables(
    data: Dataset, n_states: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n_vars = data.n_vars
    transition = rng.exponential(size=(n_vars, n_states, n_states))
    transition /= transition.sum(axis=2, keepdims=True)
    odds = np.log(_smooth_frequency(data) / (1.0 - _smooth_frequency(data)))
    emission = 1.0 / (1.0 + np.exp(-odds[:, None] - rng.normal(size=(n_vars, n_states))))
    return transition, emission


def _tables_of_clusters(
    data: Dataset, n_states: int, rng: np.random.Generator, parent: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    share, emission = _mixture(data, n_states, rng)
    noise = 0.5 + rng.random((data.n_vars, n_states, n_states))
    other = noise * share
    other /= other.sum(axis=2, keepdims=True)
    transition = (1.0 - _LEAK) * np.eye(n_states) + _LEAK * other
    transition[parent == NO_PARENT] = share
    return transition, emission


def _mixture(
    data: Dataset, n_states: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares and the emissions of a mixture of independent variables, by EM.

    Components start near examples that are drawn at random.
    """
    drawn = rng.choice(data.n_rows, n_states, p=data.weight / data.n_examples)
    frequency = _smooth_frequency(data)
    emission = 0.5 * data.rows[drawn] + 0.5 * frequency
    emission += 0.02 * (rng.random(emission.shape) - 0.5)
    emission = emission.clip(0.01, 0.99)
    share = np.full(n_states, 1.0 / n_states)
    for _ in range(_ITERATIONS):
        ones, total = np.zeros(emission.shape), np.zeros(n_states)
        odds = np.log(emission / (1.0 - emission)).astype(np.float32)
        constant = np.log(share) + np.log1p(-emission).sum(axis=1)
        for first in range(0, data.n_rows, _ROWS):
            rows = data.rows[first : first + _ROWS].astype(np.float32)
            log_p = rows @ odds.T + constant.astype(np.float32)
            p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
            own = data.weight[first : first + _ROWS, None]
            p *= (own / p.sum(axis=1, keepdims=True)).astype(np.float32)
            ones += p.T @ rows
            total += p.sum(axis=0)
        share = (total + 1.0) / (total + 1.0).sum()
        # In single precision the sums of ones may exceed the totals.
        emission = ((ones + frequency) / (total + 1.0)[:, None]).clip(_MARGIN, 1.0 - _MARGIN)
    return share, np.ascontiguousarray(emission.T)


def _smooth_frequency(data: Dataset) -> NDArray[np.float64]:
    """Return the share of ones of each variable, strictly between 0 and 1."""
    ones = data.frequency * data.n_examples
    return np.asarray((ones + 0.5) / (data.n_examples + 1.0))
