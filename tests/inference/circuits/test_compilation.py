"""Compiled networks against their potentials, and what is refused."""

import numpy as np
import pytest

import mnlearn as mn
from command import mean, refuse, succeed
from made_networks import dense_network, drawn_network, grid_network
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits import compilation
from mnlearn.inference.circuits.compilation import compile_network, least_nodes
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.inference.tables.orders import min_fill_order
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from oracles import all_states


@pytest.mark.parametrize("seed", range(40))
def test_the_circuit_has_the_potential_of_the_network(seed):
    network = drawn_network(1 + seed % 8, 1 + seed % 13, 4, seed)
    circuit = compile_network(network)
    circuit.check()
    states = all_states(network.n_vars)
    np.testing.assert_allclose(log_value(circuit, states), network.potential_of(states), atol=1e-12)
    assert circuit.features is network.features


def test_a_network_without_features_is_uniform():
    circuit = compile_network(markov_network(3, features_of([]), []))
    assert log_partition(circuit) == pytest.approx(3 * np.log(2))


@pytest.mark.parametrize("kind", ["BAYES", "MARKOV"])
def test_variables_of_one_state_only_have_a_circuit_that_answers(tmp_path, kind):
    path = tmp_path / "a.uai"
    path.write_text(f"{kind}\n2\n1 1\n2\n1 0\n2 0 1\n1 1.0\n1 1.0\n")
    whole = mn.load(path).to_circuit()
    for circuit in (whole, whole.condition({"V0": 0})):
        assert circuit.query({"V0": 0}).to_dict() == {("V1", 0): 1.0}
        assert circuit.joint(["V0", "V1"]).to_dict() == {(0, 0): 1.0}
        assert circuit.most_probable({"V1": 0}).to_dict() == {"V0": 0}
        assert np.array_equal(circuit.sample(3), np.zeros((3, 2)))
        assert circuit.log_partition() == 0.0
        circuit.save(tmp_path / "a.npz")
        assert mn.load(tmp_path / "a.npz").probability({"V0": 0}) == 1.0


def test_a_circuit_has_nodes_and_each_of_them_has_children():
    for is_sum, start in (([], [0]), ([0, 0], [0, 0, 1])):
        with pytest.raises(InputError, match="nodes that have children"):
            ArithmeticCircuit(1, is_sum, start, [0][: start[-1]], [])


def test_log_z_of_a_grid_is_that_of_the_transfer_matrix():
    """Row after row: the sum over all states as a product of matrices."""
    side = 5
    network = grid_network(side)
    states = all_states(side)
    weight = {
        tuple(network.features.var[2 * k : 2 * k + 2]): w for k, w in enumerate(network.weight)
    }

    def inside(i):
        return sum(
            weight[side * i + j, side * i + j + 1] * states[:, j] * states[:, j + 1]
            for j in range(side - 1)
        )

    total = np.exp(inside(0))
    for i in range(1, side):
        between = sum(
            weight[side * (i - 1) + j, side * i + j] * np.outer(states[:, j], states[:, j])
            for j in range(side)
        )
        total = total @ np.exp(between) * np.exp(inside(i))
    assert log_partition(compile_network(network)) == pytest.approx(np.log(total.sum()))


def test_a_long_chain_stays_small():
    n = 400
    chain = [[(v, 1), (v + 1, 1)] for v in range(n - 1)]
    circuit = compile_network(markov_network(n, features_of(chain), np.ones(n - 1)))
    assert circuit.n_edges < 20 * n


def test_local_structure_keeps_long_features_small():
    """One conjunction of 60 variables: a table of it would have 2^60 entries."""
    features = [[(v, v % 2) for v in range(60)], *([(v, 1)] for v in range(60))]
    network = markov_network(60, features_of(features), np.linspace(-1, 1, 61))
    circuit = compile_network(network)
    assert circuit.n_edges < 1000
    row = (np.arange(60) % 2)[None].astype(np.uint8)
    assert log_value(circuit, row)[0] == pytest.approx(network.potential_of(row)[0])


def test_networks_that_explode_are_refused():
    with pytest.raises(InputError, match=r"more than 2,000 edges .* would take 2\^1\d entries"):
        compile_network(grid_network(8), max_edges=2000)
    infinite = markov_network(1, features_of([[(0, 1)]]), [np.inf])
    with pytest.raises(InputError, match="weights of plus infinity"):
        compile_network(infinite)


@pytest.mark.parametrize("seed", range(60))
def test_a_lower_bound_of_the_size_is_one(seed):
    network = drawn_network(2 + seed % 9, 1 + seed % 23, 4, seed)
    scopes = [[v for v, _ in network.features.literals(k)] for k in range(len(network.features))]
    order, _ = min_fill_order(network.n_vars, scopes)
    n_sums = int(compile_network(network).is_sum.sum())
    for length in range(len(order) + 1):
        assert least_nodes(network.n_vars, scopes, order[:length]) <= n_sums


def test_networks_that_are_surely_too_large_are_refused_before_they_are_compiled(monkeypatch):
    compile_network(dense_network(12))
    monkeypatch.setattr(compilation, "_Builder", None)
    with pytest.raises(compilation.CircuitTooLargeError, match=r"would take 2\^31 entries"):
        compile_network(dense_network(30))
    with pytest.raises(compilation.CircuitTooLargeError, match=r"would take more than 2\^100 "):
        compile_network(dense_network(100))


def test_refusals_of_scores_name_what_estimates_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(dense_network(40), "dense.npz")
    rows = np.eye(40, dtype=int)
    merge_rows(rows).save("d.npz")
    refuse("score dense.npz d.npz --metric ll", "; --ais 100 or --inference bp estimates ll.")
    refuse("convert dense.npz dense.ac", "; mnlearn query, and mnlearn score with --ais or")
    dense = mn.load("dense.npz")
    with pytest.raises(InputError, match='; inference="ais" or inference="bp" estimates ll'):
        dense.score(rows, "ll")
    missing = np.where(rows == 1, np.nan, rows)
    with pytest.raises(InputError, match='; without missing cells, inference="ais" or'):
        dense.score(missing, "ll")


def test_min_fill_eliminates_leaves_first_and_cuts_cycles():
    order, log2_entries = min_fill_order(4, [(0, 1), (1, 2), (2, 3)])
    assert sorted(order) == [0, 1, 2, 3]
    assert log2_entries == pytest.approx(np.log2(4 + 4 + 4 + 2))
    _, cycle = min_fill_order(5, [(v, (v + 1) % 5) for v in range(5)])
    assert cycle == pytest.approx(np.log2(8 + 8 + 8 + 4 + 2))


def test_exact_likelihood_of_a_network_too_large_to_enumerate(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network = grid_network(5)
    save_model(network, "g.mn")
    rows = np.random.default_rng(1).integers(0, 2, (30, 25))
    merge_rows(rows).save("d.npz")
    succeed("convert g.mn g.ac")
    expected = network.potential_of(rows).mean() - log_partition(compile_network(network))
    assert mean("g.mn d.npz --metric ll") == pytest.approx(expected)
    assert mean("g.ac d.npz --metric ll") == pytest.approx(expected)
    save_model(markov_network(1, features_of([[(0, 1)]]), [np.inf]), "hard.mn")
    refuse("convert hard.mn hard.ac", "weights of plus infinity cannot be compiled")
