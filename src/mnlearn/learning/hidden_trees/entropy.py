"""Entropy of a hidden tree, and the tables that are best for expected counts and entropy."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.hidden_tree import NO_PARENT, HiddenTree

Array = NDArray[np.float64]
# Newton's method on a convex function: it ends at the first step below this, or after so many.
_STEP, _STEPS = 1e-10, 60


def entropies_below(tree: HiddenTree) -> Array:
    """Return the entropy, in nats, of X_v and of all variables below Z_v given Z_v = j, at [v, j].

    Hidden and observed variables count.
    """
    out = _entropy_of_shares(np.stack([1.0 - tree.emission, tree.emission], axis=2))
    for v in reversed(tree.order):
        for c in tree.children[v]:
            out[v] += _entropy_of_shares(tree.transition[c]) + tree.transition[c] @ out[c]
    return out


def entropy(tree: HiddenTree) -> float:
    """Return the entropy of all hidden and observed variables together, in nats."""
    prior = tree.transition[tree.root, 0]
    return float(_entropy_of_shares(prior[None])[0] + prior @ entropies_below(tree)[tree.root])


def state_probabilities(tree: HiddenTree) -> Array:
    """Return P(Z_v = j) at [v, j]."""
    out = np.empty_like(tree.emission)
    for v in tree.order:
        above = int(tree.parent[v])
        given = tree.transition[v]
        out[v] = given[0] if above == NO_PARENT else out[above] @ given
    return out


def best_rows(counts: Array, price: Array, below: Array) -> Array:
    """Return the distributions t that maximise counts, entropy, and what they lead to.

    Each row maximises sum of counts log t + price (-sum of t log t + sum of t below), which is
    concave.

    Parameters
    ----------
    counts : ndarray of float64, shape (n_rows, n_values)
        From 0.
    price : ndarray of float64, shape (n_rows,)
        Above 0.
    below : ndarray of float64, shape (n_values,)
        The entropy that each value leads to.

    Notes
    -----
    With d = counts / price, a stationary point has d / t - log t = y - below for one number y. So
    log t = omega(log d + y - below) - (y - below) with the Wright omega function, the solution of
    omega + log omega = its argument. The log of the sum of t is convex and falls with y, so that
    Newton's method from the left rises to the y at which it is 0.
    """
    from scipy.special import wrightomega

    d = counts / price[:, None]
    total = d.sum(axis=1, keepdims=True)
    uniform = 1.0 / d.shape[1]
    # Any distribution: at its least y, no t is below its share.
    start = np.where(total > 0, 0.5 * d / np.maximum(total, 1e-300), 0.0)
    start = (start + 0.5 * uniform) / (start + 0.5 * uniform).sum(axis=1, keepdims=True)
    y = (d / start - np.log(start) + below).min(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_d = np.log(d)
    for _ in range(_STEPS):
        u = y - below
        omega = wrightomega(log_d + u)
        log_t = omega - u
        top = log_t.max(axis=1, keepdims=True)
        t = np.exp(log_t - top)
        sums = t.sum(axis=1, keepdims=True)
        slope = (t / (1.0 + omega)).sum(axis=1, keepdims=True) / sums
        step = (top + np.log(sums)) / slope
        y = y + step
        if np.abs(step).max() < _STEP * (1.0 + np.abs(y).max()):
            break
    return np.asarray(t / sums)


def _entropy_of_shares(shares: Array) -> Array:
    """Return the entropy of distributions along the last axis, in nats."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=-1))
