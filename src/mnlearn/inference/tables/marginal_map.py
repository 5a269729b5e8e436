"""The most probable states of some variables, the others summed out."""

from collections.abc import Sequence

import numpy as np

from mnlearn.inference.tables.answers import choose, computed, most_probable, pruned_tree
from mnlearn.inference.tables.buckets import MAX_CELLS
from mnlearn.inference.tables.clique_tree import CliqueTree, Rows
from mnlearn.inference.tables.factors import Factors
from mnlearn.kernels.tables.blocks import LOG_SUM, MAX
from mnlearn.kernels.tables.messages import FREE
from mnlearn.kernels.tables.rows import bound, enter_row
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE

# A tree that eliminates the maximised variables last is taken if it needs up to so many
# multiplications, with logarithms: some seconds.
_PRODUCTS = 1e8
# Branches that cannot be better than this, in nats, are cut off.
_BETTER = 1e-9


def marginal_map(
    factors: Factors, values: Rows, query: Sequence[int], max_cells: float = MAX_CELLS
) -> tuple[dict[int, int], float]:
    """Return the most probable joint state of some variables given the states of others.

    A tree that sums first and maximises afterwards is exact. Where it is too wide, a branch and
    bound search fixes one variable after another. Its bound is the value of a tree of any order:
    where a maximum is taken before a sum, the value can only grow (Park & Darwiche, "Solving MAP
    exactly using systematic search", UAI 2003).
    """
    known = values != NO_STATE
    own = [v for v in query if factors.arity[v] > 1]
    states = dict.fromkeys(query, 0)
    try:
        tree = pruned_tree(factors, known, query, whole=True, later=own, max_cells=max_cells)
    except InputError:
        tree = None
    if tree is not None and tree.cost.operations <= _PRODUCTS:
        state, found = computed(tree, values, _modes(tree, own))
        out = values[None].copy()
        choose(tree, state, out)
        best = {v: int(out[0, v]) for v in own}
    else:
        best, found = _Search(factors, values, own, max_cells).best()
    if found == -np.inf:
        raise InputError("has probability 0.", where="evidence")
    return {**states, **best}, found


def _modes(tree: CliqueTree, query: Sequence[int]) -> np.ndarray:
    return np.where(np.isin(tree.buckets.variable, query), MAX, LOG_SUM)


class _Search:
    """Branch and bound over the states of the query, from the end of the order to its begin."""

    def __init__(
        self, factors: Factors, values: Rows, query: Sequence[int], max_cells: float
    ) -> None:
        known = values != NO_STATE
        tree = pruned_tree(factors, known, query, whole=True, max_cells=max_cells)
        self._buckets, self._entry = tree.buckets, tree.entry
        self._state, _ = computed(tree, values, _modes(tree, query))
        self._constant = enter_row(tree.buckets, self._state, tree.entry, values)
        self._own = np.flatnonzero(np.isin(tree.buckets.variable, query))[::-1].tolist()
        self._path = {b: self._path_from(b) for b in self._own}
        self._found: list[int] = []
        self._value = -np.inf
        # The states of the most probable assignment of all variables are a good first guess.
        guess = most_probable(factors, values[None], max_cells)[0][0]
        self._try([int(guess[tree.buckets.variable[b]]) for b in self._own])

    def best(self) -> tuple[dict[int, int], float]:
        """Return the best states of the query and their value."""
        self._descend(0, [])
        variables = self._buckets.variable[self._own].tolist()
        return dict(zip(variables, self._found, strict=False)), self._value

    def _path_from(self, b: int) -> np.ndarray:
        """Return a bucket and all that its message goes through."""
        path = [b]
        while self._buckets.parent[path[-1]] >= 0:
            path.append(int(self._buckets.parent[path[-1]]))
        return np.array(path)

    def _fix(self, b: int, x: int) -> float:
        """Fix a variable in a state, or free it, and return the bound."""
        self._state.fixed[b] = x
        return float(bound(self._buckets, self._state, self._entry, self._constant, self._path[b]))

    def _try(self, states: list[int]) -> None:
        """Note the value of a joint state of the query, and free its variables again."""
        value = -np.inf
        for b, x in zip(self._own, states, strict=True):
            value = self._fix(b, x)
        self._found, self._value = states, value
        for b in self._own:
            self._fix(b, FREE)

    def _descend(self, depth: int, states: list[int]) -> None:
        """Search the states of the rest of the query, the most promising ones first."""
        b = self._own[depth]
        bounds = [self._fix(b, x) for x in range(int(self._buckets.arity[b]))]
        for x in np.argsort(bounds)[::-1].tolist():
            if bounds[x] <= self._value + _BETTER:
                break
            if depth + 1 == len(self._own):
                self._found, self._value = [*states, x], bounds[x]
                break
            self._fix(b, x)
            self._descend(depth + 1, [*states, x])
        self._fix(b, FREE)
