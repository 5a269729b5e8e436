"""Approximate conditional marginals by loopy belief propagation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.terms import Terms, query_of
from mnlearn.kernels.sampling.belief_propagation import propagate_beliefs
from mnlearn.runtime.errors import InputError

MAX_ITERATIONS = 100
# Share of the old message that an update keeps, against oscillation in loops.
DAMPING = 0.5
# Propagation has converged when no marginal changes by more than this.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Approximate marginals of query variables given evidence.

    Attributes
    ----------
    query : ndarray of int64, shape (n_query,)
        Variables, ascending.
    log_odds : ndarray of float64, shape (n_query,)
        Log-odds of the value 1, in nats.
    converged : bool
        Whether the marginals changed by at most TOLERANCE in the last iteration.
    """

    query: NDArray[np.int64]
    log_odds: NDArray[np.float64]
    converged: bool


def infer_beliefs(terms: Terms, row: NDArray[np.uint8], query: NDArray[np.int64]) -> Beliefs:
    """Return the beliefs of `query` given the values of all other variables in a row.

    Parameters
    ----------
    terms : Terms
        The terms of a Markov network.
    row : ndarray of uint8, shape (n_vars,)
        Values; those of query variables are not read.
    query : ndarray of int64, shape (n_query,)
        Variables.

    Raises
    ------
    InputError
        The terms are those of a dependency network, which has no factors.

    Notes
    -----
    The algorithm makes sequential sum-product updates with damping 0.5, at most 100 iterations. The
    marginals are exact where the features, restricted to query variables, form a tree.
    """
    asked = query_of(terms, query)
    if asked.owned:
        raise InputError("belief propagation: expected a Markov network.")
    evidence = np.ascontiguousarray(row[asked.evidence])
    start = asked.terms.query_start
    n_terms = len(start) - 1
    longest = int(np.diff(start).max()) if n_terms else 1
    log_odds = np.zeros(len(asked.query))
    n_iterations = propagate_beliefs(
        asked.terms, evidence, MAX_ITERATIONS, DAMPING, TOLERANCE,
        np.empty(n_terms, np.int64), np.empty(int(start[-1])), np.empty((3, longest)), log_odds,
    )  # fmt: skip
    return Beliefs(asked.query, log_odds, n_iterations > 0)
