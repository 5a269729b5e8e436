"""One layout for numbers by variable and state: the states of variable 0, then those of 1, ...

Variable v has its states at `state_start(start)[v]:state_start(start)[v + 1]`, in the order of its
states, also if it has two of them or one. `start` is that of a schema: variable v has the columns
start[v]:start[v + 1], and kernels give one number for each column. For a variable of two states
that is the log-odds or the probability of its second state. For a variable of k > 2 states it is a
score, whose softmax is the distribution, or the probability of the state.
"""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.variables.schema import NO_STATE


def arity_of(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of states of each variable, int64 of shape (n_vars,)."""
    width = start[1:] - start[:-1]
    return width + (width < 2)


def state_start(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the states of each variable begin, int64 of shape (n_vars + 1,)."""
    out = np.zeros(len(start), np.int64)
    np.cumsum(arity_of(start), out=out[1:])
    return out


def state_probabilities(
    p: NDArray[Any], start: NDArray[np.int64], complement: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return probabilities of states from those of columns.

    complement : float64, (..., n_columns). P(column = 0), which has digits where 1 - p has none.
    """
    return _spread(1.0 - p if complement is None else complement, p, start, 1.0)


def log_state_probabilities(
    scores: NDArray[np.float64], start: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return log-probabilities of states, in nats, from scores of columns."""
    one = np.array(scores, np.float64)
    width = np.diff(start)
    single = start[:-1][width == 1]
    one[..., single] = -np.logaddexp(0.0, -scores[..., single])
    for first, k in zip(start[:-1][width > 1], width[width > 1], strict=True):
        own = scores[..., first : first + k]
        one[..., first : first + k] = own - scipy.special.logsumexp(own, axis=-1, keepdims=True)
    return _spread(-np.logaddexp(0.0, scores), one, start, 0.0)


def log2_joint_states(start: NDArray[np.int64]) -> float:
    """Return the logarithm to base 2 of the number of joint states of some variables."""
    return float(np.log2(arity_of(start)).sum())


def of_values(
    by_state: NDArray[np.float64],
    values: NDArray[np.uint8],
    start: NDArray[np.int64],
    otherwise: float = -np.inf,
) -> NDArray[np.float64]:
    """Return what belongs to the state that each variable has in each row.

    by_state : float64, (n_rows, n_states). In the layout of this module. values : uint8, (n_rows,
    n_vars). Numbers of states, see `Schema.values`. otherwise : what belongs to `NO_STATE`.
    """
    known = values != NO_STATE
    place = state_start(start)[:-1] + np.where(known, values, 0)
    return np.where(known, np.take_along_axis(by_state, place, axis=1), otherwise)


def column_probabilities(p: NDArray[np.float64], start: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P(column = 0) and P(column = 1), (..., n_columns, 2), from those of states."""
    first, width = state_start(start)[:-1], np.diff(start)
    out = np.empty((*p.shape[:-1], int(start[-1]), 2))
    single, several = width == 1, np.repeat(width > 1, width)
    out[..., start[:-1][single], 0] = p[..., first[single]]
    out[..., start[:-1][single], 1] = p[..., first[single] + 1]
    place = np.arange(start[-1]) + np.repeat(first - start[:-1], width)
    out[..., several, 1] = p[..., place[several]]
    out[..., several, 0] = 1.0 - out[..., several, 1]
    return out


def with_evidence(
    p: NDArray[np.float64], values: NDArray[np.uint8], arity: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return probabilities of states, (n_rows, n_states), in which known states have 0 or 1."""
    own = np.repeat(values, arity, axis=1)
    state = np.arange(own.shape[1]) - np.repeat(np.cumsum(arity) - arity, arity)
    return np.where(own == NO_STATE, p, own == state)


def _spread(
    zero: NDArray[np.float64], one: NDArray[np.float64], start: NDArray[np.int64], sure: float
) -> NDArray[np.float64]:
    """Return numbers of states from those of columns.

    zero, one : of the first and of the second state of a variable of two states; of a state of a
    variable of more states, `one`. sure : of the state of a variable of one state.
    """
    first, width = state_start(start), np.diff(start)
    out = np.full((*one.shape[:-1], first[-1]), sure)
    single, several = width == 1, np.repeat(width > 1, width)
    out[..., first[:-1][single]] = zero[..., start[:-1][single]]
    out[..., first[:-1][single] + 1] = one[..., start[:-1][single]]
    shift = np.repeat(first[:-1] - start[:-1], width)
    out[..., (np.arange(start[-1]) + shift)[several]] = one[..., several]
    return out
