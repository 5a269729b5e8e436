"""Circuits that several tests use."""

import numpy as np

from mnlearn.learning.circuits.splitting import plan, split
from mnlearn.models.circuit import product_of_marginals, with_weight
from mnlearn.models.features import features_of

N = 6


def grown(seed, extend=True, n_splits=10):
    """A circuit after random splits, with random weights, and its features."""
    rng = np.random.default_rng(seed)
    circuit = product_of_marginals(rng.uniform(0.1, 0.9, N))
    features = [((v, x),) for v in range(N) for x in (0, 1)]
    for _ in range(n_splits):
        f = int(rng.integers(len(features)))
        free = [v for v in range(N) if v not in dict(features[f])]
        if not free:
            continue
        var = int(rng.choice(free))
        planned = plan(circuit, np.array([f]), var, extend)
        before = circuit.n_edges
        circuit = split(circuit, planned)
        assert circuit.n_edges == before + planned.n_new_edges
        circuit.check()
        children = [(*features[f], (var, x)) for x in (0, 1)]
        if extend:
            features += children
        else:
            features[f] = children[0]
            features.append(children[1])
        circuit = with_weight(circuit, rng.normal(size=len(circuit.weight)))
    return circuit, features_of(sorted(f) for f in features)
