"""Literals on columns as literals on indicators, of which a conjunction has one for a variable."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.sampling.blocks import Blocks
from mnlearn.models.features import FeatureSet, feature_set, with_least_literals

# A variable, and some of its states.
StateSet = tuple[int, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Indicators:
    """What literals speak of: columns, and then sets of columns of one variable.

    start : int64, (n_vars + 1,). Columns of the variables; see `Schema.start`. sets : variables and
    states, ascending. Set s is the indicator n_columns + s, which is 1 where the variable is in one
    of the states.
    """

    start: NDArray[np.int64]
    sets: tuple[StateSet, ...] = ()

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.start) - 1

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.start[-1])

    @cached_property
    def variable_of(self) -> NDArray[np.int64]:
        """The variable of each indicator."""
        columns = np.repeat(np.arange(self.n_vars), np.diff(self.start))
        return np.concatenate([columns, np.array([v for v, _ in self.sets], np.int64)])

    def columns_of(self, indicator: int) -> NDArray[np.int64]:
        """Return the columns of an indicator: itself, or those of a set."""
        if indicator < self.n_columns:
            return np.array([indicator])
        v, states = self.sets[indicator - self.n_columns]
        return np.asarray(self.start[v] + np.array(states))

    def extend(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the values of all indicators in some rows of columns."""
        if not self.sets:
            return rows
        more = [rows[:, self.start[v] + np.array(states)].any(axis=1) for v, states in self.sets]
        return np.column_stack([rows, *more]).astype(np.uint8)

    def fold(self, odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores of columns from the log-odds of all indicators, shape (n_rows, ...)."""
        scores = odds[:, : self.n_columns]
        for s, (v, states) in enumerate(self.sets, start=self.n_columns):
            scores[:, self.start[v] + np.array(states)] += odds[:, s, None]
        return scores

    def blocks(self, variables: NDArray[np.int64]) -> Blocks:
        """Return the blocks of some variables, ascending, all of which have columns."""
        width = np.diff(self.start)[variables]
        place = {v: b for b, v in enumerate(variables.tolist())}
        own = [(place[v], states) for v, states in self.sets if v in place]
        of_sets = np.array([b for b, _ in own], np.int64)
        member = np.zeros((len(own), int(width.max(initial=1))), np.uint8)
        for s, (_, states) in enumerate(own):
            member[s, list(states)] = 1
        return Blocks(
            np.concatenate([[0], np.cumsum(width, dtype=np.int64)]),
            np.searchsorted(of_sets, np.arange(len(variables) + 1)),
            member,
            np.concatenate([np.repeat(np.arange(len(variables)), width), of_sets]),
        )


def over_indicators(
    features: FeatureSet, start: NDArray[np.int64]
) -> tuple[FeatureSet, NDArray[np.bool_], Indicators]:
    """Return conjunctions with one literal at most for each variable.

    Several literals on one variable are one: on a column, if they leave or exclude one state, else
    on the set of the states that they exclude.

    Conjunctions that cannot hold are empty; the second array says which can.
    """
    width = np.diff(start)
    if not (width > 1).any():
        return features, np.ones(len(features), bool), Indicators(start)
    least, possible = with_least_literals(features, start)
    variable = np.repeat(np.arange(len(width)), width)[least.var]
    owner, var, value = least.owner, least.var.astype(np.int64), least.value.copy()
    new = np.ones(len(var), bool)
    new[1:] = (owner[1:] != owner[:-1]) | (variable[1:] != variable[:-1])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(var))
    # Only states that are excluded are still several.
    several = (last - first > 1) & possible[owner[first]]
    excluded: dict[int, StateSet] = {}
    for a, b in zip(first[several].tolist(), last[several].tolist(), strict=True):
        v = int(variable[a])
        excluded[a] = v, tuple((var[a:b] - start[v]).tolist())
    sets = tuple(sorted(set(excluded.values())))
    number = {own: int(start[-1]) + s for s, own in enumerate(sets)}
    for a, own in excluded.items():
        var[a], value[a] = number[own], 0
    kept = new & possible[owner]
    length = np.bincount(owner[kept], minlength=len(features))
    out = feature_set(np.concatenate([[0], np.cumsum(length)]), var[kept], value[kept])
    return out, possible, Indicators(start, sets)
