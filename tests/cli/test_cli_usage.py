"""Faults in the arguments of any command, and its help."""

import subprocess
import sys

import click
import pytest

from command import run, succeed
from mnlearn.cli import main
from mnlearn.cli.compile import _QUICK
from mnlearn.methods import learner_names, load_learner

pytestmark = pytest.mark.usefixtures("folder")

NAMES = main.list_commands(click.Context(main))


@pytest.mark.parametrize("command", ["", *NAMES])
def test_every_command_has_help(command):
    text = succeed(f"{command} --help").stdout
    assert "Usage: " in text
    assert "\\b" not in text


def test_help_of_fit_names_the_learners_by_score_and_network():
    text = " ".join(succeed("fit --help").stdout.split())
    methods = [name for name in learner_names() if load_learner(name).criterion == "ll"]
    listed = f"{', '.join(methods[:-1])} and {methods[-1]}"
    expected = f"exact log-likelihood for {listed}, and the log-pseudo-likelihood for all other"
    assert expected in text
    methods = [name for name in learner_names() if load_learner(name).network != "none"]
    assert f"Dependency network to build on ({', '.join(methods)})." in text


def test_quick_values_of_compile_are_of_learners_and_their_hyperparameters():
    assert set(_QUICK) <= set(learner_names())
    for name, values in _QUICK.items():
        assert set(values) <= set(load_learner(name).defaults())


def test_help_imports_nothing_that_is_slow():
    code = """
import sys
from mnlearn.cli import main
main(["--help"], standalone_mode=False)
slow = {"numpy", "numba", "pandas", "scipy", "matplotlib", "requests", "tqdm"}
assert not slow & set(sys.modules), slow & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_sentence_is_one_line_whatever_it_names():
    """The name of a file can have every character but two."""
    result = run("info", "a\nb\x1b[2J\u2028\x85.npz")
    assert result.exit_code == 2
    assert result.stderr == "mnlearn: a\\nb\\x1b[2J\\u2028\\x85.npz: no such file.\n"


def test_a_small_fit_imports_nothing_that_it_does_not_need(tmp_path):
    """Start-up is most of what a person waits for on small data."""
    train = tmp_path / "train.csv"
    train.write_text("0,1,1\n1,0,0\n1,1,0\n0,0,1\n" * 20)
    code = f"""
import sys
from mnlearn.cli import main
main(["fit", "dtsl", "--train", {str(train)!r}, "--out", {str(tmp_path / "m.npz")!r}],
     standalone_mode=False)
slow = {{"pandas", "sklearn", "matplotlib", "requests", "networkx", "scipy.linalg",
         "scipy.special", "scipy.sparse", "scipy.optimize", "scipy.stats"}}
assert not slow & set(sys.modules), slow & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
