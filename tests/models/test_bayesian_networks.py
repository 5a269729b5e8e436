"""Bayesian networks with tree CPDs: against the product of their CPDs, in files, as circuits."""

import numpy as np
import pytest

from made_state_networks import named_schema, random_tree
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.bayesian_network import bayesian_network
from mnlearn.models.cpds import assemble
from mnlearn.models.io.formats import load_model
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import ll
from oracles import all_states

N = 6


def binary_network(seed):
    rng, schema = np.random.default_rng(seed), named_schema((2,) * N)
    trees = {v: random_tree(rng, schema, v, v) for v in range(N)}
    return bayesian_network(assemble(schema, trees), schema)


def test_rows_beyond_the_first_block():
    network = binary_network(1)
    rows = all_states(N)
    many = np.tile(rows, (40, 1))
    expected = np.tile(network.log_likelihood(rows), 40)
    assert len(many) > 2000
    np.testing.assert_array_equal(network.log_likelihood(many), expected)


def test_a_cycle_is_named(tmp_path):
    (tmp_path / "c.bn").write_text(
        "2,2\nBN {\nv0 {\ntree {(v1_0 (v0_0 -1 -0.5) (v0_0 -0.5 -1))}\n}\n"
        "v1 {\ntree {(v0_0 (v1_0 -1 -0.5) (v1_0 -0.5 -1))}\n}\n}\n"
    )
    with pytest.raises(InputError, match=r"c\.bn: .*directed cycle, V\d -> V\d"):
        load_model(tmp_path / "c.bn")


def test_tables_features_and_several_factors_of_a_cpd(tmp_path):
    """v0 a table, v1 features, v2 a table and a feature that multiply."""
    (tmp_path / "m.bn").write_text(
        "2,2,2\nBN {\nv0 {\ntable {\n-0.5 +v0_0\n-1.5 +v0_1\n}\n}\n"
        "v1 {\nfeatures {\n0.7 +v1_1 +v0_1\n-0.2 +v1_1\n}\n}\n"
        "v2 {\ntable {\n0.3 +v2_0 +v1_0\n0.9 +v2_1 +v1_1\n}\nfeatures {\n1.1 +v0_0 +v2_1\n}\n}\n}\n"
    )
    network = load_model(tmp_path / "m.bn")
    for x0, x1, x2 in all_states(3).tolist():
        odds0 = -1.0
        odds1 = 0.7 * x0 - 0.2
        odds2 = (0.9 if x1 else -0.3) + 1.1 * (1 - x0)
        expected = -sum(
            np.logaddexp(0, -odds if x else odds)
            for odds, x in ((odds0, x0), (odds1, x1), (odds2, x2))
        )
        row = merge_rows(np.array([[x0, x1, x2]], np.uint8))
        assert ll(network, row).mean == pytest.approx(expected, abs=1e-12)


def test_the_parameters_of_a_tree_are_checked():
    circuit = compile_network(binary_network(2))
    target = circuit.target.copy()
    wrong = int(np.flatnonzero(circuit.features.length > 1)[0])
    literals = [v for v, _ in circuit.features.literals(wrong)]
    target[wrong] = next(v for v in literals if v != target[wrong])
    other = type(circuit)(
        circuit.n_vars, circuit.is_sum, circuit.start, circuit.child, circuit.weight,
        circuit.features, target,
    )  # fmt: skip
    with pytest.raises(InputError, match=r"variable \d do not form a tree"):
        other.to_bayesian_network()
