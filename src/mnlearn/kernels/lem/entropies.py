"""Plug-in entropies of pairs and triples of variables, and the strongest pairs of a node.

For counts c that add up to n, the entropy is log n - (sum of c log c) / n, from a table of c log c.
Counts of first values, which have no columns, are what the others leave.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import count_all, count_bits
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.spanning_tree import fill_spanning_tree


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
