"""What ends the command in the middle of a large elimination."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

# The lengths of the sides of grids of spins that take messages of some hundred MB, and seconds.
SIDES = {"query grid.uai --out out.csv": 20, "info grid.uai --log-partition exact": 24}
LINES = list(SIDES)


@pytest.fixture
def grid(tmp_path, line):
    """A folder with the grid of a command in a file."""
    side = next(own for begin, own in SIDES.items() if line.startswith(begin))
    rng = np.random.default_rng(0)
    number = np.arange(side**2).reshape(side, side)
    pairs = [*zip(number[:, :-1].flat, number[:, 1:].flat, strict=True)]
    pairs += [*zip(number[:-1].flat, number[1:].flat, strict=True)]
    head = ["MARKOV", str(side**2), " ".join(["2"] * side**2), str(len(pairs))]
    tables = ["4 " + " ".join(map(str, np.exp(rng.normal(size=4)))) for _ in pairs]
    lines = [*head, *(f"2 {u} {v}" for u, v in pairs), *tables]
    (tmp_path / "grid.uai").write_text("\n".join(lines) + "\n")
    return tmp_path


def hear_interrupts():
    """What a shell starts in the background does not hear Ctrl-C, and neither do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def begin(line, folder):
    return subprocess.Popen(
        [sys.executable, "-m", "mnlearn", *line.split()],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hear_interrupts,
    )  # fmt: skip


def megabytes(process):
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(next(s for s in status.splitlines() if s.startswith("VmRSS")).split()[1]) / 1024


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the memory of a process")
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    ("number", "word"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")]
)
def test_a_signal_in_the_middle_of_an_elimination(number, word, line, grid):
    """Messages are in memory when it comes, far more than the program takes without them."""
    process = begin(line, grid)
    while process.poll() is None and megabytes(process) < 300:
        time.sleep(0.02)
    process.send_signal(number)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number, said
    assert said.splitlines()[-1] == f"mnlearn: {word}."
    assert out == ""
    assert [path.name for path in grid.iterdir()] == ["grid.uai"]


@pytest.mark.nightly
@pytest.mark.parametrize("line", [LINES[0] + " --inference exact", LINES[1]])
def test_a_limit_of_memory_that_an_elimination_does_not_keep(line, grid):
    process = begin(f"{line} --memory 0.01", grid)
    out, said = process.communicate(timeout=600)
    assert process.returncode == 2, said
    assert "an exact answer would take tables of" in said.splitlines()[-1]
    assert out == ""
    assert [path.name for path in grid.iterdir()] == ["grid.uai"]
