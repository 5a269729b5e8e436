"""Slow, obvious versions of what the package computes: enumeration of all states.

Variables have any number of states; of those with two, a row has the number of the state itself.
"""

import itertools

import numpy as np

from made_states import every_row


def all_states(n_vars):
    """All 2^n states, uint8, in counting order (variable 0 changes slowest)."""
    return np.array(list(itertools.product((0, 1), repeat=n_vars)), np.uint8)


def holds(literals, row):
    return all(row[c] == value for c, value in literals)


def log_potential(network, row):
    """The sum of the weights of the features that hold in a row."""
    features = network.features
    return sum(w for f, w in enumerate(network.weight) if holds(features.literals(f), row))


def log_potentials(network):
    """The log-potential of each row of `every_row`; of two states each, that is `all_states`."""
    return np.array([log_potential(network, row) for row in every_row(network.schema)])


def joint(network):
    """The probability of each row of `every_row`."""
    energy = log_potentials(network)
    p = np.exp(energy - energy.max())
    return p / p.sum()


def log_partition(network):
    return np.logaddexp.reduce(log_potentials(network))


def changed(schema, row, v, state):
    """A row with variable v in another state."""
    out, own = row.copy(), list(schema.columns(v))
    out[own] = state if len(own) == 1 else np.arange(len(own)) == state
    return out


def log_softmax(scores):
    scores = np.array(scores, float)
    return scores - np.logaddexp.reduce(scores)


def _parts(model, row, v):
    """Of each state of v: what the tree of v says, if there is one, and the sum of the weights."""
    arity = int(model.schema.arity[v])
    by_tree, by_features = np.zeros((2, arity))
    for state in range(arity):
        there = changed(model.schema, row, v, state)
        if not hasattr(model, "trees"):
            by_features[state] = log_potential(model, there)
            continue
        node = model.trees.start[v]
        while model.trees.split_var[node] >= 0:
            node = model.trees.child[node, there[model.trees.split_var[node]]]
        by_tree[state] = model.trees.log_prob[node, state]
        for f in np.flatnonzero(model.target == v):
            if holds(model.features.literals(f), there):
                by_features[state] += model.weight[f]
    return by_tree, by_features


def log_conditional(model, row, v):
    """log P(X_v = a | the other variables of a row) of each state a, from the definition."""
    return log_softmax(sum(_parts(model, row, v)))


def log_conditionals(model, rows):
    """All of them, the states of one variable after those of the other."""
    n = len(model.schema)
    return np.array(
        [np.concatenate([log_conditional(model, row, v) for v in range(n)]) for row in rows]
    )


def log_odds(model, row, v):
    """Log-odds of a variable of two states given the rest of a row."""
    return sum(part[1] - part[0] for part in _parts(model, row, v))


def log_odds_matrix(model, rows):
    return np.array([[log_odds(model, row, v) for v in range(len(row))] for row in rows])


def log_own(model, rows):
    """log P(x_v | the rest) of each row and variable."""
    values = model.schema.values(rows)
    return np.array(
        [
            [log_conditional(model, row, v)[x] for v, x in enumerate(own)]
            for row, own in zip(rows, values, strict=True)
        ]
    )


def conditional_marginals(network, row, query):
    """P(column = 1 | the values of all variables but the query), for the columns of the query."""
    schema = network.schema
    rows = every_row(schema)
    known = ~np.isin(schema.variable_of, query)
    p = joint(network) * (rows[:, known] == row[known]).all(axis=1)
    return (p[:, None] * rows[:, ~known]).sum(axis=0) / p.sum()


def stationary(model, row, query):
    """P(column = 1) in the distribution that ordered Gibbs sweeps over the query converge to."""
    schema = model.schema
    states = list(itertools.product(*(range(schema.arity[v]) for v in query)))
    values = np.repeat(schema.values(row[None]), len(states), axis=0)
    values[:, query] = states
    rows = schema.rows(values)
    number = {state: i for i, state in enumerate(states)}
    steps = []
    for k, v in enumerate(query):
        step = np.zeros((len(states), len(states)))
        for i, state in enumerate(states):
            p = np.exp(log_conditional(model, rows[i], v))
            for a in range(len(p)):
                step[i, number[(*state[:k], a, *state[k + 1 :])]] += p[a]
        steps.append(step)
    sweep = np.linalg.multi_dot([np.eye(len(states)), *steps]) if len(steps) > 1 else steps[0]
    p = np.full(len(states), 1 / len(states)) @ np.linalg.matrix_power(sweep, 2**12)
    return p @ rows[:, np.isin(schema.variable_of, query)]


def conditionals(features, w, data):
    """Of each variable: its states, their probabilities given the others, (n_rows, arity), and
    which features hold in each state, (n_rows, n_features)."""
    values = data.schema.values(data.rows)
    for v, arity in enumerate(data.schema.arity.tolist()):
        holds = []
        for state in range(arity):
            moved = values.copy()
            moved[:, v] = state
            holds.append(features.satisfied(data.schema.rows(moved)))
        potential = np.stack([held @ w for held in holds], axis=1)
        share = np.exp(potential - potential.max(axis=1, keepdims=True))
        yield values[:, v], share / share.sum(axis=1, keepdims=True), holds


def loss_and_gradient(features, w, data):
    """Minus the log-pseudo-likelihood of all examples, and its derivatives by the weights."""
    loss, gradient = 0.0, np.zeros(len(w))
    for own, share, holds in conditionals(features, w, data):
        loss -= data.weight @ np.log(share[np.arange(len(own)), own])
        for state, held in enumerate(holds):
            gradient += (data.weight * (share[:, state] - (own == state))) @ held
    return loss, gradient


def loss_of(features, w, data):
    return loss_and_gradient(features, w, data)[0]


class BeliefPropagation:
    """Sum-product messages from the table of each feature's values; all are log-odds of 1."""

    def __init__(self, network):
        self.beliefs = np.zeros(network.n_vars)
        self.factors = []
        for f, w in enumerate(network.weight):
            variables, asked = np.array(network.features.literals(f)).T
            states = all_states(len(variables))
            table = np.where((states == asked).all(axis=1), np.exp(w), 1.0)
            self.factors.append((variables, states, table, np.zeros(len(variables))))

    def iterate(self, damping):
        """Renew all messages from the beliefs before; return the largest change of a belief."""
        before = self.beliefs.copy()
        for variables, states, table, messages in self.factors:
            cavity = before[variables] - messages
            own = 1 / (1 + np.exp(np.where(states, -cavity, cavity)))
            others = (table * own.prod(axis=1))[:, None] / own
            new = np.log((others * states).sum(axis=0)) - np.log(
                (others * (1 - states)).sum(axis=0)
            )
            change = (1 - damping) * (new - messages)
            messages += change
            self.beliefs[variables] += change
        return np.abs(self.beliefs - before).max()

    def log_partition(self):
        """Return the Bethe estimate: mean log-potential plus entropies (Yedidia et al. 2005)."""
        p = 1 / (1 + np.exp(-self.beliefs))
        entropy = -(p * np.log(p) + (1 - p) * np.log(1 - p))
        total = entropy.sum()
        for variables, states, table, messages in self.factors:
            cavity = self.beliefs[variables] - messages
            joint = table * np.exp(states @ cavity)
            joint /= joint.sum()
            total += joint @ (np.log(table) - np.log(joint)) - entropy[variables].sum()
        return total
