"""Whose run it is that holds the lock of a folder."""

import json
import subprocess
import sys

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn_studies.running.locks import _runs_snakemake, mark_run, unlock


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (["python3", "-m", "snakemake", "--cores"], True),
        (["/usr/bin/python3", "/home/x/bin/snakemake", "--cores"], True),
        (["tail", "-f", ".snakemake/log/2026-11-25T130742.snakemake.log"], False),
        (["less", "snakemake.log"], False),
        (["vim", "snakemake/rules.smk"], False),
        ([], False),
    ],
)
def test_commands_that_are_snakemake(words, runs):
    assert _runs_snakemake(words) is runs


def locked(folder, monkeypatch, host):
    """Lock the folder of runs, as a run on a machine that left no process; return the locks."""
    monkeypatch.setattr("mnlearn_studies.running.locks.run_folder", lambda: folder)
    locks = folder / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.input.lock").write_text("")
    if host is not None:
        (folder / ".snakemake/mnlearn-run.json").write_text(json.dumps({"host": host}))
    return locks


def test_the_lock_of_a_killed_run_goes(tmp_path, monkeypatch):
    locks = locked(tmp_path, monkeypatch, None)
    mark_run()
    unlock()
    assert not any(locks.iterdir())


@pytest.mark.parametrize("host", ["elsewhere", None])
def test_a_lock_of_another_machine_stays_until_someone_says_so(tmp_path, monkeypatch, host):
    locks = locked(tmp_path, monkeypatch, host)
    with pytest.raises(InputError, match=host or "an unknown machine"):
        unlock()
    assert any(locks.iterdir())
    unlock(force=True)
    assert not any(locks.iterdir())


def test_a_run_beside_another_is_refused(tmp_path, monkeypatch):
    locks = locked(tmp_path, monkeypatch, None)
    mark_run()
    words = [sys.executable, "-c", "import time; time.sleep(60)", "snakemake"]
    other = subprocess.Popen(words, cwd=tmp_path)
    try:
        with pytest.raises(InputError, match=f"another run is under way here, process {other.pid}"):
            unlock(force=True)
    finally:
        other.kill()
        other.wait()
    assert any(locks.iterdir())
    unlock()
    assert not any(locks.iterdir())
