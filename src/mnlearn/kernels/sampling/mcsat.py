"""MC-SAT: slice sampling of a log-linear model, one uniform draw of a satisfying state at a time.

A conjunction of positive weight that holds must go on to hold with probability 1 - exp(-w). One of
negative weight that does not hold must go on not to hold with probability 1 - exp(-|w|): that is a
clause. The next state is drawn among the states that meet these constraints.
"""

from typing import NamedTuple

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.blocks import draw_satisfying, room_for_blocks
from mnlearn.kernels.sampling.chains import draw_first_state, store_means
from mnlearn.kernels.sampling.conditioning import BATCH, condition, holding_terms, room_for
from mnlearn.kernels.sampling.flips import index_terms, make_sweeps


class SlicePlan(NamedTuple):
    """How long chains are, and how they are run.

    burn_in, n_samples : int, samples that are not counted, and samples that are.
    start_sweeps : int, Gibbs sweeps from a random state to the first state.
    block_size : int, at most LARGEST_BLOCK; so many variables are drawn together.
    """

    burn_in: int
    n_samples: int
    start_sweeps: int
    block_size: int


@kernel
def sample_slices(terms, evidence, seed, plan, first, last, out):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    A counted sample adds the probability from which a value is drawn, not the value.

    terms : QueryTerms, all symmetric. evidence : uint8, (n_evidence, n_evidence_vars).
    seed : uint64. plan : SlicePlan.
    out : float32, (n_evidence, n_batches, n_query), written: the mean over each of n_batches runs
        of consecutive samples; the first n_samples % n_batches runs have one sample more.
    """
    n_query = out.shape[2]
    left = room_for(terms)
    log_odds = np.empty(n_query + 1)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds[:n_query], left)
        single = log_odds[:n_query].copy()
        stream = chain_seed(seed, evidence[i])
        x, stream = _first_state(log_odds, left, n_left, stream, plan.start_sweeps)
        _run_chain(single, left, n_left, x, stream, plan, out[i])


@kernel
def _run_chain(single, left, n_left, x, stream, plan, out):
    """Run a chain from state `x`; write the means of its batches to `out`, (n_batches, n_query)."""
    n_batches, n_query = out.shape
    keep = (-np.expm1(-np.abs(single)), -np.expm1(-np.abs(left.weight[:n_left])))
    kept = np.empty(n_left, np.int64)
    fixed = np.empty(n_query, np.bool_)
    total = np.empty(n_query)
    room = room_for_blocks(n_query, left.start[n_left], plan.block_size)
    size, longer = plan.n_samples // n_batches, plan.n_samples % n_batches
    for b in range(-1, n_batches):
        n_samples = plan.burn_in if b < 0 else size + (b < longer)
        total[:] = 0.0
        for _ in range(n_samples):
            n_kept, stream = _slice(single, left, keep, x, stream, fixed, kept)
            n_kept = _propagate_units(left, kept[:n_kept], x, fixed)
            stream = draw_satisfying(left, kept[:n_kept], fixed, room, stream, x, total)
        if b >= 0:
            store_means(total, n_samples, out[b])


@kernel
def _first_state(log_odds, left, n_left, stream, n_sweeps):
    """Return a state near the typical ones, by Gibbs sampling, and the stream after it.

    log_odds : float64, (n_query + 1,), those of single variables; overwritten.
    """
    n_query = len(log_odds) - 1
    # One place more than variables; see `update_terms`.
    x = np.zeros(n_query + 1, np.uint8)
    stream = draw_first_state(stream, x[:n_query])
    by_literal, violated = index_terms(left, n_left, n_query, x, log_odds)
    no_effect = np.empty((0, 0))
    stream = make_sweeps(n_sweeps, stream, x, log_odds, no_effect, left, by_literal, violated)
    return x[:n_query].copy(), stream


@kernel
def _slice(single, left, keep, x, stream, fixed, kept):
    """Draw the constraints that state `x` meets; return the number of clauses, and the stream.

    single : float64, (n_query,), weights of the value 1 of single variables.
    keep : probabilities that the constraints of single variables and of terms are kept.
    fixed : bool, (n_query,), overwritten: variables that must keep their values. kept : int64,
        (n_left,), overwritten: the terms that must go on not to hold.
    """
    start, var, value, weight = left.start, left.var, left.value, left.weight
    for v in range(len(single)):
        stream = advance(stream)
        fixed[v] = (single[v] > 0.0) == (x[v] == 1) and uniform(stream) < keep[0][v]
    n_kept = 0
    for t in range(len(kept)):
        k, end = start[t], start[t + 1]
        while k < end and x[var[k]] == value[k]:
            k += 1
        holds = k == end
        if holds != (weight[t] > 0.0):
            continue
        stream = advance(stream)
        if uniform(stream) < keep[1][t]:
            if holds:
                for k in range(start[t], end):
                    fixed[var[k]] = True
            else:
                kept[n_kept] = t
                n_kept += 1
    return n_kept, stream


@kernel
def _propagate_units(left, kept, x, fixed):
    """Fix the variables that the clauses force; return how many clauses still constrain.

    State `x` meets all clauses. A clause with one variable that is not fixed, and no other literal
    that meets it, forces the value which that variable has.
    """
    start, var, value = left.start, left.var, left.value
    n_kept = len(kept)
    changed = True
    while changed:
        changed = False
        n_open = 0
        for c in range(n_kept):
            t = kept[c]
            n_free, free, met = 0, 0, False
            for k in range(start[t], start[t + 1]):
                v = var[k]
                if not fixed[v]:
                    n_free += 1
                    free = v
                elif x[v] != value[k]:
                    met = True
                    break
            if met:
                continue
            if n_free == 1:
                fixed[free] = True
                changed = True
            else:
                kept[n_open] = t
                n_open += 1
        n_kept = n_open
    return n_kept
