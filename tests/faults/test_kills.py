"""Jobs that are killed, beside each other, or on a full disk: nothing is lost or half written."""

import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from faults.counting import N
from faults.forks import Forks
from faults.jobs import JOBS, differences, final_files, job, make_inputs

# Both workers of a run would make the inputs and warm up.
pytestmark = pytest.mark.xdist_group("kills")

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
# A job is killed so often before it may end.
KILLS_OF_JOB = 5


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A process for forks, a folder with inputs, and what undisturbed jobs leave."""
    folder = tmp_path_factory.mktemp("kills")
    inputs = make_inputs(folder)
    forks = Forks()
    try:
        for name in JOBS:
            assert forks.warm(job(name, inputs), folder / f"warm-{name}") == 0
        yield folder, inputs, forks
    finally:
        forks.close()


def undisturbed(place, name):
    """Return the files of a job that runs to its end, and its seconds."""
    folder, inputs, forks = place
    began = time.monotonic()
    status, output = forks.run(job(name, inputs), folder / f"whole-{name}")
    assert status == 0, output
    files = final_files(folder / f"whole-{name}")
    assert files == final_files(folder / f"warm-{name}")
    return files, time.monotonic() - began


@pytest.fixture(scope="module")
def whole(place):
    return {name: undisturbed(place, name) for name in JOBS}


def kill(forks, lines, folder, how, seconds):
    """Start a job and kill it after some seconds; return its status and what it printed."""
    process = forks.start(lines, folder)
    time.sleep(seconds)
    os.kill(process, how)
    return forks.wait(process)


def test_kills_and_resumes(place, whole, counts):
    folder, inputs, forks = place
    rng = np.random.default_rng(N)
    n_ended = 0
    while counts.tried < N:
        name = str(rng.choice(list(JOBS)))
        expected, seconds = whole[name]
        lines, here = job(name, inputs), folder / "killed"
        killed = []
        for _ in range(KILLS_OF_JOB):
            how = SIGNALS[rng.integers(len(SIGNALS))]
            status, output = kill(forks, lines, here, how, rng.uniform(0, seconds))
            if status == 0:
                n_ended += 1
                break
            killed.append(how.name)
            problem = differences(here, expected)
            # Python may meet the interrupt in a place where it ends the process by an exception.
            if status not in (-how, 128 + how, 1, 70):
                problem = f"status {status}: {output[-500:]}"
            counts.add(problem and f"{name}, {', '.join(killed)}: {problem}")
        status, output = forks.run(lines, here)
        if killed and (status or final_files(here) != expected):
            why = output[-500:] if status else differences(here, expected) or "lacks a file"
            counts.failures.append(f"{name}, {', '.join(killed)} and resumed: {why}")
        shutil.rmtree(here)
    counts.notes.append(f"{n_ended} jobs ended before they were killed")
    counts.check()


def test_two_runs_at_once(place, whole, counts):
    folder, inputs, forks = place
    for number in range(max(2, N // 10)):
        name = list(JOBS)[number % len(JOBS)]
        here = folder / "twice"
        started = [forks.start(job(name, inputs), here, marks=f".{k}") for k in range(2)]
        ended = [forks.wait(process) for process in started]
        problem = None
        if any(status for status, _ in ended):
            problem = f"{name}: {[output[-300:] for _, output in ended]}"
        elif final_files(here) != whole[name][0]:
            problem = f"{name}: {differences(here, whole[name][0]) or 'lacks a file'}"
        counts.add(problem)
        shutil.rmtree(here)
    counts.check()


FULL = re.compile(
    r"mnlearn: (.+: cannot be written|output: cannot be written): "
    r"(File too large|No space left on device)\.$"
)


def full_problem(status, output, here, expected):
    """Return what is wrong with a job that met a full disk, or did not; None if nothing is."""
    if status == 0:
        return None if final_files(here) == expected else "ended, but files are not as expected"
    lines = output.splitlines()
    if status != 1 or not lines or not FULL.match(lines[-1]) or "Traceback" in output:
        return f"status {status}: {output[-500:]}"
    return differences(here, expected)


def test_full_disks_by_a_limit_of_files(place, whole, counts):
    """No file can be longer than some bytes; a job then resumes without that limit."""
    folder, inputs, forks = place
    rng = np.random.default_rng(N)
    for number in range(N):
        name = list(JOBS)[number % len(JOBS)]
        expected, here = whole[name][0], folder / "full"
        longest = max(len(content) for content in expected.values())
        status, output = forks.run(
            job(name, inputs), here, most_bytes=int(rng.integers(0, longest))
        )
        problem = full_problem(status, output, here, expected)
        if problem is None and number % 5 == 0:
            status, output = forks.run(job(name, inputs), here)
            if status or final_files(here) != expected:
                problem = f"resumed, status {status}: {output[-500:]}"
        counts.add(problem and f"{name}: {problem}")
        shutil.rmtree(here)
    counts.check()


def test_full_disks_of_memory(place, whole, counts):
    """A small file system of its own, where this process may mount one."""
    folder, inputs, forks = place
    rng = np.random.default_rng(N)
    disk = folder / "disk"
    disk.mkdir()
    for number in range(max(4, N // 5)):
        name = list(JOBS)[number % len(JOBS)]
        expected = whole[name][0]
        size = 4096 * int(rng.integers(8, 8 + 2 * len(expected)))
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        # Mounting needs rights; `test_full_disks_by_a_limit_of_files` needs none and always runs.
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("this process may not mount a file system")
        try:
            marks = str(folder / f"marks-{number}")
            status, output = forks.run(job(name, inputs), disk / "run", marks=marks)
            problem = full_problem(status, output, disk / "run", expected)
        finally:
            # The process of the forks stands in the folder of the last job.
            forks.leave(folder)
            subprocess.run(["umount", str(disk)], check=True)
        counts.add(problem and f"{name}, {size} bytes: {problem}")
    counts.check()
