"""The command as a process of its own: status, stdout and stderr."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("folder")

ROOT = Path(__file__).parents[2]


def process(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **options.pop("env", {})}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "mnlearn", *arguments], env=environment, text=True,
        **{**pipes, **options},
    )  # fmt: skip


def test_process_refuses_with_status_2():
    with process("score", "no.npz", "d.data", "--json") as child:
        out, err = child.communicate()
    assert (child.returncode, out, err) == (2, "", "mnlearn: no.npz: no such file.\n")


def test_process_whose_reader_has_gone():
    with process("methods") as child:
        child.stdout.close()
        err = child.stderr.read()
    assert err == ""
    assert child.returncode == 0


def test_process_whose_output_is_full():
    with (
        Path("/dev/full").open("w", encoding="utf-8") as full,
        process("methods", stdout=full) as child,
    ):
        err = child.stderr.read()
    assert err == "mnlearn: output: cannot be written: No space left on device.\n"
    assert child.returncode == 1


def test_process_whose_log_is_full_says_so_where_the_workflow_shows_it():
    ours, theirs = os.pipe()
    arguments = ("fit", "atomic", "--train", "d.data", "--out", "a.npz", "--trace", "/dev/full")
    with (
        Path("/dev/full").open("w", encoding="utf-8") as full,
        process(
            *arguments,
            stderr=full,
            pass_fds=[theirs],
            env={"MNLEARN_ERRORS_DESCRIPTOR": str(theirs)},
        ) as child,
    ):
        os.close(theirs)
        with os.fdopen(ours) as said:
            assert said.read() == (
                "mnlearn: /dev/full: cannot be written: No space left on device.\n"
            )
    assert child.returncode == 1
