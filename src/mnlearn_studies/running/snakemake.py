"""Running Snakemake: its output goes to a log, and a person sees a bar and what failed."""

import glob
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mnlearn.runtime.progress import say

if TYPE_CHECKING:
    from tqdm import tqdm

# Lines of output that are shown if a run fails and none of its jobs says why.
_TAIL = 25
# Seconds between two looks at what has been made.
_PAUSE = 0.5
# Seconds between two lines about the progress where there is no terminal.
_BETWEEN_LINES = 60
# A job that fails adds a line to the file that this variable names; see `workflow/jobs.sh`.
FAILURES = "MNLEARN_FAILURES"


class Watcher:
    """Shows how many of the wanted records are there, and what jobs that failed have said.

    name : what is run, before the bar. failures : the file to which jobs that fail add a line.
    quiet : whether no bar is shown.
    """

    def __init__(self, name: str, wanted: Sequence[Path], failures: Path, quiet: bool) -> None:
        self.told = False
        self._name = name
        self._waiting = list(wanted)
        self._total = len(wanted)
        self._failures = failures
        self._quiet = quiet or not wanted
        self._read = 0
        self._said = -math.inf
        self._line = self._last = ""
        self._bar: tqdm | None = None

    def watch(self, ended: threading.Event) -> None:
        """Look again and again until an event is set, and once more after it."""
        try:
            while not ended.wait(_PAUSE):
                self._look()
            self._look(at_end=True)
        finally:
            if self._bar is not None:
                self._bar.close()

    def _look(self, *, at_end: bool = False) -> None:
        waiting = [path for path in self._waiting if not path.exists()]
        if not self._quiet:
            new = sorted({*self._waiting} - {*waiting})
            self._show(self._total - len(waiting), new, at_end=at_end)
        self._waiting = waiting
        with suppress(OSError), self._failures.open(encoding="utf-8", errors="replace") as file:
            file.seek(self._read)
            for line in file:
                self.told = True
                say(line.rstrip("\n"))
            self._read = file.tell()

    def _show(self, n_done: int, new: Sequence[Path], *, at_end: bool) -> None:
        """Move the bar and name the last new record; without a terminal, print a line a minute."""
        if new:
            self._last = f", the last {new[-1].parent.name}/{new[-1].stem.partition('@')[0]}"
        if sys.stderr.isatty():
            if self._bar is None:
                from tqdm import tqdm

                self._bar = tqdm(desc=self._name, total=self._total, unit="record", file=sys.stderr)
            self._bar.update(n_done - self._bar.n)
            self._bar.set_postfix_str(self._last.removeprefix(", the "))
            return
        line = f"{self._name}: {n_done} of {self._total} records{self._last}"
        if time.monotonic() - self._said >= _BETWEEN_LINES or (at_end and line != self._line):
            self._said, self._line = time.monotonic(), line
            say(line)


def run_snakemake(
    command: list[str], folder: Path, name: str, log: Path, *, wanted: Sequence[Path] = (),
    verbose: bool = False,
) -> int:  # fmt: skip
    """Run Snakemake and return its exit status; the bar counts the `wanted` records.

    A terminal sends an interrupt to Snakemake too, so this waits for it; a second one, and a
    request to terminate, which goes to this process only, are passed on. If the output is not
    shown and the run fails, its cause is.
    """
    # The rules call `mnlearn`, which must be found also where the environment is not activated.
    scripts = sysconfig.get_path("scripts", f"{os.name}_user")
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath), scripts]
    with ExitStack() as stack:
        temporary = stack.enter_context(_temporary_folder())
        failures = Path(temporary, "failures")
        environment = {
            **os.environ,
            "PATH": os.pathsep.join(folders),
            "TMPDIR": temporary,
            FAILURES: str(failures),
        }
        output = None if verbose else stack.enter_context(_opened(log))
        ended = threading.Event()
        watcher = Watcher(name, wanted, failures, verbose)
        thread = threading.Thread(target=watcher.watch, args=(ended,))
        thread.start()
        try:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            ended_by = _wait(process)
        finally:
            ended.set()
            thread.join()
    if ended_by is not None:
        # Snakemake may end such a run with status 0.
        return process.returncode or 128 + ended_by
    if process.returncode and not verbose and not watcher.told:
        say("\n".join(_last_lines(log)))
    return process.returncode


def _last_lines(log: Path) -> list[str]:
    try:
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-_TAIL:]
    except OSError:
        return []


def _wait(process: subprocess.Popen[bytes]) -> signal.Signals | None:
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


def _terminate(process: subprocess.Popen[bytes]) -> None:
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
def _opened(log: Path) -> Iterator[IO[str] | int]:
    """Yield the log, open for writing; nowhere if it cannot be written."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("w", encoding="utf-8")
    except OSError as error:
        say(f"{log}: cannot be written ({error.strerror}); the run goes on without it")
        yield subprocess.DEVNULL
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
