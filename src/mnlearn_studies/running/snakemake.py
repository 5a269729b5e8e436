"""Running Snakemake: its output goes to a log, and a person sees a bar and what failed."""

import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mnlearn.runtime.progress import say

if TYPE_CHECKING:
    from tqdm import tqdm

# Seconds to wait, after Snakemake has ended, for output of processes that it left behind.
_PATIENCE = 10
# Lines of output that are shown if a run fails and none of them says why.
_TAIL = 25
_TOTAL = re.compile(r"total +(\d+)")
_DONE = re.compile(r"(\d+) of (\d+) steps \(")
_RULE = re.compile(r"(?:local)?rule (\w+):")
_WILDCARDS = re.compile(r"    wildcards: (.*)")
# What the rules and the shell of the jobs (`workflow/jobs.sh`) write for a person.
_TOLD = re.compile(r"failed with status \d+, |mnlearn: |left out: ")


class Follower:
    """Reads the output of Snakemake, line by line.

    Parameters
    ----------
    name : str
        What is run, before the bar.
    log : text file or None
        Gets every line.
    verbose : bool
        Whether every line is shown as well, and no bar.
    """

    def __init__(self, name: str, log: IO[str] | None, verbose: bool) -> None:
        self.told = False
        self.tail: deque[str] = deque(maxlen=_TAIL)
        self._name = name
        self._log = log
        self._verbose = verbose
        self._bar: tqdm | None = None
        self._rule = ""
        self._tenths = 0

    def read(self, lines: IO[str]) -> None:
        """Read all lines."""
        try:
            for line in lines:
                self._keep(line)
                self._take(line.rstrip("\n"))
        finally:
            # Snakemake would wait for ever to write what nobody reads.
            for _ in lines:
                pass
            if self._bar is not None:
                self._bar.close()

    def _keep(self, line: str) -> None:
        if self._log is None:
            return
        try:
            self._log.write(line)
            self._log.flush()
        except (OSError, ValueError):
            # The disk is full, or the log was closed while processes still held the pipe.
            self._log = None

    def _take(self, line: str) -> None:
        self.tail.append(line)
        if _TOLD.match(line):
            self.told = True
            say(line)
        elif self._verbose:
            say(line)
        if self._verbose:
            return
        if found := _TOTAL.fullmatch(line):
            self._show(0, int(found[1]))
        elif found := _DONE.match(line):
            self._show(int(found[1]), int(found[2]))
        elif found := _RULE.fullmatch(line):
            self._rule = found[1]
        elif (found := _WILDCARDS.fullmatch(line)) and self._bar is not None:
            values = [pair.partition("=")[2] for pair in found[1].split(", ")]
            self._bar.set_postfix_str(" ".join([self._rule, *values]))

    def _show(self, done: int, total: int) -> None:
        """Move the bar; without a terminal, print a line for each tenth of the jobs."""
        if sys.stderr.isatty():
            if self._bar is None:
                from tqdm import tqdm

                self._bar = tqdm(desc=self._name, total=total, unit="job", file=sys.stderr)
            self._bar.total = total
            self._bar.update(done - self._bar.n)
        elif done == 0 or 10 * done // total > self._tenths:
            self._tenths = 10 * done // total
            say(f"{self._name}: {done} of {total} jobs")


def run_snakemake(
    command: list[str], folder: Path, *, name: str, log: Path | None = None, verbose: bool = False,
    append: bool = False,
) -> int:  # fmt: skip
    """Run Snakemake and return its exit status.

    A terminal sends an interrupt to Snakemake too, which ends its jobs and removes its lock; this
    waits for it. A second interrupt is passed on. A request to terminate goes to this process only,
    so it is passed on to Snakemake and its jobs.

    Parameters
    ----------
    command : list of str
        The command.
    folder : Path
        Where it is run.
    name : str
        What is run, before the bar.
    log : Path, optional
        File for the whole output.
    verbose : bool
        Whether the whole output is shown too. If not, and the run fails, its cause is shown.
    append : bool
        Whether the output is appended to what the log has.
    """
    # The rules call `mnlearn`, which must be found also where the environment is not activated.
    own = sysconfig.get_path("scripts", f"{os.name}_user")
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath), own]
    path = os.pathsep.join(folders)
    with ExitStack() as stack:
        kept = None if log is None else stack.enter_context(_opened(log, append))
        temporary = stack.enter_context(_temporary_folder())
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, "PATH": path, "TMPDIR": temporary},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        )  # fmt: skip
        assert process.stdout is not None
        follower = Follower(name, kept, verbose)
        reader = threading.Thread(target=follower.read, args=(process.stdout,), daemon=True)
        reader.start()
        ended_by = _wait(process)
        with suppress(KeyboardInterrupt):
            reader.join(_PATIENCE)
        # Closing a pipe that is being read would wait for the processes that hold it.
        if not reader.is_alive():
            process.stdout.close()
    if ended_by is not None:
        # Snakemake may end such a run with status 0.
        return process.returncode or 128 + ended_by
    if process.returncode and not verbose and not follower.told:
        say("\n".join(follower.tail))
    return process.returncode


def _wait(process: subprocess.Popen[str]) -> signal.Signals | None:
    """Wait for a process to end and return the signal that asked for it, if one came meanwhile."""
    ended_by: signal.Signals | None = None

    def terminate(*_: object) -> None:
        nonlocal ended_by
        ended_by = signal.SIGTERM
        _terminate(process)

    with _handled(signal.SIGTERM, terminate):
        while True:
            try:
                process.wait()
                return ended_by
            except KeyboardInterrupt:
                if ended_by is not None:
                    process.send_signal(signal.SIGINT)
                ended_by = signal.SIGINT
                say("interrupted; waiting for the jobs that are under way to end")


def _terminate(process: subprocess.Popen[str]) -> None:
    """Ask Snakemake to start no more jobs, and the jobs on this machine to end."""
    import psutil

    say("terminated; waiting for the jobs that are under way to end")
    process.terminate()
    with suppress(psutil.NoSuchProcess):
        for job in psutil.Process(process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                job.terminate()


@contextmanager
def _handled(number: signal.Signals, handler: Callable[..., None]) -> Iterator[None]:
    """Handle a signal; only the main thread of Python can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def _opened(log: Path, append: bool) -> Iterator[IO[str] | None]:
    """Yield the log, open for writing; None if it cannot be written."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("a" if append else "w", encoding="utf-8")
    except OSError as error:
        say(f"{log}: cannot be written ({error.strerror}); the run goes on without it")
        yield None
        return
    try:
        yield file
    finally:
        with suppress(OSError):
            file.close()


@contextmanager
def _temporary_folder() -> Iterator[str]:
    """Yield a folder for temporary files of a run; remove those that killed runs have left."""
    import psutil

    prefix = f"mnlearn-study-{socket.gethostname()}-"
    for left in Path(tempfile.gettempdir()).glob(f"{glob.escape(prefix)}*"):
        process = left.name.removeprefix(prefix).partition("-")[0]
        if process.isdecimal() and not psutil.pid_exists(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-") as folder:
        yield folder
