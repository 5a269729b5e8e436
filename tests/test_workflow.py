"""The workflow end to end, in a copy of the tree: runs, resumes, reruns what it should."""

import base64
import json
import os
import re
import signal
import subprocess
import time

import pytest

from workflow_tree import ROOT, TINY, Tree

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A tree in which the study has run."""
    tree = Tree(tmp_path_factory.mktemp("workflow"))
    result = tree.run()
    assert result.returncode == 0, result.stdout + result.stderr
    return tree


def test_a_dataset_can_be_an_exception_in_what_is_given_a_cmll(finished):
    cell = json.loads((finished.folder / "results/tiny/cells/triples/dtsl.json").read_text())
    assert len(cell["variants"]) > 1
    assert all("cmll" in variant["scores"] for variant in cell["variants"].values())


def test_a_run_leaves_cells_tables_and_claims(finished):
    results = finished.folder / "results/tiny"
    for name in ("scores.csv", "claims.md", "tables/scores.md", "pages/scores.html"):
        assert (results / name).stat().st_size > 0
    cell = json.loads((results / "cells/triples/dtsl.json").read_text())
    assert {"seed", "learned_by", "scored_by", "variants", "n_test"} <= set(cell)
    assert set(cell["variants"]) == {"", "prune-5", "nonzero"}
    scores = cell["variants"][""]["scores"]
    assert scores["pll"]["mean"] > -12
    assert len(scores["cmll"]["partitions"]) == 2
    assert scores["cmll"]["monte_carlo_error"] < 0.1
    assert "DTSL" in (results / "tables/scores.md").read_text()
    exported = json.loads((results / "exports/triples/dtsl.json").read_text())["forms"]["mn"]
    assert exported["largest_difference"] < 1e-12
    header, row = (results / "tables/scores.csv").read_text().splitlines()
    shown = dict(zip(header.split(","), row.split(","), strict=True))["mn"]
    assert float(shown) == exported["largest_difference"]


def test_a_second_run_does_nothing(finished):
    assert "Nothing to be done" in finished.run().stderr
    assert finished.planned() == {}


def test_only_scoring_reads_test_data(finished):
    rules = {}
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        rules |= dict(re.findall(r"\nrule (\w+):\n(.*?)(?=\n\n\n|\Z)", path.read_text(), re.DOTALL))
    assert len(rules) >= 9
    defined = r"\ndef (\w+)\(.*?\):\n(.*?)(?=\n\n\n|\Z)"
    texts = [path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk")]
    functions = dict(pair for text in texts for pair in re.findall(defined, text, re.DOTALL))
    readers = set()
    for name, text in rules.items():
        inputs = re.search(r"input:(.*?)output:", text, re.DOTALL)[1]
        inputs += "".join(functions[f] for f in re.findall(r"unpack\((\w+)\)", inputs))
        if re.search(r"test\.npz|\"test\"", inputs):
            readers.add(name)
    assert readers == {"score", "queries", "query_curve", "check_exports", "likelihoods"}


@pytest.mark.nightly
def test_edited_code_reruns_exactly_what_used_it(finished):
    def edited(name, old, new):
        path = finished.folder / "src/mnlearn" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        planned = finished.planned()
        path.write_text(text)
        return planned

    assert edited("kernels/trees.py", "LEAF = -1", "LEAF = -1  # no test here") == {}
    learn = edited("learning/trees.py", "+ 4", "+ 5")
    assert learn["tune"] == 1
    assert learn["score"] == 1
    assert "prepare" not in learn
    assert (
        edited("kernels/sampling/gibbs.py", "burn_in + n_samples", "n_samples + burn_in")["score"]
        == 2
    )
    assert set(edited("report/pages.py", "1.45", "1.5")) == {"page", "claims_page"}
    assert (
        edited(
            "report/pages.py", "def html_page(", "def unused():\n    return 1\n\n\ndef html_page("
        )
        == {}
    )
    assert finished.planned() == {}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("file", "old", "new", "rerun"),
    [
        (
            "report/figures/scatter.py",
            "def draw_scatter(",
            "@staticmethod\ndef draw_scatter(",
            {"figure", "study_page"},
        ),
        (
            "report/tables/compare.py",
            "def tabulate_columns(",
            "@staticmethod\ndef tabulate_columns(",
            {"table", "page", "study_page"},
        ),
        (
            "report/claims/rendering.py",
            "def to_csv(",
            "@staticmethod\ndef to_csv(",
            {"claims", "claims_page", "study_page", "index"},
        ),
        ("report/document/html.py", "_SCALE = 0.75", "_SCALE = 0.8", {"study_page"}),
    ],
)
def test_products_rerun_for_their_own_code_only(finished, file, old, new, rerun):
    path = finished.folder / "src/mnlearn" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    planned = finished.planned()
    path.write_text(text)
    assert set(planned) == rerun
    assert finished.planned() == {}


@pytest.mark.nightly
def test_products_that_git_restores_are_made_again(finished):
    """A checkout gives old content a new time; what follows from it is made again too."""
    results = finished.folder / "results/tiny"
    for name, rerun in {
        "tables/scores.md": {"table", "page", "study_page"},
        "figures/beside.png": {"figure", "study_page"},
        "claims.csv": {"claims", "claims_page", "study_page", "index"},
        "README.md": {"study_page"},
        "scores.csv": {
            *("gather", "table", "page", "figure", "claims", "claims_page", "study_page", "index"),
        },
    }.items():
        path = results / name
        content = path.read_bytes()
        path.write_bytes(content + b"\n")
        assert set(finished.jobs_of(finished.run())) == rerun
        assert path.read_bytes() == content
    assert finished.planned() == {}


# Every Python process of a run imports this: a job waits for a moment after it has written a
# checkpoint, so that the test can kill it between two of its steps.
SLOW_CHECKPOINTS = """
import pathlib
import time

replace = pathlib.Path.replace


def replace_slowly(self, target):
    replaced = replace(self, target)
    if "checkpoints" in pathlib.Path(target).parts:
        time.sleep(0.5)
    return replaced


pathlib.Path.replace = replace_slowly
"""


def kill_when(tree, slow, reached, unfinished):
    """Start a run, kill it once `reached()` and check that it was alive with work left to do."""
    environment = tree.environment()
    environment["PYTHONPATH"] = f"{slow}{os.pathsep}{environment['PYTHONPATH']}"
    process = subprocess.Popen(
        tree.command(), cwd=tree.folder, env=environment, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 300
    while not reached():
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run did not come to where it was to be killed"
        time.sleep(0.01)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tree.folder / "results/tiny" / unfinished).exists()
    unlocked = tree.run(flags=["--unlock"])
    assert unlocked.returncode == 0, unlocked.stderr


@pytest.mark.nightly
def test_kill_and_resume_gives_the_same_scores(finished, tmp_path):
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/sitecustomize.py").write_text(SLOW_CHECKPOINTS)
    tree = Tree(tmp_path / "tree")

    def kept(tree=tree, ending=""):
        found = (tree.folder / "results").glob(f"checkpoints/**/[!.]*{ending}")
        return {path.name: path.stat().st_mtime_ns for path in found if path.is_file()}

    def learned():
        return len(kept(ending=".fit.json"))

    def scored():
        return len(kept(ending=".json")) - learned()

    first_kept = {}
    for reached, unfinished in (
        # `atomic` is one point and `dtsl` four.
        (lambda: learned() >= 2, "models/triples/dtsl/tuning.json"),
        (lambda: learned() >= 4, "models/triples/dtsl/tuning.json"),
        (lambda: scored() >= 1, "cells/triples/dtsl.json"),
    ):
        kill_when(tree, tmp_path / "slow", reached, unfinished)
        first_kept = {**kept(), **first_kept}
    result = tree.run()
    assert result.returncode == 0, result.stderr
    after = kept()
    again = [name for name, moment in first_kept.items() if after.get(name) != moment]
    assert again == [], "finished steps were done again"
    assert set(after) == set(kept(finished))
    assert tree.scores() == finished.scores()
    for name in ("csv", "md", "tex"):
        path = f"results/tiny/tables/scores.{name}"
        assert (tree.folder / path).read_bytes() == (finished.folder / path).read_bytes()


@pytest.mark.nightly
def test_a_job_killed_after_it_wrote_its_record_is_run_again(finished):
    record = "results/tiny/cells/triples/atomic.json"
    before = finished.scores()
    mark = base64.urlsafe_b64encode(record.encode()).decode()
    (finished.folder / ".snakemake/incomplete" / mark).write_text("{}")
    result = finished.run()
    assert result.returncode == 0, result.stderr
    assert "rule score" in result.stderr
    assert finished.scores() == before


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"methods": {"dtsl": {"girds": {}}}}, "methods.dtsl: Additional properties"),
        ({"methods": {"dtls": {}}}, "methods.dtls: expected learner to be one of"),
        ({"datasets": ["nltsc"]}, "dataset nltsc: expected one of"),
        ({"datasets": []}, "datasets"),
    ],
)
def test_a_fault_in_a_study_ends_the_planning(finished, change, message):
    finished.write_study({**TINY, **change})
    try:
        result = finished.run(flags=["-n"])
    finally:
        finished.write_study(TINY)
    assert result.returncode != 0
    assert message in result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr


def test_an_unknown_study_is_named(finished):
    result = finished.run(studies="[dstl]", flags=["-n"])
    assert result.returncode != 0
    assert "study dstl: expected one of" in result.stdout + result.stderr
