"""Conjunctive features in flat arrays, and their algebra."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.fields import check_spans, set_array
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema


@dataclass(frozen=True, eq=False)
class FeatureSet:
    """Conjunctions of literals; a literal asks one binary variable for one value.

    The literals of feature f are var[start[f]:start[f + 1]] and their values, 0 or 1.

    `canonicalise` returns a canonical set: its features are distinct and satisfiable, they stand in
    order of length and then of their literals, and the variables of a feature ascend.
    """

    start: NDArray[np.int64]
    var: NDArray[np.int32]
    value: NDArray[np.uint8]

    def __post_init__(self) -> None:
        start = set_array(self, "start", np.int64, (None,))
        n_literals = len(set_array(self, "var", np.int32, (None,)))
        set_array(self, "value", np.uint8, (n_literals,))
        check_spans(self, start, n_literals)

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """Number of literals of each feature, int64 of shape (n_features,)."""
        return read_only(np.diff(self.start))

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """Feature of each literal, int64 of shape (n_literals,)."""
        return read_only(np.repeat(np.arange(len(self)), self.length))

    def literals(self, f: int) -> list[tuple[int, int]]:
        """Return feature `f` as a list of (variable, value) pairs."""
        span = slice(self.start[f], self.start[f + 1])
        return list(zip(self.var[span].tolist(), self.value[span].tolist(), strict=True))

    def select(self, index: NDArray) -> "FeatureSet":
        """Return some features, by their positions in the order of the result, or by a mask."""
        index = np.arange(len(self))[index]
        length = self.length[index]
        start = np.concatenate([[0], np.cumsum(length)])
        literal = np.repeat(self.start[index] - start[:-1], length) + np.arange(start[-1])
        return feature_set(start, self.var[literal], self.value[literal])

    def size(self, weight: NDArray[np.float64]) -> dict[str, float]:
        """Return the number and the mean length of the features with weights other than 0."""
        length = self.length[weight != 0]
        return {
            "n_features": len(length),
            "mean_length": float(np.round(length.mean(), 6)) if len(length) else 0.0,
        }

    def satisfied(self, rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Return which rows satisfy which features, bool of shape (n_rows, n_features)."""
        out = np.ones((len(rows), len(self)), bool)
        for f in range(len(self)):
            for v, value in self.literals(f):
                out[:, f] &= rows[:, v] == value
        return out


def feature_set(start: NDArray, var: NDArray, value: NDArray) -> FeatureSet:
    """Return a FeatureSet of array-likes, converted to its dtypes; see `FeatureSet`."""
    return FeatureSet(
        np.asarray(start, np.int64),
        np.asarray(var, np.int32),
        np.asarray(value, np.uint8),
    )


def features_of(conjunctions: Iterable[Sequence[tuple[int, int]]]) -> FeatureSet:
    """Return a FeatureSet of lists of (variable, value) pairs, in the order of the lists."""
    conjunctions = list(conjunctions)
    start = np.concatenate([[0], np.cumsum([len(c) for c in conjunctions], dtype=np.int64)])
    pairs = np.array([pair for c in conjunctions for pair in c], np.int64).reshape(-1, 2)
    return feature_set(start, pairs[:, 0], pairs[:, 1])


def atomic_features(n_columns: int) -> FeatureSet:
    """Return the features that a column is 1, one for each column, in their order."""
    return feature_set(np.arange(n_columns + 1), np.arange(n_columns), np.ones(n_columns))


def concatenate(sets: Sequence[FeatureSet]) -> FeatureSet:
    """Return the features of all sets, one set after the other."""
    length = np.concatenate([s.length for s in sets])
    return feature_set(
        np.concatenate([[0], np.cumsum(length)]),
        np.concatenate([s.var for s in sets]),
        np.concatenate([s.value for s in sets]),
    )


def with_literal(features: FeatureSet, var: NDArray, value: int | NDArray) -> FeatureSet:
    """Return each feature with one literal added at its end."""
    ends = features.start[1:]
    return feature_set(
        features.start + np.arange(len(features.start)),
        np.insert(features.var, ends, var),
        np.insert(features.value, ends, value),
    )


def literals_of_states(
    schema: Schema, v: NDArray | int, state: NDArray | int
) -> tuple[NDArray, NDArray]:
    """Return the columns and values that say that variables of several states are in some."""
    several = schema.arity[v] > 2
    return schema.start[v] + np.where(several, state, 0), np.where(several, 1, state)


def state_features(schema: Schema, scope: Sequence[int], states: NDArray) -> FeatureSet:
    """Return for each row of states, (n_features, len(scope)), the conjunction of these states.

    Variables of one state are left out.
    """
    kept = np.flatnonzero(schema.arity[list(scope)] > 1)
    own = np.array(scope, np.int64)[kept]
    own, place = np.sort(own), kept[np.argsort(own)]
    column, value = literals_of_states(schema, own[None, :], states[:, place])
    start = np.arange(len(states) + 1) * len(own)
    return feature_set(start, np.broadcast_to(column, value.shape).ravel(), np.ravel(value))


def canonicalise(
    features: FeatureSet, start: NDArray[np.int64] | None = None
) -> tuple[FeatureSet, NDArray[np.int64]]:
    """Return the distinct satisfiable features in canonical order, and the place of each, or -1.

    Of a variable of several columns a feature keeps the state that it asks for, or else those that
    it excludes.
    """
    code, owner, possible = _least_literals(features, start)
    length = np.bincount(owner, minlength=len(features))
    first = np.concatenate([[0], np.cumsum(length)])

    place = np.full(len(features), -1, np.int64)
    blocks: list[NDArray] = []
    n_seen = 0
    for n_literals in np.unique(length[possible]).tolist():
        members = np.flatnonzero(possible & (length == n_literals))
        if n_literals == 0:
            blocks.append(np.zeros((1, 0), np.int64))
            place[members] = n_seen
            n_seen += 1
            continue
        block, inverse = _distinct_rows(code[first[members][:, None] + np.arange(n_literals)])
        place[members] = n_seen + inverse
        n_seen += len(block)
        blocks.append(block)
    lengths = np.concatenate([[0], *(np.full(len(b), b.shape[1]) for b in blocks)])
    codes = np.concatenate([np.zeros(0, np.int64), *(b.ravel() for b in blocks)])
    return feature_set(np.cumsum(lengths), codes // 2, codes % 2), place


def with_least_literals(
    features: FeatureSet, start: NDArray[np.int64]
) -> tuple[FeatureSet, NDArray[np.bool_]]:
    """Return each feature with the literals that `canonicalise` gives it, and which can hold."""
    code, owner, possible = _least_literals(features, start)
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(features)))])
    return feature_set(first, code // 2, code % 2), possible


def _least_literals(
    features: FeatureSet, start: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return literals 2 * column + value and their features, and which features can hold."""
    code = features.var.astype(np.int64) * 2 + features.value
    order = np.lexsort((code, features.owner))
    code, owner = code[order], features.owner[order]
    # The first literal has no predecessor; no literal has the code -2.
    before = np.concatenate([[-2], code])[:-1]
    same_feature = owner == np.concatenate([[-1], owner])[:-1]
    repeated = same_feature & (code == before)
    clash = same_feature & (code // 2 == before // 2) & ~repeated
    possible = np.ones(len(features), bool)
    possible[owner[clash]] = False
    code, owner = code[~repeated], owner[~repeated]
    if start is not None and (np.diff(start) > 1).any():
        code, owner = _reduce_states(code, owner, start, possible)
    return code, owner, possible


def _reduce_states(
    code: NDArray, owner: NDArray, start: NDArray[np.int64], possible: NDArray[np.bool_]
) -> tuple[NDArray, NDArray]:
    """Return the literals of features that say the least of each variable of several columns.

    `possible` is set to False for features that leave a variable no state.
    """
    column, value = code // 2, code % 2
    variable = np.searchsorted(start, column, "right") - 1
    group = np.cumsum((np.diff(owner, prepend=-1) != 0) | (np.diff(variable, prepend=-1) != 0)) - 1
    n_asked, n_literals = np.bincount(group, value), np.bincount(group)
    width = np.diff(start)[variable]
    left = np.where(n_asked > 0, 2 - n_asked, np.inf)[group]
    left = np.where(n_asked[group] == 0, width - n_literals[group], left)
    left[width == 1] = np.inf
    possible[owner[left < 1]] = False
    # The state that is left where all others are excluded.
    excluded = np.bincount(group, column)[group]
    last = start[variable] * width + width * (width - 1) // 2 - excluded
    turned = (n_asked[group] == 0) & (left == 1)
    code = np.where(turned, 2 * last.astype(np.int64) + 1, code)
    first = np.diff(group, prepend=-1) != 0
    kept = (left == np.inf) | (turned & first) | (value == 1) | ((n_asked[group] == 0) & (left > 1))
    return code[kept], owner[kept]


def _distinct_rows(matrix: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return np.unique(axis=0) with its inverse; big-endian bytes sort like the numbers."""
    keys = np.ascontiguousarray(matrix.astype(">u4"))
    view = keys.view(np.dtype((np.void, keys.shape[1] * 4)))[:, 0]
    _, first, inverse = np.unique(view, return_index=True, return_inverse=True)
    return matrix[first], inverse


def check_features(features: FeatureSet, n_columns: int, least: int = 1) -> None:
    """Refuse features that kernels cannot read, or of fewer literals than `least`."""
    beside = (features.var < 0) | (features.var >= n_columns)
    for wrong, expected in (
        (beside, f"columns from 0 to {n_columns - 1}"),
        (features.value > 1, "values 0 and 1"),
    ):
        if wrong.any():
            f = int(features.owner[np.argmax(wrong)])
            raise InputError(f"features, number {f}: expected {expected}.")
    if len(features) and features.length.min() < least:
        f = int(np.argmin(features.length))
        raise InputError(f"features, number {f}: expected at least one literal.")
    same_feature = features.owner[1:] == features.owner[:-1]
    disorder = np.flatnonzero(same_feature & (features.var[1:] <= features.var[:-1]))
    if len(disorder):
        place = features.owner * n_columns + features.var
        distinct, n_times = np.unique(place, return_counts=True)
        if (n_times > 1).any():
            f, c = divmod(int(distinct[np.argmax(n_times > 1)]), n_columns)
            raise InputError(f"features, number {f}: expected each column once, {c} is repeated.")
        f = int(features.owner[disorder[0]])
        raise InputError(f"features, number {f}: expected its columns in ascending order.")
