"""Rao-Blackwellised Gibbs sampling of the query variables, one chain per evidence."""

from typing import NamedTuple

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.inlining import copy_into
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.chains import Chain, draw_first_state, store_means
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    condition,
    holding_terms,
    log_odds_table,
    room_for,
    table_cost,
)
from mnlearn.kernels.sampling.effects import collapse_pairs
from mnlearn.kernels.sampling.flips import sample_by_flips
from mnlearn.kernels.sampling.scans import sample_by_scans


class GibbsPlan(NamedTuple):
    """How long chains are, and how they are run.

    burn_in, n_samples : int, sweeps that are not counted, and sweeps that are.
    n_batches : int, number of runs of consecutive sweeps with a mean of their own. The first
        n_samples % n_batches runs have one sweep more than the others.
    table_share : float64. The probabilities in all query states are tabled if that takes at most
        this share of the number of updates.
    scan_limit : int, at most 64. Up to this many query variables, terms are scanned; beyond it they
        are kept up to date flip by flip.
    """

    burn_in: int
    n_samples: int
    n_batches: int
    table_share: float
    scan_limit: int


@kernel
def sample_marginals(terms, evidence, base, seed, plan, first, last, out):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    Query variables are updated in order. Counted sweeps add the probability from which a value is
    drawn, not the value.

    terms : QueryTerms. base : float64, (n_query,), log-odds before any term.
    evidence : uint8, (n_evidence, n_evidence_vars). seed : uint64. plan : GibbsPlan.
    out : float32, (n_evidence, n_batches, n_query), written: the mean over each batch.
    """
    n_query = len(base)
    burn_in, n_samples, n_batches, table_share, scan_limit = plan
    left = room_for(terms)
    batch_end = _batch_ends(n_samples, n_batches)
    n_updates = n_query * (burn_in + n_samples)
    log_odds = np.empty(n_query)
    effect = np.empty((n_query, n_query))
    x = np.empty(n_query, np.uint8)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        copy_into(log_odds, base)
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        stream = draw_first_state(chain_seed(seed, evidence[i]), x)
        chain = Chain(x, stream, burn_in, batch_end, out[i])
        if table_cost(left, n_left, n_query) <= table_share * n_updates:
            _sample_from_table(log_odds, left, n_left, chain)
        else:
            n_left = collapse_pairs(left, n_left, log_odds, effect)
            if n_query <= scan_limit:
                sample_by_scans(log_odds, effect, left, n_left, chain)
            else:
                sample_by_flips(log_odds, effect, left, n_left, chain)


@kernel
def _batch_ends(n_samples, n_batches):
    """Return the number of counted sweeps at the end of each batch, int64, (n_batches,)."""
    batch_end = np.empty(n_batches, np.int64)
    for b in range(n_batches):
        batch_end[b] = (b + 1) * (n_samples // n_batches) + min(b + 1, n_samples % n_batches)
    return batch_end


@kernel
def _sample_from_table(log_odds, left, n_left, chain):
    """Run a chain by looking up the probability of each variable in each query state.

    log_odds : float64, (n_query,). left : LeftTerms, of which `n_left` are in use. chain : Chain.
    """
    x, stream, burn_in, batch_end, out = chain
    n_query = len(x)
    table = np.empty((n_query, 1 << n_query))
    log_odds_table(log_odds, left, n_left, np.empty(1 << n_query), table)
    for v in range(n_query):
        for s in range(1 << n_query):
            table[v, s] = sigmoid(table[v, s])
    state = 0
    for v in range(n_query):
        state |= np.int64(x[v]) << v
    total = np.empty(n_query)
    sweep = -burn_in
    for b in range(len(batch_end)):
        total[:] = 0.0
        n_sweeps = batch_end[b] - max(sweep, 0)
        while sweep < batch_end[b]:
            if sweep == 0:
                total[:] = 0.0
            for v in range(n_query):
                p = table[v, state]
                total[v] += p
                stream = advance(stream)
                state = (state & ~(1 << v)) | (np.int64(uniform(stream) < p) << v)
            sweep += 1
        store_means(total, n_sweeps, out[b])
