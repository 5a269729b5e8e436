"""What a person sees of a run of Snakemake, and what goes to its log."""

import sys

import pytest

from mnlearn.cli.progress import show_progress
from mnlearn_studies.running.snakemake import FAILURES, run_snakemake

# A job makes a record, another one fails; Snakemake prints more than anybody wants to read.
RUN = """
import os, pathlib, sys, time
print("rule cells:")
for name in {made}:
    pathlib.Path(name).write_text("")
    time.sleep(0.6)
for line in {failed}:
    with open(os.environ[{variable!r}], "a") as file:
        print(line, file=file)
print("WorkflowError: study x has no y among its tables.", file=sys.stderr)
sys.exit({status})
"""
FAILED = "failed with status 2, see a.log: a.csv: expected 0 or 1."
SAID = "rule cells:\nWorkflowError: study x has no y among its tables.\n"


def run(folder, status=0, *, made=(), failed=(), n_wanted=0, **options):
    """Run what makes some records and says that jobs failed; return its status and log."""
    code = RUN.format(made=list(made), failed=list(failed), variable=FAILURES, status=status)
    log = folder / "logs" / "run.log"
    wanted = [folder / str(number) for number in range(n_wanted)]
    command = [sys.executable, "-u", "-c", code]
    with show_progress():
        return run_snakemake(command, folder, "demo", log, wanted=wanted, **options), log


def test_records_are_counted_and_the_log_has_all(tmp_path, capsys):
    status, log = run(tmp_path, made=("0", "1"), failed=[FAILED], n_wanted=4)
    assert status == 0
    shown = capsys.readouterr().err.splitlines()
    assert shown[-2].startswith("demo: 2 of 4 records, the last ")
    assert shown[-1] == FAILED
    # The first line comes at once and the next after a minute, or at the end.
    assert len(shown) == 3
    assert shown[0].startswith("demo: ")
    assert log.read_text() == SAID


def test_a_terminal_has_one_bar(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    run(tmp_path, made=("0", "1"), n_wanted=2)
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "rule" not in shown


@pytest.mark.parametrize("failed", [[], [FAILED]])
def test_a_failure_shows_its_cause(tmp_path, capsys, failed):
    """That of the job, or else the end of what Snakemake printed."""
    status, _ = run(tmp_path, 3, failed=failed)
    assert status == 3
    assert capsys.readouterr().err == (f"{FAILED}\n" if failed else SAID)


def test_verbose_shows_everything(tmp_path, capfd):
    _, log = run(tmp_path, failed=[FAILED], n_wanted=1, verbose=True)
    shown = capfd.readouterr()
    assert shown.out + shown.err == f"{SAID}{FAILED}\n"
    assert not log.exists()


def test_a_log_that_cannot_be_written_ends_no_run(tmp_path, capsys):
    (tmp_path / "logs").write_text("a file")
    status, _ = run(tmp_path)
    assert status == 0
    assert "cannot be written" in capsys.readouterr().err
