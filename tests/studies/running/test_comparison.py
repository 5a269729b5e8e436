"""Two versions of a record: what is compared, what differs, and what other arithmetic explains."""

import pytest
from workflow import comparison
from workflow.comparison import Difference, differences

MACHINE = "Some CPU (x86-64-v3, BLAS Haswell), 2 cores"
CELL = {
    "method": "l1",
    "seconds_tuning": 3.5,
    "peak_memory_mib_learn": 200.0,
    "learned_by": {"code_digest": "a", "versions": {"numpy": "2.0"}, "machine": MACHINE},
    "variants": {
        "": {
            "parameters": {"sd": 1.0},
            "validation": -6.0,
            "seconds": {"weights": 1.0},
            "details": {"objective": 1000.0, "n_iterations": 30, "stopped_by": "gap"},
            "scores": {"cmll": {"mean": -6.1, "stderr": 0.01, "partitions": [-6.1, -6.2]}},
        }
    },
}


def changed(place, value):
    """The cell with another value; a name of `place` is a key or the place in a list."""

    def copy(content, keys):
        if not keys:
            return value
        if isinstance(content, list):
            return [copy(x, keys[1:]) if i == keys[0] else x for i, x in enumerate(content)]
        return {**content, keys[0]: copy(content.get(keys[0], {}), keys[1:])}

    return copy(CELL, place)


@pytest.mark.parametrize(
    "place",
    [
        ("seconds_tuning",),
        ("peak_memory_mib_learn",),
        ("learned_by", "versions", "numpy"),
        ("learned_by", "machine"),
        ("methods", "dtsl", "runs", "0", "weights"),
        ("variants", "", "seconds", "weights"),
        ("points", "milliseconds_single_query"),
    ],
)
def test_what_depends_on_the_run_is_not_compared(place):
    assert differences(CELL, changed(place, "another")) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("method",), "dtsl"),
        (("learned_by", "code_digest"), "b"),
        (("variants", "", "validation"), -6.000000000000001),
        (("variants", "", "details", "n_iterations"), 31),
        (("variants", "", "scores", "cmll", "partitions", 1), -6.3),
        (("variants", "", "scores", "pll", "mean"), -5.0),
        (("variants", "", "parameters"), {}),
    ],
)
def test_everything_else_is_compared_to_the_last_digit(place, value):
    for found in (
        differences(CELL, changed(place, value)),
        differences(changed(place, value), CELL),
    ):
        assert found
        keys = tuple(map(str, place))
        assert all(each.place[: len(keys)] == keys for each in found)


def test_a_difference_says_both_values_and_how_far_they_are_apart():
    place = ("variants", "", "scores", "cmll", "mean")
    (found,) = differences(CELL, changed(place, -6.35))
    assert str(found) == (
        "variants/chosen/scores/cmll/mean: recorded -6.1, now -6.35 (differs by 0.25)"
    )
    (text,) = differences(CELL, changed(("method",), "dtsl"))
    assert str(text) == "method: recorded 'l1', now 'dtsl'"
    (more,) = differences(CELL, {**CELL, "other": True})
    assert str(more) == "other: recorded '(absent)', now True"


@pytest.mark.parametrize(
    ("place", "recorded", "made", "expected"),
    [
        (("variants", "", "scores", "pll", "mean"), -6.0, -6.0009, True),
        (("variants", "", "scores", "pll", "mean"), -6.0, -6.0011, False),
        (("variants", "", "scores", "cmll", "partitions", "3"), -6.0, -6.0011, False),
        (("row 3", "validation"), "-6.0", "-6.0011", False),
        (("row 3", "validation"), "-6.0", "", False),
        (("details", "n_iterations"), 30, 200, True),
        (("details", "stopped_by"), "gap", "gain", True),
        (("variants", "", "parameters", "sd"), 1.0, 10.0, False),
        (("recipe", "grid", "sd", "0"), 1.0, 1.00001, False),
    ],
)
def test_other_arithmetic_explains_small_differences(place, recorded, made, expected):
    assert Difference(place, recorded, made).is_within_limits() is expected


def test_a_table_is_compared_row_by_row(tmp_path):
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("sd,seconds_weights,validation\n1,0.5,-6.0\n2,0.7,-7.0\n")
    new.write_text("sd,seconds_weights,validation\n1,0.4,-6.0\n2,0.9,-7.5\n")
    (found,) = differences(*map(comparison.read_content, (old, new)))
    assert found == Difference(("row 2", "validation"), "-7.0", "-7.5")
    assert found.size == 0.5


def test_a_record_says_its_arithmetic():
    assert comparison.arithmetic(CELL) == "x86-64-v3, BLAS Haswell"
    assert comparison.arithmetic([[0, 1]]) == ""
    other = {"made_by": {"machine": "Intel(R) Xeon(R) (skylake, BLAS SkylakeX), 8 cores"}}
    assert comparison.arithmetic(CELL | other) == "skylake, BLAS SkylakeX; x86-64-v3, BLAS Haswell"
