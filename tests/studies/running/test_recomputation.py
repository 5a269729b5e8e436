"""Records that are drawn at random, made again in a copy, and compared with those that are kept."""

import contextlib
import shutil

import pytest
from workflow import recomputation
from workflow.recomputation import Recomputation

from made_study import make_all, make_plan
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.plan.resources import JobResources, load_laws
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.making import make_record
from mnlearn_studies.records.record import Job, Record
from workflow_tree import TINY

CONTENT = {**TINY, "timed": ["dtsl"], "paired": [["dtsl", "atomic"]]}
CELL = Record("cells", "s", "triples", ("dtsl",))
PAIR = Record("paired", "s", "triples", ("dtsl", "atomic"))
# Kinds whose files git keeps.
KEPT = {"partitions", "cells", "tuning", "times", "paired"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The results of a study as a clone has them: without data, models and other large files."""
    folder = tmp_path_factory.mktemp("clone")
    with contextlib.chdir(folder):
        make_all(make_plan(folder / "results", CONTENT))
    for path in (folder / "results").iterdir():
        if path.name != "s":
            shutil.rmtree(path)
    for path in (folder / "results/s").iterdir():
        if path.name not in KEPT:
            shutil.rmtree(path)
    return folder


@pytest.fixture
def copy(clone, tmp_path, monkeypatch):
    """A copy of the clone, in which jobs are run in this process."""
    shutil.copytree(clone, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")

    def run(self, record):
        job = self.job(record)
        make_record(KINDS[record.kind], Job.from_json(job.to_json(), threads=1))
        return True

    monkeypatch.setattr(Recomputation, "_run", run)
    return tmp_path / "copy"


def recomputation_in(copy):
    """A recomputation that has made nothing yet, and the list of the lines that it says."""
    lines = []
    plan = make_plan(copy / "results", CONTENT)
    return Recomputation(plan, copy / "root", copy, lines.append), lines


def edit(path, change):
    """Write what a function makes of a record."""
    content = read_json(path)
    change(content)
    write_json(path, content)


@pytest.mark.nightly
def test_records_that_are_the_same_once_more_are_equal(copy):
    made, lines = recomputation_in(copy)
    made.make(PAIR, "pair")
    made.conclude()
    # Its cells are made again for their scores by example, and so are compared too.
    cells = {Record("cells", "s", "triples", (name,)) for name in PAIR.names}
    assert made.compared == {PAIR, *cells}
    assert made.faults == set()
    assert lines[0].startswith("pair: equal, ")
    assert lines[1:] == ["recompute: 3 records equal to the last digit, 0 at fault"]


def test_another_number_is_a_fault_that_names_the_key_and_both_values(copy):
    made, lines = recomputation_in(copy)
    path = made.plan.path(CELL)
    now = read_json(path)["variants"]["prune-5"]["scores"]["pll"]["mean"]

    def change(record):
        record["variants"]["prune-5"]["scores"]["pll"]["mean"] = now - 0.25
        record["variants"]["prune-5"]["seconds_inference"] = 1000

    edit(path, change)
    made.make(CELL, "cell")
    made.conclude()
    assert lines[0] == f"results/s/cells/triples/{path.name}: 1 values differ"
    assert lines[1] == (
        f"    variants/prune-5/scores/pll/mean: recorded {now - 0.25!r}, now {now!r} "
        "(differs by 0.25)"
    )
    assert lines[2].startswith("cell: DIFFERS, ")
    assert lines[3:] == [
        "recompute: 0 records equal to the last digit, 1 at fault", "    s triples dtsl cells"
    ]  # fmt: skip


@pytest.mark.parametrize(("by", "verdict"), [(0.00005, "within the limits"), (0.01, "DIFFERS")])
def test_a_record_of_other_arithmetic_is_judged_by_the_limits(copy, by, verdict):
    made, lines = recomputation_in(copy)

    def change(record):
        record["scored_by"]["machine"] = "Old CPU (pentium, BLAS Prescott), 1 cores"
        record["variants"][""]["validation"] += by
        record["variants"][""]["details"]["n_iterations"] += 7

    edit(made.plan.path(CELL), change)
    made.make(CELL, "cell")
    made.conclude()
    assert lines[0].endswith(f": 2 values differ, {int(by > 1e-3)} by more than they may")
    assert any(line.startswith(f"cell: {verdict}, ") for line in lines)
    assert made.faults == ({CELL} if verdict == "DIFFERS" else set())
    (rule,) = (line for line in lines if line.startswith("This machine rounds otherwise"))
    assert "pentium, BLAS Prescott" in rule
    assert "scores by 0.001 nats per example" in rule


def test_the_grid_points_of_a_cell_are_compared(copy):
    made, lines = recomputation_in(copy)
    trace = made.plan.path(CELL, "trace")
    rows = trace.read_text().splitlines()
    trace.write_text("\n".join(rows[:-1]) + "\n")
    made.make(CELL, "cell")
    assert lines[0].startswith(f"results/s/tuning/triples/{trace.name}: ")
    assert made.faults == {CELL}


@pytest.mark.nightly
def test_jobs_run_in_processes_of_the_copy_and_say_why_they_fail(clone, tmp_path, monkeypatch):
    copy = tmp_path / "copy"
    shutil.copytree(clone, copy)
    made, lines = recomputation_in(copy)
    partitions = Record("partitions", "s", "triples")
    made.make(partitions, "groups")
    assert lines[0].startswith("groups: equal, ")
    data = Record("data", "", "triples")
    for name in KINDS["data"].files:
        made.plan.path(data, name).write_bytes(b"damaged")
    made.make(partitions, "groups")
    assert lines[1] == "s triples partitions: failed with status 2"
    assert "train@" in lines[2]
    assert made.faults == {partitions}


def test_fetched_files_are_taken_from_the_checkout(copy):
    made, _ = recomputation_in(copy)
    folder = copy / "root/results/data/nltcs"
    folder.mkdir(parents=True)
    for name in ("nltcs.ts.data", "train@12345678.npz", "unavailable.txt", ".nltcs.ts.data.lock"):
        (folder / name).write_text(name)
    made._bring_data("nltcs")
    assert [path.name for path in (copy / "results/data/nltcs").iterdir()] == ["nltcs.ts.data"]
    made._bring_data("plants")
    assert not (copy / "results/data/plants").exists()


def test_what_takes_longer_than_the_time_that_is_left_is_left_out(copy, monkeypatch):
    plan, lines, made = make_plan(copy / "results", CONTENT), [], []
    monkeypatch.setattr(recomputation, "planned", lambda *_: plan)
    monkeypatch.setattr(recomputation, "draw_sample", lambda *_: [CELL, PAIR])
    monkeypatch.setattr(JobResources, "recorded_seconds", lambda _, record: 25.0)
    monkeypatch.setattr(Recomputation, "make", lambda _, record, title: made.append(record))
    same = recomputation.recompute(copy, copy, n=2, minutes=2, seed=7, say=lines.append)
    assert same
    assert made == [CELL]
    assert lines[0].startswith("recompute: 2 records, drawn with seed 7 ")
    assert lines[1] == "[1/2] s triples dtsl cells: begins, about 75 s"
    assert lines[2].startswith("[2/2] s triples dtsl-atomic paired: left out, ")


def draw(clone, n=100, seconds=1e6, seed=1, expected=lambda _: 1.0):
    plan = make_plan(clone / "results", CONTENT)
    return recomputation.draw_sample(plan, n, seconds, seed, expected)


def test_each_kind_comes_up_before_any_comes_up_again(clone):
    kinds = {"cells", "paired", "partitions", "times"}
    for seed in range(5):
        drawn = draw(clone, seed=seed)
        # Cells of a pair are made again with it, so that they are not drawn after it.
        assert kinds - {"cells"} <= {record.kind for record in drawn[: len(kinds)]} <= kinds
        assert len(set(drawn)) == len(drawn)
        assert draw(clone, seed=seed) == drawn
    assert len({tuple(draw(clone, seed=seed)) for seed in range(5)}) > 1
    assert len(draw(clone, n=2)) == 2


def test_a_sample_fits_into_the_time_and_no_record_takes_most_of_it(clone, monkeypatch):
    plan = make_plan(clone / "results", CONTENT)
    assert draw(clone, seconds=1.0) == []
    for seed in range(5):
        drawn = draw(clone, seconds=30.0, seed=seed)
        assert len(plan.in_order(drawn[:1])) <= recomputation.MOST * 30
    assert PAIR not in draw(clone, expected=lambda r: 1e6 if r.kind == "paired" else 1.0)
    monkeypatch.setattr(recomputation, "MOST", 1.0)
    few = draw(clone, seconds=4.0)
    assert 0 < len(plan.in_order(few)) <= 4
    assert len(few) < len(draw(clone))


def test_stale_records_are_not_drawn(clone):
    plan = make_plan(clone / "results", CONTENT, seed=21)
    assert recomputation.draw_sample(plan, 100, 1e6, 1, lambda _: 1.0) == []


def test_expected_seconds_are_those_of_the_records(clone):
    plan = make_plan(clone / "results", CONTENT)
    resources = JobResources(plan, load_laws())
    expected = resources.recorded_seconds
    cell = read_json(plan.path(CELL))
    start = expected(Record("data", "", "triples"))
    assert 0 < start <= 10
    assert expected(CELL.models) == start + cell["seconds_tuning"]
    assert start < expected(CELL) < start + 60
    times = Record("times", "s", "triples", ("dtsl",))
    recorded = read_json(plan.path(times))
    taken = sum(sum(run.values()) for run in recorded["methods"]["dtsl"]["runs"])
    assert expected(times) == pytest.approx(start + taken)
    missing = Record("cells", "s", "grid", ("dtsl",))
    assert expected(missing) == resources.seconds(missing)
