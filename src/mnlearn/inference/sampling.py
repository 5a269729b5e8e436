"""Draw examples from a model; Gibbs chains of a network that go on where they were left."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference import hidden_trees
from mnlearn.inference.circuits.exact import draw
from mnlearn.inference.marginals import MAX_ENUMERATED, conditional_log_likelihood
from mnlearn.inference.terms import query_of, terms_of
from mnlearn.kernels.sampling.gibbs import advance_states
from mnlearn.kernels.trees import draw_ancestral
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.threads import map_ranges


def advance_chains(
    network: MarkovNetwork,
    states: NDArray[np.uint8],
    n_sweeps: int,
    seed: int,
    *,
    threads: int = 1,
) -> NDArray[np.uint8]:
    """Return the states of Gibbs chains after some sweeps over all variables.

    Parameters
    ----------
    network : MarkovNetwork
        The network that is sampled.
    states : ndarray of uint8, shape (n_chains, n_vars)
        Where the chains are; not changed.
    n_sweeps : int
        Sweeps of each chain.
    seed : int
        What a chain draws depends on this 64-bit seed and on its position in `states`.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of uint8, shape (n_chains, n_vars)
    """
    asked = query_of(terms_of(network), np.arange(network.n_vars))
    out = states.copy()

    def advance(first: int, last: int) -> None:
        advance_states(asked.terms, n_sweeps, np.uint64(seed), False, first, last, out)

    map_ranges(advance, len(out), threads)
    return out


def sample_rows(
    model: Model, n_rows: int, burn_in: int, seed: int, *, threads: int = 1
) -> NDArray[np.uint8]:
    """Return independent examples.

    Circuits, trees, Bayesian networks and Markov networks of up to 20 variables are sampled
    exactly. For larger Markov networks and for dependency networks each example is the end of its
    own Gibbs chain, which starts at a random state. A dependency network has no other distribution
    than that of its chain.

    Parameters
    ----------
    model : Model
        Any kind of model.
    n_rows : int
        Number of examples.
    burn_in : int
        Number of sweeps of a Gibbs chain.
    seed : int
        The result depends on it and not on the number of threads.
    threads : int
        Number of threads.

    Returns
    -------
    ndarray of uint8, shape (n_rows, n_vars)
    """
    if isinstance(model, HiddenTree):
        return hidden_trees.draw(model, n_rows, seed)
    if model.is_exact:
        return draw(model.to_circuit(), n_rows, seed, threads)
    if isinstance(model, BayesianNetwork):
        return _ancestral(model, n_rows, seed, threads)
    terms = terms_of(model)
    every = np.arange(model.n_vars)
    if isinstance(model, MarkovNetwork) and model.n_vars <= MAX_ENUMERATED:
        states = np.arange(2**model.n_vars)[:, None] >> every & 1
        log_p = conditional_log_likelihood(terms, states.astype(np.uint8), every, threads)
        p = np.exp(log_p)
        drawn = np.random.default_rng(seed).choice(len(p), n_rows, p=p / p.sum())
        return states[drawn].astype(np.uint8)
    asked = query_of(terms, every)
    out = np.empty((n_rows, model.n_vars), np.uint8)

    def run_chains(first: int, last: int) -> None:
        advance_states(asked.terms, burn_in, np.uint64(seed), True, first, last, out)

    map_ranges(run_chains, n_rows, threads)
    return out


def _ancestral(model: BayesianNetwork, n_rows: int, seed: int, threads: int) -> NDArray[np.uint8]:
    """Draw each variable given its parents, parents first."""
    trees = model.trees
    p_one = np.exp(trees.log_prob[:, 1])
    out = np.empty((n_rows, model.n_vars), np.uint8)

    def fill(first: int, last: int) -> None:
        layout = (model.order, trees.start, trees.split_var, trees.child, p_one)
        draw_ancestral(*layout, np.uint64(seed), first, last, out)

    map_ranges(fill, n_rows, threads)
    return out
