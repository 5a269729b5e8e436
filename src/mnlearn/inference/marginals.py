"""Conditional marginals and likelihoods of query variables given evidence rows."""

import itertools
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.inference.mcsat import sample_by_slices
from mnlearn.inference.settings import ITERATIVE, Inference
from mnlearn.inference.state_columns import (
    arity_of,
    log2_joint_states,
    log_state_probabilities,
    of_values,
    state_probabilities,
)
from mnlearn.inference.terms import Query, Terms, query_of
from mnlearn.inference.variational import Approximation, approximate
from mnlearn.kernels.sampling.blocks import sample_block_marginals
from mnlearn.kernels.sampling.enumeration import enumerate_log_likelihood, enumerate_marginals
from mnlearn.kernels.sampling.gibbs import sample_marginals
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import LOGGER
from mnlearn.runtime.threads import map_ranges

N_BATCHES = 20
# As many joint states are enumerated at most, as a logarithm to base 2.
MAX_ENUMERATED = 20
# The states of so many binary variables are one word, which is sampled faster.
SCAN_LIMIT = 64
_STATIONARY_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Marginals:
    """Probabilities of the states of query variables for each distinct evidence.

    query : int64, (n_query,). Variables, ascending. start : int64, (n_query + 1,), and columns :
    int64. Query variable q has columns[start[q]:start[q + 1]]. probability, complement : float64,
    (n_distinct, n_columns). P(query column = 1 | evidence), and P(query column = 0 | evidence),
    which has digits where 1 minus the other has none. row_of : int64, (n_rows,). Which distinct
    evidence each row has. batches : float32, (n_distinct, n_batches, n_columns), or None. Estimates
    from consecutive parts of the chain; None without a chain. approximation : log-odds and
    convergence of belief propagation and mean field.
    """

    query: NDArray[np.int64]
    start: NDArray[np.int64]
    columns: NDArray[np.int64]
    probability: NDArray[np.float64]
    complement: NDArray[np.float64]
    row_of: NDArray[np.int64]
    batches: NDArray[np.float32] | None
    approximation: Approximation | None = None

    def log_own(self, values: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-probability of the state of each query variable in each row.

        values : uint8, shape (n_rows, n_query), numbers of states.
        """
        start = self.start
        if self.approximation is not None:
            # From the log-odds: 1 minus a probability could be 0.
            by_state = log_state_probabilities(self.approximation.log_odds, start)
            return of_values(by_state[self.row_of], values, start, otherwise=-np.inf)
        by_state = state_probabilities(self.probability, start, self.complement)
        with np.errstate(divide="ignore"):
            return np.log(of_values(by_state[self.row_of], values, start, otherwise=0.0))


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

    rows : uint8, (n_rows, n_columns). Values; those of query variables are not read. Equal evidence
    is computed once. seed : the chain of a row depends on this 64-bit seed and on the evidence of
    the row only.

    Estimates by sampling are Rao-Blackwellised, with half a count for each state, which the paper
    lacks. For CPDs, "exact" gives the distribution to which ordered Gibbs sampling converges.

    See Lowd, "Closed-form learning of Markov networks from dependency networks", UAI 2012, Section
    6.2.
    """
    asked = query_of(terms, query)
    evidence = terms.indicators.extend(rows)[:, asked.evidence]
    first, row_of = _distinct(evidence)
    evidence = np.ascontiguousarray(evidence[first])
    of_query = (asked.query, asked.start, asked.columns)
    if inference.method == "exact":
        zero, one = _enumerate(asked, evidence, threads)
        return Marginals(*of_query, one, zero, row_of, None)
    if inference.method in ITERATIVE:
        found = approximate(terms, asked, rows[first], evidence, inference, threads)
        _tell_unconverged(found, inference)
        zero, one = probabilities_of_columns(found.log_odds, asked.start)
        return Marginals(*of_query, one, zero, row_of, None, found)
    n_batches = min(N_BATCHES, inference.samples)
    sample = sample_by_gibbs if inference.method == "gibbs" else sample_by_slices
    batches = sample(asked, evidence, inference, n_batches=n_batches, seed=seed, threads=threads)
    probability = _smoothed_means(batches, inference.samples, asked.start)
    return Marginals(*of_query, probability, 1.0 - probability, row_of, batches)


def _batch_lengths(n_samples: int, n_batches: int) -> NDArray[np.int64]:
    """Return the number of sweeps of each batch; the first have one more if there is a rest."""
    return n_samples // n_batches + (np.arange(n_batches) < n_samples % n_batches)


def _smoothed_means(
    batches: NDArray[np.float32], n_samples: int, start: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the means over all samples, with half a count for each state."""
    sweeps = _batch_lengths(n_samples, batches.shape[1])
    total = np.einsum("ebq,b->eq", batches, sweeps, dtype=np.float64)
    n_states = np.repeat(arity_of(start), np.diff(start))
    return np.asarray((total + 0.5) / (n_samples + 0.5 * n_states))


def probabilities_of_columns(
    scores: NDArray[np.float64], start: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities that columns are 0, and 1, from log-odds and scores.

    scores : float64, shape (n_rows, n_columns). start : columns of the variables.
    """
    odds = scores.copy()
    for first, last in itertools.pairwise(start.tolist()):
        for c in range(first, last) if last - first > 1 else ():
            others = [k for k in range(first, last) if k != c]
            odds[:, c] -= scipy.special.logsumexp(scores[:, others], axis=1)
    return scipy.special.expit(-odds), scipy.special.expit(odds)


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


def sample_by_gibbs(
    asked: Query,
    evidence: NDArray[np.uint8],
    inference: Inference,
    *,
    n_batches: int,
    seed: int,
    threads: int,
) -> NDArray[np.float32]:
    """Return P(query column = 1 | evidence) as `mcsat.sample_by_slices` does, by Gibbs sampling."""
    out = np.empty((len(evidence), n_batches, len(asked.columns)), np.float32)
    ends = np.cumsum(_batch_lengths(inference.samples, n_batches))
    how = (np.uint64(seed), inference.burn_in, ends)

    def sample(first: int, last: int) -> None:
        if asked.is_binary and len(asked.columns) <= SCAN_LIMIT:
            sample_marginals(asked.terms, evidence, *how, first, last, out)
        else:
            sample_block_marginals(asked.terms, evidence, asked.blocks, *how, first, last, out)

    map_ranges(sample, len(evidence), threads)
    return out


def _enumerate(asked: Query, evidence: NDArray[np.uint8], threads: int) -> NDArray[np.float64]:
    """Return P(query column = x | evidence), shape (2, n_evidence, n_columns), by x."""
    _refuse_many_states(asked, "inference exact", "; the method gibbs estimates them")
    out = np.empty((2, len(evidence), len(asked.columns)))
    how = (asked.blocks, asked.owned, _STATIONARY_TOLERANCE)

    def enumerate_range(first: int, last: int) -> None:
        enumerate_marginals(asked.terms, evidence, *how, first, last, out)

    map_ranges(enumerate_range, len(evidence), threads)
    return out


def _refuse_many_states(asked: Query, what: str, remedy: str = "") -> None:
    if log2_joint_states(asked.start) > MAX_ENUMERATED:
        most = f"{MAX_ENUMERATED}" if asked.is_binary else f"2^{MAX_ENUMERATED} joint states"
        raise InputError(
            f"{what}: {len(asked.query)} query variables are too many to enumerate "
            f"(at most {most}){remedy}."
        )


def conditional_log_likelihood(
    terms: Terms, rows: NDArray[np.uint8], query: NDArray[np.int64], threads: int = 1
) -> NDArray[np.float64]:
    """Return log P(x_query | other values) of each row.

    rows : uint8, (n_rows, n_columns). Rows with equal evidence share one enumeration.
    """
    asked = query_of(terms, query)
    _refuse_many_states(asked, "exact likelihood")
    evidence = terms.indicators.extend(rows)[:, asked.evidence]
    distinct, row_of = np.unique(evidence, axis=0, return_inverse=True)
    row_of = row_of.ravel()
    order = np.argsort(row_of, kind="stable")
    start = np.searchsorted(row_of[order], np.arange(len(distinct) + 1))
    state = _numbers_of_states(rows[:, asked.columns], asked.blocks.start)
    out = np.empty(len(rows))
    how = (asked.blocks, start, order, state)

    def enumerate_range(first: int, last: int) -> None:
        enumerate_log_likelihood(asked.terms, distinct, *how, first, last, out)

    map_ranges(enumerate_range, len(distinct), threads)
    return out


def _numbers_of_states(rows: NDArray[np.uint8], start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the joint state of each row, the first variable the fastest.

    rows : uint8, shape (n_rows, n_columns). start : columns of the variables. The number is -1
    where a row gives a variable no state, or several.
    """
    out, stride = np.zeros(len(rows), np.int64), 1
    known = np.ones(len(rows), bool)
    for first, last in itertools.pairwise(start.tolist()):
        own = rows[:, first:last]
        if last - first > 1:
            known &= own.sum(axis=1) == 1
        out += stride * (own.argmax(axis=1) if last - first > 1 else own[:, 0].astype(np.int64))
        stride *= max(last - first, 2)
    return np.where(known, out, -1)
