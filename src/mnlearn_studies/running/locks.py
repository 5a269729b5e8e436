"""The lock that Snakemake keeps in the folder of a run, and whose run it is."""

import json
import os
import socket
from itertools import pairwise
from pathlib import Path

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_text
from mnlearn.runtime.progress import say
from mnlearn_studies.study.folders import run_folder


def _marker() -> Path:
    return run_folder() / ".snakemake" / "mnlearn-run.json"


def mark_run() -> None:
    """Note on which machine a run began, for `unlock` on another one."""
    write_text(_marker(), json.dumps({"host": socket.gethostname()}))


def unlock(force: bool = False) -> None:
    """Remove the lock that a killed run has left, unless another run is alive.

    force : also if the run was on another machine, where this cannot be seen.
    """
    locks = run_folder() / ".snakemake" / "locks"
    if not locks.is_dir() or not any(locks.iterdir()):
        return
    alive = _other_run()
    if alive is not None:
        raise InputError(f"{run_folder()}: another run is under way here, process {alive}.")
    host = _marked_host()
    if host != socket.gethostname() and not force:
        raise InputError(
            f"{run_folder()}: locked by a run on {host}; if it has ended, "
            "`mnlearn study NAME --unlock` removes the lock."
        )
    for lock in locks.iterdir():
        lock.unlink()
    say("removed the lock of a run that was killed")


def _marked_host() -> str:
    try:
        return str(read_json(_marker())["host"])
    except (InputError, KeyError, TypeError):
        return "an unknown machine"


def _other_run() -> int | None:
    """Return the process of another run of Snakemake in this folder, or None."""
    import psutil

    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter(["pid", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.pid in own or not _runs_snakemake(words[:4]):
            continue
        try:
            if Path(process.cwd()) == run_folder():
                return int(process.pid)
        except psutil.Error:
            continue
    return None


def _runs_snakemake(words: list[str]) -> bool:
    """Tell whether a command, by its first words, is Snakemake as a program or a module."""
    module = any(pair == ("-m", "snakemake") for pair in pairwise(words))
    return module or any(Path(word).name in ("snakemake", "snakemake.exe") for word in words)
