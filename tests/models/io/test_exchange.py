"""Circuits as d-DNNF, evaluated as other programs do."""

import csv
from pathlib import Path

import numpy as np
import pytest

from made_random import random_network
from made_state_networks import all_values, mixed_network
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.errors import InputError


def circuits():
    """Circuits, and rows of values of their columns, of which 2 is unknown."""
    binary = compile_network(random_network(np.random.default_rng(0), 6, 12))
    rows = [[0, 1, 0, 1, 1, 0], [2, 1, 2, 2, 0, 2], [2] * 6]
    yield pytest.param(binary, np.array(rows, np.uint8), id="binary")
    states = mixed_network(np.random.default_rng(1), (3, 1, 2, 4)).to_circuit()
    rows = states.schema.rows(all_values((3, 1, 2, 4)))
    yield pytest.param(states, np.vstack([rows, np.full_like(rows[:1], 2)]), id="states")


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


@pytest.mark.parametrize(("circuit", "rows"), list(circuits()))
def test_circuits_as_d_dnnf(tmp_path, circuit, rows):
    save_model(circuit, tmp_path / "c.nnf")
    value = read_nnf(tmp_path / "c.nnf")
    for row, expected in zip(rows, np.exp(log_value(circuit, rows)), strict=True):
        found = value(weights_of(tmp_path / "c.nnf.csv", row))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)
    with pytest.raises(InputError, match="can only be written, not read"):
        load_model(tmp_path / "c.nnf")


@pytest.mark.parametrize(("circuit", "rows"), list(circuits())[:1])
def test_klay_computes_the_same(tmp_path, circuit, rows):
    klay = pytest.importorskip("klaycircuits", reason="KLay is not installed")
    torch = pytest.importorskip("torch", reason="KLay needs PyTorch here")
    save_model(circuit, tmp_path / "c.nnf")
    loaded = klay.Circuit()
    loaded.add_d4_from_file(str(tmp_path / "c.nnf"))
    module = loaded.to_torch_module(semiring="real")
    for row in rows:
        weight = weights_of(tmp_path / "c.nnf.csv", row)
        n = max(weight)
        positive, negative = (
            torch.tensor([weight[s * v] for v in range(1, n + 1)], dtype=torch.float64)
            for s in (1, -1)
        )
        found = float(module(positive, negative)[0])
        assert np.log(found) == pytest.approx(log_value(circuit, row[None])[0], abs=1e-6)
