"""Gibbs chains of a Markov network that go on from the states in which they were left."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.terms import query_of, terms_of
from mnlearn.kernels.sampling.gibbs import advance_states
from mnlearn.models.markov_network import MarkovNetwork
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
