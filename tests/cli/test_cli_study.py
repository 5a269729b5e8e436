"""`mnlearn study` and `step write`: what they print and refuse."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from command import refuse, succeed
from mnlearn.runtime.files import write_json
from mnlearn.scoring.any_model import ll
from mnlearn_studies.cli import demonstration
from mnlearn_studies.datasets.embedded import build_true_network, load_embedded
from mnlearn_studies.plan.configuration import plan_of
from mnlearn_studies.records.kinds import ASKED
from mnlearn_studies.records.kinds.structures import couplings
from mnlearn_studies.records.record import Record
from mnlearn_studies.running.snakemake import run_snakemake

pytestmark = pytest.mark.usefixtures("folder")

ROOT = Path(__file__).parents[2]


def test_stale_records_of_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)
    result = succeed("study demo --stale")
    plan = plan_of("demo", [])
    for line in result.stdout.splitlines():
        record, changed = line.split(": ")
        dataset, _, kind = record.split()
        assert dataset in plan.studies["demo"].datasets
        assert kind in ASKED
        assert changed
    records = plan.all_records("demo")
    n_missing = sum(not plan.versions(record) for record in records)
    said = f"{n_missing} of {len(records)} records are not made yet\n"
    assert result.stderr == (said if n_missing else "")


CONFIG = (ROOT / "config.yaml").read_text()


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A copy of what a study is read from, which commands take for the checkout."""
    folder = tmp_path / "tree"
    shutil.copytree(ROOT / "workflow", folder / "workflow")
    (folder / "config.yaml").write_text(CONFIG)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "config.yaml: expected keys with values"),
        ("[1]", "config.yaml: expected keys with values"),
        ("seed: [", "config.yaml, line 1: is not YAML"),
        pytest.param("a: " * 50_000, "config.yaml, line 1: is not YAML", id="colons"),
        pytest.param(
            "[" * 100_000, "config.yaml: its brackets are nested too deeply", id="brackets"
        ),
        (CONFIG.replace("seed: 20", ""), "config.yaml: expected the key 'seed'"),
        (
            CONFIG.replace("seed: 20", "seed: a"),
            "config.yaml, seed: expected a whole number from 0",
        ),
        (CONFIG.replace("seed: 20", "seed: " + "9" * 5000), "config.yaml: has a value that"),
        (CONFIG.replace("[dtsl]", "[../dtsl]"), "config.yaml, study 1: expected a name of"),
    ],
)
def test_a_damaged_configuration_is_refused(tree, text, problem):
    (tree / "config.yaml").write_text(text)
    refuse("study dtsl --stale", problem)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        '"',
        "a,b\n1,2\n",
        "study,dataset,method,variant,quantity,value,stderr\na,b,c,d,e,f,\n",
    ],
)
def test_damaged_scores_are_refused(tree, text):
    (tree / "results/dtsl").mkdir(parents=True)
    (tree / "results/dtsl/scores.csv").write_text(text)
    for product in ("tables", "figures", "claims"):
        refuse(f"step write dtsl {product}", "scores.csv")


def test_the_next_run_removes_the_temporary_folders_of_killed_runs(tree, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tree))
    host = socket.gethostname()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f"{host}-{dead.pid}-a", f"{host}-{os.getpid()}-b", f"other-{dead.pid}-c"):
        (tree / f"mnlearn-study-{name}/snakemake").mkdir(parents=True)
    code = "import os, pathlib; pathlib.Path('found').write_text(os.environ['TMPDIR'])"
    assert run_snakemake([sys.executable, "-c", code], tree, name="x", log=tree / "run.log") == 0
    own = Path((tree / "found").read_text())
    assert own.parent == tree
    assert not own.exists()
    left = sorted(path.name for path in tree.glob("mnlearn-study-*"))
    assert left == sorted(
        f"mnlearn-study-{name}" for name in (f"{host}-{os.getpid()}-b", f"other-{dead.pid}-c")
    )


def test_the_demo_says_what_was_learned(tree):
    """A model that is the known network itself finds all its edges and gains everything."""
    truth, test = build_true_network("grid", 20), load_embedded("grid", 20)[2]
    plan = plan_of("demo", [])
    test.save(plan.path(Record("data", "", "grid"), "test"))
    edges = [[u, v, w] for (u, v), w in couplings(truth).items()]
    record = {"names": [str(v) for v in range(16)], "couplings": edges}
    write_json(plan.path(Record("structures", "demo", "grid", ("dtsl",))), record)
    for method, score in (("dtsl", ll(truth, test).mean), ("atomic", -11.0)):
        scores = {"": {"scores": {"ll": {"mean": score}}}}
        path = plan.path(Record("cells", "demo", "grid", (method,)))
        write_json(path, {"variants": scores})
    learned, good, where = demonstration.describe_demo()
    assert "24 of its 24 strongest interactions" in learned
    assert f"{ll(truth, test).mean:.3f} nats" in good
    assert "100% of what can be gained" in good
    assert str(tree / "results/demo/index.html") in where
    assert where.endswith("results/logs/demo/run.log.")
