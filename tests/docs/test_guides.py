"""The tutorial and the guides print what they say, from an empty folder on."""

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from click.testing import CliRunner

from mnlearn.cli import main

DOCS = Path(__file__).parent.parent.parent / "docs"
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The tutorial, which is run first, writes the files that the guides use.
PAGES = ["which-learner", "howto/circuits", "howto/export"]


def blocks(page):
    """Return the kinds and texts of the blocks of a page that are run or compared."""
    return BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))


def run_commands(text):
    """Run the lines that start with `$ `; the lines below each are among those that it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        program, *words = shlex.split(command)
        assert program == "mnlearn"
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, f"{command}: {result.output}"
        printed = iter(result.output.splitlines())
        for line in shown:
            assert line in printed, f"{command}: expected the line {line!r} in {result.output}"


def run_page(page, folder):
    """Run a page in a folder, as a reader does from top to bottom."""
    names, printed = {}, None
    for kind, text in blocks(page):
        if kind == "console":
            run_commands(text)
        elif kind == "python":
            out = io.StringIO()
            with redirect_stdout(out):
                exec(text, names)
            printed = out.getvalue()
        elif "*" in text:
            (folder / "questions.csv").write_text(text)
        else:
            assert text == printed, page
            printed = None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Go to a folder in which the tutorial has been run; `row.csv` is described in a guide."""
    folder = tmp_path_factory.mktemp("tutorial")
    mpl.use("Agg")
    with pytest.MonkeyPatch.context() as patch, pd.option_context("display.width", 100):
        patch.chdir(folder)
        (folder / "row.csv").write_text("1,*,*,*,*,*\n")
        run_page("tutorial", folder)
        plt.close("all")
        yield folder


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_says(page, folder):
    run_page(page, folder)
    plt.close("all")


def test_the_tutorial_draws_its_picture(folder):
    drawn = plt.imread(folder / "survey.png")
    shown = plt.imread(DOCS / "images" / "tutorial.png")
    assert drawn.shape == shown.shape
    # Another version of Matplotlib may draw a little differently.
    assert abs(drawn - shown).mean() < 0.01
