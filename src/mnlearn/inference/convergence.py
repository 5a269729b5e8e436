"""Whether the chains of a sampler agree, and how far their means may be off.

Everything here takes draws as an array of shape (n_chains, n_draws, n_answers).

References
----------
Vehtari, Gelman, Simpson, Carpenter & Bürkner, "Rank-normalization, folding, and localization: an
improved R-hat for assessing convergence of MCMC", Bayesian Analysis 16 (2021).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.inference.state_columns import with_evidence
from mnlearn.variables.schema import NO_STATE

# Chains that are compared.
N_CHAINS = 4
# Largest R-hat of chains that agree.
MOST_R_HAT = 1.01
# No answer is to be off by more than so many of its errors; see `bounded_error`.
SPREAD = 5.0
# So many answers are looked at together, which bounds the memory.
_TOGETHER = 256


@dataclass(frozen=True, eq=False)
class Estimates:
    """Probabilities of the states of all variables given each row of evidence, and their errors.

    probability : float64, (n_rows, n_states). In the layout of `inference.state_columns`. Known
    states have 1. monte_carlo_error : float64, (n_rows, n_states). See `bounded_error`. converged :
    bool, (n_rows, n_states). Where the probability is within a few errors of the true one, as far
    as the sampler can tell. n_tempered : rows that likelihood weighting left to tempering.
    """

    probability: NDArray[np.float64]
    monte_carlo_error: NDArray[np.float64]
    converged: NDArray[np.bool_]
    n_tempered: int = field(default=0, kw_only=True)

    @property
    def arrays(self) -> tuple[NDArray, NDArray, NDArray]:
        """The probabilities, their errors, and which have converged."""
        return self.probability, self.monte_carlo_error, self.converged

    def __getitem__(self, rows: NDArray) -> "Estimates":
        return Estimates(*(own[rows] for own in self.arrays))

    def given(self, values: NDArray[np.uint8], arity: NDArray[np.int64]) -> "Estimates":
        """Return these estimates with what is known in each row.

        values : uint8, shape (n_rows, n_vars), numbers of states, NO_STATE where not known.
        """
        values = np.where(arity == 1, 0, values)
        known = np.repeat(values != NO_STATE, arity, axis=1)
        return Estimates(
            with_evidence(self.probability, values, arity),
            np.where(known, 0.0, self.monte_carlo_error),
            known | self.converged,
        )


def estimate_rows(
    values: NDArray[np.uint8],
    arity: NDArray[np.int64],
    estimate: Callable[[NDArray[np.uint8]], tuple[NDArray, NDArray, NDArray]],
) -> Estimates:
    """Return the estimates of rows of evidence, each different one of which is looked at once."""
    distinct, row_of = np.unique(values, axis=0, return_inverse=True)
    stacked = Estimates(*map(np.stack, zip(*map(estimate, distinct), strict=True)))
    return stacked.given(distinct, arity)[row_of.ravel()]


class Diagnosis(NamedTuple):
    """Means of answers and what the chains say of them, each of shape (n_answers,).

    standard_error : Monte Carlo standard error of the mean over all draws. r_hat : the larger of
    the rank-normalised split R-hat and that of the folded draws. ess : bulk effective sample size.
    Answers that never change have an R-hat of 1, and no error.
    """

    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    r_hat: NDArray[np.float64]
    ess: NDArray[np.float64]


def diagnose(draws: NDArray) -> Diagnosis:
    """Return what several chains of at least four draws say of each answer."""
    if not draws.shape[2]:
        return Diagnosis(*np.zeros((4, 0)))
    parts = [
        _diagnose(draws[:, :, k : k + _TOGETHER].astype(np.float64))
        for k in range(0, draws.shape[2], _TOGETHER)
    ]
    return Diagnosis(*(np.concatenate(own) for own in zip(*parts, strict=True)))


def _diagnose(draws: NDArray[np.float64]) -> Diagnosis:
    halves = _split(draws)
    ranked = _rank_normalised(halves)
    folded = _rank_normalised(np.abs(halves - np.median(halves, axis=(0, 1))))
    r_hat = np.maximum(_r_hat(ranked), _r_hat(folded))
    _, variance = _variances(halves)
    error = np.sqrt(variance / effective_size(halves))
    return Diagnosis(draws.mean(axis=(0, 1)), error, r_hat, effective_size(ranked))


def bounded_error(
    standard_error: NDArray[np.float64], n_independent: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return the error of an estimated probability, which is positive where nothing varied.

    Five of it reach to the farther end of Wilson's interval of five standard errors, so that an
    event that was never drawn has the error that its absence among so many draws leaves open.

    n_independent : how many independent draws the estimate is worth.
    """
    least = SPREAD / 2.0 / np.maximum(n_independent, 1.0)
    return np.minimum(least + np.sqrt(standard_error**2 + least**2), 1.0)


def _split(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the two halves of each chain as chains."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _rank_normalised(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal quantiles of the ranks of an answer's draws among all its draws."""
    flat = draws.reshape(-1, draws.shape[2])
    rank = scipy.stats.rankdata(flat, axis=0)
    return np.asarray(scipy.special.ndtri((rank - 0.375) / (len(flat) + 0.25))).reshape(draws.shape)


def _variances(draws: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean variance inside chains, and the estimate from chains and between them."""
    n = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    return within, within * (n - 1) / n + draws.mean(axis=1).var(axis=0, ddof=1)


def _r_hat(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    within, total = _variances(draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(total > 0.0, np.sqrt(total / within), 1.0))


def effective_size(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many independent draws have the same variance of the mean, by Geyer's sums.

    Chains that never change and are equal are worth all their draws.
    """
    m, n = draws.shape[:2]
    centred = draws - draws.mean(axis=1, keepdims=True)
    power = np.abs(scipy.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = scipy.fft.irfft(power.mean(axis=0), axis=0)[:n] / n
    within, total = _variances(draws)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: n // 2 * 2].reshape(-1, 2, draws.shape[2]).sum(axis=1)
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    kept = np.where(positive, np.minimum.accumulate(pairs, axis=0), 0.0)
    tau = np.maximum(2.0 * kept.sum(axis=0) - 1.0, 1.0 / np.log10(m * n))
    return np.asarray(np.where(total > 0.0, m * n / tau, float(m * n)))
