"""Sums of a fixed order, and products and sums that are rounded once."""

from fractions import Fraction

import numpy as np
import pytest

from compiled import COMPILED
from mnlearn.kernels.arithmetic.sums import dot, dots, fused, sum_of
from mnlearn.kernels.jit import kernel

LENGTHS = (0, 1, 15, 16, 17, 40, 333)


def in_parts(terms, add):
    """Add up terms as the kernels do: 16 parts, which are added in halves, then the rest."""
    whole = len(terms) // 16 * 16
    parts = [0.0] * 16
    for k in range(whole):
        parts[k % 16] = add(parts[k % 16], terms[k])
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [one + other for one, other in zip(parts[:half], parts[half:], strict=True)]
    rest = 0.0
    for term in terms[whole:]:
        rest = add(rest, term)
    return parts[0] + rest


def rounded_once(total, pair):
    """Return the total plus the product of a pair, by fractions."""
    return float(Fraction(total) + Fraction(pair[0]) * Fraction(pair[1]))


@pytest.mark.parametrize("n", LENGTHS)
def test_sums_and_products_have_a_fixed_order(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n), rng.normal(size=n)
    assert sum_of(x) == in_parts(list(x), lambda a, b: a + b)
    single = x.astype(np.float32)
    assert sum_of(single) == sum_of(single.astype(np.float64))
    assert dot(x, y) == in_parts(list(zip(x, y, strict=True)), rounded_once)
    bits = (y > 0).astype(np.uint8)
    assert dot(x, bits) == sum_of(np.where(bits, x, 0.0))


@kernel
def _rows(matrix, i, j, n):
    numbers, width = matrix.reshape(matrix.size), matrix.shape[1]
    return dots(numbers, i * width, numbers, (j * width, (j + 1) * width), n)


@kernel
def _fuse(a, b, c):
    return fused(a, b, c)


@COMPILED
def test_products_of_rows_are_in_the_precision_of_the_matrix():
    matrix = np.random.default_rng(3).normal(size=(5, 40)).astype(np.float32)
    found = _rows(matrix, 1, 3, 30)
    assert [type(one) for one in found] == [float, float]
    for one, j in zip(found, (3, 4), strict=True):
        assert one == dot(matrix[1, :30].copy(), matrix[j, :30].copy())
        assert one == np.float32(one)
        assert abs(one - matrix[1, :30].astype(float) @ matrix[j, :30]) < 1e-5


def test_a_product_and_a_sum_are_rounded_once():
    x = 1.0 + 2.0**-30
    assert _fuse(x, x, -1.0) == 2.0**-29 + 2.0**-60
    assert x * x - 1.0 == 2.0**-29
    y = np.float32(1.0 + 2.0**-15)
    assert _fuse(y, y, np.float32(-1.0)) == 2.0**-14 + 2.0**-30


@COMPILED
def test_rows_of_an_array_in_the_order_of_fortran_are_refused():
    with pytest.raises(Exception, match="expected contiguous arrays of one dimension"):
        dot(np.zeros((3, 2))[:, 0], np.zeros(3))
