"""YAML files: what is read, and what no person can mean."""

import tracemalloc

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.yaml_files import read_yaml


def bomb(levels):
    """Return YAML whose aliases stand for 9 ** levels values."""
    value = "[x, x, x, x, x, x, x, x, x]"
    for level in range(levels - 1):
        value = f"[&a{level} {value}{f', *a{level}' * 8}]"
    return f"kappa: {value}\n"


@pytest.fixture
def read(tmp_path):
    def read_text(text):
        (tmp_path / "a.yaml").write_text(text)
        return read_yaml(tmp_path / "a.yaml")

    return read_text


def test_plain_types_and_aliases_are_read(read):
    assert read("a: &x [1, 2.5, yes]\nb: *x\nc: {<<: {d: e}}\n") == {
        "a": [1, 2.5, True],
        "b": [1, 2.5, True],
        "c": {"d": "e"},
    }
    assert read("") is None
    assert read("{<<: {a: 1}, <<: {b: 2}}") == {"a": 1, "b": 2}


def test_the_number_of_values_is_limited_with_aliases_counted(read):
    hundred = f"[{', '.join('x' * 99)}]"
    text = f"[&a {hundred}{', *a' * 998}{', x' * 99}"
    assert len(read(text + "]")) == 999 + 99
    with pytest.raises(InputError, match="expected at most 100000 values"):
        read(text + ", x]")


def test_aliases_that_stand_for_too_much_are_refused_in_little_memory(read):
    read(bomb(4))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"a\.yaml: expected at most 100000 values, aliases incl"):
        read(bomb(30))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "a.yaml, line 4: the key 'c' is given twice."),
        ("x: [1, {a: 1, a: 1}]", "a.yaml, line 1: the key 'a' is given twice."),
        ("&a [*a]", "a.yaml: expected at most"),
        ("[" * 100_000, "a.yaml: its brackets are nested too deeply."),
        ("a: " + "9" * 5000, "a.yaml: has a value that cannot be read, such as a date"),
        ("a: 2020-13-45", "a.yaml: has a value that cannot be read, such as a date"),
        ("a: !!python/name:os.system x", "a.yaml, line 1: is not YAML: could not determine a con"),
        ("a: [1\nb: {", "a.yaml, line 2: is not YAML: "),
        ("a: \x01", "a.yaml: is not YAML: it cannot be parsed."),
    ],
)
def test_what_cannot_be_meant_is_said_in_a_sentence(read, text, problem):
    with pytest.raises(InputError) as caught:
        read(text)
    assert problem in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert ";" not in str(caught.value)
