"""The driver of mutants: which changes it makes, and the list of those without effect."""

import ast
import csv

import pytest

from mutants.__main__ import EQUIVALENT, KEY, ROOT
from mutants.forks import in_fork
from mutants.operators import mutants, mutate
from mutants.targets import TARGETS

SOURCE = '''
"""Text."""
MOST = 3

class A:
    def f(self, x: int = 1) -> int:
        """Text."""
        if x < MOST:
            raise ValueError("text" + "more")
        return g(x, least=2, seed=x) + (lambda y: y * 2)(x)
'''


def test_every_change_gives_another_program():
    found = mutants(SOURCE)
    programs = [ast.unparse(mutate(SOURCE, one)) for one in found]
    assert len({*programs, ast.unparse(ast.parse(SOURCE))}) == len(found) + 1
    kinds = {(one.holder, one.kind) for one in found}
    assert kinds == {
        ("", "constant"),
        *(("A.f", kind) for kind in ("comparison", "condition", "constant", "return", "statement")),
        *(("A.f", kind) for kind in ("argument least", "argument seed", "operator")),
        *(("A.f.<lambda>", kind) for kind in ("constant", "operator")),
    }


def test_text_and_types_are_left_alone():
    for one in mutants(SOURCE):
        text = ast.unparse(mutate(SOURCE, one))
        assert text.count("Text.") == 2
        assert "x: int" in text


@pytest.mark.parametrize(
    ("work", "expected"), [(lambda: 3, ("done", 3)), (lambda: 1 / 0, ("failed", None))]
)
def test_a_fork_says_how_its_work_ended(work, expected):
    assert tuple(in_fork(work, 5)) == expected


def test_work_without_end_is_ended():
    def work():
        while True:
            pass

    assert in_fork(work, 1).how == "too long"


def test_the_tests_that_targets_name_exist():
    for target in TARGETS:
        for place in (*target.own, *target.tests, *target.compiled):
            path, _, name = place.partition("::")
            found = ROOT / "tests" / path
            assert found.is_dir() or f"def {name}" in found.read_text(), place


def test_the_list_of_changes_without_effect_names_changes_that_exist():
    with EQUIVALENT.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = {}
    for row in rows:
        assert row["reason"]
        module = row["module"]
        if module not in found:
            source = next((ROOT / "src").glob(f"mnlearn*/{module}")).read_text()
            found[module] = {
                tuple(str(vars(one)[key]) for key in KEY[1:]) for one in mutants(source)
            }
        assert tuple(row[key] for key in KEY[1:]) in found[module], row
