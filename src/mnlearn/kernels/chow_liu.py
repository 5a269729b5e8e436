"""Chow-Liu trees and mixtures of them: counts of pairs, spanning trees, tables of a mixture."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import popcount
from mnlearn.kernels.arithmetic.logistic import log_normal
from mnlearn.kernels.arithmetic.ties import EQUAL, rounded
from mnlearn.kernels.jit import copy_into, kernel

# Words of a column, and columns, that are taken together: they stay in the second-level cache.
_WORDS = 256
_COLUMNS = 32


@kernel
def add_pair_counts(columns, factor, out):
    """Add to `out` `factor` times the number of rows in which both columns of packed bits are 1."""
    n_vars, n_words = columns.shape
    for u_begin in range(0, n_vars, _COLUMNS):
        u_end = min(u_begin + _COLUMNS, n_vars)
        for v_begin in range(u_begin, n_vars, _COLUMNS):
            v_end = min(v_begin + _COLUMNS, n_vars)
            for begin in range(0, n_words, _WORDS):
                end = min(begin + _WORDS, n_words)
                for u in range(u_begin, u_end):
                    one = columns[u, begin:end]
                    for v in range(max(u, v_begin), v_end):
                        other = columns[v, begin:end]
                        count = np.uint64(0)
                        for k in range(end - begin):
                            count += popcount(one[k] & other[k])
                        out[u, v] += factor * np.int64(count)
            # Mirrored once the block is whole.
            for u in range(u_begin, u_end):
                for v in range(max(u, v_begin), v_end):
                    out[v, u] = out[u, v]


# Its product with its logarithm is nothing beside any probability.
_LEAST = 1e-300
# Rows and columns that are mirrored together: they stay in the nearest cache.
_BLOCK = 32


@kernel
def fill_log_probabilities(rows, parent, terms, first, last, out):
    """Fill log P(row i | tree k) into out[i, k] for the rows from `first` to `last`.

    A variable without parent, (n_vars, n_trees), is its own. terms : the log-probability of all
    variables at 0, what a variable at 1 adds, and what it adds if its parent is at 1 too.
    """
    at_zero, of_one, of_both = terms
    for i in range(first, last):
        total = out[i]
        copy_into(total, at_zero)
        for v in range(rows.shape[1]):
            if rows[i, v]:
                one, both, above = of_one[v], of_both[v], parent[v]
                for k in range(len(total)):
                    total[k] += one[k] + (both[k] if rows[i, above[k]] else 0.0)


@kernel
def fill_log_probabilities_of_states(values, parent, table, first, last, out):
    """Do as `fill_log_probabilities` from tables, (n_trees, n_vars, most, most); parent -1 for
    none.
    """
    for i in range(first, last):
        row = values[i]
        for k in range(len(parent)):
            total = 0.0
            for v in range(len(row)):
                above = parent[k, v]
                total += table[k, v, row[above] if above >= 0 else 0, row[v]]
            out[i, k] = total


@kernel
def add_weights_of_ones(rows, weight, out):
    """Add the weights of each row, (n_rows, n_trees), to out[v] for all variables v that are 1."""
    for i in range(rows.shape[0]):
        own = weight[i]
        for v in range(rows.shape[1]):
            if rows[i, v]:
                total = out[v]
                for k in range(len(own)):
                    total[k] += own[k]


@kernel
def add_pair_weights(var, start, chosen, weight, out):
    """Add the weight of each chosen row to out[u, v] for all its ones u <= v, var[start[i]:]."""
    for n in range(len(chosen)):
        last = start[chosen[n] + 1]
        for a in range(start[chosen[n]], last):
            for b in range(a, last):
                out[var[a], var[b]] += weight[n]


@kernel
def fill_pair_information(both, one, n_examples, out):
    """Fill in the mutual information of pairs in nats, rounded, from numbers of examples that are
    1.
    """
    n_vars = len(one)
    p = one / n_examples
    entropy = np.empty(n_vars)
    for v in range(n_vars):
        entropy[v] = _x_log_x(p[v]) + _x_log_x(1.0 - p[v])
    for u in range(n_vars):
        out[u, u] = 0.0
        # Slices that begin at 0, which the vector unit can load at once.
        row, into = both[u, u + 1 :], out[u, u + 1 :]
        p_other, entropy_other = p[u + 1 :], entropy[u + 1 :]
        for k in range(len(row)):
            p11 = row[k] / n_examples
            p10 = p[u] - p11
            p01 = p_other[k] - p11
            p00 = 1.0 - p11 - p10 - p01
            joint = _x_log_x(p11) + _x_log_x(p10) + _x_log_x(p01) + _x_log_x(p00)
            into[k] = rounded(joint - entropy[u] - entropy_other[k], EQUAL)
    _mirror(out)


@kernel
def _mirror(out):
    """Copy what is above the diagonal to below it."""
    n = len(out)
    for u_begin in range(0, n, _BLOCK):
        for v_begin in range(u_begin, n, _BLOCK):
            for u in range(u_begin, min(u_begin + _BLOCK, n)):
                for v in range(max(u + 1, v_begin), min(v_begin + _BLOCK, n)):
                    out[v, u] = out[u, v]


@kernel
def _x_log_x(x):
    """Return x log x, and 0 for what rounding has left of 0."""
    x = x if x > _LEAST else _LEAST
    return x * log_normal(x)


@kernel
def fill_spanning_tree(weight, parent, joined):
    """Fill in the tree of greatest weight with root 0, of parent -1 (Prim), and the order of
    joining.
    """
    n = len(parent)
    parent[:] = 0
    parent[0] = -1
    joined[0] = 0
    best = weight[0].copy()
    is_outside = np.ones(n, np.bool_)
    is_outside[0] = False
    for k in range(1, n):
        chosen = -1
        for u in range(n):
            if is_outside[u] and (chosen < 0 or best[u] > best[chosen]):
                chosen = u
        is_outside[chosen] = False
        joined[k] = chosen
        row = weight[chosen]
        for u in range(n):
            if is_outside[u] and row[u] > best[u]:
                best[u] = row[u]
                parent[u] = chosen
