"""Errors are put into a sentence once, and no module takes the sentence apart."""

import ast
import pickle
from pathlib import Path

import pytest

import mnlearn
from mnlearn.runtime.errors import DATA, FullDiskError, InputError, name_data

ROOT = Path(mnlearn.__file__).parent


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "expected 0 or 1."),
        ({"where": Path("a.csv")}, "a.csv: expected 0 or 1."),
        ({"where": "a.csv", "line": 3, "column": "'b'"}, "a.csv, line 3, column 'b': expected 0"),
        ({"where": "X", "row": 3, "column": 1}, "X, row 3, column 1: expected 0 or 1."),
        ({"where": "X", "advice": "drop it"}, "X: expected 0 or 1; drop it."),
    ],
)
def test_the_sentence_has_the_place_the_fault_and_the_remedy(fields, sentence):
    error = InputError("expected 0 or 1.", **fields)
    assert str(error).startswith(sentence)
    assert str(error).endswith(".")
    assert not str(error).endswith("..")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_code_that_knows_the_file_names_it_in_the_same_error():
    error = FullDiskError("is too long.", where=DATA, row=2)
    with pytest.raises(FullDiskError) as caught, name_data("outer"), name_data("a.csv"):
        raise error
    assert caught.value is error
    assert str(error) == "a.csv, row 2: is too long."


def test_a_place_that_is_known_stays():
    with pytest.raises(InputError, match=r"^--seed: is too large\.$"), name_data("a.csv"):
        raise InputError("is too large.", where="--seed")


# What asks for the text of a caught exception.
TEXTS = ("str", "repr", "format")


def taken_apart(source):
    """Return the lines that cut, search or compare the text of a caught exception."""
    for handler in ast.walk(ast.parse(source)):
        if isinstance(handler, ast.ExceptHandler) and handler.name:
            yield from _lines_of(handler)


def _lines_of(handler):
    errors, texts = {handler.name}, set()

    def names(node, known):
        return isinstance(node, ast.Name) and node.id in known

    def is_text(node):
        if isinstance(node, ast.Call) and names(node.func, TEXTS):
            return any(names(one, errors) for one in node.args)
        if isinstance(node, ast.JoinedStr):
            parts = [one.value for one in node.values if isinstance(one, ast.FormattedValue)]
            return any(names(one, errors | texts) or is_text(one) for one in parts)
        if isinstance(node, ast.Subscript):
            return ast.unparse(node) in {f"{name}.args[0]" for name in errors}
        is_fault = isinstance(node, ast.Attribute) and node.attr == "fault"
        return names(node, texts) or (is_fault and names(node.value, errors))

    # A text that is kept under a name is followed.
    for node in ast.walk(handler):
        if isinstance(node, ast.Assign) and (is_text(node.value) or names(node.value, errors)):
            kept = errors if names(node.value, errors) else texts
            kept.update(one.id for one in node.targets if isinstance(one, ast.Name))
    for node in ast.walk(handler):
        cut = []
        if isinstance(node, ast.Attribute | ast.Subscript):
            cut = [node.value]
        elif isinstance(node, ast.Compare):
            cut = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            cut = node.args
        if any(is_text(one) for one in cut):
            yield node.lineno


@pytest.mark.parametrize(
    "cut",
    [
        "str(error).removesuffix('.')",
        "error.args[0].split()",
        "re.match('a', str(error))",
        "str(error) == 'a'",
        "'a' in f'{error}'",
        "error.fault[3:]",
        "repr(error)[1:]",
        "text = str(error)\n    text.partition(':')",
        "other = error\n    str(other).split()",
    ],
)
def test_sentences_that_are_taken_apart_are_found(cut):
    assert list(taken_apart(f"try:\n    f()\nexcept ValueError as error:\n    {cut}"))


def test_whole_sentences_may_be_kept_and_extended():
    kept = "text = str(error)\n    error.where = 'a'\n    raise ValueError(f'b: {text}') from error"
    assert not list(taken_apart(f"try:\n    f()\nexcept ValueError as error:\n    {kept}"))


def test_no_module_takes_the_sentence_of_an_error_apart():
    for path in ROOT.rglob("*.py"):
        assert list(taken_apart(path.read_text())) == [], path
