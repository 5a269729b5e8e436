"""Counts, gains and bounds of extensions, against sums and the conditions of a maximum."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mnlearn.kernels.circuits.candidates import count_ones, extension_bounds, extension_gain


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 130])
def test_ones_of_some_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    rows, weight = rng.integers(0, 2, (n_rows, 4)), rng.uniform(0.5, 2.0, n_rows)
    chosen = rng.random(n_rows) < 0.5
    chosen[-1] = True
    start = np.cumsum([0, *rows.sum(axis=1)]).astype(np.int64)
    ones = np.nonzero(rows)[1].astype(np.int32)
    padded = np.zeros(-(-n_rows // 64) * 64, bool)
    padded[:n_rows] = chosen
    words = np.packbits(padded, bitorder="little").view(np.uint64)
    count = np.full(4, 9.0)
    total = count_ones(words, start, ones, weight, count)
    assert total == pytest.approx(weight[chosen].sum())
    assert_allclose(count, weight[chosen] @ rows[chosen], atol=1e-12)


def cases():
    rng = np.random.default_rng(0)
    for l1 in (0.0, 0.7, 8.0):
        for precision in (0.0, 0.3, 20.0):
            for prob_of in (1e-4, 0.3, 0.999, 1.0):
                n = 400.0
                prob = prob_of * float(rng.choice([0.003, 0.4, 0.9]))
                count_of = n * min(prob_of * float(rng.choice([0.5, 1.0, 3.0])), 1.0)
                if prob_of == 1.0:
                    count_of = n
                # Without a price, weights are finite only where something was counted.
                share = float(rng.choice([0.1, 0.5, 0.95]))
                yield n, l1, precision, share * count_of, count_of, prob, prob_of


@pytest.mark.parametrize("case", list(cases()))
def test_gains_meet_the_conditions_of_a_maximum(case):
    n, l1, precision, count, count_of, prob, prob_of = case
    gain, *weight = extension_gain(*case)
    c, q = np.array([count_of - count, count]), np.array([prob_of - prob, prob])
    w = np.array(weight)
    total = 1.0 + q @ np.expm1(w)
    penalty = l1 * np.abs(w).sum() + 0.5 * precision * w @ w
    assert gain == pytest.approx(c @ w - n * np.log(total) - penalty, abs=1e-9)
    slope = c - n * q * np.exp(w) / total - precision * w
    # Where f is nearly certain, the two weights nearly stand for one, and are found less well.
    near = 1e-4 if prob_of < 0.9 else 2.0
    for s, x in zip(slope, w, strict=True):
        assert s == pytest.approx(l1 * np.sign(x), abs=near if x else l1 + near)


@pytest.mark.parametrize("case", list(cases()))
def test_bounds_are_the_least_of_moved_counts(case):
    n, l1, precision, count, count_of, prob, prob_of = case
    bound = np.full(2, np.nan)
    extension_bounds(
        n, l1, precision, np.array([count, 0.0]), count_of, np.array([prob, prob]), prob_of, bound
    )
    for found, one in zip(bound, (count, 0.0), strict=True):
        gain = extension_gain(n, l1, precision, one, count_of, prob, prob_of)[0]
        assert found >= gain - 1e-9 * max(1.0, gain)
        if prob_of == 1.0:
            assert found == gain
            continue
        expected = n * np.array([prob_of - prob, prob])
        counts = np.array([count_of - one, one])
        moved = np.clip(expected, counts - l1, counts + l1)
        outcomes = np.append(moved, n - moved.sum())
        chances = np.append(expected, n * (1 - prob_of))
        terms = [a * np.log(a / e) for a, e in zip(outcomes, chances, strict=True) if a > 0]
        assert found == pytest.approx(sum(terms), abs=1e-9)


@pytest.mark.parametrize("prob", [0.0, 9e-14, 0.1 - 5e-14, 0.1])
def test_values_of_no_probability_gain_nothing(prob):
    bound = np.full(1, np.nan)
    extension_bounds(100.0, 0.0, 1.0, np.array([3.0]), 9.0, np.array([prob]), 0.1, bound)
    assert bound[0] == 0.0
    assert extension_gain(100.0, 0.0, 1.0, 3.0, 9.0, prob, 0.1) == (0.0, 0.0, 0.0)
    # A share of a little more than 1e-12 gains something.
    assert extension_gain(100.0, 0.0, 1.0, 3.0, 9.0, 1.5e-13, 0.1)[0] > 0.0
