"""Features of LEM that score like an earlier one, because a variable is a copy of another."""

import itertools

import numpy as np
import pytest

from mnlearn.kernels.lem.node import Node
from mnlearn.kernels.lem.search import NONE, _repeats, conjunctions

# Slots of three variables of two values: a, then its copy b, then c.
A1, B0, B1, C1 = 1, 2, 3, 5


def repeats(feature, *, opposite, both=False, tied=()):
    """Only the value 1 is asked for, unless `both`."""
    fields = dict.fromkeys(Node._fields)
    fields["slot"] = np.arange(0, 8, 2, dtype=np.int32)
    fields["owner"] = np.repeat(np.arange(3, dtype=np.int32), 2)
    fields["literal"] = np.tile([False, True], 3)
    fields["copy_of"] = np.array([0, 0, 2], np.int32)
    fields["opposite"] = np.array([False, opposite, False])
    is_tied = np.isin(np.arange(3), tied)
    return bool(_repeats(np.array(feature, np.int32), Node(**fields), is_tied, both))


@pytest.mark.parametrize(
    ("feature", "said", "expected"),
    [
        ([A1], {"opposite": False}, False),
        ([B1], {"opposite": False}, True),
        ([C1], {"opposite": False}, False),
        # By itself, b = 1 divides the examples as a = 1 does, whatever the order of the sides.
        ([B1], {"opposite": True}, True),
        ([B1, C1], {"opposite": False}, True),
        # b = 1 is a = 0, which is not asked for, so that there is no earlier feature.
        ([B1, C1], {"opposite": True}, False),
        ([B1, C1], {"opposite": True, "both": True}, True),
        ([B0, C1], {"opposite": True}, True),
        # Beside its original, a copy says nothing or contradicts it.
        ([A1, B1], {"opposite": False}, False),
        ([B1], {"opposite": False, "tied": [1]}, False),
        ([B1], {"opposite": False, "tied": [0]}, False),
        ([B1], {"opposite": False, "tied": [2]}, True),
    ],
)
def test_repeats(feature, said, expected):
    assert repeats(feature, **said) is expected


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("max_length", [1, 2, 3])
def test_all_features_up_to_a_length(max_length, both):
    """Single literals are those that are asked for, others too in longer features if `both`."""
    fields = dict.fromkeys(Node._fields)
    fields["owner"] = np.repeat(np.arange(3, dtype=np.int32), [2, 3, 2])
    fields["literal"] = np.array([False, True, True, True, True, False, True])
    found = conjunctions(Node(**fields), max_length, both)
    owner, literal = fields["owner"], fields["literal"]
    expected = []
    for length in range(1, max_length + 1):
        for slots in itertools.combinations(range(7), length):
            asked = literal[list(slots)]
            if len({*owner[list(slots)]}) == length and (asked.all() or (both and length > 1)):
                expected.append([*slots, *[NONE] * (max_length - length)])
    assert found.tolist() == expected
