"""UAI, BIF with many states, and d-DNNF: what is read, written and refused."""

import csv
from dataclasses import replace
from itertools import starmap
from pathlib import Path

import numpy as np
import pytest

from command import succeed
from made_random import random_network
from made_state_networks import table_network
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable


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
