"""Plug-in entropies in nats of all subsets of m variables, and the order of these subsets.

Subsets are in the order of their last member, then of the one before, and so on. The rank of a
subset is the sum of binom[j + 1, member j] over its members, ascending, where binom[j, v] is the
number of subsets of j of v variables. Variables of two values are counted from packed columns,
others by rows.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import count_bits, count_both
from mnlearn.kernels.jit import kernel

NO_SUBSET = -1


@kernel
def next_subset(members, n):
    """Turn a subset of n variables into the next one; return the highest position that changed."""
    for j in range(len(members)):
        limit = members[j + 1] if j + 1 < len(members) else n
        if members[j] + 1 < limit:
            members[j] += 1
            for i in range(j):
                members[i] = i
            return j
    return NO_SUBSET


@kernel
def rank_of(members, n_members, binom):
    """Return the rank of the first members."""
    rank = 0
    for j in range(n_members):
        rank += binom[j + 1, members[j]]
    return rank


@kernel
def rank_of_union(members, others, n_others, binom):
    """Return the rank of a subset and the first of some other variables, both ascending."""
    rank = 0
    i = 0
    j = 0
    for size in range(1, len(members) + n_others + 1):
        if j == n_others or (i < len(members) and members[i] < others[j]):
            rank += binom[size, members[i]]
            i += 1
        else:
            rank += binom[size, others[j]]
            j += 1
    return rank


@kernel
def rank_without(members, position, binom):
    """Return the rank of a subset without the member at a position."""
    rank = 0
    for j in range(len(members)):
        if j != position:
            rank += binom[j + 1 - (j > position), members[j]]
    return rank


@kernel
def fill_subsets(n, out):
    """Fill in all subsets, one a row."""
    members = np.arange(out.shape[1])
    for r in range(len(out)):
        out[r] = members
        next_subset(members, n)


@kernel
def count_subsets(columns, m, out):
    """Fill in how often the variables of each subset are all 1, from packed columns."""
    n, n_words = columns.shape
    if m == 1:
        for v in range(n):
            out[v] = count_bits(columns[v])
        return
    # The upper members of a subset: those but the first, less 1.
    upper = np.arange(m - 1)
    masks = np.empty((m - 1, n_words), np.uint64)
    changed = m - 2
    r = 0
    while changed != NO_SUBSET:
        for j in range(changed, -1, -1):
            column = columns[upper[j] + 1]
            for w in range(n_words):
                masks[j, w] = column[w] & masks[j + 1, w] if j < m - 2 else column[w]
        for v in range(upper[0] + 1):
            out[r] = count_both(masks[0], columns[v])
            r += 1
        changed = next_subset(upper, n - 1)


@kernel
def gather_cells(members, counts, start, binom, cells):
    """Fill in how often each part of the members is all 1; the part has bit j for member j."""
    m = len(members)
    for part in range(1 << m):
        size = 0
        rank = 0
        for j in range(m):
            if part >> j & 1:
                size += 1
                rank += binom[size, members[j]]
        cells[part] = counts[start[size] + rank]


@kernel
def entropy_of_parts(cells, m, n_examples, c_log_c):
    """Return the entropy of m variables from how often each part is all 1, which is overwritten."""
    for j in range(m):
        for part in range(1 << m):
            if not part >> j & 1:
                cells[part] -= cells[part | 1 << j]
    total = 0.0
    for part in range(1 << m):
        total += c_log_c[cells[part]]
    return np.log(n_examples) - total / n_examples


@kernel
def subset_entropies(m, n, counts, start, binom, c_log_c, out):
    """Fill in the entropies of all subsets of m variables of two values."""
    members = np.arange(m)
    cells = np.empty(1 << m, np.int64)
    for r in range(len(out)):
        gather_cells(members, counts, start, binom, cells)
        out[r] = entropy_of_parts(cells, m, counts[0], c_log_c)
        next_subset(members, n)


@kernel
def value_entropies(values, weight, arity, m, out):
    """Fill in the entropies of all subsets of m variables of any numbers of values, (n, n_rows)."""
    n, n_rows = values.shape
    members = np.arange(m)
    # The joint value of the members from j on, and the number of such values.
    code = np.zeros((m + 1, n_rows), np.int64)
    size = np.ones(m + 1, np.int64)
    changed = m - 1
    r = 0
    while changed != NO_SUBSET:
        for j in range(changed, -1, -1):
            v = members[j]
            size[j] = size[j + 1] * arity[v]
            for i in range(n_rows):
                code[j, i] = code[j + 1, i] * arity[v] + values[v, i]
        out[r] = entropy_of_codes(code[0], size[0], weight)
        r += 1
        changed = next_subset(members, n)


@kernel
def entropy_of_codes(code, size, weight):
    """Return the entropy of a variable with values 0 to size - 1."""
    cells = np.zeros(size)
    n_examples = 0.0
    for i in range(len(code)):
        cells[code[i]] += weight[i]
        n_examples += weight[i]
    total = 0.0
    for k in range(size):
        if cells[k] > 0.0:
            total += cells[k] * np.log(cells[k])
    return np.log(n_examples) - total / n_examples


@kernel
def entropies_with(values, weight, arity, members, others, out):
    """Fill in the entropy of some variables together with each of the others."""
    size = 1
    code = np.zeros(len(weight), np.int64)
    for v in members:
        size *= arity[v]
        for i in range(len(code)):
            code[i] = code[i] * arity[v] + values[v, i]
    joint = np.empty(len(weight), np.int64)
    for k in range(len(others)):
        v = others[k]
        for i in range(len(code)):
            joint[i] = code[i] * arity[v] + values[v, i]
        out[k] = entropy_of_codes(joint, size * arity[v], weight)
