"""Boosted trees, by their definition: sums of Newton steps of small trees on any states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_states import random_states
from mnlearn.inference.conditionals import log_conditionals
from mnlearn.learning.learner import Task, Workspace
from mnlearn.methods.dn_boost import DNBoost
from oracles import log_softmax

RATE, PENALTY, LEAST = 0.4, 0.7, 2.0


def step(data, slope, bend, v, member, depth):
    """The values that one tree adds to all rows of a node."""
    here = slope[member].sum(), bend[member].sum()
    best, chosen = 1e-9 * here[1], None
    for c in range(data.n_columns) if depth else ():
        sides = [member & (data.rows[:, c] == x) for x in (0, 1)]
        if data.schema.variable_of[c] == v or min(bend[s].sum() for s in sides) < LEAST:
            continue
        gain = sum(slope[s].sum() ** 2 / (bend[s].sum() + PENALTY) for s in sides)
        gain -= here[0] ** 2 / (here[1] + PENALTY)
        if gain > best + 1e-9 * here[1]:
            best, chosen = gain, sides
    if chosen is None:
        return member * (-RATE * here[0] / (here[1] + PENALTY))
    return sum(step(data, slope, bend, v, side, depth - 1) for side in chosen)


def boosted(data, v, n_rounds, depth):
    """The log-probabilities of the states of a variable in all rows."""
    state, k = data.schema.values(data.rows)[:, v], data.schema.arity[v]
    count = np.bincount(state, data.weight, k) + 1.0
    score = np.tile(np.log(count / count[0]), (len(state), 1))
    for _ in range(n_rounds):
        p = np.exp([log_softmax(row) for row in score])
        for s in range(1, k):
            slope = data.weight * (p[:, s] - (state == s))
            bend = data.weight * p[:, s] * (1 - p[:, s])
            score[:, s] += step(data, slope, bend, v, np.ones(len(state), bool), depth)
    return np.array([log_softmax(row) for row in score])


@pytest.mark.parametrize("arities", [(2, 3, 4), (4, 1, 2, 3), (2, 2, 2, 2)])
def test_conditionals_are_sums_of_newton_steps(arities):
    data = random_states(1, arities, weighted=True)
    grid = DNBoost.grid({"n_rounds": [1, 4]})
    settings = {"rate": RATE, "leaf_penalty": PENALTY, "min_curvature": LEAST, "max_depth": 2}
    workspace = Workspace(Task(data, grid))
    for n_rounds in (4, 1):
        network = DNBoost(n_rounds=n_rounds, **settings).learn(workspace).model
        expected = [boosted(data, v, n_rounds, 2) for v in range(len(arities))]
        found = log_conditionals(network, data)
        assert_allclose(found, np.concatenate(expected, axis=1), atol=1e-10)
