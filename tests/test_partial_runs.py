"""Runs of a part of a study: what is recorded is used, and nothing recorded is lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from workflow_tree import TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.nightly, pytest.mark.xdist_group("partial runs")]

TWO = {
    **TINY,
    "datasets": ["triples", "grid"],
    "methods": {**TINY["methods"], "dtsl": {**TINY["methods"]["dtsl"], "cmll": "chosen"}},
    "timed": ["dtsl"],
    "paired": [["dtsl", "atomic"]],
    "figures": [
        {"name": "drawn", "kind": "structure", "caption": "", "dataset": "grid", "method": "dtsl"}
    ],
}
# What a clone does not have: git ignores it.
NOT_RECORDED = (*("models", "per_example", "pages", "queries", "claims.html", "index.html"),)


def recorded(tree):
    """Return the files of the study that are kept in git, by name."""
    folder = tree.folder / "results/tiny"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in NOT_RECORDED
    }


def recorded_but_page(tree):
    """Return these files without the page, which shows the study as its file defines it now."""
    return {name: content for name, content in recorded(tree).items() if name != "README.md"}


def clone(tree, folder):
    """Return a tree with the records of another one, all of them older than its sources."""
    copy = Tree(folder)
    copy.write_study(TWO)
    shutil.copytree(
        tree.folder / "results/tiny",
        folder / "results/tiny",
        ignore=shutil.ignore_patterns(*NOT_RECORDED),
    )
    for path in (folder / "results").rglob("*"):
        os.utime(path, (1e9, 1e9))
    return copy


def study(tree, *arguments):
    return tree.mnlearn("study", "tiny", "--no-report", *arguments)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A tree in which the study has run, one dataset after the other."""
    tree = Tree(tmp_path_factory.mktemp("whole"))
    tree.write_study(TWO)
    for dataset, shown in (("grid", ["grid"]), ("triples", ["triples", "grid"])):
        result = study(tree, "--datasets", dataset)
        assert result.returncode == 0, result.stdout + result.stderr
        assert datasets_shown(tree) == shown
    return tree


def datasets_shown(tree):
    """Return the datasets of the table of scores, in its order."""
    rows = (tree.folder / "results/tiny/tables/scores.csv").read_text().splitlines()
    return [row.split(",")[0] for row in rows[1:]]


def test_a_clone_uses_the_records_and_changes_none(whole, tmp_path):
    tree = clone(whole, tmp_path)
    before = recorded(tree)
    assert {"scores.csv", "cells/grid/dtsl.json", "times/triples/dtsl.json"} <= set(before)
    result = study(tree, "--datasets", "triples")
    assert result.returncode == 0, result.stdout + result.stderr
    assert recorded(tree) == before
    # Nothing was computed: that would have fetched the data and left models.
    assert not (tree.folder / "results/data/triples/train.npz").exists()
    assert not (tree.folder / "results/tiny/models").exists()
    assert tree.mnlearn("study", "tiny", "--stale").stdout == ""


def test_stale_records_are_made_again_where_asked_for_and_kept_elsewhere(whole, tmp_path):
    tree = clone(whole, tmp_path)
    before = recorded(tree)
    source = tree.folder / "src/mnlearn/learning/trees.py"
    text = source.read_text()
    assert "+ 4" in text
    source.write_text(text.replace("+ 4", "+ 5"))
    listed = tree.mnlearn("study", "tiny", "--stale").stdout.splitlines()
    assert "grid dtsl cells: learning (code), code" in listed
    assert not any("atomic cells" in line for line in listed)
    result = study(tree, "--datasets", "triples")
    assert result.returncode == 0, result.stdout + result.stderr
    after = recorded(tree)
    assert set(after) == set(before)
    changed = {name for name in before if after[name] != before[name]}
    assert "cells/triples/dtsl.json" in changed
    # That of `atomic` on the same dataset too: its scores by example are needed for the pair.
    assert not any("/grid/" in name for name in changed)
    assert datasets_shown(tree) == ["triples", "grid"]
    table = after["tables/scores.csv"].decode().splitlines()
    assert [line.rpartition(",")[2] for line in table] == ["stale", "", "yes"]


def test_again_makes_current_records_again(whole, tmp_path):
    tree = clone(whole, tmp_path)
    old = (tree.folder / "results/tiny/cells/triples/dtsl.json").stat().st_mtime
    other = (tree.folder / "results/tiny/cells/grid/dtsl.json").stat().st_mtime
    result = study(tree, "--datasets", "triples", "--again")
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tree.folder / "results/tiny/cells/triples/dtsl.json").stat().st_mtime > old
    assert (tree.folder / "results/tiny/cells/grid/dtsl.json").stat().st_mtime == other
    assert tree.scores() == whole.scores()


@pytest.mark.parametrize("option", [["--recorded"], []])
def test_products_are_made_from_what_is_recorded(whole, tmp_path, option):
    """Nothing is computed, though a dataset has no record at all and cannot be had."""
    tree = clone(whole, tmp_path)
    tree.write_study({**TWO, "datasets": ["triples", "grid", "nltcs"]})
    before = recorded_but_page(tree)
    (tree.folder / "results/tiny/tables/scores.csv").unlink()
    if not option:
        config = tree.folder / "config.yaml"
        text = config.read_text().replace("recorded: false", "recorded: true")
        config.write_text(text.replace('mirror: ""', f"mirror: {tmp_path}/nowhere"))
    result = study(tree, *option)
    assert result.returncode == 0, result.stdout + result.stderr
    assert recorded_but_page(tree) == before
    refused = study(tree, *option, "--again")
    assert refused.returncode == 2
    assert "--again and --recorded: expected one" in refused.stderr


def test_a_dataset_that_cannot_be_had_ends_the_run_with_its_name(whole, tmp_path):
    tree = clone(whole, tmp_path)
    tree.write_study({**TWO, "datasets": ["triples", "grid", "nltcs"]})
    nowhere = str(tmp_path / "nowhere")
    before = recorded_but_page(tree)
    for asked in (["--datasets", "nltcs"], []):
        result = study(tree, *asked, "--mirror", nowhere)
        assert result.returncode == 2, result.stdout + result.stderr
        assert "nltcs" in result.stderr.splitlines()[-1]
        assert recorded_but_page(tree) == before


def interrupt(tree, how, *, group=True):
    """Start a run, end it by a signal once a job is under way, and return its messages.

    group : whether the signal goes to the whole group, as from a terminal.
    """
    command = [sys.executable, "-m", "mnlearn.cli", "study", "tiny", "--no-report"]
    process = subprocess.Popen(
        command, cwd=tree.folder, env=tree.environment(), start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        # A shell lets its background jobs ignore interrupts, and their children too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not list((tree.folder / "results").glob("checkpoints/*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (os.killpg if group else os.kill)(process.pid, how)
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0
    return output


def test_a_run_that_is_terminated_ends_its_jobs(tmp_path):
    tree = Tree(tmp_path)
    tree.write_study(TWO)
    output = interrupt(tree, signal.SIGTERM, group=False)
    assert "terminated; waiting for the jobs" in output
    assert not list((tree.folder / ".snakemake/locks").glob("*"))
    assert not list((tree.folder / "results").glob("tiny/cells/*/*.json"))


def test_an_interrupt_leaves_no_lock_and_a_kill_leaves_none_in_the_way(tmp_path):
    tree = Tree(tmp_path)
    tree.write_study(TWO)
    locks = tree.folder / ".snakemake/locks"
    output = interrupt(tree, signal.SIGINT)
    assert "interrupted; waiting for the jobs" in output
    # A job that is interrupted while it starts may leave a traceback in its log, which Snakemake
    # shows; the command itself must not.
    assert "running/run.py" not in output
    assert "running/snakemake.py" not in output
    assert not list(locks.glob("*"))
    shutil.rmtree(tree.folder / "results")
    interrupt(tree, signal.SIGKILL)
    assert list(locks.glob("*"))
    result = study(tree, "--recorded")
    assert result.returncode != 0  # There is nothing to make a table of.
    assert "removed the lock" in result.stderr
    assert not list(locks.glob("*"))


def test_a_run_beside_another_is_refused(whole, tmp_path):
    tree = clone(whole, tmp_path)
    locks = tree.folder / ".snakemake/locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("x")
    other = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(60)", "snakemake"], cwd=tree.folder
    )
    try:
        result = study(tree)
    finally:
        other.kill()
        other.wait()
    assert result.returncode == 2
    assert f"process {other.pid}" in result.stderr
    assert list(locks.iterdir())
    marker = tree.folder / ".snakemake/mnlearn-run.json"
    marker.write_text(json.dumps({"host": "elsewhere"}))
    result = study(tree)
    assert result.returncode == 2
    assert "elsewhere" in result.stderr
    assert tree.mnlearn("study", "tiny", "--unlock").returncode == 0
    assert not list(locks.glob("*"))
