"""Marginals of published networks against pyAgrum (LazyPropagation, version 3.3.1)."""

import json
from pathlib import Path

import numpy as np
import pytest

import mnlearn as mn
from conftest import mirrors
from daily import daily
from mnlearn.inference.tables.clique_tree import CliqueTree
from mnlearn.inference.tables.factors import factors_of
from mnlearn.variables.schema import NO_STATE

GOLDEN = json.loads((Path(__file__).parents[2] / "golden_network_marginals.json").read_text())


LARGE = ("mildew", "barley", "munin", "pathfinder")


@pytest.mark.parametrize("name", daily(GOLDEN, set(GOLDEN) - set(LARGE)))
def test_marginals_and_log_probabilities_of_evidence(name):
    """Evidence and marginals are by the number of the state; up to four states are kept."""
    path = next((p / f"{name}.bif.gz" for p in mirrors() if (p / f"{name}.bif.gz").exists()), None)
    if path is None:
        pytest.skip(f"MNLEARN_DATA_MIRROR does not name a folder with {name}.bif.gz")
    network = mn.load(path)
    tree = CliqueTree(factors_of(network))
    for case in GOLDEN[name]:
        values = np.full((1, network.n_vars), NO_STATE, np.uint8)
        for variable, state in case["evidence"].items():
            values[0, network.schema.number(variable)] = state
        log_value, p = tree.marginals(values)
        assert log_value[0] == pytest.approx(case["log"], abs=1e-6)
        for variable, expected in case["marginals"].items():
            first = tree.first_state[network.schema.number(variable)]
            assert p[0, first : first + len(expected)] == pytest.approx(expected, abs=1e-6)
