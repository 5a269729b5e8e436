"""A chain of Gibbs sampling: its state, its length, and the means that it is run for."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.splitmix import advance, uniform
from mnlearn.kernels.jit import kernel


class Chain(NamedTuple):
    """One chain for one row of evidence.

    x : uint8, (n_query,), the first state. stream : uint64, state of the stream of random numbers.
    burn_in : int, sweeps that are not counted. batch_end : int64, (n_batches,), number of counted
    sweeps at the end of each batch.
    out : float32, (n_batches, n_query), written: mean probability of the value 1 in each batch.
    """

    x: NDArray[np.uint8]
    stream: np.uint64
    burn_in: int
    batch_end: NDArray[np.int64]
    out: NDArray[np.float32]


@kernel
def draw_first_state(stream, x):
    """Fill `x` with independent values of probability 1/2; return the next state of the stream."""
    for v in range(len(x)):
        stream = advance(stream)
        x[v] = uniform(stream) < 0.5
    return stream


@kernel
def store_means(total, n, out):
    """Write the mean of `n` values, given by their sum, for each variable."""
    for v in range(len(total)):
        out[v] = total[v] / n
