"""The command as a process of its own: status, stdout and stderr."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_folder import fill_folder

ROOT = Path(__file__).parents[2]
N_EXAMPLES = 300


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data, models and broken files, as current folder."""
    return fill_folder(tmp_path, monkeypatch)


def process(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, "-m", "mnlearn.cli", *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment, text=True, **options,
    )  # fmt: skip


def test_process_refuses_with_status_2():
    with process("score", "no.npz", "d.data", "--json") as child:
        out, err = child.communicate()
    assert (child.returncode, out, err) == (2, "", "mnlearn: no.npz: no such file.\n")


def test_process_prints_one_object():
    with process("score", "m.npz", "d.data", "--json") as child:
        out, err = child.communicate()
    assert child.returncode == 0
    assert json.loads(out)["n_examples"] == N_EXAMPLES
    assert (out.count("\n"), err) == (1, "")


def test_process_whose_reader_has_gone():
    with process("methods") as child:
        child.stdout.close()
        err = child.stderr.read()
    assert err == ""
    assert child.returncode == 0
