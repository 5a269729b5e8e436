"""How well two programs did the same task: scores and edges, from what they wrote."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.formats import load_model
from mnlearn.scoring.any_model import ll, pll


def compare_models(ours: Path, theirs: Path, test: Dataset) -> str:
    """Return the test scores of two models, and the edges of circuits.

    Raises
    ------
    InputError
        A file is no model.
    """
    both = [load_model(path) for path in (ours, theirs)]
    exact = all(isinstance(model, ArithmeticCircuit) for model in both)
    name, measure = ("LL", ll) if exact else ("PLL", pll)
    text = "test {} {:.4f}, peer {:.4f}".format(name, *(measure(m, test).mean for m in both))
    edges = [model.n_edges for model in both if isinstance(model, ArithmeticCircuit)]
    return text + "; {:,} edges, peer {:,}".format(*edges) if exact else text


def compare_regressions(ours: Path, theirs: Path, test: Dataset) -> str:
    """Return the test PLL of a model, and that of a table of weights as `liblinear.py` writes it.

    Raises
    ------
    InputError
        The first file is no model.
    ValueError
        The second file is no such table.
    """
    weights = np.loadtxt(theirs, delimiter=",", ndmin=2)
    score = pll(load_model(ours), test).mean
    return f"test PLL {score:.4f}, peer {score_regressions(weights, test):.4f}"


def score_regressions(weights: NDArray[np.float64], test: Dataset) -> float:
    """Return the mean log-pseudo-likelihood of regressions, rows of an intercept and weights."""
    odds = weights[:, 0] + test.rows @ weights[:, 1:].T
    losses = np.logaddexp(0.0, np.where(test.rows, -odds, odds)).sum(axis=1)
    return -float(test.weight @ losses / test.weight.sum())


def compare_edges(ours: Path, theirs: Path, columns: tuple[str, str]) -> str:
    """Return how many edges two tables have, how many of them in common.

    Parameters
    ----------
    ours, theirs
        CSV files with an edge a row. The columns of ours are `source` and `target`.
    columns
        The columns of theirs.

    Raises
    ------
    ValueError
        A file is no table, or lacks a column.
    """
    found = []
    for path, names in ((ours, ("source", "target")), (theirs, columns)):
        table = pd.read_csv(path, dtype=str)
        if not {*names} <= {*table}:
            raise ValueError(f"{path.name}: expected the columns {' and '.join(names)}.")
        found.append({frozenset(pair) for pair in table[list(names)].to_numpy().tolist()})
    return f"{len(found[0])} edges, peer {len(found[1])}, {len(found[0] & found[1])} in common"


def compare_posteriors(ours: Path, theirs: Path) -> str:
    """Return how many probabilities two tables have, and the largest difference between them.

    Raises
    ------
    ValueError
        A file is no such table, or they have other probabilities.
    """
    cells = ["row", "variable", "state"]
    both = [
        pd.read_csv(p, dtype=dict.fromkeys(cells, str)).set_index(cells) for p in (ours, theirs)
    ]
    one, other = (table["probability"].sort_index() for table in both)
    if not one.index.equals(other.index):
        raise ValueError(f"{theirs.name}: expected the {len(one)} probabilities of {ours.name}.")
    return f"{len(one):,} probabilities, largest difference {(one - other).abs().max():.0e}"
