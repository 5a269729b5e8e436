"""`make record`: from one clean commit, complete, or nothing is noted."""

import json
import runpy
import subprocess
import sys

import pytest

from made_study import make_plan
from mnlearn.runtime.files import write_json
from workflow_tree import ROOT, TINY


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
        plan_of=lambda study, *_, **__: study, digest_records=lambda plan, study: f"of {plan}",
        run=lambda *command: made["make"].__globals__["commands"].append(command),
    )  # fmt: skip
    return made["make"].__globals__


def test_the_commit_is_noted_after_all_studies(record):
    record["make"]()
    noted = json.loads((record["RESULTS"] / "record.json").read_text("utf-8"))
    assert noted == {
        "commit": record["git"]("rev-parse", "HEAD"),
        "records": {"demo": "of demo", "dtsl": "of dtsl"},
        "hours_of_last_run": {"demo": 0.0, "dtsl": 0.0},
    }
    assert record["commands"] == [
        ("mnlearn", "study", "demo"),
        ("mnlearn", "study", "dtsl"),
        record["BENCH"],
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
    assert record["BENCH"] not in record["commands"]


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


def called(monkeypatch, *arguments):
    """Call the script; return its status, and what `recompute` is given."""
    script = runpy.run_path(str(ROOT / "workflow/record.py"))
    known, given = script["main"].__globals__, {}
    monkeypatch.setattr(sys, "argv", ["record.py", *arguments])
    monkeypatch.setitem(known, "STUDIES", ())
    monkeypatch.setitem(known, "run", lambda *command, **_: None)
    monkeypatch.setitem(known, "make", lambda: given.update(made=True))
    monkeypatch.setitem(known, "remade_products", lambda copy: "")
    monkeypatch.setitem(known, "recompute", lambda *_, **options: given.update(options))
    try:
        return script["main"](), given
    except SystemExit as ended:
        return ended.code, given


def test_a_check_draws_as_many_records_as_it_is_told(monkeypatch):
    status, given = called(monkeypatch, "--check", "--recompute", "20", "--seed", "3")
    assert (given["n"], given["minutes"], given["seed"]) == (20, 20.0, 3)
    # The records differ.
    assert status == 1
    seeds = {called(monkeypatch, "--check", "--recompute", "2")[1]["seed"] for _ in range(3)}
    assert len(seeds) > 1
    assert called(monkeypatch, "--check") == (0, {})


def test_the_record_is_made_without_arguments_only(monkeypatch, capsys):
    assert called(monkeypatch) == (None, {"made": True})
    assert called(monkeypatch, "--recompute", "20") == (2, {})
    assert "are read with --check" in capsys.readouterr().err


def test_what_a_plan_lacks_or_does_not_have_is_found(monkeypatch, tmp_path):
    """Records by another recipe are stale; of a method that the study has no more, unplanned."""
    check = runpy.run_path(str(ROOT / "workflow/record.py"))
    content = {**TINY, "methods": {"atomic": {}, "dtsl": {}, "chow_liu": {}}}
    known = check["lacking"].__globals__
    monkeypatch.setitem(known, "plan_of", lambda *_, **__: make_plan(tmp_path, content))
    monkeypatch.setitem(known, "RESULTS", tmp_path)
    plan = make_plan(tmp_path, content)
    current, stale, missing = (plan.path(record) for record in plan.records("s", "cells"))
    other = stale.with_name("dtsl@0.json")
    former = current.with_name("blm@0.json")
    for path in (current, other, former):
        write_json(path, {"recipe": {}})
    assert check["lacking"]("s") == ([str(missing)], [str(other)])
    assert check["unplanned"]("s") == [str(former)]
