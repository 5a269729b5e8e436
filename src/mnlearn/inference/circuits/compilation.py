"""Compile networks into circuits by variable elimination on decision diagrams.

Variables are eliminated in min-fill order. A factor is a decision diagram whose ends are nodes of
the circuit, so contexts in which the factor is equal share their computation. A variable is
eliminated at the lowest level of its diagrams. See Chavira & Darwiche, "Compiling Bayesian networks
using variable elimination", IJCAI 2007.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tables.orders import min_fill_order
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import features_of
from mnlearn.models.interactions import allowed_states
from mnlearn.models.io.suffixes import form_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# Steps of elimination that are looked at for `least_nodes`: those that have so few variables less
# beside them than the widest one, and so many at most.
_NARROWER, _STEPS = 6, 200


def least_nodes(n_vars: int, scopes: Sequence[Sequence[int]], order: Sequence[int]) -> int:
    """Return a lower bound of the number of sums that variable elimination makes."""
    if not order:
        return 0
    rank = [len(order)] * n_vars
    for k, v in enumerate(order):
        rank[v] = k
    distinct = sorted(set(map(tuple, scopes)), key=len)
    joined, beside = _steps(distinct, order, rank)
    widest = max(map(len, beside))
    wide = [k for k in range(len(order)) if len(beside[k]) >= max(widest - _NARROWER, 1)]
    wide = sorted(wide, key=lambda k: -len(beside[k]))[:_STEPS]
    return sum(2 ** _separate(_component(k, order, joined), distinct) - 1 for k in wide)


def _separate(component: set[int], scopes: Sequence[Sequence[int]]) -> int:
    """Return how many scopes lead out of a component to variables that none of them shares."""
    outside = []
    for scope in scopes:
        left = [v for v in scope if v not in component]
        if left and len(left) < len(scope):
            outside.append(left)
    taken: set[int] = set()
    found = 0
    for left in sorted(outside, key=len):
        if taken.isdisjoint(left):
            taken.update(left)
            found += 1
    return found


def _steps(
    scopes: Sequence[Sequence[int]], order: Sequence[int], rank: Sequence[int]
) -> tuple[list[list[int]], list[set[int]]]:
    """Return the steps whose components each step joins, and the variables beside its own."""
    # The last place stands for the variables that no step eliminates.
    first: list[list[int]] = [[] for _ in range(len(order) + 1)]
    for f, scope in enumerate(scopes):
        first[min(rank[v] for v in scope)].append(f)
    joined: list[list[int]] = [[] for _ in range(len(order) + 1)]
    beside: list[set[int]] = []
    for k, v in enumerate(order):
        near: set[int] = set()
        near.update(*(scopes[f] for f in first[k]), *(beside[j] for j in joined[k]))
        near.discard(v)
        beside.append(near)
        if near:
            joined[min(rank[u] for u in near)].append(k)
    return joined, beside


def _component(step: int, order: Sequence[int], joined: Sequence[Sequence[int]]) -> set[int]:
    """Return the variables that are summed out up to a step and are tied to its own."""
    component: set[int] = set()
    steps = [step]
    while steps:
        k = steps.pop()
        component.add(order[k])
        steps += joined[k]
    return component


MAX_EDGES = 5_000_000
# The search for an order ends where the tables have more entries than this, to see whether that
# alone shows that the circuit is too large: the rest of the search may take long.
_LOG2_ENTRIES = 64
# A diagram is a node of the circuit, which is an end, or a decision: its level, and the diagram for
# each state of the variable.
Diagram = Any
_ONE = -1


class CircuitTooLargeError(InputError):
    """The circuit of a network would have too many edges."""


def compile_network(model: Model, max_edges: int = MAX_EDGES) -> ArithmeticCircuit:
    """Return the circuit of a network; its parameters are those of the features or CPDs."""
    network: MarkovNetwork = model.to_markov_network()
    if not network.n_columns:
        # The number 1, as a parameter of the conjunction without literals.
        is_sum, start, child, weight = map(np.array, ([0], [0, 1], [0], [0.0]))
        one = features_of([()])
        return ArithmeticCircuit(network.schema, is_sum, start, child, weight, one)
    if isinstance(model, BayesianNetwork):
        rank = model.rank
        circuit = compile_network(network, max_edges)
        assert circuit.features is not None
        # Parents come before children, so the last variable of a conjunction is that of the CPD.
        variable = circuit.schema.variable_of[circuit.features.var]
        latest = np.maximum.reduceat(rank[variable], circuit.features.start[:-1])
        target = model.order[latest].astype(np.int32)
        return replace(circuit, target=target)
    if np.isposinf(network.weight).any():
        raise InputError("circuit: a network with weights of plus infinity cannot be compiled.")
    schema, n_columns = network.schema, network.n_columns
    features = [
        allowed_states(schema, network.features.literals(k)) for k in range(len(network.features))
    ]
    order, log2_entries = _order(schema, [list(allowed) for allowed in features], max_edges)
    builder = _Builder(n_columns, len(features), max_edges, log2_entries)
    level = np.empty(len(schema), np.int64)
    # The variable that is eliminated first has the lowest level; decisions at the top have the
    # highest.
    level[order] = np.arange(len(schema))

    waiting: list[list[Diagram]] = [[] for _ in range(len(schema))]
    for k, allowed in enumerate(features):
        diagram = _diagram_of(allowed, level, 2 * n_columns + k)
        waiting[min(int(level[v]) for v in allowed)].append(diagram)
    result = _ONE
    for k, v in enumerate(order):
        if schema.arity[v] == 1:
            continue
        literals = (schema.literal(v, state) for state in range(schema.arity[v]))
        product: Diagram = (k, *(2 * column + value for column, value in literals))
        for diagram in waiting[k]:
            product = builder.multiply(product, diagram)
        left = builder.sum_out_lowest(product, k)
        if isinstance(left, tuple):
            waiting[_lowest(left)].append(left)
        else:
            result = builder.multiply_nodes(result, left)
    return builder.circuit(result, network)


def _diagram_of(
    allowed: Mapping[int, NDArray[np.bool_]], level: NDArray[np.int64], parameter: int
) -> Diagram:
    """Return the diagram of a feature: its parameter where all variables are in allowed states."""
    diagram: Diagram = parameter
    for v in sorted(allowed, key=lambda v: level[v]):
        branches = [diagram if holds else _ONE for holds in allowed[v].tolist()]
        diagram = (int(level[v]), *branches)
    return diagram


def _order(schema: Schema, scopes: list[list[int]], max_edges: int) -> tuple[list[int], float]:
    """Return the order of elimination; refuse a network whose circuit is surely too large."""
    n_vars, arity = len(schema), schema.arity.tolist()
    for most in (_LOG2_ENTRIES, float("inf")):
        order, log2_entries = min_fill_order(n_vars, scopes, most, arity)
        if 2 * least_nodes(n_vars, scopes, order) >= max_edges:
            raise _too_large(max_edges, log2_entries, ended=len(order) < n_vars)
        if len(order) == n_vars:
            break
    return order, log2_entries


def _too_large(max_edges: int, log2_entries: float, *, ended: bool = False) -> CircuitTooLargeError:
    entries = f"{'more than ' if ended else ''}2^{log2_entries:.0f}"
    return CircuitTooLargeError(
        f"circuit: compiling takes more than {max_edges:,} edges (variable elimination on tables "
        f"would take {entries} entries)."
    )


def _lowest(diagram: Diagram) -> int:
    """Return the lowest level in a diagram that is not an end."""
    seen: set[int] = set()
    stack, lowest = [diagram], None
    while stack:
        one = stack.pop()
        if isinstance(one, tuple) and id(one) not in seen:
            seen.add(id(one))
            lowest = one[0] if lowest is None else min(lowest, one[0])
            stack += one[1:]
    assert lowest is not None
    return lowest


def compile_for(model: Model, path: Path | str) -> Model:
    """Return a model as the form of a file holds it: a network compiled for `.ac` and `.nnf`."""
    holds_circuits = form_of(path) in (".ac", ".nnf")
    if holds_circuits and model.has_joint and not model.is_exact:
        return compile_network(model)
    return model


class _Builder:
    """The nodes and diagrams of a compilation; each of them is made once."""

    def __init__(
        self, n_columns: int, n_parameters: int, max_edges: int, log2_entries: float
    ) -> None:
        self.n_leaves = 2 * n_columns + n_parameters
        self.max_edges, self.log2_entries = max_edges, log2_entries
        # A sum (1) or a product (0), and its children.
        self.inner: list[tuple[int, ...]] = []
        self._nodes: dict[tuple[int, ...], int] = {}
        self._diagrams: dict[tuple[int, ...], Diagram] = {}
        self._n_edges = 0

    def multiply_nodes(self, a: int, b: int) -> int:
        """Return the node of a product."""
        if a == _ONE:
            return b
        return a if b == _ONE else self._node((0, a, b) if a < b else (0, b, a))

    def _node(self, key: tuple[int, ...]) -> int:
        """Return the node of a sum (1) or a product (0) of nodes in ascending order."""
        found = self._nodes.get(key)
        if found is None:
            if self._n_edges >= self.max_edges:
                raise _too_large(self.max_edges, self.log2_entries)
            self._n_edges += len(key) - 1
            self._nodes[key] = found = self.n_leaves + len(self.inner)
            self.inner.append(key)
        return found

    def _decision(self, level: int, branches: list[Diagram]) -> Diagram:
        first, *others = map(_key, branches)
        if others.count(first) == len(others):
            return branches[0]
        key = (level, first, *others)
        found = self._diagrams.get(key)
        if found is None:
            self._diagrams[key] = found = (level, *branches)
        return found

    def multiply(self, a: Diagram, b: Diagram) -> Diagram:
        """Return the product of two diagrams."""
        done: dict[tuple[int, int], Diagram] = {}

        def multiply_below(a: Diagram, b: Diagram) -> Diagram:
            if a == _ONE:
                return b
            if b == _ONE:
                return a
            if not isinstance(a, tuple) and not isinstance(b, tuple):
                return self.multiply_nodes(a, b)
            key = (_key(a), _key(b))
            found = done.get(key)
            if found is None:
                level_a, level_b = _level(a), _level(b)
                if level_a == level_b:
                    parts = list(map(multiply_below, a[1:], b[1:]))
                elif level_a > level_b:
                    parts = [multiply_below(part, b) for part in a[1:]]
                else:
                    parts = [multiply_below(a, part) for part in b[1:]]
                done[key] = found = self._decision(max(level_a, level_b), parts)
            return found

        return multiply_below(a, b)

    def sum_out_lowest(self, diagram: Diagram, level: int) -> Diagram:
        """Return the diagram with the lowest level, which is on every path, summed out."""
        done: dict[int, Diagram] = {}

        def reduce(one: Diagram) -> Diagram:
            key = _key(one)
            if key not in done:
                if one[0] == level:
                    done[key] = self._node((1, *sorted(one[1:])))
                else:
                    done[key] = self._decision(one[0], [reduce(part) for part in one[1:]])
            return done[key]

        return reduce(diagram)

    def circuit(self, root: int, network: MarkovNetwork) -> ArithmeticCircuit:
        """Return the circuit below a node; a product whose only parent is one is merged into it."""
        first = self.n_leaves
        parents: list[list[int]] = [[] for _ in range(root - first + 1)]
        for k in range(root - first, -1, -1):
            if parents[k] or first + k == root:
                for child in self.inner[k][1:]:
                    if child >= first:
                        parents[child - first].append(k)
        place: dict[int, int] = {}
        absorbed: dict[int, list[int]] = {}
        is_sum: list[int] = []
        start, child_of = [0], []
        for k, above in enumerate(parents):
            if not above and first + k != root:
                continue
            kind, *children = self.inner[k]
            below: list[int] = []
            for child in children:
                below += absorbed.pop(child, []) or [place.get(child, child)]
            if kind == 0 and len(above) == 1 and self.inner[above[0]][0] == 0:
                absorbed[first + k] = below
                continue
            place[first + k] = first + len(is_sum)
            is_sum.append(kind)
            child_of += below
            start.append(len(child_of))
        return ArithmeticCircuit(
            network.schema,
            np.array(is_sum, np.uint8),
            np.array(start, np.int64),
            np.array(child_of, np.int32),
            network.weight,
            network.features,
        )


def _key(diagram: Diagram) -> int:
    """Return a number that identifies a diagram; ends have even numbers."""
    return 2 * id(diagram) + 1 if isinstance(diagram, tuple) else 2 * diagram


def _level(diagram: Diagram) -> int:
    return diagram[0] if isinstance(diagram, tuple) else -1
