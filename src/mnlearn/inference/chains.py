"""Estimates of conditional marginals that say how far they may be off, and where not to be trusted.

`inference.marginals` has the samplers of the papers' protocols: one chain of a given length.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.convergence import MOST_R_HAT, Estimates, bounded_error, diagnose
from mnlearn.inference.factor_graphs import has_graph
from mnlearn.inference.marginals import sample_by_gibbs
from mnlearn.inference.mcsat import sample_by_slices
from mnlearn.inference.sampling import rows_of_states
from mnlearn.inference.settings import Inference
from mnlearn.inference.state_columns import arity_of, state_probabilities
from mnlearn.inference.tables.factors import Factors
from mnlearn.inference.tempering import WORK, sample_tempered
from mnlearn.inference.terms import HARD_WEIGHT, Query, Terms, query_of
from mnlearn.inference.weighting import is_directed, weigh_likelihood
from mnlearn.variables.schema import NO_STATE

# Chains without temperatures; half of them or so begin in each of two modes.
_MANY = 16
# Effective sample size of the estimate by which they are checked, and the errors by which both may
# be apart.
_CHECKED, _APART = 400, 2.5
# Numbers in the draws that are kept at a time.
_ROOM = 1 << 25


def estimate(
    form: Factors | Terms,
    values: NDArray[np.uint8],
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
    work: int = WORK,
    asked: NDArray[np.bool_] | None = None,
) -> Estimates:
    """Return the marginals of variables given each row of evidence, with their errors.

    A Bayesian network is sampled by likelihood weighting, and rows in which that has not converged
    by `tempering.sample_tempered`, as Markov networks are. Dependency networks, and all terms by
    MC-SAT, are sampled by 16 chains without temperatures. Those of MC-SAT are compared with a short
    run of the ladder.

    values : uint8, (n_rows, n_vars). Numbers of states, NO_STATE where a variable is not known.
    seed : what a row draws depends on this 64-bit seed and on its evidence. work : draws of a
    variable in each row at most, but for the last round. asked : bool, (n_vars,). The variables
    whose answers are to converge; those of others may be left out. Default: all.
    """
    asked = np.ones(values.shape[1], bool) if asked is None else asked
    how: Any = {"seed": seed, "threads": threads}
    tempered = inference.method == "gibbs" and has_graph(form)
    if isinstance(form, Terms) and not tempered:
        found = _sample_terms(form, values, inference, asked, work=work, **how)
        if has_graph(form):
            # All chains may stay in the same mode; a ladder of temperatures does not.
            other = sample_tempered(form, values, _CHECKED, work=work, asked=asked, **how)
            error = np.hypot(found.monte_carlo_error, other.monte_carlo_error)
            apart = np.abs(found.probability - other.probability) > _APART * error
            found.converged[apart | ~other.converged] = False
        return found
    if isinstance(form, Terms) or not is_directed(form):
        return sample_tempered(form, values, inference.samples, work=work, asked=asked, **how)
    found = weigh_likelihood(form, values, inference.samples, work=work // 4, **how)
    left = np.flatnonzero(~found.converged.all(axis=1))
    if len(left):
        chains: Any = {"work": work, "asked": asked, **how}
        more = sample_tempered(form, values[left], inference.samples, **chains)
        for own, more_of in zip(found.arrays, more.arrays, strict=True):
            own[left] = more_of
    return replace(found, n_tempered=len(left))


def _sample_terms(
    terms: Terms,
    values: NDArray[np.uint8],
    inference: Inference,
    judged: NDArray[np.bool_],
    *,
    seed: int,
    threads: int,
    work: int,
) -> Estimates:
    """Return what `estimate` does by chains that start from independent states."""
    start = terms.indicators.start
    arity = arity_of(start)
    found = Estimates(*(np.zeros((len(values), arity.sum()), t) for t in (float, float, bool)))
    evidence = terms.indicators.extend(rows_of_states(values, start))
    patterns, pattern_of = np.unique(values == NO_STATE, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        asked = query_of(terms, np.flatnonzero(pattern))
        columns = np.flatnonzero(np.repeat(pattern, arity))
        of_states = np.repeat(judged[asked.query], arity[asked.query])
        members = np.flatnonzero(pattern_of.ravel() == k)
        distinct, row_of = np.unique(
            evidence[np.ix_(members, asked.evidence)], axis=0, return_inverse=True
        )
        several = max(_ROOM // (_MANY * inference.samples * len(columns)), 1)
        parts = [
            _run_chains(asked, distinct[i : i + several], inference, of_states, seed, threads, work)
            for i in range(0, len(distinct), several)
        ]
        for own, part in zip(found.arrays, zip(*parts, strict=True), strict=True):
            own[np.ix_(members, columns)] = np.concatenate(part)[row_of.ravel()]
    return found.given(values, arity)


def _run_chains(
    asked: Query,
    evidence: NDArray[np.uint8],
    inference: Inference,
    judged: NDArray[np.bool_],
    seed: int,
    threads: int,
    work: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return probabilities and errors of judged states, and which have converged."""
    n_batches = max(2 * inference.samples // _MANY, 16)
    n_states = int(arity_of(asked.start).sum())
    p, error = np.zeros((2, len(evidence), n_states))
    converged = np.tile(~judged, (len(evidence), 1))
    sample = sample_by_gibbs if inference.method == "gibbs" else sample_by_slices
    is_hard = bool((np.abs(asked.terms.weight) >= HARD_WEIGHT).any())
    left, length = np.arange(len(evidence)), max(n_batches, inference.burn_in)
    while len(left):
        plan = replace(inference, burn_in=length, samples=length)
        own: Any = {"n_batches": n_batches, "threads": threads}
        seeds = [(seed + c) % 2**64 for c in range(_MANY)]
        draws = np.stack([sample(asked, evidence[left], plan, seed=s, **own) for s in seeds])
        by_state: Any = state_probabilities(draws, asked.start)
        for k, row in enumerate(left):
            found, of_row = diagnose(by_state[:, k][:, :, judged]), (row, judged)
            # Conditional distributions with zeros can hold all chains at one state.
            stuck = is_hard & ((found.mean == 0.0) | (found.mean == 1.0))
            p[of_row], error[of_row] = found.mean, bounded_error(found.standard_error, found.ess)
            agree = (found.r_hat < MOST_R_HAT) & (found.ess >= inference.samples)
            converged[of_row] = agree & ~stuck
        left = left[~converged[left].all(axis=1)]
        length *= 2
        if _MANY * 2 * length * len(asked.query) > work:
            break
    return p, error, converged
