"""`--seed`: what is drawn depends on it, and is what Python draws with the same number."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import succeed
from command_folder import fill_folder
from made_random import random_data, random_network
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.io.formats import save_model

GIVEN = {4: 1, 5: 0}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data and models, as current folder."""
    fill_folder(tmp_path, monkeypatch)
    data = random_data(0)
    table = pd.DataFrame(data.rows[data.row_of], columns=list("abcdef"))
    missing = np.random.default_rng(2).random(table.shape) < 0.2
    table.mask(missing).to_csv("holes.csv", index=False, na_rep="NA", float_format="%d")
    save_model(compile_network(random_network(1)), "circuit.npz")
    Path("row").write_text(",".join([*"****", *map(str, GIVEN.values())]) + "\n", encoding="utf-8")


def holes():
    return pd.read_csv("holes.csv")


def score(model, *arguments, **settings):
    rows = pd.read_csv("d.data", header=None).to_numpy()
    return mn.score(mn.load(model), rows, *arguments, **settings).per_example


# What writes a file, and the numbers in it by Python.
LINES = {
    "impute holes.csv --out o.csv": lambda s: mn.impute(holes(), random_state=s),
    "convert holes.csv o.csv --missing impute": lambda s: mn.impute(holes(), random_state=s),
    "fit atomic --train holes.csv --missing impute --out o.npz": lambda s: (
        mn.Atomic(missing="impute", random_state=s).fit(holes()).model_.weight
    ),
    "sample dn.npz --rows 30 --burn-in 3 --out o.csv": lambda s: mn.load("dn.npz").sample(
        30, burn_in=3, random_state=s
    ),
    "sample m.npz --rows 30 --out o.csv": lambda s: mn.load("m.npz").sample(30, random_state=s),
    "sample circuit.npz --rows 30 --out o.csv": lambda s: mn.load("circuit.npz").sample(
        30, random_state=s
    ),
    "query dn.npz --evidence row --inference gibbs --samples 30 --out o.csv": lambda s: mn.load(
        "dn.npz"
    ).query(GIVEN, inference="gibbs", samples=30, random_state=s),
    "score dn.npz d.data --metric cmll --folds 2 --samples 9 --per-example o.csv": lambda s: score(
        "dn.npz", "cmll", folds=2, samples=9, random_state=s
    ),
    "score m.npz d.data --metric cll --folds 2 --per-example o.csv": lambda s: score(
        "m.npz", "cll", folds=2, random_state=s
    ),
    "score m.npz d.data --metric ll --ais 3 --samples 5 --per-example o.csv": lambda s: score(
        "m.npz", "ll", inference="ais", chains=3, samples=5, random_state=s
    ),
}


def written(line):
    """Return the numbers that a command writes."""
    succeed(line)
    if "o.npz" in line:
        return mn.load("o.npz").weight.tolist()
    if "query" in line:
        return pd.read_csv("o.csv")["probability"].tolist()
    cells = pd.read_csv("o.csv", header=None)
    cells = cells.apply(pd.to_numeric, errors="coerce")
    return cells.dropna().to_numpy().ravel().tolist()  # without the header


@pytest.mark.parametrize("line", LINES)
def test_a_seed_gives_what_python_gives(line):
    by_seed = {}
    for seed in (20, 3, 4):
        by_seed[seed] = written(f"{line} --seed {seed}")
        expected = np.asarray(LINES[line](seed), float).ravel()
        assert by_seed[seed] == pytest.approx(expected.tolist(), abs=1e-6)
    assert by_seed[20] != by_seed[3] != by_seed[4]
    assert written(line) == by_seed[20]
