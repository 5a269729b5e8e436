"""Discrete factor graphs as flat arrays, and the factors of models."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.tables.features import add_features
from mnlearn.kernels.tables.graphs import Given
from mnlearn.models.bayesian_network import MAX_TABLE, BayesianNetwork
from mnlearn.models.cpds import MAX_CELLS
from mnlearn.models.features import FeatureSet
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# In `Factors.child`: a factor that is not the conditional distribution of one variable.
NO_CHILD = -1
Scope = tuple[int, ...]


class Scaled(NamedTuple):
    """Factors in linear space, each divided by its greatest cell.

    shift : float64, (n_factors,), the logarithm of the greatest cell. low : that of the least
        positive cell of `table`.
    """

    table: NDArray[np.float64]
    shift: NDArray[np.float64]
    low: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Factors:
    """P(x) is proportional to the product of the factors, each a table over some variables.

    arity : int64, (n_vars,). Number of states of each variable. start : int64, (n_factors + 1,).
    The variables of factor f are scope[start[f]:start[f + 1]]; a constant has none. scope : int32,
    (n_members,). In any order, the variables of a factor all different. offset : int64, (n_factors
    + 1,). The cells of factor f are log_table[offset[f]:offset[f + 1]]. log_table : float64,
    (n_cells,). In nats, minus infinity allowed; the last variable of the scope changes fastest.
    child : int32, (n_factors,). The variable over whose states the factor adds up to 1, or
    NO_CHILD.
    """

    arity: NDArray[np.int64]
    start: NDArray[np.int64]
    scope: NDArray[np.int32]
    offset: NDArray[np.int64]
    log_table: NDArray[np.float64]
    child: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    def __post_init__(self) -> None:
        if not len(self.child):
            object.__setattr__(self, "child", np.full(len(self), NO_CHILD, np.int32))

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def scopes(self) -> list[Scope]:
        """The variables of each factor."""
        members, start = self.scope.tolist(), self.start.tolist()
        return [tuple(members[a:b]) for a, b in itertools.pairwise(start)]

    @cached_property
    def stride(self) -> NDArray[np.int64]:
        """How far apart the cells of each factor are along each of its variables."""
        sizes = self.arity[self.scope]
        out = np.ones(len(sizes), np.int64)
        n_members = np.diff(self.start)
        # The last variable of a scope changes fastest, then the last but one, and so on.
        for k in range(1, int(n_members.max(initial=0))):
            own = self.start[1:][n_members > k] - 1 - k
            out[own] = out[own + 1] * sizes[own + 1]
        return out

    @cached_property
    def scaled(self) -> Scaled:
        """The factors in linear space."""
        if not len(self):
            return Scaled(np.zeros(0), np.zeros(0), np.zeros(0))
        shift = np.maximum.reduceat(self.log_table, self.offset[:-1])
        impossible = np.isneginf(shift)
        shift[impossible] = 0.0
        table = self.log_table - np.repeat(shift, np.diff(self.offset))
        low = np.minimum.reduceat(np.where(np.isneginf(table), 0.0, table), self.offset[:-1])
        return Scaled(np.exp(table), shift, low)

    def table(self, f: int) -> NDArray[np.float64]:
        """Return the table of factor `f`, an axis for each of its variables."""
        shape = self.arity[list(self.scopes[f])].tolist()
        return self.log_table[self.offset[f] : self.offset[f + 1]].reshape(shape)

    def select(self, chosen: NDArray[np.bool_]) -> "Factors":
        """Return some of the factors."""
        members, cells = np.diff(self.start), np.diff(self.offset)
        return Factors(
            self.arity,
            _spans(members[chosen]),
            self.scope[np.repeat(chosen, members)],
            _spans(cells[chosen]),
            self.log_table[np.repeat(chosen, cells)],
            self.child[chosen],
        )


def factors_of_tables(
    arity: Sequence[int] | NDArray[np.int64],
    scopes: Sequence[Scope],
    tables: Iterable[NDArray[np.float64]],
    child: NDArray[np.int32] | None = None,
) -> Factors:
    """Return the factors of some scopes, whose log tables have an axis for each variable."""
    flat = [np.ravel(table) for table in tables]
    return Factors(
        np.asarray(arity, np.int64),
        _spans(map(len, scopes)),
        np.array([v for own in scopes for v in own], np.int32),
        _spans(map(len, flat)),
        np.concatenate(flat) if flat else np.zeros(0),
        np.full(len(scopes), NO_CHILD, np.int32) if child is None else child,
    )


def factors_of(model: Model) -> Factors | None:
    """Return the factors of a model; None where tables would be too large or there are no factors.

    A Bayesian network has a factor for each variable, a junction tree one for each clique, and a
    Markov network one for each scope that is not inside another. There are none of circuits, of
    trees of hidden variables or of features, which sum variables out themselves, nor of dependency
    networks. A feature or a tree of many variables is not written as a table either: the circuit of
    such a model keeps its context-specific structure.
    """
    if isinstance(model, BayesianNetwork):
        return _factors_of_conditionals(model)
    if isinstance(model, JunctionTree):
        scopes = [model.clique(c) for c in range(model.n_cliques)]
        return factors_of_tables(model.schema.arity, scopes, map(model.table, range(len(scopes))))
    if isinstance(model, MarkovNetwork):
        return factors_of_features(model.schema, model.features, model.weight)
    return None


def _factors_of_conditionals(network: BayesianNetwork) -> Factors | None:
    """Return the conditional distributions of all variables; see `factors_of`."""
    variables = range(network.n_vars)
    try:
        tables = [network.log_table(v) for v in variables]
    except InputError:
        return None
    scopes = [(*network.parents(v), v) for v in variables]
    return factors_of_tables(network.schema.arity, scopes, tables, np.array(variables, np.int32))


def factors_of_features(
    schema: Schema, features: FeatureSet, weight: NDArray[np.float64]
) -> Factors | None:
    """Return the features of a Markov network as tables; see `factors_of`."""
    if not len(features) or not (weight < np.inf).all():
        return None if len(features) else factors_of_tables(schema.arity, [], [])
    variable = schema.variable_of[features.var].tolist()
    start = features.start.tolist()
    own = [tuple(dict.fromkeys(variable[a:b])) for a, b in itertools.pairwise(start)]
    arity: list[Any] = schema.arity.tolist()
    kept, home_of = _maximal(set(own))
    cells = [math.prod(arity[v] for v in scope) for scope in kept]
    if max(cells) > MAX_TABLE or sum(cells) > MAX_CELLS:
        return None
    scope_start, offset = _spans(map(len, kept)), _spans(cells)
    scope = np.array([v for one in kept for v in one], np.int32)
    table = np.zeros(offset[-1])
    add_features(
        (features.start, features.var, features.value, weight),
        (schema.variable_of, schema.start, schema.arity),
        np.array([home_of[one] for one in own]), scope, scope_start, offset, table,
    )  # fmt: skip
    return Factors(schema.arity, scope_start, scope, offset, table)


def _maximal(scopes: set[Scope]) -> tuple[list[Scope], dict[Scope, int]]:
    """Return the scopes that are in no other, and the number of the one that each scope is in."""
    kept: list[Scope] = []
    home: dict[Scope, int] = {}
    holders: dict[int, list[int]] = {}
    for scope in sorted(scopes, key=lambda one: (-len(one), one)):
        fewest = min((holders.get(v, []) for v in scope), key=len)
        found = next((k for k in fewest if set(scope) <= set(kept[k])), len(kept))
        home[scope] = found
        if found == len(kept):
            kept.append(scope)
            for v in scope:
                holders.setdefault(v, []).append(found)
    return kept, home


def given_of_factors(factors: Factors) -> Given:
    """Return factors as the kernels of belief propagation read them."""
    none, start = np.zeros(0, np.int64), np.zeros(1, np.int64)
    return Given(
        factors.arity, factors.start, factors.scope, factors.offset, factors.log_table,
        start, none, np.zeros(0), start, np.zeros(0, np.uint8),
    )  # fmt: skip


def given_of_features(schema: Schema, features: FeatureSet, weight: NDArray[np.float64]) -> Given:
    """Return features, each a factor of its own, as the kernels of belief propagation read them."""
    variable, owner = schema.variable_of[features.var], features.owner
    is_new = np.ones(len(variable), bool)
    is_new[1:] = (variable[1:] != variable[:-1]) | (owner[1:] != owner[:-1])
    scope = variable[is_new].astype(np.int64)
    asked_at, width = _spans(schema.arity[scope]), schema.arity[variable]
    named = np.where(width == 2, 1, features.var - schema.start[variable])
    literal = np.repeat(np.arange(len(variable)), width)
    state = np.arange(len(literal)) - np.repeat(_spans(width)[:-1], width)
    fits = (state == named[literal]) == (features.value[literal] == 1)
    asked = np.ones(asked_at[-1], np.uint8)
    asked[(asked_at[np.cumsum(is_new) - 1][literal] + state)[~fits]] = 0
    start = np.searchsorted(owner[is_new], np.arange(len(features) + 1))
    nothing = given_of_factors(factors_of_tables(schema.arity, [], []))
    return nothing._replace(
        feature_start=start, feature_scope=scope, weight=weight, asked_at=asked_at, asked=asked
    )


def _spans(lengths: Iterable[int]) -> NDArray[np.int64]:
    """Return where items of some lengths begin, and where the last one ends."""
    return np.cumsum([0, *lengths], dtype=np.int64)
