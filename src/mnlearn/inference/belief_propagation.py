"""Conditional marginals by loopy belief propagation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.terms import Terms, query_of
from mnlearn.kernels.sampling.belief_propagation import propagate_beliefs
from mnlearn.runtime.errors import InputError

MAX_ITERATIONS = 100
# The share of the old message that stays, against oscillation in loops.
DAMPING = 0.5
# Largest change of a marginal in the last iteration.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Approximate marginals of query variables given evidence.

    query : int64, (n_query,), variables. log_odds : float64, (n_query,), of the value 1.
    converged : whether the beliefs stopped changing.
    """

    query: NDArray[np.int64]
    log_odds: NDArray[np.float64]
    converged: bool


def beliefs(terms: Terms, row: NDArray[np.uint8], query: NDArray[np.int64]) -> Beliefs:
    """Return the beliefs of `query` given the values of all other variables in a row.

    Parameters
    ----------
    terms : Terms
        Those of a Markov network.
    row : uint8, shape (n_vars,)
        Columns of query variables are not read.
    query : int64, shape (n_query,)
        Variables.

    Raises
    ------
    InputError
        The terms are those of a dependency network, which has no factors.

    Notes
    -----
    Sequential sum-product updates with damping 0.5, at most 100 iterations. The marginals are exact
    where the features, restricted to query variables, form a tree.
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
