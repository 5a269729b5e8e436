"""A counter-based random stream small enough to be inlined (SplitMix64, Steele et al. 2014).

A call of NumPy's generator costs more than a whole Gibbs update. One stream per chain, seeded from
what the chain is for, makes results independent of threads.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import log_normal
from mnlearn.kernels.jit import kernel

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_TO_UNIT = 1.0 / 9007199254740992.0


@kernel
def mix(state):
    """Return a 64-bit hash of a 64-bit word; distinct words give distinct hashes."""
    z = (state ^ (state >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@kernel
def advance(state):
    """Return the next state of a stream; `uniform` of it is the next number."""
    return state + _GAMMA


@kernel
def uniform(state):
    """Return the number in [0, 1) that belongs to a state, a multiple of 2^-53."""
    return np.float64(mix(state) >> np.uint64(11)) * _TO_UNIT


@kernel
def fill_logistic(state, out):
    """Fill `out` with draws of the standard logistic distribution; return the next state."""
    for i in range(len(out)):
        z = mix(state + np.uint64(i + 1) * _GAMMA) >> np.uint64(11)
        u = (np.float64(z) + 0.5) * _TO_UNIT
        out[i] = log_normal(u / (1.0 - u))
    return state + np.uint64(len(out)) * _GAMMA


@kernel
def chain_seed(seed, evidence):
    """Return the stream state for one chain: a hash of the seed and of the evidence, uint8."""
    state = mix(seed + _GAMMA)
    for v in range(len(evidence)):
        state = mix(state + _GAMMA + np.uint64(evidence[v]))
    return state
