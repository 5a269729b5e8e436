"""The commands and the Python code that the pages show run on a small dataset."""

import os
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mnlearn as mn
from mnlearn.cli import main
from mnlearn.methods import learner_names

ROOT = Path(__file__).parent.parent
N_VARS = 5
BIF = """network small {}
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b | a ) { (no) 0.2, 0.8; (yes) 0.6, 0.4; }
"""


def shown(page, start):
    """Return the indented command lines of a page that start as given, without comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = re.findall(rf"^    ({start} .*)$", text, re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines]


def run(command):
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, f"mnlearn {' '.join(command)}: {result.output}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Go to a folder with the files that the pages name."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(20)
    rows = rng.integers(0, 2, (120, N_VARS))
    rows[:, 1] = rows[:, 0] ^ (rng.random(120) < 0.2)
    for name in ("mine", "test", "valid", "items"):
        np.savetxt(folder / f"{name}.csv", rows, "%d", ",")
    states = {
        "sex": ["f", "m"],
        "age": range(20, 60, 10),
        "cups": range(4),
        "stress": ["low", "medium", "high"],
        "sleep": ["good", "bad"],
    }
    for name in ("people", "new_people", "others"):
        people = pd.DataFrame({column: rng.choice(own, 120) for column, own in states.items()})
        people.to_csv(folder / f"{name}.csv", index=False)
    (folder / "questions.csv").write_text("1,*,0,1,0\n")
    (folder / "row.csv").write_text("1,*,*,*,*\n")
    (folder / "grid.yaml").write_text("feature_mode: [prune, nonzero]\n")
    (folder / "network.bif").write_text(BIF)
    before = Path.cwd()
    os.chdir(folder)
    run(["fit", "dn_lr", "--train", "mine.csv", "--out", "dn.npz"])
    yield folder
    os.chdir(before)


@pytest.mark.parametrize("name", learner_names())
def test_commands_of_a_method(name, folder):
    page = f"docs/methods/{name}.md"
    commands = shown(page, "mnlearn fit")
    assert commands, f"{page}: expected an indented line `mnlearn fit {name} ...`"
    for command in commands:
        run(command)


@pytest.mark.parametrize("page", ["README.md", "docs/own-data.md", "docs/inference.md"])
def test_commands_for_own_data(page, folder):
    for command in shown(page, "mnlearn (?:fit|score|info|convert|query|ising)"):
        # Fewer resamples take less time.
        run([*command, "--bootstraps", "3"] if command[0] == "ising" else command)


@pytest.mark.nightly
def test_what_takes_the_place_of_other_programs(folder, capsys):
    text = (ROOT / "docs" / "howto" / "switching.md").read_text(encoding="utf-8")
    commands = [shlex.split(line)[1:] for line in re.findall(r"`(mnlearn [^`]+)`", text)]
    assert {"weights", "sample", "ising"} < {command[0] for command in commands}
    for command in commands:
        run([*command, "--bootstraps", "3"] if command[0] == "ising" else command)
    capsys.readouterr()
    pattern = r"^```python\n(.*?)^```\n\n```text\n(.*?)^```"
    ((code, expected),) = re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out == expected
    ours = [line.split("|")[-2] for line in text.splitlines() if line.startswith("| ")]
    named = {name for cell in ours for name in re.findall(r"(\w+)\(", cell)}
    assert {"from_features", "compare_ising", "drop_cases"} < named
    assert named <= {*dir(mn.BayesianNetwork), *dir(mn.MarkovNetwork), *dir(mn.Ising), *dir(mn)}


def test_python_code(folder, capsys):
    text = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out
