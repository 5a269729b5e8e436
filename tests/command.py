"""Running the command `mnlearn` in a test, and what it must print, write and refuse."""

import json
import shlex
from pathlib import Path

from click.testing import CliRunner

from mnlearn.cli import main


def run(line, *more):
    return CliRunner().invoke(main, [*shlex.split(line), *map(str, more)])


def succeed(line, *more):
    result = run(line, *more)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


def numbers(line):
    """Return the one JSON object that is all a command prints to stdout."""
    return json.loads(succeed(line).stdout)


def mean(line):
    return numbers(f"score {line} --json")["mean"]


def tree():
    return {str(p): p.read_bytes() if p.is_file() else None for p in Path().rglob("*")}


def refuse(line, names, leaves=()):
    """Check that a command ends with one sentence that says `names`, and changes no file."""
    assert not Path("pyproject.toml").exists(), "all files of the checkout would be compared"
    before = tree()
    result = run(line)
    assert result.exit_code == 2, (result.output, result.exception)
    assert result.stdout == ""
    *progress, sentence = result.stderr.splitlines()
    assert not any(text.startswith(("mnlearn: ", "Traceback", "Usage")) for text in progress)
    assert sentence.startswith("mnlearn: ")
    assert sentence.endswith(".")
    assert names in sentence
    after = tree()
    assert after == {
        **before,
        **{k: v for k, v in after.items() if leaves and k.startswith(leaves)},
    }
    return progress
