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
from mnlearn.inference.plan import _FEW
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.io.formats import load_model
from mnlearn.models.io.suffixes import READ
from printed import same_print

DOCS = Path(__file__).parent.parent.parent / "docs"
BLOCK = re.compile(r"^```(python|console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# The tutorial, which is run first, writes the files that the guides use.
PAGES = ["which-learner", "howto/circuits", "howto/export"]


def test_the_guides_name_all_learners_that_choose_in_stages():
    names = [name for name in learner_names() if len(load_learner(name).stages) > 1]
    for page, form in (("own-data", str), ("python", lambda name: load_learner(name).__name__)):
        text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
        paragraph = next(part for part in text.split("\n\n") if "in stages: first" in part)
        assert all(f"`{form(name)}`" in paragraph for name in names)
    help_text = CliRunner().invoke(main, ["fit", "--help"]).stdout
    assert "choose in stages" in " ".join(help_text.split())


def blocks(page):
    """Return the kinds and texts of the blocks of a page that are run or compared."""
    return BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))


def run_commands(text):
    """Run the lines that start with `$ `; the lines below each, if any, are what it prints.

    `...` stands for any lines.
    """
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        program, *words = shlex.split(command)
        assert program == "mnlearn"
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, f"{command}: {result.output}"
        if "".join(shown).strip():
            said = "\n".join(line for line in shown if line)
            assert same_print(said, result.stdout, "..."), f"{command}: prints {result.stdout}"


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
            printed = out.getvalue() or None
        elif printed is None:
            (folder / "questions.csv").write_text(text)
        else:
            assert same_print(text, printed), (page, printed)
            printed = None


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Go to a folder in which the tutorial has been run."""
    folder = tmp_path_factory.mktemp("tutorial")
    mpl.use("Agg")
    with pytest.MonkeyPatch.context() as patch, pd.option_context("display.width", 100):
        patch.chdir(folder)
        run_page("tutorial", folder)
        plt.close("all")
        yield folder


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_says(page, folder):
    run_page(page, folder)
    plt.close("all")


@pytest.mark.parametrize(
    "page",
    ["python", "howto/serving", pytest.param("howto/questionnaires", marks=pytest.mark.nightly)],
)
def test_a_page_that_stands_alone_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pd.option_context("display.width", 100):
        run_page(page, tmp_path)
    plt.close("all")


def test_the_guides_say_which_files_keep_names(folder):
    run_commands("$ mnlearn fit acbn --train train.csv --set max_edges=100 --out names.npz\n")
    run_commands("$ mnlearn fit dn_lr --train train.csv --out names.dn\n")
    for suffix in ("mn", "bn", "ac", "bif", "uai"):
        run_commands(f"$ mnlearn convert names.npz names.{suffix}\n")
    for suffix in READ[:7]:
        kept = load_model(folder / f"names{suffix}").schema.is_named
        assert kept == (suffix in (".npz", ".ac", ".bif"))
    exchange, export = (
        " ".join((DOCS / "howto" / f"{page}.md").read_text("utf-8").split())
        for page in ("other-programs", "export")
    )
    assert "kept in `.bif`, `.npz` and `.ac`. In `.mn`, `.dn`, `.bn` and `.uai` they" in exchange
    assert "`.mn`, `.dn` and `.bn` have numbers in place of names and states. `.ac` keeps" in export


def test_the_guide_says_what_is_enumerated():
    text = (DOCS / "which-learner.md").read_text(encoding="utf-8")
    assert f"up to {_FEW} unknown variables" in text


def test_the_tutorial_draws_its_picture(folder):
    drawn = plt.imread(folder / "survey.png")
    shown = plt.imread(DOCS / "images" / "tutorial.png")
    assert drawn.shape == shown.shape
    # Another version of Matplotlib may draw a little differently.
    assert abs(drawn - shown).mean() < 0.01
