"""Single questions to factors: joint distributions, the most probable states, samples."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tables.buckets import MAX_CELLS
from mnlearn.inference.tables.clique_tree import LEAST, CliqueTree, Rows, Values
from mnlearn.inference.tables.factors import Factors
from mnlearn.kernels.tables.blocks import LOG_SUM, MAX, SUM
from mnlearn.kernels.tables.decoding import choose_states, row_streams
from mnlearn.kernels.tables.messages import State
from mnlearn.kernels.tables.pruning import drop_barren, drop_separated
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import NO_STATE


def relevant(
    factors: Factors, known: NDArray[np.bool_], query: Sequence[int], whole: bool = False
) -> Factors:
    """Return the factors that bear on the distribution of some variables given others.

    Distributions of variables that neither are asked for, nor known, nor have an effect on such
    ones are left out, and so are factors that known variables separate from the query.

    whole : whether separated factors stay, because the probability of the evidence is asked for.
    """
    wanted = np.zeros(len(known), bool)
    wanted[list(query)] = True
    kept = np.ones(len(factors), bool)
    n_times = np.bincount(factors.scope, minlength=len(known))
    drop_barren(factors.start, factors.scope, factors.child, known, wanted, n_times, kept)
    if not whole:
        drop_separated(factors.start, factors.scope, known, wanted, kept)
    return factors if kept.all() else factors.select(kept)


def pruned_tree(
    factors: Factors,
    known: NDArray[np.bool_],
    query: Sequence[int],
    whole: bool = False,
    **settings: object,
) -> CliqueTree:
    """Return a tree of the factors that bear on a query; see `relevant` and `CliqueTree`."""
    own = relevant(factors, known, query, whole)
    absent = np.zeros(len(known), bool)
    absent[factors.scope] = True
    absent[own.scope] = False
    absent[list(query)] = False
    return CliqueTree(own, known | absent, **settings)  # type: ignore[arg-type]


def joint(
    factors: Factors, rows: Rows, query: Sequence[int], max_cells: float = MAX_CELLS
) -> Values:
    """Return P(query | row) of all joint states of some variables.

    rows : uint8, (n_rows, n_vars). Evidence, all rows on the same variables. query : different
    variables; one that is known is in its state.
    """
    known = rows[0] != NO_STATE
    free = [v for v in query if not known[v]]
    tree = pruned_tree(factors, known, free, kept=free, max_cells=max_cells)
    shape = factors.arity[list(query)]
    out = np.zeros((len(rows), *shape))
    for out_row, values in zip(out, rows, strict=True):
        state, _ = computed(tree, values, SUM)
        table = tree.table(state)
        if state.log:
            table = np.exp(table - max(table.max(), LEAST))
        with np.errstate(invalid="ignore"):
            index = tuple(int(values[v]) if known[v] else slice(None) for v in query)
            out_row[index] = table / table.sum()
    return out


def most_probable(
    factors: Factors, rows: Rows, max_cells: float = MAX_CELLS
) -> tuple[Rows, Values]:
    """Return the most probable states of all variables given each row, and their log-products.

    The product of the factors is the probability times Z. Rows may know different variables. Where
    evidence is impossible, the logarithm is minus infinity.
    """
    known = (rows != NO_STATE).all(axis=0)
    tree = CliqueTree(factors, known, max_cells=max_cells, in_parts=True)
    out, log_value = _complete(factors, rows), np.empty(len(rows))
    for k, values in enumerate(rows):
        state, log_value[k] = computed(tree, values, MAX)
        choose(tree, state, out[k : k + 1])
    return out, log_value


def draw(
    factors: Factors,
    values: Rows,
    n_rows: int,
    seed: int,
    threads: int = 1,
    max_cells: float = MAX_CELLS,
) -> Rows:
    """Return independent samples of all variables given the states of some."""
    tree = CliqueTree(factors, values != NO_STATE, max_cells=max_cells, in_parts=True)
    state, _ = computed(tree, values, SUM)
    out = np.tile(_complete(factors, values), (n_rows, 1))
    choose(tree, state, out, seed, threads)
    return out


def choose(tree: CliqueTree, state: State, out: Rows, seed: int = 0, threads: int = 1) -> None:
    """Write the states of all variables of a tree to `out`: the best ones, or drawn ones.

    The messages up are those of the last part of the tree; those of the others are sent again.
    """
    streams = row_streams(len(out), np.uint64(seed))
    for begin, end in reversed(tree.parts):
        tree.send_again(state, begin, end)

        def fill(first: int, last: int, begin: int = begin, end: int = end) -> None:
            choose_states(tree.buckets, state, begin, end, first, last, streams, out)

        map_ranges(fill, len(out), threads)


def computed(tree: CliqueTree, values: Rows, mode: int | NDArray[np.int64]) -> tuple[State, float]:
    """Return the messages of one row and the log of its value; see `CliqueTree.run`.

    They are logarithms where linear space is too small.
    """
    state = tree.new_state(mode)
    found = tree.run(state, values)
    if found is None:
        state = tree.new_state(LOG_SUM)
        found = tree.run(state, values)
    return state, -math.inf if found is None else found


def _complete(factors: Factors, rows: Rows) -> Rows:
    """Return evidence in which the variables of one state have it."""
    return np.where((rows == NO_STATE) & (factors.arity == 1), 0, rows).astype(np.uint8)
