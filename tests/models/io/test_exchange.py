"""UAI, BIF with many states, and d-DNNF: what is read, written and refused."""

import csv
import math
from dataclasses import replace
from itertools import starmap
from pathlib import Path

import numpy as np
import pytest

from command import succeed
from made_random import random_network
from made_state_networks import all_values, table_network
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.features import features_of
from mnlearn.models.io import uai
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable, numbered_schema
from oracles import all_states

UAI = "MARKOV\n3\n2 3 2\n3\n2 0 1\n2 2 1\n0\n\n6\n1 2 3\n4 5 6\n\n6 1 0 .5\n2 1 1\n1 2.5\n"


def test_markov_networks_come_back(rng, tmp_path):
    network = random_network(rng, 6, 30)
    save_model(network, tmp_path / "a.uai")
    again = load_model(tmp_path / "a.uai")
    rows = all_states(6)
    np.testing.assert_allclose(
        again.potential_of(rows), network.potential_of(rows), rtol=1e-12, atol=1e-12
    )


def test_a_file_of_the_form(tmp_path):
    """The last variable of a factor changes fastest; constants, zeros and the sum are kept."""
    (tmp_path / "a.uai").write_text(UAI)
    network = load_model(tmp_path / "a.uai")
    assert network.schema == numbered_schema([2, 3, 2])
    one, other = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 0, 0.5], [2, 1, 1]])
    states = all_values([2, 3, 2])
    expected = [2.5 * one[a, b] * other[c, b] for a, b, c in states]
    found = np.exp(network.potential_of(network.schema.rows(states)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    save_model(network, tmp_path / "b.uai")
    again = load_model(tmp_path / "b.uai")
    found = np.exp(again.potential_of(network.schema.rows(states)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MARKOV", "MARCOV", "expected MARKOV or BAYES, got 'MARCOV'"),
        (
            "MARKOV",
            "BAYES",
            "BAYES: expected one distribution of each variable",
        ),
        ("2 3 2", "2 0 2", "expected a number of values \\(1 to 254\\), got '0'"),
        ("2 0 1", "2 0 3", "expected a variable \\(0 to 2\\), got '3'"),
        ("2 0 1", "2 0 0", "expected different variables"),
        ("\n6\n1 2", "\n5\n1 2", "expected the number of cells of a factor \\(6\\), got '5'"),
        ("4 5 6", "4 5 -6", "expected a number of at least 0, got '-6'"),
        ("4 5 6", "4 5 nan", "expected a number of at least 0, got 'nan'"),
        ("1 2.5\n", "1\n", "ends too early, expected a value"),
        ("1 2.5\n", "1 0\n", "all states have the value 0"),
        ("1 2.5\n", "1 2 3\n", "ends too early, expected a variable"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, message):
    assert old in UAI
    (tmp_path / "a.uai").write_text(UAI.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        load_model(tmp_path / "a.uai")


def test_cells_of_value_1_give_no_feature(tmp_path):
    path = tmp_path / "a.uai"
    path.write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4 1 2 1 0\n")
    network = load_model(path)
    found = {tuple(network.features.literals(f)): float(network.weight[f]) for f in range(2)}
    assert len(network.features) == 2
    assert found == {((0, 0), (1, 1)): pytest.approx(math.log(2)), ((0, 1), (1, 1)): -math.inf}


def test_variables_of_one_state_and_constants(tmp_path):
    """A factor of variables of one state is a constant, which a variable of several gets."""
    path = tmp_path / "a.uai"
    path.write_text("MARKOV 3 1 3 1 3 1 0 2 0 1 0 1 5 3 1 2 0 1 0.5")
    network = load_model(path)
    found = np.exp(network.potential_of(np.eye(3, dtype=np.uint8)))
    np.testing.assert_allclose(found, [2.5, 5, 0])
    path.write_text("MARKOV 1 1 1 1 0 1 7")
    assert load_model(path).n_columns == 0


def test_a_markov_network_of_too_many_cells(tmp_path, monkeypatch):
    (tmp_path / "a.uai").write_text(UAI)
    monkeypatch.setattr(uai, "MAX_FEATURES", 8)
    with pytest.raises(InputError, match="its factors have 9 cells that are not 1; a Markov netw"):
        load_model(tmp_path / "a.uai")


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


def test_named_states_in_evidence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network, table = table_network(np.random.default_rng(5), (2, 2, 2), zeros=0.0)
    named = zip(("asia", "smoke", "lung"), (("yes", "no"),) * 3, strict=True)
    save_model(replace(network, schema=Schema(tuple(starmap(Variable, named)))), "a.bif")
    succeed("convert a.bif a.ac")
    table = table.reshape(2, 2, 2)[0]
    p_lung = table.sum(axis=0) / table.sum()
    for path in ("a.bif --inference exact", "a.ac"):
        lines = succeed(f"query {path} --evidence asia=yes").stdout.splitlines()
        assert lines[0] == "variable,state,probability"
        assert lines[3:] == [f"lung,yes,{p_lung[0]:.6f}", f"lung,no,{p_lung[1]:.6f}"]
    Path("rows").write_text("asia,smoke,lung\nyes,*,*\n", encoding="utf-8")
    assert succeed("query a.ac --evidence rows").stdout.endswith(f"{p_lung[1]:.6f}\n")


def test_a_weight_that_a_uai_file_cannot_hold(tmp_path):
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [1000.0])
    with pytest.raises(InputError, match="a weight is too large to write as a number"):
        save_model(network, tmp_path / "a.uai")
