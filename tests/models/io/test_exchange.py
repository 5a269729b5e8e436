"""UAI, BIF with many states, and d-DNNF: what is read, written and refused."""

import csv
import gzip
import itertools
import math
import os
from pathlib import Path

import numpy as np
import pytest

import mnlearn as mn
from command import refuse, succeed
from made_random import random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.data.domains import domains_of
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import log_partition, log_value, marginals
from mnlearn.inference.evidence import parse_evidence
from mnlearn.models.discrete import DiscreteVariable, Factor, junction_tree_of, network_of
from mnlearn.models.features import features_of
from mnlearn.models.io import bif, uai
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from oracles import all_states

UAI = "MARKOV\n3\n2 3 2\n3\n2 0 1\n2 2 1\n0\n\n6\n1 2 3\n4 5 6\n\n6 1 0 .5\n2 1 1\n1 2.5\n"
SPLIT = [(2, 3, 2), (0, 1), (2, 1)]


def random_variables(rng, arity, most_parents=2):
    out = []
    for v, k in enumerate(arity):
        n = min(v, rng.integers(0, most_parents + 1))
        parents = tuple(sorted(rng.choice(v, n, replace=False).tolist())) if n else ()
        table = rng.dirichlet(np.ones(k), [arity[p] for p in parents])
        table[rng.random(table.shape) < 0.1] = 0
        table[..., 0] += 1e-3
        table /= table.sum(-1, keepdims=True)
        states = tuple(f"s{x} of {v}" for x in range(k))
        out.append(DiscreteVariable(f"var {v}", states, parents, table))
    return out


def joint(variables):
    """Return P by the joint values of all variables, from the tables."""
    arity = [len(v.states) for v in variables]
    out = np.ones(arity)
    for cell in itertools.product(*map(range, arity)):
        for v, one in enumerate(variables):
            out[cell] *= one.table[(*(cell[p] for p in one.parents), cell[v])]
    return out


def one_hot(arity):
    cells = itertools.product(*map(range, arity))
    return np.array([np.concatenate([np.eye(k)[x] for k, x in zip(arity, cell, strict=True)])
                     for cell in cells], np.uint8)  # fmt: skip


@pytest.mark.parametrize("arity", [(3, 2, 4), (2, 3, 2, 3, 2), (3, 3, 2, 2, 3, 2)])
def test_networks_of_many_states_are_compiled(rng, tmp_path, arity):
    variables = random_variables(rng, arity)
    bif.write_variables(variables, tmp_path / "n.bif")
    tree = load_model(tmp_path / "n.bif")
    assert tree.names[0] == "var 0=s0 of 0"
    expected = joint(variables).ravel()
    np.testing.assert_allclose(np.exp(tree.log_likelihood(one_hot(arity))), expected, atol=1e-12)
    save_model(tree, tmp_path / "n.ac")
    circuit = load_model(tmp_path / "n.ac")
    assert circuit.names == tree.names
    assert log_partition(circuit) == pytest.approx(0, abs=1e-9)
    # Any state but the first may have probability 0.
    text = f"var 1={variables[1].states[0]}"
    rows, asked = parse_evidence(text, circuit)
    found = marginals(circuit, np.where(asked, 2, rows).astype(np.uint8))[0]
    table = np.take(joint(variables), 0, axis=1)
    last = table.sum(axis=tuple(range(table.ndim - 1))) / table.sum()
    columns = domains_of(circuit)[f"var {len(arity) - 1}"].columns
    np.testing.assert_allclose(found[list(columns)], last, atol=1e-9)


def test_bif_and_uai_keep_tables(rng, tmp_path):
    variables = random_variables(rng, (3, 2, 2, 4))
    bif.write_variables(variables, tmp_path / "a.bif")
    again = bif.read_variables(tmp_path / "a.bif")
    for one, other in zip(again, variables, strict=True):
        assert one[:3] == other[:3]
        np.testing.assert_array_equal(one.table, other.table)
    succeed(f"convert {tmp_path}/a.bif {tmp_path}/a.uai")
    succeed(f"convert {tmp_path}/a.uai {tmp_path}/b.bif")
    for one, other in zip(bif.read_variables(tmp_path / "b.bif"), variables, strict=True):
        assert one.parents == other.parents
        np.testing.assert_array_equal(one.table, other.table)


def test_markov_networks_come_back(rng, tmp_path):
    network = random_network(rng, 6, 30)
    save_model(network, tmp_path / "a.uai")
    again = load_model(tmp_path / "a.uai")
    rows = all_states(6)
    np.testing.assert_allclose(
        again.log_potential(rows), network.log_potential(rows), rtol=1e-12, atol=1e-12
    )


def test_a_file_of_the_form(tmp_path):
    """The last variable of a factor changes fastest; constants and zeros are kept."""
    (tmp_path / "a.uai").write_text(UAI)
    tree = load_model(tmp_path / "a.uai")
    one, other = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 0, 0.5], [2, 1, 1]])
    cells = itertools.product(*map(range, SPLIT[0]))
    expected = np.array([one[a, b] * other[c, b] for a, b, c in cells])
    found = np.exp(tree.log_likelihood(one_hot(SPLIT[0])))
    np.testing.assert_allclose(found, expected / expected.sum(), atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MARKOV", "MARCOV", "expected MARKOV or BAYES, got 'MARCOV'"),
        ("MARKOV", "BAYES", "BAYES: expected probabilities of variable 1 that add up to 1"),
        ("2 3 2", "2 1 2", "expected a number of values \\(2 to 254\\), got '1'"),
        ("2 0 1", "2 0 3", "expected a variable \\(0 to 2\\), got '3'"),
        ("2 0 1", "2 0 0", "expected different variables"),
        ("\n6\n1 2", "\n5\n1 2", "expected the number of cells of a factor \\(6\\), got '5'"),
        ("4 5 6", "4 5 -6", "expected a number of at least 0, got '-6'"),
        ("4 5 6", "4 5 nan", "expected a number of at least 0, got 'nan'"),
        ("1 2.5\n", "1\n", "ends too early, expected a value"),
        ("1 2.5\n", "1 0\n", "all states have the value 0"),
        ("1 2.5\n", "1 2 3\n", "expected the end of the file, got '3'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, message):
    assert old in UAI
    (tmp_path / "a.uai").write_text(UAI.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_model(tmp_path / "a.uai")


def test_cells_of_value_1_give_no_feature(tmp_path):
    path = tmp_path / "a.uai"
    # The second factor has no variable: a constant.
    path.write_text("MARKOV\n2\n2 2\n2\n2 0 1\n0\n4 1 2 1 0\n1 3\n")
    network = load_model(path)
    found = {tuple(network.features.literals(f)): float(network.weight[f]) for f in range(2)}
    assert len(network.features) == 2
    assert found == {((0, 0), (1, 1)): pytest.approx(math.log(2)), ((0, 1), (1, 1)): -math.inf}


def test_factors_whose_product_is_0_everywhere():
    at_0, at_1 = Factor((0,), np.array([1.0, 0.0])), Factor((0,), np.array([0.0, 1.0]))
    with pytest.raises(InputError, match="all states have the value 0"):
        junction_tree_of([2, 3], [at_0, at_1])
    whole = junction_tree_of([2, 3], [at_0, Factor((0, 1), np.array([[1, 0, 3], [0, 0, 0.0]]))])
    assert whole.n_cliques == 2
    rows = np.array([[1, 0, 1, 0, 0], [1, 0, 0, 0, 1], [1, 0, 0, 1, 0], [0, 1, 1, 0, 0]], np.uint8)
    found = np.exp(log_value(whole.to_circuit(), rows[:, -(whole.n_vars) :]))
    np.testing.assert_allclose(found, [0.25, 0.75, 0, 0], atol=1e-12)


def test_printed_rows_of_several_states_are_scaled_to_sum_to_1():
    """Rounding leaves sums that differ; each row of a table has its own."""
    root = DiscreteVariable("a", ("x", "y"), (), np.array([0.5, 0.5]))
    table = np.array([[0.2, 0.2, 0.4], [0.3, 0.3, 0.6]])
    tree = network_of([root, DiscreteVariable("b", ("x", "y", "z"), (0,), table)])
    rows = np.array([[a == 0, a == 1, b == 0, b == 1, b == 2] for a in (0, 1) for b in range(3)])
    found = np.exp(log_value(tree.to_circuit(), rows.astype(np.uint8)))
    np.testing.assert_allclose(found, [1 / 8, 1 / 8, 1 / 4] * 2)


def test_the_cells_of_all_factors_are_added_up(tmp_path):
    scope = " ".join(map(str, range(21)))
    text = f"MARKOV\n21\n{'2 ' * 21}\n3\n" + f"21 {scope}\n" * 3
    (tmp_path / "a.uai").write_text(text)
    with pytest.raises(InputError, match="the factors have more than 4,194,304 cells"):
        load_model(tmp_path / "a.uai")


def test_limits(rng, tmp_path):
    wide = random_network(rng, 20, 2)
    wide = type(wide)(20, *_one_feature(20))
    with pytest.raises(InputError, match="expected features of at most 16 variables"):
        save_model(wide, tmp_path / "a.uai")
    table = np.full((2,) * 5 + (3,), 1 / 3)
    looped = [DiscreteVariable(f"v{v}", ("a", "b", "c"), ((v + 1) % 3,), np.full((3, 3), 1 / 3))
              for v in range(3)]  # fmt: skip
    with pytest.raises(InputError, match="has a directed cycle at or above v0"):
        network_of(looped)
    roots = [DiscreteVariable(f"v{v}", tuple("abcdefgh"), (), np.full(8, 1 / 8)) for v in range(8)]
    child = DiscreteVariable("c", ("x", "y"), tuple(range(8)), np.zeros((1,) * 8 + (2,)))
    with pytest.raises(InputError, match="tables have more than 2,000,000 cells"):
        network_of([*roots, child._replace(table=np.broadcast_to(0.5, (8,) * 8 + (2,)))])
    assert table.size == 96


def _one_feature(n):
    from mnlearn.models.features import features_of

    return features_of([[(v, 1) for v in range(n)]]), np.ones(1)


@pytest.fixture
def circuit(rng):
    return compile_network(random_network(rng, 6, 12))


def read_nnf(path):
    """Return a function of the weights of literals, as a reader of d4's form computes it."""
    kinds, edges = {}, {}
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0] in ("o", "a", "t"):
            kinds[int(words[1])] = words[0]
        else:
            parent, child, *literals = map(int, words[:-1])
            assert child in edges or kinds[child] == "t", "children stand before"
            edges.setdefault(parent, []).append((child, literals))

    def value(weight, node=1):
        if kinds[node] == "t":
            return 1.0
        parts = [value(weight, c) * np.prod([weight[x] for x in lits]) for c, lits in edges[node]]
        return sum(parts) if kinds[node] == "o" else np.prod(parts)

    return value


def weights_of(path, evidence):
    with Path(path).open(encoding="utf-8", newline="") as file:
        table = {int(r["variable"]): r for r in csv.DictReader(file)}
    out = {}
    for v, row in table.items():
        out[v], out[-v] = float(row["positive"]), float(row["negative"])
    for v, x in enumerate(evidence.tolist(), start=1):
        if x < 2:
            out[-v if x else v] = 0.0
    return out


EVIDENCE = np.array([[0, 1, 0, 1, 1, 0], [2, 1, 2, 2, 0, 2], [2] * 6], np.uint8)


def test_circuits_as_d_dnnf(tmp_path, circuit):
    save_model(circuit, tmp_path / "c.nnf")
    value = read_nnf(tmp_path / "c.nnf")
    for row in EVIDENCE:
        found = value(weights_of(tmp_path / "c.nnf.csv", row))
        assert np.log(found) == pytest.approx(log_value(circuit, row[None])[0], abs=1e-9)
    with pytest.raises(InputError, match="expected a model file that ends in"):
        load_model(tmp_path / "c.nnf")


def test_klay_computes_the_same(tmp_path, circuit):
    klay = pytest.importorskip("klaycircuits", reason="KLay is not installed")
    torch = pytest.importorskip("torch", reason="KLay needs PyTorch here")
    save_model(circuit, tmp_path / "c.nnf")
    loaded = klay.Circuit()
    loaded.add_d4_from_file(str(tmp_path / "c.nnf"))
    module = loaded.to_torch_module(semiring="real")
    for row in EVIDENCE:
        weight = weights_of(tmp_path / "c.nnf.csv", row)
        n = max(weight)
        positive, negative = (
            torch.tensor([weight[s * v] for v in range(1, n + 1)], dtype=torch.float64)
            for s in (1, -1)
        )
        found = float(module(positive, negative)[0])
        assert np.log(found) == pytest.approx(log_value(circuit, row[None])[0], abs=1e-6)


def test_named_states_in_evidence(rng, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = random_variables(rng, (2, 2, 2))
    two = [one._replace(name=name, states=("yes", "no"))
           for one, name in zip(two, ("asia", "smoke", "lung"), strict=True)]  # fmt: skip
    bif.write_variables(two, "a.bif")
    succeed("convert a.bif a.ac")
    table = joint(two)[0]
    p_lung = table.sum(axis=0) / table.sum()
    for path in ("a.bif --inference exact", "a.ac"):
        lines = succeed(f"query {path} --evidence asia=yes").stdout.splitlines()
        assert lines[0] == "variable,state,probability"
        assert lines[3:] == [f"lung,yes,{p_lung[0]:.6f}", f"lung,no,{p_lung[1]:.6f}"]
    Path("rows").write_text("asia,smoke,lung\nyes,*,*\n", encoding="utf-8")
    assert succeed("query a.ac --evidence rows").stdout.endswith(f"{p_lung[1]:.6f}\n")
    answer = mn.load("a.ac").query({"asia": "yes"})
    assert answer["lung=no"] == pytest.approx(p_lung[1])
    refuse(
        "query a.ac --evidence asia=maybe",
        "--evidence, variable 'asia': expected one of yes, no, got 'maybe'",
    )
    refuse("query a.ac --evidence asai=yes", "the most similar names are 'asia'.")
    refuse("query a.ac --evidence asia=yes,asia=no", "--evidence: names the variable 'asia' twice")
    two_lines = "asia=yes\nsmoke=no"
    for text in ("asia=maybe", "asai=yes", "asia=yes,asia=no", "asia", two_lines, "=" * 200000):
        with pytest.raises(InputError, match=r"^evidence[,:]"):
            parse_evidence(text, load_model("a.ac"))


@pytest.mark.skipif("MNLEARN_DATA_MIRROR" not in os.environ, reason="needs alarm.bif.gz")
def test_alarm_is_compiled(rng, tmp_path):
    folders = os.environ["MNLEARN_DATA_MIRROR"].split(os.pathsep)
    found = [p for f in folders for p in (Path(f) / "alarm.bif.gz", Path(f) / "alarm/alarm.bif.gz")]
    path = next((p for p in found if p.exists()), None)
    # The file is not part of the repository; generated networks are checked without it above.
    if path is None:
        pytest.skip("the mirror has no alarm.bif.gz")
    (tmp_path / "alarm.bif").write_bytes(gzip.decompress(path.read_bytes()))
    tree = load_model(tmp_path / "alarm.bif")
    assert len(tree.variables) == 37
    circuit = tree.to_circuit()
    assert log_partition(circuit) == pytest.approx(0, abs=1e-9)
    # Rows that the network draws by its tables have the probability of these tables.
    variables = bif.read_variables(tmp_path / "alarm.bif")
    values, log_p = _draw(rng, variables)
    rows = tree.variables.one_hot(values[None])
    assert log_value(circuit, rows)[0] == pytest.approx(log_p, abs=1e-9)
    assert merge_rows(rows).n_vars == 105


def _draw(rng, variables):
    values, log_p, left = np.zeros(len(variables), int), 0.0, set(range(len(variables)))
    while left:
        for v in sorted(left):
            if not left & set(variables[v].parents):
                row = variables[v].table[tuple(values[p] for p in variables[v].parents)]
                row = row / row.sum()
                values[v] = rng.choice(len(row), p=row)
                log_p += np.log(row[values[v]])
                left.remove(v)
    return values, log_p


def test_uai_reads_what_it_wrote_of_a_bayesian_network(rng, tmp_path):
    variables = random_variables(rng, (2, 2, 2))
    uai.write_variables(variables, tmp_path / "a.uai")
    network = load_model(tmp_path / "a.uai")
    succeed(f"convert {tmp_path}/a.uai {tmp_path}/c.nnf")
    assert network.states == (("0", "1"),) * 3


def test_a_weight_that_a_uai_file_cannot_hold(tmp_path):
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [1000.0])
    with pytest.raises(InputError, match="a weight is too large to write as a number"):
        save_model(network, tmp_path / "a.uai")
