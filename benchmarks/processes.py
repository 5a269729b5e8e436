"""Whole processes, ours and another program's, measured in turn in one run."""

import resource
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import REPEATS


class ProgramError(Exception):
    """A program did not do what it was called for; the message is one sentence."""


def measure_in_turn(
    ours: Sequence[str], theirs: Sequence[str], folder: Path
) -> tuple[float, float, str]:
    """Run two programs in turn, `REPEATS` times each.

    Parameters
    ----------
    ours, theirs
        The commands, with their arguments.
    folder
        The folder that they run in.

    Returns
    -------
    ours, theirs : float
        The least processor seconds of each.
    printed : str
        What theirs printed in the last run.

    Raises
    ------
    ProgramError
        The second program fails.
    RuntimeError
        The first one fails.
    """
    own, other, printed = [], [], ""
    _run_ours(ours, folder)  # The first run may compile.
    for _ in range(REPEATS):
        own.append(_run_ours(ours, folder))
        spent, printed = run_program(theirs, folder)
        other.append(spent)
    return min(own), min(other), printed


def _run_ours(command: Sequence[str], folder: Path) -> float:
    """Return the processor seconds of our own program, which is expected to work."""
    try:
        return run_program(command, folder)[0]
    except ProgramError as error:
        raise RuntimeError(str(error)) from error


def run_program(command: Sequence[str], folder: Path) -> tuple[float, str]:
    """Run a program in a folder; return its processor seconds and what it prints.

    The seconds are those of user and system, of the program and of those that it waits for.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise ProgramError(f"{name}: {error.strerror}.") from error
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        *_, said = ["it says nothing", *done.stderr.split("\n\n")[-1].strip().splitlines()]
        raise ProgramError(f"{name} ended with status {done.returncode}: {said.rstrip('.')}.")
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, done.stdout
