"""The tutorial and the examples in docstrings print what they say; the types are current."""

import doctest
import importlib
import io
import pkgutil
import re
import runpy
from contextlib import redirect_stdout
from pathlib import Path

import pandas as pd
import pytest

import mnlearn.api
from printed import same_print

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "python.md"
MODULES = sorted(module.name for module in pkgutil.iter_modules(mnlearn.api.__path__))


def blocks():
    """Code of the tutorial, each with the text that it is said to print."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?"
    return re.findall(pattern, text, re.MULTILINE | re.DOTALL)


def test_the_tutorial_prints_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    with pd.option_context("display.width", 100):
        for code, expected in blocks():
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(code, names)
            assert same_print(expected, printed.getvalue()), (code, printed.getvalue())


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    found = doctest.testmod(importlib.import_module(f"mnlearn.api.{name}"))
    assert found.failed == 0


def test_docstrings_have_examples():
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(f"mnlearn.api.{name}") for name in MODULES]
    assert sum(bool(t.examples) for module in modules for t in finder.find(module)) >= 4


def test_the_types_of_the_learners_are_current():
    stubs = runpy.run_path(str(ROOT / "workflow" / "stubs.py"))
    assert stubs["stub_text"]() == stubs["STUB"].read_text(encoding="utf-8"), "run `make readme`"
