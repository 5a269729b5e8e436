"""Gradient-boosted conditional distributions: sums of small trees (Friedman 2001)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.boosting import BoostRule, boost
from mnlearn.kernels.trees import LEAF, TreeData
from mnlearn.learning.shares import Arrays, Shares
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import (
    FeatureSet,
    canonicalise,
    concatenate,
    feature_set,
    literals_of_states,
    with_literal,
)


class BoostedTrees:
    """The trees of all variables for the most rounds of a grid; fewer rounds are their first ones.

    Every state of a variable but the first has trees of its own, one a round. Columns with more
    ones than zeros are negated while trees grow: work is proportional to the ones.
    """

    def __init__(self, data: Dataset, n_rounds: int, depth: int, rule: BoostRule) -> None:
        self._data, self._rule, self._shape = data, rule, (n_rounds, 2**depth - 1)
        self._negated = data.frequency > 0.5
        self._arity = np.where(np.diff(data.schema.start) > 0, data.schema.arity, 1)
        # Log-odds of the states of all variables, one after the other, of counts plus 1.
        self._start = np.cumsum([0, *self._arity])
        values = data.schema.values(data.rows)
        counts = [
            np.bincount(x, data.weight, k) for x, k in zip(values.T, self._arity, strict=True)
        ]
        self._log_odds = np.concatenate([np.log((c + 1.0) / (c[0] + 1.0)) for c in counts])

    def grow(self, shares: Shares, name: tuple[Any, ...], threads: int) -> None:
        """Grow the trees of all variables, or of this process's share of them."""
        n_vars = self._data.n_vars
        self._grown = shares.learn(name, n_vars, lambda: self._boost, self._absent, threads)

    def _boost(self, first: int, end: int) -> Arrays:
        """Grow the trees of a range of variables."""
        data = self._data
        rows = data.rows ^ self._negated.astype(np.uint8)
        indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1, dtype=np.int64))])
        indices = np.nonzero(rows)[1].astype(np.int32)
        columns = np.ascontiguousarray(rows.T)
        given = TreeData(columns, indptr, indices, data.weight, data.columns, 0)
        values = data.schema.values(data.rows)
        out = self._absent(first, end)
        begin = 0
        for v in range(first, end):
            score = np.tile(self._log_odds[self._start[v] : self._start[v + 1]], (len(rows), 1))
            own = slice(begin, begin + self._arity[v] - 1)
            target = data.schema.start[v], data.schema.start[v + 1]
            state = np.ascontiguousarray(values[:, v])
            boost(given, state, target, self._rule, score, out["split"][own], out["value"][own])
            begin = own.stop
        return out

    def _absent(self, first: int, end: int) -> dict[str, NDArray]:
        """Return trees without splits for a range of variables."""
        n_rounds, n_inner = self._shape
        shape = int((self._arity[first:end] - 1).sum()), n_rounds
        split = np.full((*shape, n_inner), LEAF, np.int32)
        return {"split": split, "value": np.zeros((*shape, 2 * n_inner + 1))}

    def network(self, n_rounds: int) -> DependencyNetwork:
        """Return the network of the first rounds: log-odds of the states, and paths to leaves."""
        schema, n_vars = self._data.schema, self._data.n_vars
        split, value = (self._grown[name][:, :n_rounds] for name in ("split", "value"))
        target = np.repeat(np.arange(len(self._arity)), self._arity - 1)
        state = np.arange(len(target)) - np.searchsorted(target, target) + 1
        of, paths, weight = map(list, zip(*self._leaves(split, value), strict=True))
        of.append(np.arange(len(target)))
        paths.append(feature_set(np.zeros(len(target) + 1), np.empty(0), np.empty(0)))
        weight.append(self._log_odds[self._start[target] + state])
        owner = np.concatenate(of)
        literals = literals_of_states(schema, target[owner], state[owner])
        found, place = canonicalise(with_literal(concatenate(paths), *literals), schema.start)
        # One path may be in the trees of several variables, and in those of several rounds.
        key, own = np.unique(place * n_vars + target[owner], return_inverse=True)
        total = np.bincount(own, np.concatenate(weight))
        kept = (key >= 0) & (total != 0)
        feature, variable = np.divmod(key[kept], n_vars)
        return DependencyNetwork(
            flat_trees(schema), found.select(feature), variable, total[kept], schema
        )

    def _leaves(
        self, split: NDArray[np.int32], value: NDArray[np.float64]
    ) -> Iterator[tuple[NDArray[np.int64], FeatureSet, NDArray[np.float64]]]:
        """Yield for each place in a tree: the trees with a leaf there, its paths and its values."""
        steps: list[tuple[tuple[int, int], ...]] = [()]
        for j in range(value.shape[2]):
            above = [k for k, _ in steps[j]]
            is_leaf = (split[:, :, above] != LEAF).all(axis=2)
            if j < split.shape[2]:
                steps += [(*steps[j], (j, branch)) for branch in (0, 1)]
                is_leaf &= split[:, :, j] == LEAF
            tree, round_ = np.nonzero(is_leaf)
            column = split[tree, round_][:, above]
            branch = np.array([one for _, one in steps[j]], np.uint8) ^ self._negated[column]
            start = np.arange(len(tree) + 1) * len(above)
            yield tree, feature_set(start, column.ravel(), branch.ravel()), value[tree, round_, j]
