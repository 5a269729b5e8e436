"""The tables of the README are those on record."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_tables_are_on_record():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    module = runpy.run_path(str(ROOT / "workflow" / "readme.py"))
    assert module["refreshed"](text) == text, "run `make readme`"
