"""The generated tables of the README and of docs/ are current, and no page is missing."""

import runpy
from pathlib import Path

from mnlearn.methods import learner_names
from mnlearn_studies.report.pages.numbers import PublishedNumber
from mnlearn_studies.study.definition import shipped_studies

ROOT = Path(__file__).parent.parent
MODULE = runpy.run_path(str(ROOT / "workflow" / "readme.py"))


def test_generated_parts_are_current():
    pages = MODULE["generated"]().items()
    old = [
        path.relative_to(ROOT).as_posix()
        for path, parts in pages
        if MODULE["refreshed"](path, parts) != path.read_text(encoding="utf-8")
    ]
    assert not old, "run `make readme`"


def test_the_index_of_methods_names_every_learner():
    index = (ROOT / "docs" / "methods" / "README.md").read_text(encoding="utf-8")
    assert [name for name in learner_names() if f"({name}.md)" not in index] == []


def test_the_list_of_scored_learners_is_complete():
    found = shipped_studies().values()
    learned = {study.learner(method) for study in found for method in study.content["methods"]}
    assert set(MODULE["SCORES"]) == learned


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) <= 110


def test_scores_are_compare_at_the_published_decimals():
    place = ("gssl", "2", "nltcs", "l1", "cmll", "accuracy", "NLTCS")
    pairs = [("-5.00", -5.004), ("-5.00", -5.016), ("-5.0", -4.99), ("-5.0", -4.9)]
    numbers = [PublishedNumber(*place, printed, ours) for printed, ours in pairs]
    assert MODULE["_compare"](numbers) == "1 / 2 / 1"
