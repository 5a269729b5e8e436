"""Exact conditional likelihoods by enumeration of the states of the query variables."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.marginals import MAX_ENUMERATED
from mnlearn.inference.terms import Terms, query_of
from mnlearn.kernels.sampling.enumeration import enumerate_log_likelihood
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges


def conditional_log_likelihood(
    terms: Terms, rows: NDArray[np.uint8], query: NDArray[np.int64], threads: int = 1
) -> NDArray[np.float64]:
    """Return log P(x_query | other values) of each row.

    Parameters
    ----------
    terms : Terms
        The terms of a Markov network.
    rows : ndarray of uint8, shape (n_rows, n_vars)
        Rows with equal evidence share one enumeration.
    query : ndarray of int64, shape (n_query,)
        Variables, at most 20.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        In nats.

    Raises
    ------
    InputError
        There are more than 20 query variables.
    """
    asked = query_of(terms, query)
    n_query = len(asked.query)
    if n_query > MAX_ENUMERATED:
        raise InputError(
            f"exact likelihood: {n_query} query variables are too many to enumerate "
            f"(at most {MAX_ENUMERATED})."
        )
    evidence = rows[:, asked.evidence]
    distinct, row_of = np.unique(evidence, axis=0, return_inverse=True)
    row_of = row_of.ravel()
    order = np.argsort(row_of, kind="stable")
    start = np.searchsorted(row_of[order], np.arange(len(distinct) + 1))
    state = rows[:, asked.query].astype(np.int64) @ (1 << np.arange(n_query))
    out = np.empty(len(rows))

    def enumerate_range(first: int, last: int) -> None:
        enumerate_log_likelihood(
            asked.terms, distinct, n_query, start, order, state, first, last, out
        )

    map_ranges(enumerate_range, len(distinct), threads)
    return out
