"""A node of LEM: settings, variables, packed columns, clauses, and the sides of a feature.

The allowed values of variable j are the slots slot[j]:slot[j + 1]. Each but the first has a packed
column of examples: that of slot s is s - j - 1. A clause is a conjunction that is known not to
hold: if all its literals but one are certain, the last one is false.
"""

from typing import NamedTuple

import numpy as np

from mnlearn.kernels.arithmetic.bits import count_all, count_bits, lowest_bit
from mnlearn.kernels.chow_liu import fill_spanning_tree
from mnlearn.kernels.jit import copy_into, kernel

# What a side with too few examples counts as in the score.
SINGLETONS, ONE_BLOCK, INADMISSIBLE = 0, 1, 2


class Settings(NamedTuple):
    """The parameters of the search; see `learning.lem.growth`."""

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

    owner : the variable of each slot. literal : whether features ask for the value, if not for both
    of two. copy_of : the first variable of two values whose column is the same or the `opposite`;
    itself for all others. both : how often two columns are both set, the first that of the variable
    with the lower number, where both are original and not constant. links : the pairs of original
    variables that a spanning forest of greatest mutual information joins. tying : triples that tied
    blocks, of which there are n_tying[0]. c_log_c : for every count. log2_size : of numbers of
    values. cells : room for the joint values of three variables.
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
    """Conjunctions that are known not to hold, as slots, with room for one more."""

    start: np.ndarray
    slots: np.ndarray
    n: int


class Side(NamedTuple):
    """The examples of a node that satisfy a feature, or those that do not.

    masked : the columns of these examples. ones, both : how often columns are set. seen : number of
    values that occur. joint : entropies of pairs. label : the least variable of the block of each.
    alive : whether a value is left. size : how many are; 1 if the variable is fixed.
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


@kernel
def pack_columns(values, examples, variable, slot, slot_value, columns):
    """Fill in the columns of the variables at a node, given the values of all examples."""
    columns[:] = 0
    for j in range(len(variable)):
        own = values[variable[j]]
        for s in range(slot[j] + 1, slot[j + 1]):
            column = columns[s - j - 1]
            wanted = slot_value[s]
            for i in range(len(examples)):
                if own[examples[i]] == wanted:
                    column[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel
def mask_of(columns, slot, j, s, last_word, mask):
    """Fill in the bits of the examples in which variable j has the value of slot s."""
    if s > slot[j]:
        copy_into(mask, columns[s - j - 1])
        return
    mask[:] = ~np.uint64(0)
    mask[len(mask) - 1] = last_word
    for c in range(slot[j] - j, slot[j + 1] - j - 1):
        for w in range(len(mask)):
            mask[w] &= ~columns[c, w]


@kernel
def select_examples(examples, mask, out):
    """Fill in the examples whose bits are set, in their order."""
    n = 0
    for w in range(len(mask)):
        word = mask[w]
        while word:
            out[n] = examples[64 * w + np.int64(lowest_bit(word))]
            n += 1
            word &= word - np.uint64(1)


@kernel
def find_copies(columns, slot, last_word, copy_of, opposite):
    """Fill in for each variable of two values the first of which it is a copy, or the opposite."""
    n = len(copy_of)
    n_words = columns.shape[1]
    for j in range(n):
        copy_of[j] = j
        opposite[j] = False
        if slot[j + 1] - slot[j] != 2:
            continue
        own = columns[slot[j] - j]
        for k in range(j):
            if copy_of[k] != k or slot[k + 1] - slot[k] != 2:
                continue
            other = columns[slot[k] - k]
            flip = (own[0] ^ other[0]) & np.uint64(1)
            flipped = ~np.uint64(0) if flip else np.uint64(0)
            same = True
            for w in range(n_words):
                used = last_word if w == n_words - 1 else ~np.uint64(0)
                if (own[w] ^ other[w] ^ flipped) & used:
                    same = False
                    break
            if same:
                copy_of[j] = k
                opposite[j] = flip != 0
                break


@kernel
def divide_domain(node, clauses, n_clauses, feature, holds, side):
    """Fill in which values are left where a feature holds, or does not; return whether any state
    is.
    """
    side.alive[:] = 1
    for j in range(len(side.size)):
        side.size[j] = node.slot[j + 1] - node.slot[j]
    if holds:
        for s in feature:
            j = node.owner[s]
            side.alive[node.slot[j] : node.slot[j + 1]] = 0
            side.alive[s] = 1
            side.size[j] = 1
    elif len(feature) == 1:
        side.alive[feature[0]] = 0
        side.size[node.owner[feature[0]]] -= 1
    return propagate(node.owner, clauses, n_clauses, side.alive, side.size)


@kernel
def propagate(owner, clauses, n_clauses, alive, size):
    """Drop the values that clauses rule out; return whether any state is left."""
    changed = True
    while changed:
        changed = False
        for c in range(n_clauses):
            n_open, last = open_literals(owner, clauses, c, alive, size)
            if n_open == 0:
                return False
            if n_open == 1:
                alive[last] = 0
                size[owner[last]] -= 1
                changed = True
    return True


@kernel
def open_literals(owner, clauses, c, alive, size):
    """Return how many literals of a clause are not certain, -1 if one is false, and the last."""
    n_open = 0
    last = -1
    for e in range(clauses.start[c], clauses.start[c + 1]):
        s = clauses.slots[e]
        if not alive[s]:
            return -1, -1
        if size[owner[s]] > 1:
            n_open += 1
            last = s
    return n_open, last


@kernel
def add_clause(clauses, feature):
    """Put a feature of several literals behind the clauses; return how many there are then."""
    if len(feature) == 1:
        return clauses.n
    end = clauses.start[clauses.n]
    copy_into(clauses.slots[end : end + len(feature)], feature)
    clauses.start[clauses.n + 1] = end + len(feature)
    return clauses.n + 1


@kernel
def single_entropies(slot, count, n, c_log_c, entropy, seen):
    """Fill in the entropy of each variable and the number of its values that occur, from counts."""
    for j in range(len(entropy)):
        rest = n
        total = 0.0
        values = 0
        for c in range(slot[j] - j, slot[j + 1] - j - 1):
            rest -= count[c]
            total += c_log_c[count[c]]
            values += count[c] > 0
        total += c_log_c[rest]
        seen[j] = values + (rest > 0)
        # Exactly 0 for a constant, which the difference of logarithms need not be.
        entropy[j] = np.log(n) - total / n if seen[j] > 1 else 0.0


@kernel
def pair_entropy(slot, a, b, count, both, n, c_log_c):
    """Return the joint entropy of variables a < b, given how often columns are set together."""
    total = 0.0
    if slot[a + 1] - slot[a] == 2 and slot[b + 1] - slot[b] == 2:
        n_a, n_b = count[slot[a] - a], count[slot[b] - b]
        n_ab = both[slot[a] - a, slot[b] - b]
        total = c_log_c[n_ab] + c_log_c[n_a - n_ab] + c_log_c[n_b - n_ab]
        return np.log(n) - (total + c_log_c[n - n_a - n_b + n_ab]) / n
    for i in range(slot[a + 1] - slot[a]):
        for k in range(slot[b + 1] - slot[b]):
            total += c_log_c[_pair_count(slot, a, i, b, k, count, both, n)]
    return np.log(n) - total / n


@kernel
def _pair_count(slot, a, i, b, k, count, both, n):
    """Return how often variable a has its value i and variable b its value k."""
    first_a, last_a = slot[a] - a, slot[a + 1] - a - 1
    first_b, last_b = slot[b] - b, slot[b + 1] - b - 1
    if i > 0 and k > 0:
        return np.int64(both[first_a + i - 1, first_b + k - 1])
    left = np.int64(n)
    if i > 0:
        left = np.int64(count[first_a + i - 1])
    else:
        for c in range(first_a, last_a):
            left -= count[c]
    if k > 0:
        left = np.int64(count[first_b + k - 1])
        for c in range(first_a, last_a):
            left -= both[c, first_b + k - 1]
        return left
    for d in range(first_b, last_b):
        if i > 0:
            left -= both[first_a + i - 1, d]
        else:
            left -= count[d]
            for c in range(first_a, last_a):
                left += both[c, d]
    return left


@kernel
def triple_entropy(node, members, side, n):
    """Return the joint entropy of three variables, in ascending order, on one side of a node."""
    slot, count, both, masked = node.slot, side.ones, side.both, side.masked
    a, b, c = members
    n_a, n_b, n_c = slot[a + 1] - slot[a], slot[b + 1] - slot[b], slot[c + 1] - slot[c]
    if n_a == 2 and n_b == 2 and n_c == 2:
        return _binary_entropy(slot[a] - a, slot[b] - b, slot[c] - c, side, n, node.c_log_c)
    table = node.cells[: n_a * n_b * n_c].reshape((n_a, n_b, n_c))
    for i in range(1, n_a):
        one = masked[slot[a] - a + i - 1]
        for j in range(1, n_b):
            other = masked[slot[b] - b + j - 1]
            rest = np.int64(both[slot[a] - a + i - 1, slot[b] - b + j - 1])
            for k in range(1, n_c):
                found = np.int64(0)
                if rest > 0:
                    found = count_all(one, other, masked[slot[c] - c + k - 1])
                table[i, j, k] = found
                rest -= found
            table[i, j, 0] = rest
        for k in range(n_c):
            rest = _pair_count(slot, a, i, c, k, count, both, n)
            for j in range(1, n_b):
                rest -= table[i, j, k]
            table[i, 0, k] = rest
    for j in range(n_b):
        for k in range(n_c):
            rest = _pair_count(slot, b, j, c, k, count, both, n)
            for i in range(1, n_a):
                rest -= table[i, j, k]
            table[0, j, k] = rest
    total = 0.0
    for cell in range(n_a * n_b * n_c):
        total += node.c_log_c[node.cells[cell]]
    return np.log(n) - total / n


@kernel
def _binary_entropy(a, b, c, side, n, c_log_c):
    """Return the joint entropy of three columns."""
    count, both = side.ones, side.both
    n_abc = count_all(side.masked[a], side.masked[b], side.masked[c])
    n_ab, n_ac, n_bc = both[a, b], both[a, c], both[b, c]
    total = c_log_c[n_abc] + c_log_c[n_ab - n_abc] + c_log_c[n_ac - n_abc] + c_log_c[n_bc - n_abc]
    total += c_log_c[count[a] - n_ab - n_ac + n_abc]
    total += c_log_c[count[b] - n_ab - n_bc + n_abc]
    total += c_log_c[count[c] - n_ac - n_bc + n_abc]
    total += c_log_c[n - count[a] - count[b] - count[c] + n_ab + n_ac + n_bc - n_abc]
    return np.log(n) - total / n


@kernel
def spanning_forest(slot, variables, columns, both, n, c_log_c):
    """Return the pairs of greatest mutual information that join all variables."""
    ones = np.empty(len(columns), np.int32)
    for c in range(len(columns)):
        ones[c] = count_bits(columns[c])
    entropy, seen = np.empty(len(slot) - 1), np.empty(len(slot) - 1, np.int64)
    single_entropies(slot, ones, n, c_log_c, entropy, seen)
    m = len(variables)
    links = np.empty((max(m - 1, 0), 2), np.int64)
    if m < 2:
        return links
    information = np.empty((m, m))
    for i in range(m):
        a = variables[i]
        for j in range(i + 1, m):
            b = variables[j]
            shared = entropy[a] + entropy[b]
            shared -= pair_entropy(slot, a, b, ones, both, n, c_log_c)
            information[i, j], information[j, i] = shared, shared
    parent, joined = np.empty(m, np.int64), np.empty(m, np.int64)
    fill_spanning_tree(information, parent, joined)
    for k in range(m - 1):
        i = joined[k + 1]
        links[k, 0] = variables[min(i, parent[i])]
        links[k, 1] = variables[max(i, parent[i])]
    return links
