"""Features by bottom-up search from examples (BLM; Davis & Domingos 2010).

For each feature f and each of the k nearest examples that do not satisfy f, the candidate is f
without the literals that the example violates; the best one replaces f, scored at its best
weight with all others fixed (decision 0017; docs/methods/blm.md has what differs from the paper).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import pack_columns
from mnlearn.kernels.search.generalisation import (
    Examples,
    MaskedFeatures,
    Price,
    generalise_pass,
    remember_all,
)
from mnlearn.learning.features.literals import asked_columns, literal_log_odds, mask_features
from mnlearn.learning.weights.descent import QUICK, Penalty
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.packed_likelihood import arrange_packed
from mnlearn.models.features import (
    FeatureSet,
    atomic_features,
    canonicalise,
    concatenate,
)
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.progress import pulse
from mnlearn.runtime.random_streams import stream_seed


@dataclass(frozen=True, eq=False)
class BottomUpSearch:
    """The features found, replacements and gains by pass, and the penalised loss in nats."""

    features: FeatureSet
    replaced: tuple[int, ...]
    gained: tuple[float, ...]
    objective: float


def search_bottom_up(
    data: Dataset,
    penalty: Penalty,
    initial: str = "positive",
    k: int = 10,
    *,
    price: float = 1.0,
    max_passes: int = 20,
    seed: int = 20,
    threads: int = 1,
) -> BottomUpSearch:
    """Generalise features, which start as the distinct examples, until no replacement is better.

    `price` is in nats for each literal.
    """
    rng = np.random.default_rng(stream_seed(seed, "blm", initial))
    rows, candidates, table = _start(data, initial)
    literal_price = Price(float(penalty.l1), float(penalty.precision), float(price))
    atoms = atomic_features(data.n_columns)
    first = data.schema.start[data.schema.variable_of]
    own = np.column_stack([first, data.schema.start[data.schema.variable_of + 1]])
    record: list[tuple[int, float]] = []
    fitted = fit_weights(arrange_packed(atoms, data, threads), penalty, screen=True)
    network, objective = MarkovNetwork(data.schema, atoms, fitted.weight), fitted.objective
    for _ in range(max_passes):
        examples = Examples(rows, data.weight, literal_log_odds(network, data, threads), own)
        order = rng.permutation(len(candidates.asked))
        n, gain = generalise_pass(examples, order, candidates, k, literal_price, table)
        record.append((int(n), float(gain)))
        pulse(f"pass {len(record)}: {int(n)} features replaced, gain {float(gain):.4g}")
        # Gains below the tolerance of weight learning would be found again and again.
        if gain <= QUICK.allowed(objective):
            break
        network, objective = _learn_weights(candidates, network, data, penalty, threads)
    replaced, gained = zip(*record, strict=True) if record else ((), ())
    return BottomUpSearch(network.features, replaced, gained, objective)


def _start(
    data: Dataset, initial: str
) -> tuple[NDArray[np.uint64], MaskedFeatures, NDArray[np.uint64]]:
    """Return packed rows, the features that examples become, and the table of features seen."""
    rows = pack_columns(data.rows.T)
    value = rows.copy()
    asked = pack_columns(asked_columns(data, initial).astype(np.uint8).T)
    # A replacement loses a literal or more, so that there are no more features than literals.
    table = np.zeros(_table_size(int(np.bitwise_count(asked).sum()) + len(asked)), np.uint64)
    new = remember_all(asked, value, table)
    asked, value = asked[new], value[new]
    return (
        rows,
        MaskedFeatures(asked, value, np.zeros(len(asked)), np.zeros(len(asked), bool)),
        table,
    )


def _learn_weights(
    candidates: MaskedFeatures,
    before: MarkovNetwork,
    data: Dataset,
    penalty: Penalty,
    threads: int,
) -> tuple[MarkovNetwork, float]:
    """Learn all weights together; write those of the candidates."""
    features, place = _network_features(candidates, data.n_columns)
    found = np.flatnonzero(candidates.weight)
    start = np.zeros(len(features))
    # The atomic features come first.
    start[: data.n_columns] = before.weight[: data.n_columns]
    start[place] = candidates.weight[found]
    likelihood = arrange_packed(features, data, threads)
    fitted = fit_weights(likelihood, penalty, start=start, screen=True)
    candidates.weight[found] = fitted.weight[place]
    return MarkovNetwork(data.schema, features, fitted.weight), fitted.objective


def _network_features(
    candidates: MaskedFeatures, n_columns: int
) -> tuple[FeatureSet, NDArray[np.int64]]:
    """Return the features of the network, and the places of candidates of weights other than 0."""
    found = np.flatnonzero(candidates.weight)
    unpacked = mask_features(candidates.asked[found], n_columns, candidates.value[found])
    features, place = canonicalise(concatenate([atomic_features(n_columns), unpacked]))
    return features, place[n_columns:]


def _table_size(n: int) -> int:
    """Return the size of a hash table for `n` keys."""
    return 1 << int(2 * n + 1).bit_length()
