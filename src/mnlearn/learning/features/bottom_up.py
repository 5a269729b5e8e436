"""Features by bottom-up search from examples (BLM; Davis & Domingos 2010)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.kernels.search.generalisation import (
    Examples,
    MaskedFeatures,
    Price,
    generalise_pass,
    remember_all,
)
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import STANDARD
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.packed_likelihood import arrange_packed
from mnlearn.models.features import (
    FeatureSet,
    atomic_features,
    canonicalise,
    concatenate,
    feature_set,
)
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.random_streams import stream_seed


@dataclass(frozen=True, eq=False)
class BottomUpSearch:
    """The outcome of `search_bottom_up`.

    features : the atomic features and those found, in canonical order.
    replaced : how many replacements each pass made. gained : nats, by the search's own count.
    objective : of the features found, all weights learned together with the penalty of the search.
    """

    features: FeatureSet
    replaced: tuple[int, ...]
    gained: tuple[float, ...]
    objective: float


def search_bottom_up(
    data: Dataset,
    penalty: Penalty,
    initial: str = "positive",
    k: int = 10,
    price: float = 1.0,
    max_passes: int = 20,
    seed: int = 20,
    threads: int = 1,
) -> BottomUpSearch:
    """Generalise features, at first the distinct examples, until no replacement is better.

    A pass goes through the features in random order. For each it drops the literals that one of
    the `k` nearest examples that do not match it violates, and replaces the feature by the best
    of these generalisations, until none scores higher. The score is the pseudo-likelihood less
    penalties less `price` for each literal. A feature that scores less than 0 is not part of the
    network, but its literals count: so examples become shorter before they gain anything.

    Three things differ from a search that learns all weights anew for every candidate, which is in
    `exact_bottom_up`. A feature is scored at its best weight with all others as they are; all are
    learned together after each pass. A feature that was there before is not tried again. Where no
    candidate gains more than it costs, that with the best bound is taken and its gain is not found
    (see docs/decisions/README.md).

    initial : "full" or "positive", whether examples become all their values or their ones.
    """
    rng = np.random.default_rng(stream_seed(seed, "blm", initial))
    rows = _packed_rows(data.rows)
    value = rows.copy()
    asked = rows.copy() if initial == "positive" else _packed_rows(np.ones_like(data.rows))
    # A replacement loses a literal or more, so that there are no more features than literals.
    table = np.zeros(_room(int(np.bitwise_count(asked).sum()) + len(asked)), np.uint64)
    new = remember_all(asked, value, table)
    asked, value = asked[new], value[new]
    weight = np.zeros(len(asked))
    candidates = MaskedFeatures(asked, value, weight)
    literal_price = Price(float(penalty.l1), float(penalty.precision), float(price))
    atoms = atomic_features(data.n_vars)
    replaced, gained = [], []
    current = fit_weights(arrange_packed(atoms, data, threads), penalty, screen=True)
    network = MarkovNetwork(data.n_vars, atoms, current.weight)
    for _ in range(max_passes):
        theta = conditional_log_odds(network, data, threads)
        n, gain = generalise_pass(
            Examples(rows, data.weight, theta), rng.permutation(len(asked)), candidates, k,
            literal_price, table,
        )  # fmt: skip
        replaced.append(int(n))
        gained.append(float(gain))
        # Gains below what weights are learned to would be found again and again.
        if n == 0 and gain <= STANDARD.allowed(current.objective):
            break
        found = np.flatnonzero(weight)
        features, place = canonicalise(
            concatenate([atoms, _features(asked[found], value[found], data.n_vars)])
        )
        start = np.zeros(len(features))
        # Atomic features come first in canonical order, in that of their variables.
        start[: data.n_vars] = network.weight[: data.n_vars]
        start[place[data.n_vars :]] = weight[found]
        likelihood = arrange_packed(features, data, threads)
        current = fit_weights(likelihood, penalty, start=start, screen=True)
        network = MarkovNetwork(data.n_vars, features, current.weight)
        weight[found] = current.weight[place[data.n_vars :]]
    return BottomUpSearch(network.features, tuple(replaced), tuple(gained), current.objective)


def _room(n: int) -> int:
    """Return the size of a hash table for `n` keys."""
    return 1 << int(2 * n + 1).bit_length()


def _packed_rows(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return rows as bits, uint64 of shape (n_rows, n_words); bit v % 64 of word v // 64 is v."""
    n_words = -(-rows.shape[1] // 64)
    padded = np.zeros((len(rows), 64 * n_words), np.uint8)
    padded[:, : rows.shape[1]] = rows
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _features(asked: NDArray[np.uint64], value: NDArray[np.uint64], n_vars: int) -> FeatureSet:
    """Return features given by bit masks."""
    bits = [
        np.unpackbits(mask.view(np.uint8), axis=1, count=n_vars, bitorder="little")
        for mask in (asked, value)
    ]
    owner, var = np.nonzero(bits[0])
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(asked)))])
    return feature_set(start, var, bits[1][owner, var])
