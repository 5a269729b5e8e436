"""The first of the greatest within a tolerance, and values rounded to multiples of it."""

import numpy as np
import pytest

from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest, rounded


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], 0),
        ([1.0, 3.0, 2.0], 1),
        ([3.0 - 0.9 * EQUAL, 3.0, 3.0], 0),
        ([3.0 - 1.1 * EQUAL, 3.0, 3.0], 1),
        # A chain of near-ties: only what is near the greatest counts.
        ([3.0 - 1.6 * EQUAL, 3.0 - 0.8 * EQUAL, 3.0], 1),
        ([-np.inf, -5.0, -5.0], 1),
        ([-np.inf, -np.inf], 0),
    ],
)
def test_the_first_of_the_greatest(values, expected):
    assert first_greatest(np.array(values), EQUAL) == expected


def test_sums_in_another_order_are_rounded_to_the_same_number():
    terms = np.random.default_rng(3).random(1000)
    sums = [float(sum(terms[order])) for order in (np.arange(1000), np.argsort(terms))]
    assert sums[0] != sums[1]
    assert rounded(sums[0], 1e-9) == rounded(sums[1], 1e-9) == pytest.approx(sums[0], abs=1e-9)
    assert rounded(sums[0] + 2e-9, 1e-9) != rounded(sums[0], 1e-9)
    assert rounded(-np.inf, 1e-9) == -np.inf
