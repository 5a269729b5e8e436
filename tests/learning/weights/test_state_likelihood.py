"""The likelihood by sums over states against enumeration."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import check_grad

import oracles
from made_random import random_data
from mnlearn.data.rows import pack_columns
from mnlearn.learning.features.pair_gains import (
    PairCandidates,
    StateLikelihood,
    mask_network,
    rows_of,
)
from mnlearn.variables.schema import binary_schema


def test_value_and_gradient_over_all_states():
    data = random_data(2, 100, 6)
    pool = PairCandidates(data, 0.0)
    pool.add([0, 3, 7])
    bits = rows_of(pack_columns(oracles.all_states(6)), pool.features)
    held = pool.feature_weights()
    likelihood = StateLikelihood(held, data.n_examples, bits, np.zeros(64))
    w = np.random.default_rng(1).normal(size=9)
    network = mask_network(pool.features, w, binary_schema(6))
    p = oracles.joint(network)
    state = data.rows @ (1 << np.arange(6)[::-1])
    value, gradient = likelihood.value_and_gradient(w)
    assert_allclose(value, -data.weight @ np.log(p[state]))
    error = check_grad(
        lambda x: likelihood.value_and_gradient(x)[0],
        lambda x: likelihood.value_and_gradient(x)[1],
        w,
    )
    assert error < 1e-3 * np.abs(gradient).max()
    share, _ = likelihood.state_shares(w)
    assert_allclose(share, p)


def test_states_of_a_network_stand_for_its_neighbours():
    data = random_data(2, 100, 6)
    pool = PairCandidates(data, 0.0)
    states = oracles.all_states(6)
    rng = np.random.default_rng(3)
    before, after = rng.normal(size=(2, 6))
    drawn = states[
        rng.choice(
            64, 200_000, p=oracles.joint(mask_network(pool.features, before, binary_schema(6)))
        )
    ]
    bits = rows_of(pack_columns(drawn), pool.features)
    held = pool.feature_weights()
    plain = StateLikelihood(held, data.n_examples, bits, np.zeros(len(drawn)))
    reweighted = StateLikelihood(held, data.n_examples, bits, -plain.log_weights(before), threads=2)
    share, _ = reweighted.state_shares(after)
    expected = oracles.joint(mask_network(pool.features, after, binary_schema(6))) @ states
    assert_allclose(share @ drawn, expected, atol=0.02)
