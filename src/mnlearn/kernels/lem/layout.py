"""What the kernels of LEM work on: settings, a node, its clauses, and a side of a feature.

The variables at a node have numbers from 0. Their allowed values are slots, those of variable j at
slot[j]:slot[j + 1]. Each value has a packed column of the examples that have it, but the first of
a variable, which is what the others leave: the column of slot s of variable j is s - j - 1.
"""

from typing import NamedTuple

import numpy as np

from mnlearn.kernels.jit import kernel

# What a side with too few examples counts as in the score.
SINGLETONS, ONE_BLOCK, INADMISSIBLE = 0, 1, 2


class Settings(NamedTuple):
    """The parameters of the search; see `learning.lem.settings`."""

    delta: float
    subset_size: int
    max_feature_length: int
    exhaustive: bool
    joint_score: bool
    small_side: int
    min_rows: int
    corrected: bool
    similar: float
    balance: bool
    both_values: bool


class Node(NamedTuple):
    """The examples and variables at a node.

    columns : uint64, (n_columns, n_words). last_word : the bits in use of the last word.
    n : number of examples.
    slot : int32, (n_variables + 1,). owner : int32, (n_slots,), the variable of each slot.
    literal : bool, (n_slots,). Whether features ask for the value, if not for both of two.
    copy_of : int32, (n_variables,). The first variable of two values whose column is the same or
        the opposite; itself for all others. opposite : bool, whether it is the opposite.
    both : int32, (n_columns, n_columns). How often two columns are both set, the first that of the
        variable with the lower number, where both variables are original and not constant.
    links : int64, (n_links, 2). The pairs of original variables, the lower number first, that a
        spanning forest of greatest mutual information joins.
    tying : int64, (room, 3), triples that tied blocks; n_tying : int64, (1,), how many there are.
    c_log_c : float64, c log c for every count. log2_size : float64, log2 of numbers of values.
    cells : int64, room for the joint values of three variables.
    """

    columns: np.ndarray
    last_word: np.uint64
    n: int
    slot: np.ndarray
    owner: np.ndarray
    literal: np.ndarray
    copy_of: np.ndarray
    opposite: np.ndarray
    both: np.ndarray
    links: np.ndarray
    tying: np.ndarray
    n_tying: np.ndarray
    c_log_c: np.ndarray
    log2_size: np.ndarray
    cells: np.ndarray


class Clauses(NamedTuple):
    """Conjunctions that are known not to hold, as slots, with room for one more.

    start : int32, (n + 2,). slots : int32, start[n] of them in use.
    """

    start: np.ndarray
    slots: np.ndarray
    n: int


class Side(NamedTuple):
    """The examples of a node that satisfy a feature, or those that do not.

    masked : uint64, (n_columns, n_words), the columns of these examples.
    ones : int32, (n_columns,), how often each column is set. both : int32, (n_columns, n_columns),
        as in `Node`.
    entropy : float64, (n_variables,). seen : int64, number of values that occur.
    joint : float64, (n_variables, n_variables), entropies of pairs.
    label : int32, (n_variables,), the least variable of the block of each.
    alive : uint8, (n_slots,), the values left. size : int32, (n_variables,), how many; 1 if fixed.
    """

    masked: np.ndarray
    ones: np.ndarray
    both: np.ndarray
    entropy: np.ndarray
    seen: np.ndarray
    joint: np.ndarray
    label: np.ndarray
    alive: np.ndarray
    size: np.ndarray


@kernel
def new_side(n_variables, n_slots, n_words):
    """Return room for a side of a node."""
    n_columns = n_slots - n_variables
    return Side(
        np.empty((n_columns, n_words), np.uint64),
        np.empty(n_columns, np.int32),
        np.empty((n_columns, n_columns), np.int32),
        np.empty(n_variables, np.float64),
        np.empty(n_variables, np.int64),
        np.empty((n_variables, n_variables), np.float64),
        np.empty(n_variables, np.int32),
        np.empty(n_slots, np.uint8),
        np.empty(n_variables, np.int32),
    )
