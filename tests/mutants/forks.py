"""Work done in a fork, within limits of time and memory."""

import json
import os
import resource
import select
import signal
import time
from typing import Any, NamedTuple

MOST_BYTES = 6 << 30


class Outcome(NamedTuple):
    """What became of the work.

    how : "done", "too long", "killed" (by a signal), or "failed" (by an exception of its own).
    value : its JSON value if it is done.
    """

    how: str
    value: Any = None


def in_fork(work, most_seconds):
    """Do `work()` in a fork that may take so much processor time, and three times as long."""
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        os.close(ours)
        _work_and_end(work, theirs, int(most_seconds) + 1)
    os.close(theirs)
    text, in_time = _read(ours, time.monotonic() + 3 * most_seconds)
    if not in_time:
        os.killpg(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if not in_time or status == -signal.SIGXCPU:
        return Outcome("too long")
    if status < 0:
        return Outcome("killed")
    return Outcome("done", json.loads(text)) if status == 0 else Outcome("failed")


def _work_and_end(work, output, most_seconds):
    status = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        answer = json.dumps(work()).encode()
        while answer:
            answer = answer[os.write(output, answer) :]
        status = 0
    finally:
        os._exit(status)


def _read(descriptor, end):
    """Return what is written until the other end is closed, and whether that was in time."""
    text = b""
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while True:
            ready, _, _ = select.select([file], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return text, False
            piece = file.read(1 << 16)
            if not piece:
                return text, True
            text += piece
