"""Progress of the library on stderr: lines, and bars on a terminal."""

import logging
import os
import subprocess
import sys

import pytest

from mnlearn.cli.progress import show_progress
from mnlearn.runtime.progress import LOGGER, begin_work, say, track


def pretend_terminal(monkeypatch):
    """Make standard error, as it is captured now, say that it is a terminal."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


def do_steps(n=3):
    for step in track(range(n), "steps"):
        if step == 1:
            say("halfway, 50% done")


def test_lines_where_there_is_no_terminal(capsys):
    with show_progress():
        do_steps()
        assert list(track(iter("ab"), "letters")) == ["a", "b"]
    lines = ["steps: 1/3", "halfway, 50% done", "steps: 2/3", "steps: 3/3"]
    assert capsys.readouterr().err.splitlines() == [*lines, "letters: 1", "letters: 2"]


def test_a_bar_on_a_terminal(monkeypatch, capsys):
    pretend_terminal(monkeypatch)
    with show_progress():
        do_steps()
    text = capsys.readouterr().err
    assert "steps:   0%" in text
    assert "halfway, 50% done\n" in text
    assert "steps: 1/3" not in text
    # The bar is removed at the end.
    assert text.endswith("\r")


def test_a_bar_ends_with_the_loop_that_is_left(monkeypatch, capsys):
    pretend_terminal(monkeypatch)
    with show_progress():
        for _ in track(range(3), "steps"):
            break
        with begin_work("bytes", 2000, unit="B") as work:
            work.advance(1000)
        say("after")
    text = capsys.readouterr().err
    assert "1.00k/2.00k" in text
    assert text.endswith("after\n")


def test_nothing_is_shown_after_the_block(capsys):
    before = LOGGER.handlers[:], LOGGER.level
    with show_progress():
        pass
    do_steps()
    assert (LOGGER.handlers, LOGGER.level) == before
    assert capsys.readouterr() == ("", "")


def test_errors_of_the_block_leave_no_handler():
    with pytest.raises(KeyError), show_progress():
        raise KeyError
    assert [type(handler) for handler in LOGGER.handlers] == [logging.NullHandler]


COMPILE = """
import sys
from mnlearn.cli.progress import show_progress
from mnlearn.kernels.jit import kernel

@kernel
def one():
    return 1

@kernel
def two():
    return one() + 1

sys.stderr.isatty = lambda: sys.argv[1] == "terminal"
with show_progress():
    two()
"""


def test_a_terminal_is_told_once_that_kernels_are_compiled(tmp_path):
    """And is not told when they are loaded, nor is a log."""
    program = tmp_path / "program.py"
    program.write_text(COMPILE)

    def told(where, cache):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / cache)}
        command = [sys.executable, program, where]
        return subprocess.run(command, env=environment, capture_output=True, text=True).stderr

    first, second = told("terminal", "a"), told("terminal", "a")
    assert first.count("compiling") == 1
    assert second == ""
    assert told("log", "b") == ""


PRINT = """
import sys
from mnlearn.cli.progress import show_progress
from mnlearn.runtime.progress import say

with show_progress():
    say("a line")
assert not {"tqdm", "multiprocessing.synchronize"} & set(sys.modules)
sys.stderr.isatty = lambda: True
with show_progress():
    say("a line")
from tqdm import tqdm
assert "multiprocessing" not in type(tqdm.get_lock()).__module__
assert "multiprocessing.synchronize" not in sys.modules
"""


def test_lines_take_no_lock_that_forks_share():
    """A fork that is killed while it prints must not stop the others."""
    subprocess.run([sys.executable, "-c", PRINT], check=True)
