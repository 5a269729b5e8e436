"""What a person sees of a run of Snakemake, and what goes to its log."""

import sys

import pytest

from mnlearn.cli.progress import show_progress
from mnlearn_studies.running.snakemake import run_snakemake

OUTPUT = """
Job stats:
job      count
-----  -------
total       40

rule tune:
    output: a
    wildcards: study=demo, dataset=grid, method=dtsl
left out: nltcs: no such file
1 of 40 steps (2%) done
20 of 40 steps (50%) done
failed with status 2, see a.log: a.csv: expected 0 or 1.
40 of 40 steps (100%) done
"""
FAILURE = "WorkflowError:\nstudy x has no y among its tables.\n"


def run(tmp_path, text, status, **options):
    code = f"import sys; sys.stderr.write({text!r}); sys.exit({status})"
    command = [sys.executable, "-c", code]
    log = tmp_path / "logs" / "run.log"
    with show_progress():
        found = run_snakemake(command, tmp_path, name="demo", log=log, **options)
    return found, log


def test_a_few_lines_are_shown_and_the_log_has_all(tmp_path, capsys):
    status, log = run(tmp_path, OUTPUT, 0)
    assert status == 0
    assert capsys.readouterr().err.splitlines() == [
        "demo: 0 of 40 jobs",
        "left out: nltcs: no such file",
        "demo: 20 of 40 jobs",
        "failed with status 2, see a.log: a.csv: expected 0 or 1.",
        "demo: 40 of 40 jobs",
    ]
    assert log.read_text() == OUTPUT
    run(tmp_path, "more\n", 0, append=True)
    assert log.read_text() == OUTPUT + "more\n"


def test_a_terminal_has_one_bar(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    run(tmp_path, OUTPUT, 0)
    shown = capsys.readouterr().err
    assert "40/40" in shown
    assert "tune demo grid dtsl" in shown
    assert "steps" not in shown


@pytest.mark.parametrize(("text", "shown"), [(FAILURE, True), (OUTPUT, False)])
def test_a_failure_shows_its_cause(tmp_path, capsys, text, shown):
    status, _ = run(tmp_path, text, 3)
    assert status == 3
    assert ("among its tables" in capsys.readouterr().err) == shown


def test_verbose_shows_everything(tmp_path, capsys):
    run(tmp_path, OUTPUT, 0, verbose=True)
    assert capsys.readouterr().err == OUTPUT


def test_a_log_that_cannot_be_written_ends_no_run(tmp_path, capsys):
    (tmp_path / "logs").write_text("a file")
    status, _ = run(tmp_path, OUTPUT, 0)
    assert status == 0
    assert "cannot be written" in capsys.readouterr().err
