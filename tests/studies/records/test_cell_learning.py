"""Cells that share a folder of checkpoints: neither their order nor a kill may matter."""

import csv

import pytest

from made_study import search_job
from mnlearn.scoring.metrics import mean_score
from mnlearn_studies.datasets.embedded import load_embedded
from mnlearn_studies.records import learn as cell_learning
from mnlearn_studies.records.files import TRACE

WEIGHTS = {"sd": [0.1, 1.0, 100.0], "feature_mode": ["default", "prune-5", "nonzero"]}
TREES = {"kappa": [0.001, 0.1, 1.0], **WEIGHTS}
BY_CMLL = {"groups": 4, "method": "exact"}
# Label, learner, grid and settings of validation CMLL. The first two share everything but the
# criterion, the third has another grid with points of the first.
CELLS = {
    "dtsl": ("dtsl", TREES, {}),
    "dtsl_by_cmll": ("dtsl", TREES, BY_CMLL),
    "dtsl_fewer": ("dtsl", {**TREES, "sd": [1.0, 100.0]}, {}),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, split in zip(("train", "valid"), load_embedded("triples", 20)[:2], strict=True):
        split.save(folder / f"{name}.npz")
    return folder


def learn(data, label, checkpoints, out):
    """Learn a cell; return the bytes of its models and its grid points without seconds."""
    learner, grid, cmll = CELLS[label]
    job = search_job(
        data, out / "tuning.json", learner, grid, names=[label], criterion=cmll, kept=checkpoints
    )
    cell_learning.learn_cell(job)
    return outcome(out)


def outcome(folder):
    models = {path.name: path.read_bytes() for path in sorted(folder.glob("*.npz"))}
    with (folder / TRACE).open(newline="") as file:
        rows = list(csv.reader(file))
    timed = [k for k, name in enumerate(rows[0]) if name.startswith("seconds_")]
    return models, [[x for k, x in enumerate(row) if k not in timed] for row in rows]


@pytest.fixture(scope="module")
def alone(data, tmp_path_factory):
    """The cells, each with a folder of its own."""
    return {
        label: learn(data, label, tmp_path_factory.mktemp("own"), tmp_path_factory.mktemp(label))
        for label in CELLS
    }


@pytest.mark.parametrize("order", [list(CELLS), list(CELLS)[::-1]], ids=["forwards", "backwards"])
def test_cells_do_not_depend_on_the_order_of_jobs(data, alone, tmp_path, order):
    for label in order:
        assert learn(data, label, tmp_path / "shared", tmp_path / label) == alone[label]


def test_the_cells_differ(alone):
    """Otherwise the test of their order could not fail."""
    chosen = [models["chosen.npz"] for models, _ in alone.values()]
    traces = [trace for _, trace in alone.values()]
    assert len(set(chosen)) > 1
    assert all(a != b for a in traces for b in traces if a is not b)
    judged = [sum("behind" in row for row in trace) for trace in traces]
    assert judged[0] > 0
    assert judged[1] == 0


def test_a_killed_and_resumed_search_writes_the_same_bytes(data, alone, tmp_path, monkeypatch):
    class KilledError(Exception):
        pass

    def dies_after(n):
        def score(name, valid, request=None):
            measure, seen = mean_score(name, valid, request), []

            def criterion(model):
                if model.n_vars == 12:  # not when kernels are warmed up
                    seen.append(model)
                if len(seen) > n:
                    raise KilledError
                return measure(model)

            return criterion

        return score

    for n in (2, 4, 3):
        monkeypatch.setattr(cell_learning, "mean_score", dies_after(n))
        with pytest.raises(KilledError):
            learn(data, "dtsl", tmp_path / "kept", tmp_path / "out")
    kept = len(list((tmp_path / "kept").glob("*.npz")))
    assert 3 <= kept < len(alone["dtsl"][1]) - 1
    monkeypatch.setattr(cell_learning, "mean_score", mean_score)
    assert learn(data, "dtsl", tmp_path / "kept", tmp_path / "out") == alone["dtsl"]
