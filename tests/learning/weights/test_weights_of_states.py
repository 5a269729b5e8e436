"""Pseudo-likelihood of variables of one to four states, by its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_states import SURVEY as SCHEMA
from mnlearn.data.dataset import Dataset
from mnlearn.learning.weights.arrangement import learn_weights
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.packed_likelihood import arrange_packed, arrange_rewritten
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.features import canonicalise, features_of
from mnlearn.models.markov_network import markov_network
from oracles import loss_and_gradient, loss_of

EVERY = np.stack(np.meshgrid(*map(np.arange, SCHEMA.arity), indexing="ij"), -1).reshape(-1, 4)


def random_literals(rng):
    """A conjunction over some variables; of several columns it may exclude some or all."""
    out = []
    for v in rng.choice(4, rng.integers(1, 4), replace=False).tolist():
        own = SCHEMA.columns(v)
        if len(own) == 1:
            out.append((own[0], int(rng.integers(2))))
        elif own and rng.random() < 0.5:
            out.append((int(rng.choice(own)), 1))
        elif own:
            excluded = rng.choice(own, rng.integers(1, len(own) + 1), replace=False)
            out += [(int(c), 0) for c in excluded]
    if rng.random() < 0.2:
        out.append((int(rng.integers(SCHEMA.n_columns)), int(rng.integers(2))))
    return out


def made(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    features, _ = canonicalise(features_of([random_literals(rng) for _ in range(60)]), SCHEMA.start)
    share = rng.dirichlet(np.full(len(EVERY), 0.3))
    rows = SCHEMA.rows(EVERY[rng.choice(len(EVERY), n_rows, p=share)])
    data = Dataset.from_arrays(rows, rng.integers(1, 4, n_rows), schema=SCHEMA)
    return rng, features.select(features.length > 0), data


def test_canonical_features_say_the_same_in_the_fewest_literals():
    rng = np.random.default_rng(1)
    features = features_of([random_literals(rng) for _ in range(300)])
    canonical, place = canonicalise(features, SCHEMA.start)
    rows = SCHEMA.rows(EVERY)
    before, after = features.satisfied(rows), canonical.satisfied(rows)
    assert 0 < (place < 0).sum() < 150
    assert not before[:, place < 0].any()
    assert (before[:, place >= 0] == after[:, place[place >= 0]]).all()
    # No two features hold in the same rows.
    assert len(np.unique(after, axis=1).T) == len(canonical)


@pytest.mark.parametrize("arrange", [arrange_stored, arrange_packed, arrange_rewritten])
@pytest.mark.parametrize("n_rows", [5, 150, 700])
def test_value_and_gradient(arrange, n_rows):
    rng, features, data = made(n_rows)
    more = () if arrange is not arrange_rewritten else (np.ones(len(features)),)
    likelihood = arrange(features, data, *more)
    w = rng.normal(size=len(features))
    value, gradient = likelihood.value_and_gradient(w)
    expected, slope = loss_and_gradient(features, w, data)
    assert value == pytest.approx(expected, rel=1e-6)
    assert_allclose(gradient, slope, atol=2e-6 * value)


def test_curvature_is_that_at_0_or_a_bound_on_it():
    _, features, data = made()
    likelihood = arrange_stored(features, data)
    step = 1e-5 * np.eye(len(features))
    found = [np.diff([likelihood.value_and_gradient(s * t)[1] @ t for s in (-1, 1)])
             for t in step]  # fmt: skip
    exact = np.ravel(found) / 2e-10
    assert (likelihood.curvature >= exact - 1e-3).all()
    # Features that exclude two states of one variable are the only ones with a bound.
    variable = SCHEMA.variable_of[features.var]
    owner = features.owner
    twice = np.zeros(len(features), bool)
    twice[owner[1:][(owner[1:] == owner[:-1]) & (variable[1:] == variable[:-1])]] = True
    assert_allclose(likelihood.curvature[~twice], exact[~twice], rtol=1e-3)
    assert_allclose(arrange_packed(features, data).curvature, likelihood.curvature)


def test_restriction():
    rng, features, data = made()
    member = rng.random(len(features)) < 0.6
    w = rng.normal(size=member.sum())
    alone = arrange_packed(features.select(member), data).value_and_gradient(w)
    for likelihood in (
        arrange_packed(features, data), arrange_rewritten(features, data, np.ones(len(features)))
    ):  # fmt: skip
        value, gradient = likelihood.restrict(member).value_and_gradient(w)
        assert value == pytest.approx(alone[0], rel=1e-6)
        assert_allclose(gradient, alone[1], atol=1e-3)


def test_weights_of_a_network_are_learned_anew():
    _, features, data = made()
    network = markov_network(SCHEMA, features, np.ones(len(features)))
    learned, _ = learn_weights(network, data, Penalty(0.5))
    assert learned.schema == SCHEMA
    w = learned.weight
    _, gradient = arrange_stored(features, data).value_and_gradient(w)
    assert_allclose(gradient + w / 0.5**2, 0.0, atol=1.0)
    assert loss_of(features, w, data) < loss_of(features, np.zeros(len(w)), data)
