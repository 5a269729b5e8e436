"""The digest of code: what changes it and what does not."""

import ast
import re
import shutil
from pathlib import Path

import pytest

from mnlearn.methods import learner_names, learner_root
from mnlearn.runtime import code_digest as digests
from mnlearn.runtime import provenance

ROOTS = {
    "dtsl": ("methods.dtsl.DTSL", "study.cells.learn.learn_cell"),
    "atomic": ("methods.atomic.Atomic", "study.cells.learn.learn_cell"),
    "acmn": ("methods.acmn.ACMN", "study.cells.learn.learn_cell"),
    "scores": ("methods.atomic.Atomic", "study.cells.score.score_cell"),
    "circuit scores": ("methods.acmn.ACMN", "study.cells.score.score_cell"),
    "tables": ("report.tables.write_tables",),
    "figures": ("report.figures.write_figures",),
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package that digests are taken of."""
    copy = tmp_path / "mnlearn"
    shutil.copytree(digests.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(digests, "PACKAGE", copy)
    digests.clear_caches()
    yield copy
    digests.clear_caches()


def taken(roots=ROOTS):
    digests.clear_caches()
    return {name: digests.code_digest(*each) for name, each in roots.items()}


def changed(package: Path, name: str, old: str, new: str) -> set[str]:
    """Return the digests that an edit of one file changes; `old` must be there."""
    before = taken()
    path = package / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    after = taken()
    path.write_text(text)
    return {key for key in before if before[key] != after[key]}


def test_comments_docstrings_and_layout_change_nothing(package):
    name = "kernels/likelihood/touched_rows.py"
    assert changed(package, name, '"""Which rows a feature', '"""(Reworded.) Which') == set()
    assert changed(package, name, "import numpy as np", "\n# Reason.\nimport numpy  as np") == set()


def test_an_edited_kernel_changes_what_uses_it_and_nothing_else(package):
    assert changed(package, "kernels/arithmetic/logistic.py", "1.0 / 21.0", "1.0 / 21.5") >= {
        "dtsl",
        "scores",
    }
    assert changed(package, "methods/dtsl.py", 'variant = ("feature_mode",)', "pass") == {"dtsl"}
    assert "scores" in changed(package, "kernels/sampling/gibbs.py", "n_samples", "number")
    circuits = changed(
        package, "kernels/circuits/evaluation.py", "LOG_ZERO = -1e30", "LOG_ZERO = -1e31"
    )
    assert circuits == {"acmn", "circuit scores"}
    assert changed(package, "report/tables/formats.py", "EMPTY_NOTE = ", "EMPTY_NOTE = 1 or ") == {
        "tables"
    }


def test_an_edited_constant_changes_what_uses_it(package):
    name = "learning/weights/arrangement.py"
    assert changed(package, name, "MIN_SAVED = 0.25", "MIN_SAVED = 0.5") == {"dtsl"}


def test_a_new_definition_in_a_shared_file_changes_nothing(package):
    for name in (
        "kernels/arithmetic/bits.py",
        "learning/weights/descent.py",
        "models/features.py",
        "learning/tuning.py",
    ):
        text = (package / name).read_text()
        assert changed(package, name, text, text + "\n\ndef added(x):\n    return x + EXTRA\n") == (
            set()
        )


def test_the_order_of_definitions_changes_nothing(package):
    """The functions of a module are put in reverse order, its constants left in front."""
    path = package / "models/features.py"
    text = path.read_text()
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) >= 3
    others = [node for node in tree.body if node not in functions]
    swapped = ast.unparse(ast.Module([*others, *reversed(functions)], []))
    assert changed(package, "models/features.py", text, swapped) == set()


def test_a_moved_and_renamed_module_changes_nothing(package):
    """The move takes a module of functions and one that is used as an object."""
    before = taken()
    folder = package / "elsewhere"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    for place, old, new in (("learning.weights", "descent", "a"), ("scoring", "networks", "b")):
        (package / place.replace(".", "/") / f"{old}.py").rename(folder / f"{new}.py")
        for path in package.rglob("*.py"):
            text = path.read_text()
            text = text.replace(f"mnlearn.{place}.{old} import", f"mnlearn.elsewhere.{new} import")
            imported = re.search(rf"from mnlearn\.{place} import (.*, )?{old}\n", text)
            if imported:
                beside = imported[0].replace(old, "").rstrip(", \n")
                text = text.replace(
                    imported[0],
                    f"from mnlearn.elsewhere import {new}\n"
                    + (f"{beside}\n" if imported[1] else ""),
                )
                text = re.sub(rf"\b{old}(?=[.,)\n])", new, text)
            path.write_text(text)
    assert taken() == before


def test_an_import_of_another_function_of_the_same_name_changes_it(package):
    (package / "other_penalty.py").write_text(
        (package / "learning/penalty.py").read_text().replace("0.0", "0.5")
    )
    old, new = "from mnlearn.learning.penalty import", "from mnlearn.other_penalty import"
    assert "dtsl" in changed(package, "learning/weights/arranged_features.py", old, new)


def test_definitions_that_call_each_other_are_hashed_together(package):
    (package / "circle.py").write_text(
        "def even(n):\n    return n == 0 or odd(n - 1)\n\n\n"
        "def odd(n):\n    return n != 0 and even(n - 1)\n"
    )
    roots = {"even": ("circle.even",), "odd": ("circle.odd",)}
    before = taken(roots)
    assert before["even"] != before["odd"]
    path = package / "circle.py"
    path.write_text(path.read_text().replace("n != 0", "n > 0"))
    after = taken(roots)
    assert after["even"] != before["even"]
    assert after["odd"] != before["odd"]


def test_a_local_name_is_not_the_module_s(package):
    (package / "local.py").write_text(
        "def value():\n    return 1\n\n\ndef used(value):\n    return value\n"
    )
    assert digests.reached("local.used") == {("local", "used")}


def test_code_for_type_checkers_is_left_out(package):
    (package / "checked.py").write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    SEEN = 1\n"
        "if not TYPE_CHECKING:\n    USED = 1\n\n\ndef used():\n    return USED\n"
    )
    roots = {"used": ("checked.used",)}
    before = taken(roots)
    for old, changes in (("SEEN = 1", False), ("USED = 1", True)):
        text = (package / "checked.py").read_text()
        (package / "checked.py").write_text(text.replace(old, old.replace("1", "2")))
        assert (taken(roots) != before) == changes
        (package / "checked.py").write_text(text)


def test_an_unknown_definition_is_named(package):
    with pytest.raises(LookupError, match=r"tuning\.tone"):
        digests.code_digest("learning.tuning.tone")


@pytest.mark.parametrize("name", learner_names())
def test_a_learner_reaches_kernels_and_models(name):
    reached = {m for m, _ in digests.reached(learner_root(name), "study.cells.learn.learn_cell")}
    assert any(module.startswith("kernels.") for module in reached)
    assert any(module.startswith("models.") for module in reached)


def test_what_is_left_out_cannot_touch_a_number():
    for entry in digests.LEFT_OUT:
        path, name = digests.PACKAGE / f"{entry.replace('.', '/')}.py", ""
        if not path.exists():
            path, name = path.parent.with_suffix(".py"), path.stem
        text = path.read_text()
        assert not name or f"def {name}(" in text
        nodes = list(ast.walk(ast.parse(text)))
        imported = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
        imported |= {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}
        assert not any(name.partition(".")[0] == "numpy" for name in imported)


def test_a_record_names_code_versions_and_machine():
    record = provenance.provenance("scoring.any_model")
    assert set(record) == {"code_digest", "versions", "machine"}
    assert re.fullmatch("[0-9a-f]{16}", record["code_digest"])
    assert {"python", "numpy", "numba"} <= set(record["versions"])
    # Kernels for other instructions round sums otherwise.
    assert re.fullmatch(r".+ \(\w+, BLAS \w+\), \d+ cores", record["machine"])
    assert provenance.peak_memory_mib() > 1
