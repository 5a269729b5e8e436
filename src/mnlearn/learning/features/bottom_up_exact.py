"""Bottom-up search that learns all weights anew for every candidate (Davis & Domingos 2010).

For a few hundred examples of few variables; `bottom_up` approximates it in much less time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.features.bottom_up import BottomUpSearch
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.features import atomic_features, canonicalise, concatenate, features_of
from mnlearn.runtime.random_streams import stream_seed

# Share of the objective. Weights are learned to it, and a candidate must gain more.
_TOLERANCE = 1e-7

# The variables that a conjunction asks about, and those asked to be 1, as bits of integers.
Conjunction = tuple[int, int]


@dataclass(frozen=True, eq=False)
class _Learned:
    """A set of conjunctions with its best weights; score : minus the objective and the prices."""

    weight: Mapping[Conjunction, float]
    atomic: NDArray[np.float64]
    objective: float
    score: float


def search_exactly(
    data: Dataset,
    penalty: Penalty,
    initial: str = "positive",
    k: int = 10,
    *,
    price: float = 1.0,
    max_passes: int = 20,
    seed: int = 20,
) -> BottomUpSearch:
    """Generalise features, and learn all weights anew for every candidate.

    The parameters and the result are those of `search_bottom_up`.

    Notes
    -----
    The score of a candidate is that of the network in which it replaces a feature, at the best
    weights of all features: the pseudo-likelihood less the penalties and less `price` for each
    literal of each feature of at least two literals. A candidate that is already a feature takes
    the place of both. The best candidate is taken if it raises the score.

    References
    ----------
    .. [1] Davis and Domingos, "Bottom-up learning of Markov network structure", ICML 2010.
    """
    rng = np.random.default_rng(stream_seed(seed, "blm", initial))
    rows = [_pack_bits(row) for row in data.rows]
    all_variables = (1 << data.n_vars) - 1
    examples = [(row if initial == "positive" else all_variables, row) for row in rows]
    learn = partial(_learn, data=data, penalty=penalty, price=price)
    current = learn({e: 0.0 for e in examples if e[0].bit_count() > 1}, None)
    replaced, gained = [], []
    for _ in range(max_passes):
        before, n = current.score, 0
        features = list(current.weight)
        for f in rng.permutation(len(features)):
            feature = features[f]
            while feature in current.weight:
                trials = []
                for candidate in _generalise(feature, rows, k):
                    weight = dict(current.weight)
                    weight.setdefault(candidate, weight.pop(feature))
                    trials.append((candidate, learn(weight, current.atomic)))
                best = max(trials, key=lambda trial: trial[1].score, default=None)
                least = current.score + _TOLERANCE * current.objective
                if best is None or best[1].score <= least:
                    break
                feature, current = best
                n += 1
        replaced.append(n)
        gained.append(current.score - before)
        if n == 0:
            break
    kept = [c for c, w in current.weight.items() if w != 0.0]
    features_kept, _ = canonicalise(
        concatenate([atomic_features(data.n_vars), features_of(map(_literals, kept))])
    )
    return BottomUpSearch(features_kept, tuple(replaced), tuple(gained), current.objective)


def _learn(
    weight: Mapping[Conjunction, float],
    atomic: NDArray[np.float64] | None,
    data: Dataset,
    penalty: Penalty,
    *,
    price: float,
) -> _Learned:
    """Learn the weights of conjunctions and of the atomic features, starting at those given."""
    n = data.n_vars
    features, place = canonicalise(
        concatenate([atomic_features(n), features_of(map(_literals, weight))])
    )
    start = np.zeros(len(features))
    start[place[n:]] = list(weight.values())
    start[place[:n]] = 0.0 if atomic is None else atomic
    learned = fit_weights(
        arrange_stored(features, data), penalty, start=start, stopping=Stopping(_TOLERANCE)
    )
    found = dict(zip(weight, learned.weight[place[n:]].tolist(), strict=True))
    n_literals = sum(asked.bit_count() for asked, _ in weight)
    score = -learned.objective - price * n_literals
    return _Learned(found, learned.weight[place[:n]], learned.objective, score)


def _generalise(feature: Conjunction, rows: list[int], k: int) -> Iterator[Conjunction]:
    """Yield the distinct candidates, each without the literals that one of `k` rows violates."""
    asked, value = feature
    violated = [(row ^ value) & asked for row in rows]
    others = (v for v in violated if v)
    nearest = sorted(others, key=int.bit_count)[:k]
    for dropped in dict.fromkeys(nearest):
        left = asked & ~dropped
        if left.bit_count() > 1:
            yield left, value & left


def _pack_bits(row: NDArray[np.uint8]) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _literals(conjunction: Conjunction) -> list[tuple[int, int]]:
    asked, value = conjunction
    return [(v, value >> v & 1) for v in range(asked.bit_length()) if asked >> v & 1]
