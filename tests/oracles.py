"""Slow, obvious versions of what the package computes: enumeration of all states."""

import itertools

import numpy as np


def all_states(n_vars):
    """All 2^n states, uint8, in counting order (variable 0 changes slowest)."""
    return np.array(list(itertools.product((0, 1), repeat=n_vars)), np.uint8)


def holds(literals, x):
    return all(x[v] == value for v, value in literals)


def log_potential(network, x):
    return sum(w for f, w in enumerate(network.weight) if holds(network.features.literals(f), x))


def potentials(network):
    """The log-potentials of all states, less that of the first."""
    value = np.array([log_potential(network, x) for x in all_states(network.n_vars)])
    return value - value[0]


def joint(network):
    """Probability of every state of a Markov network, in the order of `all_states`."""
    energy = np.array([log_potential(network, x) for x in all_states(network.n_vars)])
    p = np.exp(energy - energy.max())
    return p / p.sum()


def flipped(x, v):
    y = x.copy()
    y[v] = 1 - y[v]
    return y


def tree_log_prob(trees, v, x):
    node = trees.start[v]
    while trees.split_var[node] >= 0:
        node = trees.child[node, x[trees.split_var[node]]]
    return trees.log_prob[node]


def log_odds(model, x, v):
    """Log-odds of variable v given the rest of x, from the definition of either model."""
    one, zero = x.copy(), x.copy()
    one[v], zero[v] = 1, 0
    if hasattr(model, "trees"):
        log_prob = tree_log_prob(model.trees, v, x)
        total = log_prob[1] - log_prob[0]
        for f, w in enumerate(model.weight):
            if model.target[f] == v:
                literals = model.features.literals(f)
                if holds(literals, one):
                    total += w
                if holds(literals, zero):
                    total -= w
        return total
    return log_potential(model, one) - log_potential(model, zero)


def log_odds_matrix(model, rows):
    return np.array([[log_odds(model, x, v) for v in range(len(x))] for x in rows])


def pll(model, rows):
    """Log-pseudo-likelihood of each row."""
    odds = log_odds_matrix(model, rows)
    return -np.logaddexp(0, -np.where(rows, odds, -odds)).sum(axis=1)


def conditional_marginals(network, x, query):
    """P(query variable = 1 | the other values of x) by summing the joint distribution."""
    states = all_states(network.n_vars)
    known = [v for v in range(network.n_vars) if v not in set(query)]
    p = joint(network) * (states[:, known] == x[known]).all(axis=1)
    return (p[:, None] * states[:, query]).sum(axis=0) / p.sum()


def gibbs_stationary(model, x, query, n_sweeps=20000):
    """Marginals of the distribution that ordered Gibbs sweeps over `query` converge to."""
    states = [np.array(s, np.uint8) for s in itertools.product((0, 1), repeat=len(query))]
    p = np.full(len(states), 1 / len(states))
    index = {tuple(s): i for i, s in enumerate(states)}
    for _ in range(n_sweeps):
        before = p.copy()
        for k, v in enumerate(query):
            new = np.zeros_like(p)
            for i, s in enumerate(states):
                full = x.copy()
                full[list(query)] = s
                q = 1 / (1 + np.exp(-log_odds(model, full, v)))
                for value in (0, 1):
                    t = s.copy()
                    t[k] = value
                    new[index[tuple(t)]] += p[i] * (q if value else 1 - q)
            p = new
        if np.abs(p - before).max() < 1e-14:
            break
    return sum(pi * s for pi, s in zip(p, states, strict=True))


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
