"""Splitting at random into training, validation and test data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_data import examples
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.own_files import split_examples
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn.variables.schema import binary_schema


def numbered(n: int) -> Dataset:
    """Distinct examples: the binary digits of 0 … n - 1."""
    return merge_rows(
        np.arange(n)[:, None] >> np.arange(10) & 1,
        schema=binary_schema("abcdefghij"),
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(10, 300), st.integers(0, 2**32))
def test_parts_are_disjoint_and_together_everything(n, seed):
    data = numbered(n)
    parts = split_examples(data, (0.5, 0.2, 0.3), np.random.default_rng(seed))
    numbers = [(examples(part) @ (1 << np.arange(10))).tolist() for part in parts]
    assert sorted(number for part in numbers for number in part) == list(range(n))
    assert [len(part) for part in numbers] == [
        round(0.5 * n),
        round(0.7 * n) - round(0.5 * n),
        n - round(0.7 * n),
    ]
    # The order of the examples survives.
    assert all(part == sorted(part) for part in numbers)
    assert all(part.schema.names == data.schema.names for part in parts)


def test_split_is_decided_by_the_generator():
    data = numbered(200)

    def split(seed: int) -> list[list[list[int]]]:
        parts = split_examples(data, (0.7, 0.1, 0.2), stream(seed, "split"))
        return [examples(part).tolist() for part in parts]

    assert split(1) == split(1)
    assert split(1) != split(2)


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((0.5, 0.5), "expected three numbers"),
        ((0.5, 0.5, 0), "expected three numbers"),
        ((1.2, -0.1, -0.1), "expected three numbers"),
        ((0.5, 0.2, 0.2), "expected a sum of 1"),
        ((0.98, 0.01, 0.01), "the valid part of 20 examples would be empty"),
        ((float("nan"), 0.5, 0.5), "expected three numbers"),
        ((1.0, 0.5, 0.5), "expected three numbers"),
        ((0.4, 0.3, 0.300001), "expected a sum of 1, got 0.4 . 0.3 . 0.300001 = 1"),
    ],
)
def test_fractions_that_make_no_split_are_refused(fractions, message):
    with pytest.raises(InputError, match=message):
        split_examples(numbered(20), fractions, np.random.default_rng(0))


def test_fractions_may_round():
    for fractions in ((1 / 3, 1 / 3, 1 / 3), (0.3333333333, 0.3333333333, 0.3333333333)):
        parts = split_examples(numbered(30), fractions, np.random.default_rng(0))
        assert [part.n_examples for part in parts] == [10, 10, 10]
