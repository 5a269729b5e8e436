"""The conditionals of variables of any number of states, by their definition."""

import numpy as np


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
