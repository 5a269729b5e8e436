"""The circuit of a mixture: the weighted mean of the distributions of circuits."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit

_PRODUCT, _SUM = 0, 1


def mixture_circuit(circuits: Sequence[ArithmeticCircuit], log_share: NDArray) -> ArithmeticCircuit:
    """Return the circuit whose value is the weighted sum of the values of circuits.

    Its parameters are those of the circuits, one after the other, and the shares. Each circuit has
    a sum or a product at least. The result has no features.
    """
    n_literals = 2 * circuits[0].n_columns
    n_parameters = [len(one.weight) for one in circuits]
    first_parameter = n_literals + np.cumsum([0, *n_parameters])
    first_share = int(first_parameter[-1])
    first_inner = first_share + len(circuits) + np.cumsum([0, *(len(c.is_sum) for c in circuits)])
    children = []
    for k, one in enumerate(circuits):
        number = np.concatenate(
            [
                np.arange(n_literals),
                first_parameter[k] + np.arange(n_parameters[k]),
                first_inner[k] + np.arange(len(one.is_sum)),
            ]
        )
        children.append(number[one.child])
    shares, product = first_share + np.arange(len(circuits)), int(first_inner[-1])
    children.append(np.stack([shares, first_inner[1:] - 1], axis=1).ravel())
    children.append(product + np.arange(len(circuits)))
    inner = [one.is_sum for one in circuits]
    lengths = [np.diff(one.start) for one in circuits]
    n = len(circuits)
    return ArithmeticCircuit(
        circuits[0].schema,
        np.concatenate([*inner, np.full(n, _PRODUCT), [_SUM]]).astype(np.uint8),
        np.cumsum(np.concatenate([[0], *lengths, np.full(n, 2), [n]])).astype(np.int64),
        np.concatenate(children).astype(np.int32),
        np.concatenate([*(c.weight for c in circuits), log_share]),
    )
