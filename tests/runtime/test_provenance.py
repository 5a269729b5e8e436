"""The digest of code: what changes it and what does not."""

import ast
import re
import shutil
from functools import cache

import pytest

from mnlearn.methods import learner_names, learner_root
from mnlearn.runtime import code_digest as digests
from mnlearn.runtime import provenance
from mnlearn_studies.records.files import MODEL_CODE

LEARN, SCORE = (
    "mnlearn_studies.records.learn.learn_cell",
    "mnlearn_studies.records.kinds.cells.score_cell",
)
ROOTS = {
    "dtsl": ("mnlearn.methods.dtsl.DTSL", LEARN),
    "atomic": ("mnlearn.methods.atomic.Atomic", LEARN),
    "acmn": ("mnlearn.methods.acmn.ACMN", LEARN),
    "scores": ("mnlearn.methods.atomic.Atomic", SCORE),
    "circuit scores": ("mnlearn.methods.acmn.ACMN", SCORE),
    "products": ("mnlearn_studies.report.all_products.write_all",),
}


def by_text(function, kept, texts):
    """Return a function of a module that works once for each text that the module has had.

    The files that a test does not edit are then read and parsed for the first test only.
    """

    def once(module, *name):
        if module not in texts:
            texts[module] = digests._path(module).read_text(encoding="utf-8")
        key = (function, texts[module], *name)
        if key not in kept:
            kept[key] = function.__wrapped__(module, *name)
        return kept[key]

    once.cache_clear = texts.clear
    return once


@pytest.fixture(scope="module", autouse=True)
def parsed_once():
    kept, texts = {}, {}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_module", "_numeric", "_syntax"):
            patch.setattr(digests, name, by_text(getattr(digests, name), kept, texts))
        patch.setattr(digests, "_global_names", cache(digests._global_names))
        yield


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A folder with copies of both packages, of which digests are taken."""
    for name in digests.PACKAGES:
        shutil.copytree(
            digests.SOURCES / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    monkeypatch.setattr(digests, "SOURCES", tmp_path)
    digests.clear_caches()
    yield tmp_path
    digests.clear_caches()


def taken(roots=ROOTS):
    digests.clear_caches()
    return {name: digests.code_digest(*each, optional=MODEL_CODE) for name, each in roots.items()}


@cache
def unchanged():
    """Return the digests of the packages before any edit; a copy of them has the same."""
    return taken()


def edit(sources, old, new):
    """Replace a text that stands in one file only; return the file and its text before."""
    files = [path for path in sources.rglob("*.py") if old in path.read_text()]
    assert len(files) == 1, files
    text = files[0].read_text()
    files[0].write_text(text.replace(old, new))
    return files[0], text


def changed(sources, old, new):
    """Return the digests that an edit changes."""
    path, text = edit(sources, old, new)
    after = taken()
    path.write_text(text)
    return {key for key, digest in unchanged().items() if digest != after[key]}


# Comments, docstrings and layout; how a job is handed over; and what people read: sentences of
# errors, progress, help, titles, citations, descriptions, suffixes.
SAME = [
    ('"""DTSL: features read', '"""(Reworded.) DTSL: features read'),
    ("LOG_ZERO = -1e30", "# A reason.\n\nLOG_ZERO  =  -1e30"),
    ("return json.dumps(content)", "return json.dumps(content, indent=1)"),
    ("expected a subclass of learning.learner.Learner.", "expected another class."),
    ("values was worse than before; no", "values was worse than the last; no"),
    ('"features of a tree"', '"which features are made of a tree"'),
    ('citation = "Lowd & Davis 2010"', 'citation = "Lowd and Davis 2010"'),
    ('title = "DTSL"', 'title = "The DTSL learner"'),
    (
        'Form(".xml", "bif.read_bif"),',
        'Form(".xml", "bif.read_bif"), Form(".json", "bif.read_bif"),',
    ),
]


def reorder(path):
    """Put the functions of a module in reverse order, its constants left in front."""
    tree = ast.parse(path.read_text())
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    assert len(functions) >= 3
    others = [node for node in tree.body if node not in functions]
    path.write_text(ast.unparse(ast.Module([*others, *reversed(functions)], [])))


@pytest.mark.nightly
def test_words_layout_and_places_of_code_change_nothing(sources):
    """All at once: reading the code of all products takes a second or more."""
    package, before = sources / "mnlearn", unchanged()
    for old, new in SAME:
        edit(sources, old, new)
    # A method that describes an object.
    dataset, described = package / "data/dataset.py", "def __repr__(self) -> str:"
    assert described in dataset.read_text()
    dataset.write_text(dataset.read_text().replace(described, "def __repr__(self) -> 'str':"))
    # New definitions, another order of those that are there, and a module that is moved.
    for name in ("models/features.py", "learning/tuning.py"):
        path = package / name
        path.write_text(path.read_text() + "\n\ndef added(x):\n    return x + EXTRA\n")
    reorder(package / "models/features.py")
    (package / "learning/weights/descent.py").rename(package / "models/punishment.py")
    old, new = "mnlearn.learning.weights.descent", "mnlearn.models.punishment"
    for path in sources.rglob("*.py"):
        path.write_text(path.read_text().replace(old, new))
    assert taken() == before


NUMBERS = [
    ("MAX_ITERATIONS = 10_000", "MAX_ITERATIONS = 10_001", {"dtsl"}),
    ('variant = ("feature_mode",)', "pass", {"dtsl"}),
    ("LOG_ZERO = -1e30", "LOG_ZERO = -1e31", {"acmn", "circuit scores"}),
    ("MIN_SAVED = 0.25", "MIN_SAVED = 0.5", {"dtsl"}),
    ("EMPTY_NOTE = ", "EMPTY_NOTE = 1 or ", {"products"}),
    ("1.0 / 21.0", "1.0 / 21.5", {"dtsl", "scores"}),
]


@pytest.mark.parametrize(("old", "new", "stale"), NUMBERS, ids=[old for old, *_ in NUMBERS])
def test_what_moves_a_number_changes_what_uses_it(sources, old, new, stale):
    found = changed(sources, old, new)
    assert found >= stale
    # Pages are checked by examples that run much of the library. A kernel is used by more than
    # these; a setting of one learner is not.
    assert found - {"products"} == stale - {"products"} or "1.0 /" in old or "MAX" in old


WORDY = """
import warnings
from mnlearn.learning.parameters import parameter
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say, track

class Thing:
    title = "A thing"
    size: int = parameter(2, "its size", low=1)

    def __repr__(self):
        return "thing"

    def total(self, rows):
        if not rows:
            raise InputError(f"rows: expected some, got {len(rows)}.")
        if len(rows) > LIMIT:
            warnings.warn("many rows", stacklevel=2)
        say(f"rows: {len(rows)}")
        fault = InputError("rows: too few.")
        return sum(2 * row for row in track(rows, "rows")), fault

LIMIT = 10
"""


WORDS = [
    ("expected some, got", "expected at least one, got", False),
    ("{len(rows)}.", "{describe(rows)}.", False),
    ("many rows", "too many rows", False),
    ('say(f"rows', 'say(f"the rows', False),
    ("rows: too few.", "rows: expected more.", False),
    ('track(rows, "rows")', 'track(rows, "all rows")', False),
    ('track(rows, "rows")', 'track(rows[1:], "rows")', True),
    ('return "thing"', 'return "a thing"', False),
    ('title = "A thing"', 'title = "Thing"', False),
    ('"its size"', '"the size of it"', False),
    ("low=1", "low=2", True),
    ("2 * row", "3 * row", True),
    ("LIMIT = 10", "LIMIT = 11", True),
    ("raise InputError", "raise ValueError", True),
]


def test_words_of_each_kind_are_left_out_and_nothing_else(sources):
    path = sources / "mnlearn" / "wordy.py"
    path.write_text(WORDY)
    roots = {"wordy": ("mnlearn.wordy.Thing",)}
    before = taken(roots)
    for old, new, changes in WORDS:
        assert old in WORDY
        path.write_text(WORDY.replace(old, new))
        assert (taken(roots) != before) == changes, new


def test_an_import_of_another_function_of_the_same_name_changes_it(sources):
    before = unchanged()
    text = (sources / "mnlearn/learning/weights/descent.py").read_text()
    (sources / "mnlearn/other_penalty.py").write_text(text.replace("0.0", "0.5"))
    for path in (sources / "mnlearn/learning").rglob("*.py"):
        old, new = (
            "from mnlearn.learning.weights.descent import",
            "from mnlearn.other_penalty import",
        )
        path.write_text(path.read_text().replace(old, new))
    assert taken()["dtsl"] != before["dtsl"]


def test_definitions_that_call_each_other_are_hashed_together(sources):
    path = sources / "mnlearn/circle.py"
    path.write_text(
        "def even(n):\n    return n == 0 or odd(n - 1)\n\n\n"
        "def odd(n):\n    return n != 0 and even(n - 1)\n"
    )
    roots = {"even": ("mnlearn.circle.even",), "odd": ("mnlearn.circle.odd",)}
    before = taken(roots)
    assert before["even"] != before["odd"]
    path.write_text(path.read_text().replace("n != 0", "n > 0"))
    after = taken(roots)
    assert after["even"] != before["even"]
    assert after["odd"] != before["odd"]


def test_a_local_name_is_not_the_module_s(sources):
    (sources / "mnlearn/local.py").write_text(
        "def value():\n    return 1\n\n\ndef used(value):\n    return value\n"
    )
    assert digests.reached("mnlearn.local.used") == {("mnlearn.local", "used")}


def test_code_for_type_checkers_is_left_out(sources):
    path = sources / "mnlearn/checked.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    SEEN = 1\n"
        "if not TYPE_CHECKING:\n    USED = 1\n\n\ndef used():\n    return USED\n"
    )
    roots = {"used": ("mnlearn.checked.used",)}
    before = taken(roots)
    text = path.read_text()
    for old, changes in (("SEEN = 1", False), ("USED = 1", True)):
        path.write_text(text.replace(old, old.replace("1", "2")))
        assert (taken(roots) != before) == changes


def test_an_unknown_definition_is_named():
    with pytest.raises(LookupError, match=r"tuning\.tone"):
        digests.code_digest("mnlearn.learning.tuning.tone")


@pytest.mark.parametrize("name", learner_names())
def test_a_learner_reaches_kernels_and_models(name):
    reached = {m for m, _ in digests.reached(learner_root(name), LEARN)}
    assert any(module.startswith("mnlearn.kernels.") for module in reached)
    assert any(module.startswith("mnlearn.models.") for module in reached)


def test_what_is_left_out_cannot_touch_a_number():
    for module in digests.LEFT_OUT:
        path = digests.SOURCES / f"{module.replace('.', '/')}.py"
        nodes = list(ast.walk(ast.parse(path.read_text())))
        imported = {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
        imported |= {n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)}
        assert not any(name.partition(".")[0] == "numpy" for name in imported), module


def test_a_record_names_code_versions_and_machine():
    record = provenance.provenance("mnlearn.scoring.any_model")
    assert set(record) == {"code_digest", "versions", "machine"}
    assert re.fullmatch("[0-9a-f]{16}", record["code_digest"])
    assert {"python", "numpy", "numba"} <= set(record["versions"])
    # Libraries for other instructions round sums otherwise.
    assert re.fullmatch(r".+ \(NumPy \w+, BLAS \w+\), \d+ cores", record["machine"])
    assert provenance.peak_memory_mib() > 1
