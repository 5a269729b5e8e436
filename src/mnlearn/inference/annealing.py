"""The partition function of a Markov network by annealed importance sampling (Neal 2001)."""

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.inference.plan import PILOT, plan
from mnlearn.inference.sampling import rows_of_states, sample_rows
from mnlearn.inference.settings import Annealing
from mnlearn.inference.state_columns import arity_of
from mnlearn.inference.terms import Query, finite, query_of, terms_of
from mnlearn.kernels.sampling.blocks import anneal
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.runtime.threads import map_ranges

_PILOT_CHAINS = 100
_PILOT_SWEEPS = 50


def estimate_log_partition(
    network: MarkovNetwork, annealing: Annealing, seed: int, threads: int = 1
) -> tuple[float, float]:
    """Return an estimate of log Z and its standard error, both in nats.

    The chains start at independent variables with the marginals of a short pilot run.

    The error is that of the mean weight of the chains, to first order. It cannot account for states
    that no chain has visited, so the estimate tends to be too low rather than too high.

    See Neal, "Annealed importance sampling", Statistics and Computing 11 (2001).
    """
    chosen = plan(network, PILOT)
    pilot_seed = stream_seed(seed, "pilot")
    pilot = sample_rows(
        network, _PILOT_CHAINS, _PILOT_SWEEPS, pilot_seed, threads=threads, chosen=chosen
    )
    asked = query_of(terms_of(network), np.arange(network.n_vars))
    rng = np.random.default_rng(stream_seed(seed, "start"))
    chain_seed = stream_seed(seed, "chains")
    log_weight, log_start = _anneal_all(network, asked, pilot, annealing, rng, chain_seed, threads)
    n = annealing.n_chains
    log_mean = float(scipy.special.logsumexp(log_weight)) - np.log(n)
    share = np.exp(log_weight - log_mean)
    error = float(share.std(ddof=1) / np.sqrt(n))
    return log_start + log_mean, error


def _anneal_all(
    network: MarkovNetwork,
    asked: Query,
    pilot: NDArray[np.uint8],
    annealing: Annealing,
    rng: np.random.Generator,
    seed: int,
    threads: int,
) -> tuple[NDArray[np.float64], float]:
    """Return the log-weight of each chain, and the log Z of the distribution that they start in."""
    start = asked.blocks.start
    first_of, width = start[:-1], np.diff(start)
    # Half a count for each state.
    p = (pilot.sum(axis=0) + 0.5) / (len(pilot) + 0.5 * np.repeat(arity_of(start), width))
    single = np.repeat(width == 1, width)
    log_p = np.where(single, np.log(p) - np.log1p(-p), np.log(p))
    u = rng.random((annealing.n_chains, len(width)))
    state = np.empty(u.shape, np.uint8)
    for b, (c, k) in enumerate(zip(first_of, width, strict=True)):
        below = np.cumsum(p[c : c + k - 1])
        state[:, b] = (u[:, b, None] >= below).sum(axis=1) if k > 1 else u[:, b] < p[c]
    energy = _log_potential(network, rows_of_states(state, start))
    log_weight = np.empty(annealing.n_chains)

    def run(first: int, last: int) -> None:
        anneal(
            asked.terms, asked.blocks, log_p, state, energy, annealing.n_steps, np.uint64(seed),
            first, last, log_weight,
        )  # fmt: skip

    map_ranges(run, annealing.n_chains, threads)
    return log_weight, float(np.logaddexp(0.0, log_p[single]).sum())


def _log_potential(network: MarkovNetwork, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the unnormalised log-probability of each row."""
    return network.features.satisfied(rows) @ finite(network.weight)
