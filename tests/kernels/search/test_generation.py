"""Random generalisation, against the same draws with lists of literals."""

import numpy as np
import pytest

from made_words import Stream
from mnlearn.kernels.arithmetic.splitmix import mix
from mnlearn.kernels.search.generation import generalise, literal_keys


def stream_of(seed):
    return Stream(mix(np.uint64(seed)))


def generalised(features, n_features, seed):
    """Literals of all features: those given, and those that are drawn from them."""
    features = [list(f) for f in features]
    parents, stream = stream_of(seed), stream_of(seed + 1)
    drawn = [parents.next() for _ in range(16)]
    for f in range(len(features), n_features):
        able = [own for own in features if len(own) >= 3]
        own = list(able[int(drawn[f % 16] * len(able))])
        drawn[f % 16] = parents.next()
        n = len(own)
        n_kept = 2 + int(stream.next() * (n - 2))
        few = min(n_kept, n - n_kept)
        random = 0
        for i in range(few):
            random = stream.word() if i % 2 == 0 else random >> 32
            j = i + ((random % 2**32) * (n - i) >> 32)
            own[i], own[j] = own[j], own[i]
        if few < n_kept:
            own[:few] = own[n - few :][::-1]
        features.append(own[:n_kept])
    return features


@pytest.mark.parametrize("n_literals", [6, 40, 300])
@pytest.mark.parametrize("seed", range(4))
def test_features_are_drawn_from_those_before(seed, n_literals):
    rng = np.random.default_rng(seed)
    lengths = [*rng.integers(1, min(n_literals, 150), 6), 3, 2]
    given = [rng.choice(n_literals, n, replace=False).tolist() for n in lengths]
    n_features = 60
    start = np.full(n_features + 1, -1)
    start[: len(given) + 1] = np.cumsum([0, *lengths])
    literal = np.concatenate([*given, [0] * 7]).astype(np.uint16)
    keys, digest = literal_keys(n_literals, np.uint64(seed)), np.zeros(n_features, np.uint64)
    assert len({*keys.tolist()}) == n_literals
    found = generalise(start, literal, len(given), keys, np.uint64(seed), digest)
    expected = generalised(given, n_features, seed)
    for f, own in enumerate(expected):
        assert sorted(found[start[f] : start[f + 1]].tolist()) == sorted(own)
        assert int(digest[f]) == sum(int(keys[k]) for k in own) % 2**64


def test_keys_are_those_of_a_stream():
    stream = stream_of(5)
    assert literal_keys(4, np.uint64(5)).tolist() == [stream.word() for _ in range(4)]
