"""Models of variables of 1 to 6 states that Libra learned, against what it says of rows."""

from pathlib import Path

import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.inference.exact import log_partition
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.formats import form_of, load_model, save_model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import ll, pll

FOLDER = Path(__file__).parents[2] / "golden_libra"
LINES = [line.split() for line in (FOLDER / "scores.txt").read_text().splitlines()[1:]]
ROWS = {
    name: [list(map(int, row)) for row in rows] for kind, name, *rows in LINES if kind == "rows"
}
SCORES = [line for line in LINES if line[0] != "rows"]


def scores_of(model, metric, values):
    rows = model.schema.rows(np.array(values))
    if metric == "log_z":
        circuit = model if isinstance(model, ArithmeticCircuit) else model.to_circuit()
        return log_partition(circuit)
    if metric == "log_score":
        return model.potential_of(rows)
    data = merge_rows(rows, schema=model.schema)
    return {"ll": ll, "pll": pll}[metric](model, data).per_row[data.row_of]


@pytest.mark.parametrize(("name", "metric"), [line[:2] for line in SCORES])
def test_scores_of_libra(name, metric, tmp_path):
    expected = next(line[2:] for line in SCORES if line[:2] == [name, metric])
    values = ROWS[name.split("-")[0]]
    model = load_model(FOLDER / f"{name}.gz")
    save_model(model, tmp_path / f"again{form_of(name)}")
    for read in (model, load_model(tmp_path / f"again{form_of(name)}")):
        found = scores_of(read, metric, values)
        # Libra prints six digits behind the point.
        np.testing.assert_allclose(found, np.array(expected, float), rtol=0, atol=1e-6)


def test_a_network_of_libra_as_tables(tmp_path):
    """The partition function is kept."""
    model = load_model(FOLDER / "single6-acmn.mn.gz")
    assert isinstance(model, MarkovNetwork)
    save_model(model, tmp_path / "a.uai")
    again = load_model(tmp_path / "a.uai")
    values = np.indices(model.schema.arity).reshape(model.n_vars, -1).T
    rows = model.schema.rows(values)
    np.testing.assert_allclose(again.potential_of(rows), model.potential_of(rows), atol=1e-12)
