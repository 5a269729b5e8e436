"""Marginals of factor graphs by several chains at several temperatures, with their errors."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.convergence import (
    MOST_R_HAT,
    N_CHAINS,
    Estimates,
    bounded_error,
    diagnose,
    estimate_rows,
)
from mnlearn.inference.factor_graphs import Form, first_share, graph_of, is_impossible
from mnlearn.kernels.arithmetic.splitmix import chain_seed
from mnlearn.kernels.sampling.replicas import (
    FactorGraph,
    Ladder,
    climb,
    draw_uniform_states,
    place_replicas,
)
from mnlearn.runtime.progress import pulse
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import NO_STATE

# Probabilities, errors, and which have converged.
_Found = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]
# Sweeps of the rounds in which the rungs are moved.
_TUNING = (20, 40, 80, 160)
_FIRST_RUNGS, _MOST_RUNGS = 24, 64
# Neighbouring rungs are to refuse this share of their exchanges, which brings most states from the
# first rung to the last in a given time (Syed et al. 2022).
_REFUSED = 0.5
# Each chain brings this share of the effective sample size from the first rung to the last.
_LEAST_TRIPS = 1 / 16
# Draws of a variable that a chain makes in one go, and numbers in the means that are kept.
_PART, _ROOM = 1 << 24, 1 << 26
# Draws of a variable in one row of evidence at most, by all replicas.
WORK = 1 << 28


def sample_tempered(
    form: Form,
    values: NDArray[np.uint8],
    samples: int,
    *,
    seed: int,
    threads: int = 1,
    work: int = WORK,
    asked: NDArray[np.bool_] | None = None,
) -> Estimates:
    """Return the marginals of variables given each row of evidence.

    Four chains start from uniform states. Each of them is a ladder of replicas, from a temperature
    at which a chain mixes fast to that of the model. A round is twice as long as the one before and
    does not count it. The last round is that in which all answers have converged, or after which
    too little `work` is left.

    work : draws of a variable in each row at most, but for the first round.

    An answer has converged if its R-hat is below 1.01, its effective sample size is `samples`,
    each chain has brought states from the first rung to the last, and the chains do not end at
    states of probability 0.
    """
    graph = graph_of(form)
    asked = np.ones(len(graph.arity), bool) if asked is None else asked
    hottest = first_share(form, graph)

    def estimate(row: NDArray[np.uint8]) -> _Found:
        chains = _Row(graph, row, hottest, seed, threads)
        p, error, converged = chains.run(samples, work, asked)
        stuck = any(is_impossible(form, ladder) for ladder in chains.ladders)
        return p, error, converged & (not stuck)

    return estimate_rows(values, graph.arity, estimate)


class _Row:
    """The chains of one row of evidence."""

    def __init__(
        self, graph: FactorGraph, values: NDArray[np.uint8], hottest: float, seed: int, threads: int
    ) -> None:
        self.graph, self.values, self.threads = graph, values, threads
        known = values != NO_STATE
        self.is_free = ~known & (graph.arity > 1)
        self.free = np.flatnonzero(self.is_free)
        first = np.where(known, values, 0).astype(np.uint8)
        share = np.array([1.0])
        if hottest < 1.0:
            least = max(hottest, 1e-3)
            share = np.concatenate([[hottest], np.geomspace(least, 1.0, _FIRST_RUNGS)[1:]])
        self.streams, self.ladders = [], []
        for c in range(N_CHAINS):
            stream = np.uint64(chain_seed(np.uint64((seed + c) % 2**64), values))
            states = np.tile(first, (len(share), 1))
            stream = draw_uniform_states(graph.arity, self.free, stream, states)
            self.streams.append(np.uint64(stream))
            self.ladders.append(_ladder(graph, share, states))
        self.trips = np.zeros(N_CHAINS, np.int64)

    def run(self, samples: int, work: int, asked: NDArray[np.bool_]) -> _Found:
        """Return probabilities and errors of states asked for, and which have converged."""
        self._tune()
        of_states = np.flatnonzero(np.repeat(self.is_free & asked, self.graph.arity))
        n_states = self.graph.state_start[-1]
        n_batches = int(np.clip(samples // 2, 16, max(_ROOM // (N_CHAINS * n_states), 16)))
        # Means of longer batches stand for more samples than there are batches.
        needed, length = min(samples, 2 * n_batches), 1
        while True:
            draws = self._climb(n_batches, length)
            found = self._judge(draws, needed, of_states)
            n_sweeps = 2 * N_CHAINS * n_batches * length
            if found[2].all() or n_sweeps * len(self.free) * len(self.ladders[0].at) >= work:
                return found
            length *= 2

    def _climb(self, n_batches: int, length: int) -> NDArray[np.float32]:
        """Run all chains; return the means of their batches, (n_chains, n_batches, n_states)."""
        out = np.empty((N_CHAINS, n_batches, self.graph.state_start[-1]), np.float32)
        self.trips[:] = 0
        # Short parts, so that an interrupt is seen soon.
        step = max(_PART // (length * max(len(self.free), 1) * len(self.ladders[0].at)), 1)

        def advance(first: int, last: int) -> None:
            for c in range(first, last):
                stream, trips = climb(
                    self.graph, self.free, self.ladders[c], self.streams[c], b * length, length,
                    out[c, b : b + step],
                )  # fmt: skip
                self.streams[c], self.trips[c] = np.uint64(stream), self.trips[c] + trips

        for b in range(0, n_batches, step):
            map_ranges(advance, N_CHAINS, self.threads)
            pulse(f"sampling: {min(b + step, n_batches)} of {n_batches} batches of {length} sweeps")
        return out

    def _tune(self) -> None:
        """Move the rungs until all neighbours refuse about the same share of exchanges."""
        for n_sweeps in _TUNING if len(self.ladders[0].at) > 1 else ():
            for ladder in self.ladders:
                ladder.refused[:] = 0.0
            self._climb(1, n_sweeps)
            refused = np.mean([ladder.refused for ladder in self.ladders], axis=0) * 2.0 / n_sweeps
            share = respaced(self.ladders[0].share, refused)
            self.ladders = [_moved(self.graph, ladder, share) for ladder in self.ladders]

    def _judge(self, draws: NDArray[np.float32], samples: int, asked: NDArray[np.int64]) -> _Found:
        """Return what the last draws say of the states asked for."""
        n_states = draws.shape[2]
        p, error, converged = np.zeros(n_states), np.zeros(n_states), np.ones(n_states, bool)
        found = diagnose(draws[:, :, asked])
        converged[asked] = (found.r_hat < MOST_R_HAT) & (found.ess >= samples)
        independent = found.ess
        if len(self.ladders[0].at) > 1:
            independent = np.minimum(independent, self.trips.sum())
            converged[asked] &= self.trips.min() >= samples * _LEAST_TRIPS
        p[asked], error[asked] = found.mean, bounded_error(found.standard_error, independent)
        return p, error, converged


def _ladder(graph: FactorGraph, share: NDArray[np.float64], states: NDArray[np.uint8]) -> Ladder:
    """Return a ladder whose rungs are at some states."""
    n = len(share)
    ladder = Ladder(
        share,
        np.arange(n),
        states,
        np.empty((n, len(graph.offset)), np.int64),
        np.empty((n, len(graph.clauses.weight)), np.int64),
        np.empty(n),
        np.zeros(n, bool),
        np.zeros(n - 1),
    )
    place_replicas(graph, ladder)
    return ladder


def _moved(graph: FactorGraph, ladder: Ladder, share: NDArray[np.float64]) -> Ladder:
    """Return a ladder of other shares, each rung at the state of the nearest rung."""
    nearest = np.abs(ladder.share[None] - share[:, None]).argmin(axis=1)
    return _ladder(graph, share, ladder.state[ladder.at[nearest]].copy())


def respaced(share: NDArray[np.float64], refused: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares between which equal parts of exchanges are refused.

    refused : float64, shape (n_rungs - 1,), the part that each pair of neighbours refused.
    """
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(refused, 1e-6))])
    n = int(np.clip(np.ceil(barrier[-1] / _REFUSED) + 1, 2, _MOST_RUNGS))
    return np.interp(np.linspace(0.0, barrier[-1], n), barrier, share)
