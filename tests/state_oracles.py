"""Slow, obvious versions of what the package computes for variables of any number of states."""

import numpy as np

import made_states
from made_states import every_row as every_row
from mnlearn.data.dataset import merge_rows


def schema_of(arities):
    """Variables V0, V1, ... with the states 0, 1, ..."""
    return made_states.schema_of(*arities)


def random_states(seed, arities, n_examples=300, weighted=False):
    """A dataset in which each variable often follows the one before it."""
    rng = np.random.default_rng(seed)
    values = np.stack([rng.choice(k, n_examples, p=rng.dirichlet([3.0] * k)) for k in arities], 1)
    for v in range(1, len(arities)):
        copied = rng.random(n_examples) < 0.6
        values[copied, v] = values[copied, v - 1] * 3 % arities[v]
    schema = schema_of(arities)
    weight = rng.uniform(0.5, 2.0, n_examples) if weighted else None
    return merge_rows(schema.rows(values), weight, schema)


def changed(schema, row, v, state):
    """A row with variable v in another state."""
    values = schema.values(row[None])
    values[0, v] = state
    return schema.rows(values)[0]


def log_potential(features, weight, row):
    """The sum of the weights of the features that hold in a row."""
    holds = [all(row[c] == x for c, x in features.literals(f)) for f in range(len(features))]
    return float(np.dot(weight, holds))


def log_softmax(scores):
    scores = np.array(scores, float)
    return scores - np.logaddexp.reduce(scores)


def log_conditional(features, weight, schema, row, v):
    """log P(state | the other variables), for each state of v."""
    states = range(schema.arity[v])
    return log_softmax(
        [log_potential(features, weight, changed(schema, row, v, s)) for s in states]
    )


def conditionals(features, w, data):
    """The probabilities of the states of each variable given the others, (n_rows, arity)."""
    values = data.schema.values(data.rows)
    for v, arity in enumerate(data.schema.arity.tolist()):
        potential = np.empty((len(values), arity))
        for state in range(arity):
            changed = values.copy()
            changed[:, v] = state
            potential[:, state] = features.satisfied(data.schema.rows(changed)) @ w
        share = np.exp(potential - potential.max(axis=1, keepdims=True))
        yield values[:, v], share / share.sum(axis=1, keepdims=True)


def loss_of(features, w, data):
    return -sum(
        data.weight @ np.log(share[np.arange(len(own)), own])
        for own, share in conditionals(features, w, data)
    )
