"""The tutorial and the examples in docstrings print what they say; the types are current."""

import doctest
import importlib
import pkgutil
import runpy
from pathlib import Path

import pytest

import mnlearn.api

ROOT = Path(__file__).parent.parent.parent
MODULES = sorted(module.name for module in pkgutil.iter_modules(mnlearn.api.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    found = doctest.testmod(importlib.import_module(f"mnlearn.api.{name}"))
    assert found.failed == 0


def test_the_types_of_the_learners_are_current():
    stubs = runpy.run_path(str(ROOT / "workflow" / "stubs.py"))
    assert stubs["stub_text"]() == stubs["STUB"].read_text(encoding="utf-8"), "run `make readme`"
