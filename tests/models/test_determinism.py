"""Which circuits have an exact most probable state: those whose sums are choices."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from command import succeed
from made_circuits import grown
from made_hidden_trees import random_hidden_tree
from made_random import random_network
from made_states import every_row, schema_of
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.circuit import ArithmeticCircuit, product_of_marginals
from mnlearn.models.circuit_building import NO_PARENT, mixture_circuit, tree_circuit
from mnlearn.models.io.formats import describe, save_model
from mnlearn.runtime.errors import InputError


def has_overlap(circuit):
    """Whether two terms of a sum are above 0 in one state, by evaluation of all states."""
    first = circuit.n_leaves
    n = 2 * circuit.n_columns
    for x in every_row(circuit.schema):
        value = np.ones(circuit.n_nodes)
        value[:n:2], value[1:n:2] = x == 0, x == 1
        for i, is_sum in enumerate(circuit.is_sum):
            terms = value[circuit.child[circuit.start[i] : circuit.start[i + 1]]]
            value[first + i] = terms.sum() if is_sum else terms.prod()
            if is_sum and np.count_nonzero(terms) > 1:
                return True
    return False


def tree_over(n_tree, n_vars):
    parent = np.array([NO_PARENT, *range(n_tree - 1)])
    return tree_circuit(parent, np.log(np.full((n_tree, 2, 2), 0.5)), n_vars)


@pytest.mark.parametrize("seed", range(3))
def test_circuits_that_are_grown_or_compiled_are_choices(seed):
    over_states = grown(seed, schema=schema_of(3, 2, 1, 4))[0]
    compiled = compile_network(random_network(seed))
    for circuit in (grown(seed)[0], over_states, compiled, tree_over(5, 5)):
        assert circuit.is_deterministic()
        assert not has_overlap(circuit)
        assert "not_exact" not in describe(circuit)


def test_the_terms_may_stand_in_any_order():
    """Each sum with its terms turned around."""
    circuit = grown(0)[0]
    child = circuit.child.copy()
    for begin, end in itertools.pairwise(circuit.start.tolist()):
        child[begin:end] = child[begin:end][::-1]
    turned = replace(circuit, child=child)
    assert turned.is_deterministic()
    assert not has_overlap(turned)


def test_circuits_with_hidden_variables_are_not(tmp_path):
    one, other = (product_of_marginals(np.full(3, p)) for p in (0.2, 0.7))
    mixture = mixture_circuit([one, other], np.log([0.5, 0.5]))
    for circuit in (mixture, tree_over(5, 3), random_hidden_tree(1, 3, 2).to_circuit()):
        assert not circuit.is_deterministic()
        assert has_overlap(circuit)
    save_model(mixture, tmp_path / "a.ac")
    assert re.search("not exact +most probable state", succeed(f"info {tmp_path / 'a.ac'}").output)


@pytest.mark.parametrize(
    ("one", "other", "exclude"),
    [((0,), (1,), True), ((0, 1), (2, 3), True), ((0, 3), (1,), True), ((0, 1), (1, 2), False)],
)
def test_sets_of_states_exclude_each_other_if_they_share_none(one, other, exclude):
    schema = schema_of(4)
    first = schema.n_columns * 2
    below = [[2 * c + 1 for c in one], [2 * c + 1 for c in other], [first, first + 1]]
    circuit = ArithmeticCircuit(
        schema, [1, 1, 1], np.cumsum([0, *map(len, below)]), np.concatenate(below), []
    )
    assert circuit.is_deterministic() == exclude
    assert has_overlap(circuit) != exclude


def test_faults_are_those_of_variables():
    schema = schema_of(3, 2)
    a, b, c = (2 * column + 1 for column in range(3))
    zero, one = 6, 7

    def circuit(*nodes):
        kinds, below = zip(*nodes, strict=True)
        start = np.cumsum([0, *map(len, below)])
        return ArithmeticCircuit(schema, kinds, start, np.concatenate(below), [])

    either = (1, [zero, one])
    circuit((1, [a, b, c]), either, (0, [8, 9])).check()
    circuit((1, [a, c]), either, (0, [8, 9])).check()
    with pytest.raises(InputError, match="node 8: is a product whose factors share one"):
        circuit((0, [a, b]), either, (0, [8, 9])).check()
    with pytest.raises(InputError, match="node 8: is a sum over children of different variables"):
        circuit((1, [a, one]), either, (0, [8, 9])).check()
    with pytest.raises(InputError, match="variable 1 is not below its root"):
        circuit((1, [a, b, c])).check()
