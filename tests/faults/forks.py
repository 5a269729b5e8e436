"""A process that runs jobs in forks of itself, so that imports and kernels are paid for once.

It reads one JSON object per line and answers with one. In a fork the clock stands still, so that
records are equal, byte for byte, however long the work takes.
"""

import faulthandler
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A job takes a second or two; one that waits for itself never ends.
MOST_SECONDS = 120
STOPPED = {"process_time": 0.0, "monotonic": 0.0}


class Forks:
    """The other end: starts the process, and asks it to run jobs."""

    def __init__(self):
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "faults.forks"], text=True, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()

    def _ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the process of the forks has died"
        return json.loads(answer)

    def start(self, lines, folder, most_bytes=None, marks=".done"):
        """Start a job, a list of commands, in a folder; return its process.

        most_bytes : the longest file that the job can write. marks : folder that says which
        commands are done and left out.
        """
        question = {"lines": lines, "folder": str(folder), "most_bytes": most_bytes}
        return self._ask(**question, marks=marks)["process"]

    def wait(self, process):
        """Return the status of a job, negative if a signal ended it, and what it printed."""
        answer = self._ask(wait=process)
        return answer["status"], answer["output"]

    def run(self, *job, **options):
        return self.wait(self.start(*job, **options))

    def leave(self, folder):
        """Let the process go to another folder."""
        self._ask(folder=str(folder))

    def warm(self, lines, folder):
        """Run a job in the process itself: forks then have its kernels."""
        return self._ask(lines=lines, folder=str(folder), warm=True)["status"]


def freeze():
    """Stop the clock and hide how much memory is used; keep states of searches at every chance.

    The digests of code, most of the work of such small jobs, are taken once.
    """
    for name, value in STOPPED.items():
        setattr(time, name, lambda value=value: value)
    resource.getrusage = lambda who: types.SimpleNamespace(ru_maxrss=0)
    from mnlearn.learning import shares
    from mnlearn.runtime import atomic, provenance

    shares.SECONDS_BETWEEN_STATES = -1.0
    atomic._sync = lambda path: None
    provenance.clear_caches = lambda: None


def run_lines(lines, marks=".done"):
    """Run commands one after the other, as Snakemake does: those that are done are left out."""
    from faults.jobs import run_line

    done = Path(marks)
    done.mkdir(exist_ok=True)
    for number, line in enumerate(lines):
        mark = done / str(number)
        if mark.exists():
            continue
        if status := run_line(line):
            return status
        mark.touch()
    return 0


def run_fork(question, output):
    """Run a job in this process, which is a fork, and end it."""
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if (limit := question["most_bytes"]) is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    status = 70
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        status = run_lines(question["lines"], question["marks"])
    except BaseException:  # The fork must not come back into the loop of its parent.
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def read_output(process, descriptor):
    """Return what a job prints until it ends; one that does not end is killed."""
    text, end = b"", time.time() + MOST_SECONDS
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while True:
            ready, _, _ = select.select([file], [], [], max(0.0, end - time.time()))
            if not ready:
                os.killpg(process, signal.SIGKILL)
                return f"{text.decode(errors='replace')}\ndid not end in {MOST_SECONDS} s"
            piece = file.read(1 << 16)
            if not piece:
                return text.decode(errors="replace")
            text += piece


def serve():
    """Answer questions until the input ends."""
    outputs = {}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    freeze()
    for text in sys.stdin:
        question = json.loads(text)
        if "wait" in question:
            output = read_output(question["wait"], outputs.pop(question["wait"]))
            status = os.waitstatus_to_exitcode(os.waitpid(question["wait"], 0)[1])
            answer = {"status": status, "output": output}
        else:
            Path(question["folder"]).mkdir(parents=True, exist_ok=True)
            os.chdir(question["folder"])
            if "lines" not in question:
                answer = {}
            elif question.get("warm"):
                answer = {"status": run_lines(question["lines"])}
            else:
                ours, theirs = os.pipe()
                # An interrupt inside the fork would be lost in what Python does there first, and
                # could leave a lock of logging that no thread holds.
                signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
                process = os.fork()
                if not process:
                    os.close(ours)
                    run_fork(question, theirs)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
                os.close(theirs)
                outputs[process] = ours
                answer = {"process": process}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    faulthandler.enable()
    serve()
