"""Values of circuits for rows of which one variable has its other value."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.evaluation import LogSpace
from mnlearn.kernels.circuits.evaluation import LANES, LOG_ZERO, log_derivatives
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.runtime.threads import map_ranges


def flip_log_odds(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return the log of (value of the row) / (value of the row with X_v flipped), for each v.

    One pass up and one down the circuit yield all variables of a row: the value with X_v flipped is
    the derivative of the circuit by the literal that the row rules out (Darwiche 2003, Section 4).

    Parameters
    ----------
    circuit : ArithmeticCircuit
        The circuit.
    rows : ndarray of uint8, shape (n_rows, n_vars)
        Examples without unknown values.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_vars)
        NaN where both values are 0.
    """
    out = np.empty(rows.shape)
    arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
    other = 2 * np.arange(circuit.n_vars)

    def fill(first: int, last: int) -> None:
        batch, scratch = LogSpace(circuit, circuit.weight), np.empty((3, LANES))
        derivatives = np.empty((circuit.n_nodes, LANES))
        for begin in range(first, last, LANES):
            some = rows[begin : min(begin + LANES, last)]
            own = batch.values(some)
            log_derivatives(*arrays, batch.all_values, derivatives, scratch)
            flipped = derivatives[other + 1 - some, np.arange(len(some))[:, None]]
            flipped = np.where(flipped < LOG_ZERO / 2, -np.inf, flipped)
            with np.errstate(invalid="ignore"):
                out[begin : begin + len(some)] = own[:, None] - flipped

    map_ranges(fill, len(rows), threads)
    return out
