"""A process that runs one command after the other, so that start-up is paid for once.

It reads one command per line, as JSON, and answers with what became of it. It has the memory that
it begins with and one GiB more.
"""

import json
import os
import resource
import select
import subprocess
import sys
import time
import traceback
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
MOST_BYTES = 1 << 30
MOST_SECONDS = 10.0
# Memory that is not given back would count against later commands.
COMMANDS_OF_PROCESS = 2000


class Worker:
    """The other end: a process that is started anew when it dies, takes too long or is old."""

    def __init__(self, folder):
        self.folder = folder
        self.process = None
        self.n_run = 0

    def run(self, line, most_seconds=MOST_SECONDS):
        """Return the status, stdout, stderr and seconds of a command.

        The status is None if the process died, or was killed because it took too long.
        """
        if self.process is None or self.n_run >= COMMANDS_OF_PROCESS:
            self.stop()
            self.start()
        self.n_run += 1
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        began = time.monotonic()
        ready, _, _ = select.select([self.process.stdout], [], [], most_seconds)
        text = self.process.stdout.readline() if ready else ""
        if not text:
            self.stop()
            how = "died" if ready else f"took more than {most_seconds:g} s"
            return {"status": None, "stdout": "", "stderr": f"the process {how}"}
        return {**json.loads(text), "seconds": time.monotonic() - began}

    def start(self):
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "faults.worker"], text=True, cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.process.stdout.readline()

    def stop(self):
        self.n_run = 0
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def outcome(line):
    """Run a command in this process and return what became of it."""
    from command import run

    result = run(line)
    stderr = result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        stderr += "".join(traceback.format_exception(result.exception))
    return {"status": result.exit_code, "stdout": result.stdout, "stderr": stderr}


def serve():
    """Answer until the input ends."""
    from mnlearn.cli import main  # noqa: F401
    from mnlearn.runtime import atomic, provenance
    from mnlearn.scoring import any_model  # noqa: F401

    atomic._sync = lambda path: None
    # The digests of code would be most of the work.
    provenance.clear_caches = lambda: None
    most = psutil.Process().memory_info().vms + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print("ready", file=answers, flush=True)
    for text in sys.stdin:
        print(json.dumps(outcome(json.loads(text))), file=answers, flush=True)


if __name__ == "__main__":
    serve()
