"""Conditional marginals of query variables given evidence rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query, Terms, query_of
from mnlearn.kernels.sampling.enumeration import enumerate_marginals
from mnlearn.kernels.sampling.gibbs import GibbsPlan, sample_marginals
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

N_BATCHES = 20
MAX_ENUMERATED = 20
# They choose the fastest way of sampling; see `kernels.sampling.gibbs.GibbsPlan`.
TABLE_SHARE = 0.5
SCAN_LIMIT = 64
_STATIONARY_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Marginals:
    """P(query variable = 1 | evidence) for each distinct evidence.

    Attributes
    ----------
    query : ndarray of int64, shape (n_query,)
        Variables, ascending.
    probability : ndarray of float64, shape (n_distinct, n_query)
        The marginals.
    row_of : ndarray of int64, shape (n_rows,)
        Which distinct evidence each row has.
    batches : ndarray of float32, shape (n_distinct, n_batches, n_query), or None
        Estimates from consecutive parts of the chain; None where the marginals are exact.
    """

    query: NDArray[np.int64]
    probability: NDArray[np.float64]
    row_of: NDArray[np.int64]
    batches: NDArray[np.float32] | None


def conditional_marginals(
    terms: Terms,
    rows: NDArray[np.uint8],
    query: NDArray[np.int64],
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Marginals:
    """Return the marginals of `query` given the values of all other variables in each row.

    Parameters
    ----------
    terms : Terms
        The terms of a model.
    rows : ndarray of uint8, shape (n_rows, n_vars)
        Values; those of query variables are not read. Equal evidence is computed once.
    query : ndarray of int64, shape (n_query,)
        Variables.
    inference : Inference
        Gibbs sampling or enumeration.
    seed : int
        The chain of a row depends on this 64-bit seed and on the evidence of the row only.
    threads : int
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        `inference` is exact, and there are more than 20 query variables.

    Notes
    -----
    Gibbs estimates are Rao-Blackwellised. Half a count is added for each value, so that no estimate
    is 0 or 1; the paper has no such count. For CPDs, "exact" gives the distribution to which
    ordered Gibbs sampling converges.

    References
    ----------
    Lowd, "Closed-form learning of Markov networks from dependency networks", UAI 2012, Section 6.2.
    """
    asked = query_of(terms, query)
    keys = np.packbits(rows[:, asked.evidence], axis=1)
    if keys.shape[1] == 0:
        first, row_of = np.zeros(1, np.int64), np.zeros(len(rows), np.int64)
    else:
        view = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
        _, first, row_of = np.unique(view, return_index=True, return_inverse=True)
    evidence = np.ascontiguousarray(rows[np.ix_(first, asked.evidence)])
    if inference.method == "exact":
        return Marginals(asked.query, _enumerate(asked, evidence, threads), row_of, None)
    batches = _sample(asked, evidence, inference, seed, threads=threads)
    n_batches = batches.shape[1]
    sweeps = np.full(n_batches, inference.samples // n_batches)
    sweeps[: inference.samples % n_batches] += 1
    total = np.einsum("ebq,b->eq", batches, sweeps, dtype=np.float64)
    probability = (total + 0.5) / (inference.samples + 1)
    return Marginals(asked.query, probability, row_of, batches)


def _sample(
    asked: Query, evidence: NDArray[np.uint8], inference: Inference, seed: int, *, threads: int
) -> NDArray[np.float32]:
    n_batches = min(N_BATCHES, inference.samples)
    out = np.empty((len(evidence), n_batches, len(asked.query)), np.float32)
    base = np.zeros(len(asked.query))
    plan = GibbsPlan(inference.burn_in, inference.samples, n_batches, TABLE_SHARE, SCAN_LIMIT)

    def sample(first: int, last: int) -> None:
        sample_marginals(asked.terms, evidence, base, np.uint64(seed), plan, first, last, out)

    map_ranges(sample, len(evidence), threads)
    return out


def _enumerate(asked: Query, evidence: NDArray[np.uint8], threads: int) -> NDArray[np.float64]:
    n_query = len(asked.query)
    if n_query > MAX_ENUMERATED:
        raise InputError(
            f"inference exact: {n_query} query variables are too many to enumerate "
            f"(at most {MAX_ENUMERATED}); use --inference gibbs."
        )
    out = np.empty((len(evidence), n_query))
    base = np.zeros(n_query)

    def enumerate_range(first: int, last: int) -> None:
        enumerate_marginals(
            asked.terms, evidence, base, n_query, asked.owned, _STATIONARY_TOLERANCE,
            first, last, out,
        )  # fmt: skip

    map_ranges(enumerate_range, len(evidence), threads)
    return out
