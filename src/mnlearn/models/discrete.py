"""Networks over variables of several values, as tables: what BIF and UAI files hold."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork, bayesian_network
from mnlearn.models.cpd_trees import CpdTree, assemble, table_tree
from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.models.elimination import min_fill_order
from mnlearn.models.junction_tree import MAX_CELLS, NO_PARENT, JunctionTree
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable

# Most parents of a variable whose conditional distribution is written as a table.
MAX_TABLE_PARENTS = 16


class DiscreteVariable(NamedTuple):
    """A variable of a network with its conditional probabilities.

    states : names of its values, in the order of the file.
    parents : numbers of the variables that it depends on.
    table : float64, an axis for each parent, then one for the variable; rows as they are printed.
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[int, ...]
    table: NDArray[np.float64]


class Factor(NamedTuple):
    """A non-negative function of some variables, with an axis of the table for each of them."""

    scope: tuple[int, ...]
    table: NDArray[np.float64]


def network_of(variables: Sequence[DiscreteVariable]) -> BayesianNetwork | JunctionTree:
    """Return the model of a Bayesian network.

    It is a Bayesian network if all variables have two states. Otherwise it is a junction tree.

    Raises
    ------
    InputError
        The network has a directed cycle, or the tables of the junction tree are too large.
    """
    schema = Schema(tuple(Variable(v.name, v.states) for v in variables))
    if all(len(variable.states) == 2 for variable in variables):
        trees: dict[int, CpdTree] = {}
        with np.errstate(divide="ignore"):
            for number, variable in enumerate(variables):
                trees[number] = table_tree(list(variable.parents), np.log(variable.table))
        return bayesian_network(assemble(len(variables), trees), schema)
    _check_order(variables)
    factors = [
        Factor((*variable.parents, v), variable.table / variable.table.sum(-1, keepdims=True))
        for v, variable in enumerate(variables)
    ]
    return junction_tree_of(schema, factors)


def _check_order(variables: Sequence[DiscreteVariable]) -> None:
    """Refuse a directed cycle; the sentence names a variable on it."""
    left = dict(enumerate(variables))
    while left:
        free = [v for v, variable in left.items() if not set(variable.parents) & set(left)]
        if not free:
            name = next(iter(left.values())).name
            raise InputError(f"Bayesian network: has a directed cycle at or above {name}.")
        for v in free:
            del left[v]


def variables_of(network: BayesianNetwork) -> list[DiscreteVariable]:
    """Return the variables of a Bayesian network with complete tables.

    Raises
    ------
    InputError
        A variable has more than `MAX_TABLE_PARENTS` parents.
    """
    parents: list[list[int]] = [[] for _ in range(network.n_vars)]
    for parent, child in sorted(network.edges()):
        parents[child].append(parent)
    out = []
    for v, own in enumerate(parents):
        if len(own) > MAX_TABLE_PARENTS:
            raise InputError(
                f"variable {network.schema[v].name}: has {len(own)} parents; a table is written "
                f"for up to {MAX_TABLE_PARENTS}."
            )
        cells = itertools.product((0, 1), repeat=len(own))
        rows = [
            _distribution(network.trees, v, dict(zip(own, cell, strict=True))) for cell in cells
        ]
        table = np.exp(np.array(rows)).reshape((2,) * (len(own) + 1))
        variable = network.schema[v]
        out.append(DiscreteVariable(variable.name, variable.texts, tuple(own), table))
    return out


def _distribution(trees: Trees, v: int, values: dict[int, int]) -> NDArray[np.float64]:
    """Return the log-probabilities of a variable given values of its parents."""
    node = int(trees.start[v])
    while trees.split_var[node] != LEAF:
        node = int(trees.child[node, values[int(trees.split_var[node])]])
    return trees.log_prob[node]


def junction_tree_of(schema: Schema, factors: Sequence[Factor]) -> JunctionTree:
    """Return the distribution that is proportional to a product of factors, as a junction tree.

    Variables are eliminated in min-fill order. Each elimination gives the clique of the variable
    and its neighbours, and the distribution of the variable given these.

    Parameters
    ----------
    schema : Schema
        The variables.
    factors : sequence of Factor
        Their product is not 0 in all states.

    Raises
    ------
    InputError
        The tables would have more than `MAX_CELLS` cells, or all states have the value 0.
    """
    arity = schema.arity.tolist()
    order, _ = min_fill_order(len(arity), [factor.scope for factor in factors])
    place = {v: k for k, v in enumerate(order)}
    scopes = _cliques(order, place, factors)
    if sum(math.prod(arity[u] for u in scope) for scope in scopes) > MAX_CELLS:
        raise InputError(f"junction tree: its tables have more than {MAX_CELLS:,} cells.")
    waiting: list[list[Factor]] = [[] for _ in order]
    for factor in factors:
        if factor.scope:
            waiting[min(place[v] for v in factor.scope)].append(factor)
        elif not float(factor.table) > 0:
            raise InputError("network: all states have the value 0.")
    tables = []
    for k, (v, scope) in enumerate(zip(order, scopes, strict=True)):
        product = np.ones([arity[u] for u in scope])
        for factor in waiting[k]:
            product = product * _spread(factor, scope)
        axis = scope.index(v)
        message = product.sum(axis=axis)
        if not message.max() > 0:
            raise InputError("network: all states have the value 0.")
        whole = np.expand_dims(message, axis)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where the neighbours are impossible, any distribution will do.
            tables.append(np.where(whole > 0, np.log(product / whole), -np.log(arity[v])))
        if len(scope) > 1:
            # Only ratios matter; this keeps long products from becoming 0.
            rest = Factor(tuple(u for u in scope if u != v), message / message.max())
            waiting[min(place[u] for u in rest.scope)].append(rest)
    return _assembled(schema, place, scopes, tables)


def _cliques(
    order: Sequence[int], place: dict[int, int], factors: Sequence[Factor]
) -> list[tuple[int, ...]]:
    """Return each variable with its neighbours at its elimination, ascending."""
    pending: list[set[int]] = [set() for _ in order]
    for factor in factors:
        if factor.scope:
            pending[min(place[v] for v in factor.scope)].update(factor.scope)
    out = []
    for k, v in enumerate(order):
        scope = pending[k] | {v}
        out.append(tuple(sorted(scope)))
        rest = scope - {v}
        if rest:
            pending[min(place[u] for u in rest)].update(rest)
    return out


def _spread(factor: Factor, scope: Sequence[int]) -> NDArray[np.float64]:
    """Return the table of a factor with an axis for each variable of a larger scope."""
    axes = np.argsort(factor.scope)
    table = np.transpose(factor.table, axes)
    inside = set(factor.scope)
    sizes = iter(table.shape)
    return table.reshape([next(sizes) if u in inside else 1 for u in scope])


def _assembled(
    schema: Schema,
    place: dict[int, int],
    scopes: Sequence[tuple[int, ...]],
    tables: Sequence[NDArray[np.float64]],
) -> JunctionTree:
    """Return the tree whose cliques stand in the reverse of the order of elimination."""
    last = len(scopes) - 1
    parents = []
    for k in range(last, -1, -1):
        later = [place[u] for u in scopes[k] if place[u] > k]
        parents.append(last - min(later) if later else NO_PARENT)
    members = [np.array(scope) for scope in reversed(scopes)]
    return JunctionTree(
        schema,
        np.cumsum([0, *map(len, members)]),
        np.concatenate(members).astype(np.int32),
        np.array(parents, np.int32),
        np.concatenate([table.ravel() for table in reversed(tables)]),
    )
