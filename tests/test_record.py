"""`make record`: from one clean commit, complete, or nothing is noted."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from workflow_tree import ROOT


@pytest.fixture
def record(tmp_path):
    """What `workflow/record.py` defines, for a made checkout whose commands are only noted."""
    script = tmp_path / "workflow/record.py"
    script.parent.mkdir()
    script.write_text((ROOT / "workflow/record.py").read_text("utf-8"), "utf-8")
    (tmp_path / "results").mkdir()
    (tmp_path / ".gitignore").write_text("results\n")
    for command in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "made"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    made = runpy.run_path(str(script))
    made["make"].__globals__.update(
        STUDIES=("demo", "dtsl"), lacking=lambda study: ([], []), commands=[],
        run=lambda *command: made["make"].__globals__["commands"].append(command),
    )  # fmt: skip
    return made["make"].__globals__


def test_the_commit_is_noted_after_all_studies(record):
    record["make"]()
    noted = json.loads((record["RESULTS"] / "record.json").read_text("utf-8"))
    assert noted == {
        "commit": record["git"]("rev-parse", "HEAD"),
        "hours_of_last_run": {"demo": 0.0, "dtsl": 0.0},
    }
    assert record["commands"] == [
        ("mnlearn", "study", "demo", "--no-report"),
        ("mnlearn", "study", "dtsl", "--no-report"),
        ("python", "-m", "benchmarks", "--out", "results/bench.csv"),
        (sys.executable, "workflow/costs.py"),
        (sys.executable, "workflow/readme.py", "--pages"),
    ]


def test_nothing_runs_in_a_checkout_that_has_changed(record):
    (record["ROOT"] / "workflow/rules.smk").write_text("")
    with pytest.raises(SystemExit, match=r"clean checkout.*\n.*workflow/rules.smk"):
        record["make"]()
    assert record["commands"] == []


def test_a_record_that_lacks_something_is_not_measured(record):
    record["lacking"] = lambda study: (["a cell"], []) if study == "dtsl" else ([], [])
    with pytest.raises(SystemExit, match=r"not complete: dtsl$"):
        record["make"]()
    assert ("python", "-m", "benchmarks", "--out", "results/bench.csv") not in record["commands"]


@pytest.mark.parametrize("committed", [False, True])
def test_a_checkout_that_changes_meanwhile_is_not_noted(record, committed):
    def change(*command):
        (record["ROOT"] / "workflow/rules.smk").write_text("")
        if committed and "demo" in command:
            record["git"]("add", ".")
            record["git"]("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-m", "b")

    record["run"] = change
    with pytest.raises(SystemExit, match=r"record: (the|expected a clean) checkout"):
        record["make"]()
    assert not (record["RESULTS"] / "record.json").exists()


def test_a_command_that_fails_ends_the_record(record, monkeypatch):
    fresh = runpy.run_path(str(record["ROOT"] / "workflow/record.py"))
    with pytest.raises(SystemExit) as ended:
        fresh["run"](sys.executable, "-c", "raise SystemExit(3)")
    assert ended.value.code == 3


def test_records_of_a_former_plan_are_found(monkeypatch, tmp_path):
    unplanned = runpy.run_path(str(ROOT / "workflow/record.py"))["unplanned"]
    path = Path("demo/times/nltcs/dtsl.json")
    plan = SimpleNamespace(
        results=tmp_path,
        records=lambda study, kind: [SimpleNamespace(path=path)] if kind == "times" else [],
    )
    monkeypatch.setitem(unplanned.__globals__, "plan_of", lambda *_, **__: plan)
    for name in ("dtsl", "blm"):
        other = tmp_path / path.with_name(f"{name}.json")
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_text("{}")
    assert unplanned("demo") == [str(tmp_path / path.with_name("blm.json"))]
