"""Conditional marginals and likelihoods of query variables given evidence rows."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.inference.mcsat import sample_by_slices
from mnlearn.inference.settings import ITERATIVE, Inference
from mnlearn.inference.terms import Query, Terms, query_of
from mnlearn.inference.variational import Approximation, fit_independent, propagate
from mnlearn.kernels.sampling.enumeration import enumerate_log_likelihood, enumerate_marginals
from mnlearn.kernels.sampling.gibbs import GibbsPlan, sample_marginals
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import LOGGER
from mnlearn.runtime.threads import map_ranges

N_BATCHES = 20
MAX_ENUMERATED = 20
# They choose the fastest way of sampling; see `kernels.sampling.gibbs.GibbsPlan`.
TABLE_SHARE = 0.5
SCAN_LIMIT = 64
_STATIONARY_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Marginals:
    """Probabilities of the values of query variables for each distinct evidence.

    Attributes
    ----------
    query : ndarray of int64, shape (n_query,)
        Variables, ascending.
    probability, complement : ndarray of float64, shape (n_distinct, n_query)
        P(query variable = 1 | evidence), and P(query variable = 0 | evidence), which has digits
        where 1 minus the other has none.
    row_of : ndarray of int64, shape (n_rows,)
        Which distinct evidence each row has.
    batches : ndarray of float32, shape (n_distinct, n_batches, n_query), or None
        Estimates from consecutive parts of the chain; None without a chain.
    approximation : Approximation, or None
        Log-odds and convergence of belief propagation and mean field.
    """

    query: NDArray[np.int64]
    probability: NDArray[np.float64]
    complement: NDArray[np.float64]
    row_of: NDArray[np.int64]
    batches: NDArray[np.float32] | None
    approximation: Approximation | None = None


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
        The method and its settings.
    seed : int
        The chain of a row depends on this 64-bit seed and on the evidence of the row only.
    threads : int
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        More than 20 query variables with exact inference, or a method for Markov networks only.

    Notes
    -----
    Estimates by sampling are Rao-Blackwellised, with half a count for each value, which the paper
    lacks. For CPDs, "exact" gives the distribution to which ordered Gibbs sampling converges.

    References
    ----------
    Lowd, "Closed-form learning of Markov networks from dependency networks", UAI 2012, Section 6.2.
    """
    asked = query_of(terms, query)
    first, row_of = _distinct(rows[:, asked.evidence])
    evidence = np.ascontiguousarray(rows[np.ix_(first, asked.evidence)])
    if inference.method == "exact":
        zero, one = _enumerate(asked, evidence, threads)
        return Marginals(asked.query, one, zero, row_of, None)
    if inference.method in ITERATIVE:
        approximate = propagate if inference.method == "bp" else fit_independent
        found = approximate(asked, evidence, inference, threads=threads)
        _tell_unconverged(found, inference)
        one, zero = scipy.special.expit(found.log_odds), scipy.special.expit(-found.log_odds)
        return Marginals(asked.query, one, zero, row_of, None, found)
    n_batches = min(N_BATCHES, inference.samples)
    sample = _sample_gibbs if inference.method == "gibbs" else sample_by_slices
    batches = sample(asked, evidence, inference, n_batches=n_batches, seed=seed, threads=threads)
    sweeps = np.full(n_batches, inference.samples // n_batches)
    sweeps[: inference.samples % n_batches] += 1
    total = np.einsum("ebq,b->eq", batches, sweeps, dtype=np.float64)
    probability = (total + 0.5) / (inference.samples + 1)
    return Marginals(asked.query, probability, 1.0 - probability, row_of, batches)


def _distinct(evidence: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a row of each distinct evidence, and which distinct evidence each row has."""
    keys = np.packbits(evidence, axis=1)
    if keys.shape[1] == 0:
        return np.zeros(1, np.int64), np.zeros(len(evidence), np.int64)
    view = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
    _, first, row_of = np.unique(view, return_index=True, return_inverse=True)
    return first, row_of


def _tell_unconverged(found: Approximation, inference: Inference) -> None:
    n = len(found.converged)
    n_open = n - int(found.converged.sum())
    if n_open:
        LOGGER.warning(
            "inference %s: %d of %d queries did not converge in %d iterations.",
            inference.method, n_open, n, inference.iterations,
        )  # fmt: skip


def _sample_gibbs(
    asked: Query,
    evidence: NDArray[np.uint8],
    inference: Inference,
    *,
    n_batches: int,
    seed: int,
    threads: int,
) -> NDArray[np.float32]:
    out = np.empty((len(evidence), n_batches, len(asked.query)), np.float32)
    base = np.zeros(len(asked.query))
    plan = GibbsPlan(inference.burn_in, inference.samples, n_batches, TABLE_SHARE, SCAN_LIMIT)

    def sample(first: int, last: int) -> None:
        sample_marginals(asked.terms, evidence, base, np.uint64(seed), plan, first, last, out)

    map_ranges(sample, len(evidence), threads)
    return out


def _enumerate(asked: Query, evidence: NDArray[np.uint8], threads: int) -> NDArray[np.float64]:
    """Return P(query variable = x | evidence), shape (2, n_evidence, n_query), by x."""
    n_query = len(asked.query)
    if n_query > MAX_ENUMERATED:
        raise InputError(
            f"inference exact: {n_query} query variables are too many to enumerate "
            f"(at most {MAX_ENUMERATED}); use --inference gibbs."
        )
    out = np.empty((2, len(evidence), n_query))
    base = np.zeros(n_query)

    def enumerate_range(first: int, last: int) -> None:
        enumerate_marginals(
            asked.terms, evidence, base, n_query, asked.owned, _STATIONARY_TOLERANCE,
            first, last, out,
        )  # fmt: skip

    map_ranges(enumerate_range, len(evidence), threads)
    return out


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
