"""A cell that processes share out: the same bytes as those of one process, whatever is killed."""

import json
from dataclasses import replace

import numpy as np
import pytest

from daily import daily, first_daily
from made_random import random_data, random_dependency_network
from made_study import search_job
from mnlearn.data.dataset import Dataset
from mnlearn.learning import shares
from mnlearn.learning.grid_order import order_points
from mnlearn.learning.learner import VARIABLES, Round, list_rounds, own_points
from mnlearn.learning.shares import Part
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.io.native import write_npz
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import LOGGER
from mnlearn_studies.records import learn as cell_learning
from mnlearn_studies.records.files import TRACE, TUNING_RECORD

PENALTIES = {"l1": [0.0, 1.0], "sd": [0.3, 1.0]}
# A grid for each learner, with several values of what it can be shared out by.
GRIDS = {
    "acbn": {"pseudocount": [0.5, 2.0], "edge_cost": [0.1, 1.0], "max_edges": [40, 80, 120]},
    "acmn": {"l1": [0.5, 2.0], "max_edges": [40, 80]},
    "blm": {"initial": ["positive", "full"], "price": [1.0, 3.0], **PENALTIES},
    "della_pietra": {"min_gain": [3.0, 6.0, 12.0], **PENALTIES},
    "dn2mn": {"kappa": [0.01, 0.5, 1.0], "orders": ["rotations", "both-rotations"]},
    "dn_bag": {"kappa": [0.1, 1.0], "n_bags": [3]},
    "dn_boost": {"max_depth": [1, 2], "n_rounds": [2, 5]},
    "dn_lr": {"lambda": [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]},
    "dn_mixed": {"kappa": [0.1, 1.0], "share": [0.3, 0.6]},
    "dn_tree": {"kappa": [0.01, 0.5, 1.0]},
    "dtsl": {"kappa": [0.1, 1.0], "feature_mode": ["default", "prune-5", "nonzero"], **PENALTIES},
    "gssl": {"initial": ["positive", "full"], "n_generated": [300, 600], **PENALTIES},
    "hclt": {"n_states": [2, 3], "max_iterations": [3], "batch_epochs": [1]},
    "junction_tree": {"treewidth": [1, 2], "pseudocount": [0.5, 1.0]},
    "l1": {"merge": ["and", "or"], "lambda": [0.5, 2.0], **PENALTIES},
    "lem": {"delta": [0.001, 0.01, 0.1], "min_rows": [10, 50]},
    "ltm": {"grouping": ["joining"], "pseudocount": [0.5, 1.0]},
    "lw": {"features": ["cpds", "converted"], "l1": [0.0, 1.0], "sd": [0.3, 1.0]},
    "mixture": {"n_components": [2, 3], "prior": [1.0, 10.0]},
    "tree_bag": {"n_bags": [2], "delta": [0.01, 0.1], "pseudocount": [0.5, 1.0]},
}


@pytest.fixture(autouse=True)
def cold(monkeypatch):
    """Times do not matter here, so that no kernel has to be warmed up."""
    monkeypatch.setattr(cell_learning, "warm_up", lambda *_: None)


def rounds_of(name):
    learner = load_learner(name)
    return list_rounds(
        learner, learner.grid(GRIDS[name]), with_network=learner.network == "required"
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name, seed, n in (("train", 1, 150), ("valid", 2, 60)):
        random_data(seed, n_vars=7, n_examples=n).save(folder / f"{name}.npz")
    write_npz(random_dependency_network(3, 7), folder / "network" / "chosen.npz")
    return folder


class Cell:
    """One cell, with a folder of its own."""

    def __init__(self, data, name, folder, cmll=None):
        self.data, self.folder, self.name, self.cmll = data, folder, name, cmll
        self.grid = GRIDS[name]

    def job(self, out, *part, parts=()):
        """Return the job of the search, or of a part of it."""
        more = {"parts": list(map(str, parts))}
        if load_learner(self.name).network == "required":
            more["network"] = str(self.data / "network" / TUNING_RECORD)
        return search_job(
            self.data, self.folder / out, self.name, self.grid, names=(self.name, *part),
            criterion=self.cmll, kept=self.folder / "kept", **more,
        )  # fmt: skip

    def part(self, round_name, part, before=()):
        out = f"{round_name}-{part.number}-of-{part.of}.json"
        names = (round_name, str(part.number), str(part.of))
        cell_learning.learn_part(self.job(out, *names, parts=before))
        return self.folder / out

    def parts(self, n):
        """Do all parts of all rounds; return their files. One process has no rounds."""
        files = []
        for each in rounds_of(self.name) if n > 1 else []:
            of = each.n_parts(n)
            # The last one first: the order must not matter.
            numbers = range(of, 0, -1)
            files += [self.part(each.name, Part(k, of), tuple(files)) for k in numbers]
        return files

    def whole(self, parts=()):
        """Return all bytes of the cell, but for seconds and memory."""
        models = self.folder / "models"
        cell_learning.learn_cell(self.job(f"models/{TUNING_RECORD}", parts=parts))
        files = {path.name: path.read_bytes() for path in models.glob("*.npz")}
        record = json.loads((models / TUNING_RECORD).read_text())
        head, *rows = [line.split(",") for line in (models / TRACE).read_text().splitlines()]
        timed = {k for k, name in enumerate(head) if name.startswith("seconds_")}
        trace = [[x for k, x in enumerate(row) if k not in timed] for row in rows]
        return files, untimed(record), trace

    def kept(self):
        return {path.name for path in (self.folder / "kept").iterdir()}


def untimed(value):
    if not isinstance(value, dict):
        return value
    left_out = ("seconds", "peak_memory")
    return {k: untimed(v) for k, v in value.items() if not k.startswith(left_out)}


@pytest.fixture(scope="module")
def alone(data, tmp_path_factory):
    """Return a function that gives the bytes of one process."""
    found = {}

    def bytes_of(name, cmll=None):
        key = (name, cmll is not None)
        if key not in found:
            found[key] = Cell(data, name, tmp_path_factory.mktemp(name), cmll).whole()
        return found[key]

    return bytes_of


def test_every_learner_that_can_be_shared_out_has_a_grid_here():
    learners = {name: load_learner(name) for name in learner_names()}
    shared = {
        name
        for name, learner in learners.items()
        if learner.by_variable or any(stage.split for stage in learner.stages)
    }
    assert shared == set(GRIDS)
    assert all(rounds_of(name) for name in GRIDS)


# One learner by day for each way to share work out: by variable, by grid point, by component.
BY_DAY = ("dtsl", "acmn", "mixture")


@pytest.mark.parametrize("n", first_daily(2, 1, 3))
@pytest.mark.parametrize("name", daily(GRIDS, BY_DAY))
def test_parts_give_the_bytes_of_one_process(data, alone, tmp_path, name, n):
    cell = Cell(data, name, tmp_path)
    parts = cell.parts(n)
    before = cell.kept() if parts else set()
    assert cell.whole(parts) == alone(name)
    points = {path for path in cell.kept() - before if path.endswith(".npz")}
    last = rounds_of(name)[-1]
    if parts and last.stage == len(load_learner(name).stages) - 1:
        assert not points, "the search learned what a part had to learn"


def test_parts_of_a_search_by_cmll(data, alone, tmp_path):
    cmll = {"groups": 2, "method": "exact"}
    cell = Cell(data, "dtsl", tmp_path, cmll)
    assert cell.whole(cell.parts(2)) == alone("dtsl", cmll) != alone("dtsl")


@pytest.mark.nightly
def test_more_variables_than_blocks(tmp_path):
    """Blocks of several variables, some of which are constant."""
    folder = tmp_path / "wide"
    folder.mkdir()
    for name, seed in (("train", 1), ("valid", 2)):
        rows = np.random.default_rng(seed).integers(0, 2, (40, 40))
        rows[:, [3, 17]], rows[:, 20] = 0, 1
        Dataset.from_arrays(rows).save(folder / f"{name}.npz")
    for name in ("dn_lr", "dn_tree"):
        whole, split = (Cell(folder, name, tmp_path / kind / name) for kind in ("a", "b"))
        assert split.whole(split.parts(2)) == whole.whole()


@pytest.mark.parametrize("name", GRIDS)
def test_points_of_different_parts_do_not_start_at_each_other(name):
    """Nor does the score of one end the learning of another."""
    learner = load_learner(name)
    for stage in learner.stages:
        assert set(stage.split_by) <= set(stage.parameters)
        grid = {p: [1, 2] for p in stage.parameters}
        points = order_points(stage.parameters, grid, stage.order)
        if not stage.split_by:
            continue
        assert stage.until_worse is None
        n = 2 ** len(stage.split_by)
        shares = [own_points(stage, points, Part(k, n)) for k in range(1, n + 1)]
        assert sorted(p.place for one in shares for p in one) == list(range(len(points)))
        for share in shares:
            places = [point.place for point in share]
            assert all(point.start in (None, *places) for point in share)
        families = [{point.family for point in share} for share in shares]
        assert sum(map(len, families)) == len(set().union(*families))


class KilledError(Exception):
    pass


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["dn_tree", "dn_lr", "dn_bag"])
def test_a_killed_part_resumes(data, alone, tmp_path, monkeypatch, name):
    """It is killed at its third block; the first two are not learned again."""
    learn_block, learned = shares._learn_block, []

    def killed(*arguments):
        learned.append(arguments)
        if len(learned) == 3:
            raise KilledError
        return learn_block(*arguments)

    cell, part = Cell(data, name, tmp_path), Part(1, 2)
    monkeypatch.setattr(shares, "SECONDS_BETWEEN_STATES", -1.0)
    monkeypatch.setattr(shares, "_learn_block", killed)
    with pytest.raises(KilledError):
        cell.part(VARIABLES, part)
    assert not (tmp_path / "variables-1-of-2.json").exists()
    first = cell.part(VARIABLES, part)
    bounds = [arguments[1:3] for arguments in learned]
    # Variables of one penalty or one sample: 7, of which the first part has 4.
    assert bounds[:3] == [(0, 1), (2, 3), (4, 5)]
    assert bounds[3:5] == [(4, 5), (6, 7)]
    assert cell.whole([first, cell.part(VARIABLES, Part(2, 2))]) == alone(name)


def test_a_killed_part_of_a_grid_resumes(data, alone, tmp_path, monkeypatch):
    """Two of its four grid points are kept; each is learned once."""
    expected = alone("dtsl")
    learner = load_learner("dtsl")
    learn, learned = learner.stages[1].learn, []

    def killed(one, *rest):
        learned.append((one.feature_mode, one.l1, one.sd))
        if len(learned) == 3:
            raise KilledError
        return learn(one, *rest)

    last = replace(learner.stages[1], learn=killed)
    monkeypatch.setattr(learner, "stages", (learner.stages[0], last))
    cell = Cell(data, "dtsl", tmp_path)
    with pytest.raises(KilledError):
        cell.part("stage1", Part(1, 3))
    assert cell.whole([cell.part("stage1", Part(k, 3)) for k in (1, 2, 3)]) == expected
    assert len(learned) == 12 + 1
    assert len(set(learned)) == 12


def test_without_its_parts_a_search_learns_all(data, alone, tmp_path, caplog):
    cell = Cell(data, "dtsl", tmp_path)
    parts = cell.parts(2)
    for path in (tmp_path / "kept").iterdir():
        path.unlink()
    with caplog.at_level("INFO", LOGGER.name):
        assert cell.whole(parts) == alone("dtsl")
    assert "7 of 7 blocks of variables were not kept" in caplog.text


def test_damaged_shares_are_learned_again(data, alone, tmp_path):
    cell = Cell(data, "dn_tree", tmp_path)
    parts = cell.parts(2)
    first, second = sorted((tmp_path / "kept").glob("*.state.npz"))
    first.write_bytes(first.read_bytes()[:-20])
    second.write_bytes(b"")
    assert cell.whole(parts) == alone("dn_tree")


def test_shares_of_another_grid_are_not_used(data, tmp_path):
    """The largest kappa is another one, so that the trees are."""
    old, new = (Cell(data, "dn_tree", tmp_path) for _ in range(2))
    old.grid = {"kappa": [0.001]}
    old.parts(2)
    fresh = Cell(data, "dn_tree", tmp_path / "fresh")
    assert new.whole() == fresh.whole()


@pytest.mark.parametrize(("round_name", "part"), [("stage0", Part(1, 2)), ("stage1", Part(1, 4))])
def test_rounds_that_there_are_not(data, tmp_path, round_name, part):
    with pytest.raises(InputError, match=rf"{round_name} of {part.of}: expected a part of one of"):
        Cell(data, "dtsl", tmp_path).part(round_name, part)
    assert not list(tmp_path.iterdir())


def test_regressions_end_early_in_a_part(data, tmp_path):
    """A part ends where its own score falls; what the search needs beyond, it learns itself."""
    cell = Cell(data, "dn_lr", tmp_path)
    cell.grid = {"lambda": [1e-3, 2e-3, 5e-3, *GRIDS["dn_lr"]["lambda"]]}
    parts = cell.parts(2)
    kept = len(list((tmp_path / "kept").glob("*.state.npz")))
    assert 2 * 4 < kept < 2 * 11
    other = Cell(data, "dn_lr", tmp_path / "whole")
    other.grid = cell.grid
    assert cell.whole(parts) == other.whole()


def test_parts_of_a_learner_that_is_given_a_network():
    learner = load_learner("dn2mn")
    grid = learner.grid(GRIDS["dn2mn"])
    for given, names in ((False, [VARIABLES, "stage1"]), (True, ["stage1"])):
        assert [r.name for r in list_rounds(learner, grid, with_network=given)] == names


def test_shares_of_work():
    assert [Round("x", 0, 5).n_parts(n) for n in (2, 5, 9)] == [2, 5, 5]
    assert Round(VARIABLES).n_parts(9) == 9
