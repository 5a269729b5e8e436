"""Datasets that need no network: digits from scikit-learn, samples from known networks."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.own_files import split_examples
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn.variables.schema import binary_schema

DIGIT_FRACTIONS = (0.7, 0.1, 0.2)
# Half of the 16 grey levels.
DIGIT_THRESHOLD = 8
GRID_SIDE = 4
N_TRIPLE_VARS = 12


# The datasets that need no network, and the examples of those that are drawn from a network.
EMBEDDED = ("digits", "grid", "triples")
_N_DRAWN = {"train": 3000, "valid": 500, "test": 1000}


def load_embedded(name: str, seed: int) -> tuple[Dataset, Dataset, Dataset]:
    """Return training, validation and test data of an embedded dataset.

    seed : decides the split of `digits`, and both the network and the samples of the others.
    """
    _check_name(name)
    if name == "digits":
        return split_examples(_load_digits(), DIGIT_FRACTIONS, stream(seed, name, "split"))
    network = build_true_network(name, seed)
    train, valid, test = (
        sample_exactly(network, n_rows, stream(seed, name, "sample", split))
        for split, n_rows in _N_DRAWN.items()
    )
    return train, valid, test


def build_true_network(name: str, seed: int) -> MarkovNetwork:
    """Return the network that `load_embedded(name, seed)` samples from."""
    _check_name(name)
    if name not in _NETWORKS:
        raise InputError(
            f"dataset '{name}': is not sampled from a known network; "
            f"{', '.join(sorted(_NETWORKS))} are."
        )
    return _NETWORKS[name](stream(seed, name, "network"))


def _check_name(name: str) -> None:
    if name not in EMBEDDED:
        raise InputError(f"no embedded dataset '{name}'; known: {', '.join(EMBEDDED)}.")


def _load_digits() -> Dataset:
    # scikit-learn takes a second to import, and most commands do without it.
    from sklearn.datasets import load_digits

    images = load_digits().images
    names = tuple(f"pixel_{r}_{c}" for r in range(images.shape[1]) for c in range(images.shape[2]))
    return Dataset.from_arrays(images.reshape(len(images), -1) >= DIGIT_THRESHOLD, names=names)


def _build_grid(rng: np.random.Generator) -> MarkovNetwork:
    """Return an Ising grid: spins -1 and 1, couplings of 0.25 to 0.5, a weak field for each spin.

    A coupling J is a weight of 4 J for both variables being 1 and of -2 J for either.
    """
    position = np.arange(GRID_SIDE**2).reshape(GRID_SIDE, GRID_SIDE)
    right = zip(position[:, :-1].ravel().tolist(), position[:, 1:].ravel().tolist(), strict=True)
    below = zip(position[:-1].ravel().tolist(), position[1:].ravel().tolist(), strict=True)
    edges = sorted([*right, *below])
    coupling = rng.uniform(0.25, 0.5, len(edges)) * rng.choice((-1, 1), len(edges))
    field = rng.uniform(-0.1, 0.1, position.size)
    atom = 2 * field
    np.add.at(atom, np.array(edges), -2 * coupling[:, None])
    conjunctions: list[list[tuple[int, int]]] = [[(v, 1)] for v in range(position.size)]
    conjunctions += [[(u, 1), (v, 1)] for u, v in edges]
    names = [f"spin_{r}_{c}" for r in range(GRID_SIDE) for c in range(GRID_SIDE)]
    return markov_network(
        binary_schema(position.size, names),
        features_of(conjunctions),
        np.concatenate([atom, 4 * coupling]),
    )


def _build_triples(rng: np.random.Generator) -> MarkovNetwork:
    """Return a ring of triples, neighbours sharing one variable with opposite values."""
    value = rng.integers(0, 2, N_TRIPLE_VARS).tolist()
    conjunctions = []
    for first in range(0, N_TRIPLE_VARS, 2):
        last = (first + 2) % N_TRIPLE_VARS
        conjunctions.append(
            [(first, value[first]), (first + 1, value[first + 1]), (last, 1 - value[last])]
        )
    return markov_network(
        binary_schema(N_TRIPLE_VARS, [f"x{v + 1}" for v in range(N_TRIPLE_VARS)]),
        features_of(conjunctions),
        rng.uniform(1.5, 2.5, len(conjunctions)),
    )


_NETWORKS: dict[str, Callable[[np.random.Generator], MarkovNetwork]] = {
    "grid": _build_grid,
    "triples": _build_triples,
}
# The datasets that are drawn from a network.
DRAWN = tuple(_NETWORKS)


@lru_cache(maxsize=2)
def list_states(n_vars: int) -> NDArray[np.uint8]:
    """Return every state of `n_vars` binary variables; uint8, shape (2 ** n_vars, n_vars)."""
    number = np.arange(1 << n_vars, dtype=">u4")
    return np.unpackbits(number.view(np.uint8).reshape(-1, 4), axis=1)[:, 32 - n_vars :]


def compute_probabilities(network: MarkovNetwork) -> NDArray[np.float64]:
    """Return the probability of each of `list_states`, for at most some 20 variables."""
    log_potential = network.potential_of(list_states(network.n_vars))
    potential = np.exp(log_potential - log_potential.max())
    return potential / potential.sum()


def sample_exactly(network: MarkovNetwork, n_rows: int, rng: np.random.Generator) -> Dataset:
    """Return independent samples of a small network, drawn from all its states."""
    cumulative = np.cumsum(compute_probabilities(network))
    drawn = np.searchsorted(cumulative / cumulative[-1], rng.random(n_rows), side="right")
    return Dataset.from_arrays(list_states(network.n_vars)[drawn], schema=network.schema)
