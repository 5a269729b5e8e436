"""Runs of a small study in a copy of the tree: what is missing is made, and nothing else."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

from mnlearn.runtime.files import read_json, write_json
from workflow_tree import TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]

STUDY = {**TINY, "paired": [["dtsl", "atomic"]]}
# The jobs of a whole run.
WHOLE = {
    "data": 1,
    "partitions": 1,
    "models": 2,
    "cells": 2,
    "paired": 1,
    "products_tiny": 1,
}
PRODUCTS = {"products_tiny": 1}
# What a cell needs that git does not keep.
OF_CELL = {"data": 1, "models": 1, "cells": 1}
TABLE = "tiny/tables/scores.md"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A tree in which the study has run, with its records in git."""
    tree = Tree(tmp_path_factory.mktemp("workflow"), STUDY)
    assert tree.study() == WHOLE
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "made"],
    ):
        subprocess.run(["git", "-C", str(tree.folder), *command], check=True)
    return tree


def clone(finished, folder):
    """Return a fresh clone, with what git keeps."""
    command = ["git", "clone", "--quiet", str(finished.folder), str(folder)]
    subprocess.run(command, check=True)
    return Tree.at(folder)


def copy(finished, folder):
    """Return a copy of the whole tree."""
    shutil.copytree(finished.folder, folder, symlinks=True)
    return Tree.at(folder)


def contents(tree):
    """Return the records and products that git keeps, by name; pages say when they were made."""
    command = ["git", "-C", str(tree.folder), "ls-files", "results/tiny"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return {name: (tree.folder / name).read_bytes() for name in names}


def make_older(tree, kind, name, keep_current=False):
    """Put an older version of a record beside the current one, or in its place."""
    (path,) = tree.files(kind, f"triples/{name}")
    older = path.with_name(f"{name}@01234567{path.suffix}")
    record = read_json(path)
    write_json(older, {**record, "recipe": {**record["recipe"], "code": "former"}})
    if not keep_current:
        path.unlink()
    return path, older


def touch_all(tree):
    """Give all files the time of now, those of git and of Snakemake too."""
    for path in tree.folder.rglob("*"):
        path.touch()


def test_a_run_leaves_records_tables_and_claims(finished):
    results = finished.results / "tiny"
    for name in ("scores.csv", "claims.md", "README.md", "index.html", "figures/beside.pdf"):
        assert (results / name).stat().st_size > 0
    assert "DTSL" in (finished.results / TABLE).read_text()
    # The dataset is an exception in what is given a CMLL: all variants are.
    variants = finished.record("cells", "dtsl")["variants"]
    assert set(variants) == {"", "prune-5", "nonzero"}
    assert all("cmll" in variant["scores"] for variant in variants.values())
    assert variants[""]["scores"]["cmll"]["monte_carlo_error"] < 0.1
    header, row = (results / "tables/scores.csv").read_text().splitlines()
    shown = dict(zip(header.split(","), row.split(","), strict=True))
    assert shown["stale"] == ""
    assert float(shown["DTSL"]) == variants[""]["scores"]["pll"]["mean"] > -12


def test_after_a_touch_of_every_file_nothing_is_to_be_done(finished):
    touch_all(finished)
    assert finished.planned() == {}


def test_a_clone_with_an_older_record_makes_exactly_what_is_missing(finished, tmp_path):
    """Git keeps neither data, models nor scores by example, and restores files as of now."""
    tree = clone(finished, tmp_path / "clone")
    before = contents(tree)
    current, older = make_older(tree, "cells", "atomic")
    _, superseded = make_older(tree, "paired", "dtsl-atomic", keep_current=True)
    listed = tree.mnlearn("study", "tiny", "--stale").stdout
    assert listed == "triples atomic cells: code\n"
    # The partitions are kept, and the pair is current.
    assert tree.study("--cores", "2") == {**OF_CELL, **PRODUCTS}
    assert current.exists()
    assert not older.exists()
    assert not superseded.exists()
    assert tree.scores() == finished.scores()
    after = contents(tree)
    made = {current, *tree.files("tuning", "triples/atomic")}
    pages = {tree.results / "tiny" / name for name in ("scores.csv", "README.md")}
    changed = {tree.folder / name for name in before if after[name] != before[name]}
    assert changed <= made | pages


@pytest.mark.nightly
def test_a_second_run_and_one_of_a_clone_compute_nothing(finished, tmp_path):
    assert finished.study() == {}
    tree = clone(finished, tmp_path / "clone")
    before = contents(tree)
    # The page for the browser is not kept.
    assert tree.study() == PRODUCTS
    assert tree.study() == {}
    assert contents(tree) == before
    assert not (tree.results / "data").exists()
    assert not (tree.results / "tiny/models").exists()


@pytest.mark.nightly
def test_products_that_git_restores_or_somebody_edits_are_made_again(finished, tmp_path):
    tree = copy(finished, tmp_path / "copy")
    for name in (TABLE, "tiny/figures/beside.png", "tiny/claims.csv", "tiny/README.md"):
        path = tree.results / name
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert tree.study() == PRODUCTS
        assert path.read_bytes() == content
    (tree.results / "tiny/scores.csv").unlink()
    assert tree.study() == PRODUCTS
    assert tree.scores() == finished.scores()
    assert tree.study() == {}


# Every Python process of a run imports this: a job waits for a moment after it has written a
# checkpoint or a record, so that the test can kill it between two of its steps.
SLOW_FILES = """
import pathlib
import time

replace = pathlib.Path.replace


def replace_slowly(self, target):
    replaced = replace(self, target)
    if {"checkpoints", "cells"} & set(pathlib.Path(target).parts):
        time.sleep(1.0)
    return replaced


pathlib.Path.replace = replace_slowly
"""


def start(tree, slow=None):
    """Start a run in a process group of its own."""
    environment = tree.environment()
    if slow is not None:
        (slow / "sitecustomize.py").write_text(SLOW_FILES)
        environment["PYTHONPATH"] = f"{slow}{os.pathsep}{environment['PYTHONPATH']}"
    return subprocess.Popen(
        [sys.executable, "-m", "mnlearn", "study", "tiny"],
        cwd=tree.folder, env=environment, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        # A shell lets its background jobs ignore interrupts, and their children too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip


def wait_until(process, reached):
    """Wait until something is there, while the run is alive."""
    deadline = time.monotonic() + 300
    while not reached():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run did not come to where it was to be killed"
        time.sleep(0.01)


def left_to_do(tree):
    """Return the jobs whose record is not there."""
    places = {
        "data": "data/triples/test@*",
        "partitions": "tiny/partitions/triples@*",
        "models": "tiny/models/triples/*/tuning.json",
    }
    there = {rule: places.get(rule, f"tiny/{rule}/triples/[!.]*@*") for rule in WHOLE}
    there = {rule: len(list(tree.results.glob(place))) for rule, place in there.items()}
    return {rule: n - there[rule] for rule, n in WHOLE.items() if n > there[rule]}


@pytest.mark.nightly
def test_a_killed_run_resumes_where_it_stopped(finished, tmp_path):
    """Killed between grid points, after a score was kept, and right after a record was written."""
    (tmp_path / "slow").mkdir()
    tree = Tree(tmp_path / "tree", STUDY)

    def kept(tree=tree, ending=""):
        found = tree.results.glob(f"checkpoints/**/[!.]*{ending}")
        return {path.name: path.stat().st_mtime_ns for path in found if path.is_file()}

    def learned():
        return len(kept(ending=".fit.json"))

    first_kept = {}
    for reached in (
        # `atomic` is one grid point and `dtsl` four.
        lambda: learned() >= 2,
        lambda: learned() >= 4,
        lambda: len(kept(ending=".json")) > learned(),
        lambda: tree.files("cells"),
    ):
        process = start(tree, tmp_path / "slow")
        wait_until(process, reached)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        first_kept = {**kept(), **first_kept}
    records = {path: path.stat().st_mtime_ns for path in tree.files("cells")}
    assert records
    expected = left_to_do(tree)
    assert {"paired", "products_tiny"} <= set(expected)
    assert tree.study() == expected
    assert {path: path.stat().st_mtime_ns for path in records} == records
    after = kept()
    again = [name for name, moment in first_kept.items() if after.get(name) != moment]
    assert again == [], "finished steps were done again"
    assert set(after) == set(kept(finished))
    assert tree.scores() == finished.scores()
    for ending in ("csv", "md", "tex"):
        path = f"tiny/tables/scores.{ending}"
        assert (tree.results / path).read_bytes() == (finished.results / path).read_bytes()
    assert tree.study() == {}


@pytest.mark.nightly
def test_a_killed_run_leaves_current_records_in_place(finished, tmp_path):
    """A clone scores a cell again for its scores by example, which a pair is made of."""
    (tmp_path / "slow").mkdir()
    tree = clone(finished, tmp_path / "clone")
    kept = {path: path.read_bytes() for path in tree.files("cells") + tree.files("tuning")}
    assert len(kept) == 4
    (pair,) = tree.files("paired")
    pair.unlink()

    def scoring():
        # A job of a cell writes its log first, and ends in a moment that the test makes longer.
        return list(tree.results.glob("logs/tiny/cells/triples/*.log"))

    for how in (signal.SIGKILL, signal.SIGTERM):
        process = start(tree, tmp_path / "slow")
        wait_until(process, scoring)
        (os.killpg if how == signal.SIGKILL else os.kill)(process.pid, how)
        process.communicate(timeout=120)
        assert process.returncode != 0
        assert {path: path.read_bytes() for path in kept} == kept
        shutil.rmtree(tree.results / "logs")
    assert tree.study()["paired"] == 1
    assert pair.exists()
    assert {path: path.read_bytes() for path in kept} == kept
    assert tree.study() == {}


@pytest.mark.nightly
def test_a_run_that_is_ended_leaves_nothing_in_the_way(tmp_path):
    tree = Tree(tmp_path, STUDY)
    locks = tree.folder / ".snakemake/locks"

    def end(how, *, whole_group=True):
        process = start(tree)
        wait_until(process, lambda: list(tree.results.glob("checkpoints/*")))
        (os.killpg if whole_group else os.kill)(process.pid, how)
        output, _ = process.communicate(timeout=120)
        assert process.returncode != 0
        return output

    assert "terminated; waiting for the jobs" in end(signal.SIGTERM, whole_group=False)
    assert not list(locks.glob("*"))
    assert not tree.files("cells")
    shutil.rmtree(tree.results)
    output = end(signal.SIGINT)
    assert "interrupted; waiting for the jobs" in output
    # A job that is interrupted while it starts may leave a traceback in its log, which Snakemake
    # shows; the command itself must not.
    assert not re.search(r"running/(run|snakemake)\.py", output)
    assert not list(locks.glob("*"))
    shutil.rmtree(tree.results)
    end(signal.SIGKILL)
    assert list(locks.glob("*"))
    done = tree.mnlearn("study", "tiny", "--recorded")
    assert done.returncode != 0  # There is nothing to make a table of.
    assert "removed the lock" in done.stderr
    assert not list(locks.glob("*"))


@pytest.mark.nightly
def test_parts_of_a_study_are_run_and_shown_with_the_rest(tmp_path):
    """Two datasets, one after the other; stale records are made again where they are asked for."""
    study = {**STUDY, "datasets": ["triples", "grid"], "timed": ["dtsl"]}
    tree = Tree(tmp_path, study)

    def rows():
        lines = (tree.results / "tiny/tables/scores.csv").read_text().splitlines()
        return [(line.split(",")[0], line.rpartition(",")[2]) for line in lines[1:]]

    of_each = {"data": 1, "partitions": 1, "models": 2, "cells": 2, "paired": 1, "times": 1}
    for dataset, shown in (("grid", [("grid", "")]), ("triples", [("triples", ""), ("grid", "")])):
        assert tree.study("--datasets", dataset) == {**of_each, **PRODUCTS}
        assert rows() == shown
    tree.edit("src/mnlearn/learning/trees.py", "+ 4", "+ 5")
    lines = tree.mnlearn("study", "tiny", "--stale").stdout.splitlines()
    assert "grid dtsl cells: learning (code), code" in lines
    assert not any("atomic cells" in line for line in lines)
    on_grid = tree.files("cells", "grid/*")
    expected = {"models": 1, "cells": 1, "paired": 1, "times": 1, **PRODUCTS}
    assert tree.study("--datasets", "triples") == expected
    assert tree.files("cells", "grid/*") == on_grid
    assert rows() == [("triples", ""), ("grid", "yes")]
    assert tree.study("--datasets", "triples") == {}
    # What only tables and pages show is not of a record.
    formats = "src/mnlearn_studies/report/tables/formats.py"
    tree.edit(formats, "text + DAGGER if", "DAGGER + text if")
    assert tree.study("--datasets", "triples") == PRODUCTS
    times = {path: path.stat().st_mtime_ns for path in tree.files("cells", "*/*")}
    scores = tree.scores()
    again = {"cells": 2, "paired": 1, "times": 1, **PRODUCTS}
    assert tree.study("--datasets", "triples", "--again") == again
    made = {path for path, before in times.items() if path.stat().st_mtime_ns != before}
    assert made == set(tree.files("cells"))
    assert tree.scores() == scores


@pytest.mark.nightly
def test_what_cannot_be_had_and_what_is_only_recorded(finished, tmp_path):
    tree = clone(finished, tmp_path / "clone")
    tree.write_study({**STUDY, "datasets": ["triples", "nltcs"]})
    before = contents(tree)

    def changed():
        after = contents(tree)
        return {name for name in before if after[name] != before[name]}

    nowhere = str(tmp_path / "nowhere")
    for asked in (["--datasets", "nltcs"], []):
        done = tree.mnlearn("study", "tiny", "--mirror", nowhere, *asked)
        assert done.returncode == 2, done.stdout + done.stderr
        assert "nltcs" in done.stderr.splitlines()[-1]
        # The page shows the study as its file defines it now.
        assert changed() <= {"results/tiny/README.md"}
    (tree.results / "tiny/tables/scores.csv").unlink()
    assert tree.study("--recorded") == PRODUCTS
    assert changed() <= {"results/tiny/README.md"}
    tree.edit("config.yaml", "recorded: false", "recorded: true")
    assert tree.study() == {}
    for option in ([], ["--recorded"]):
        refused = tree.mnlearn("study", "tiny", *option, "--again")
        assert refused.returncode == 2
        assert "--again and --recorded: expected one" in refused.stderr


@pytest.mark.nightly
def test_jobs_that_share_out_learning_leave_the_same_models(finished, tmp_path):
    tree = Tree(tmp_path / "tree", STUDY)
    tree.edit("config.yaml", "parts: 1 ", "parts: 3 ")
    (folder,) = finished.results.glob("tiny/models/triples/dtsl@*")
    target = folder.relative_to(finished.folder) / "tuning.json"
    done = tree.snakemake(targets=[str(target)])
    assert done.returncode == 0, done.stderr
    assert tree.jobs(done) == {"data": 1, "parts": 5, "models": 1}
    models = {path.name: path.read_bytes() for path in folder.glob("*.npz")}
    assert len(models) == 3
    found = (tree.folder / target).parent.glob("*.npz")
    assert {path.name: path.read_bytes() for path in found} == models
    assert not list(tree.results.glob("tiny/parts/triples/dtsl*"))
    assert tree.jobs(tree.snakemake("-n", targets=[str(target)])) == {}
