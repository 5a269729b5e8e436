import numpy as np
import pytest
from scipy import stats

from mnlearn_studies.report.statistics import Comparison, friedman, geometric_mean, wilcoxon
from mnlearn_studies.study.published import Source, lookup


@pytest.mark.parametrize("n", [3, 6, 11, 20])
def test_exact_p_is_scipys_where_no_sizes_are_equal(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0.3, size=n), rng.normal(size=n)
    expected = stats.wilcoxon(a, b, method="exact").pvalue
    assert wilcoxon(a, b).p == pytest.approx(expected, rel=1e-12)


def test_exact_p_with_equal_sizes_is_that_of_all_signs():
    # The ranks are 2, 2, 2 and 4; only all signs equal are as far from even as the first case.
    difference = np.array([1.0, 1.0, 1.0, 2.0])
    assert wilcoxon(difference, np.zeros(4)).p == pytest.approx(2 / 16)
    mixed = np.array([1.0, 1.0, -1.0, 2.0])
    sums = [
        sum(r for r, bit in zip((2, 2, 2, 4), f"{k:04b}", strict=True) if bit == "1")
        for k in range(16)
    ]
    expected = 2 * np.mean(np.array(sums) <= 2)
    assert wilcoxon(mixed, np.zeros(4)).p == pytest.approx(expected)


def test_zero_differences_are_ties_and_leave_the_test():
    comparison = wilcoxon([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0])
    assert (comparison.wins, comparison.ties, comparison.losses) == (3, 1, 0)
    assert comparison.p == pytest.approx(2 / 8)
    tied = wilcoxon([1.0, 2.0], [1.0, 2.0])
    assert tied == Comparison(0, 2, 0, 1.0, True)
    assert tied.n == Comparison(1, 0, 1, 1.0, True).n == 2
    # Both sides have the same rank sum, which counts from both ends.
    assert wilcoxon([1.0, -1.0], [0.0, 0.0]) == Comparison(1, 0, 1, 1.0, True)


def test_decimal_noise_makes_no_difference():
    assert wilcoxon([0.1 + 0.2], [0.3]).ties == 1
    assert wilcoxon([4e-10, 6e-10], [0.0, 0.0]).ties == 1
    assert friedman([[0.0, 4e-10, 1.0]] * 2).mean.tolist() == [2.5, 2.5, 1.0]


def test_how_many_pairs_are_exact():
    a = np.arange(1.0, 202.0)
    assert wilcoxon(a[:200], np.zeros(200)).exact
    assert not wilcoxon(a, np.zeros(201)).exact


def test_many_pairs_use_the_normal_approximation():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    comparison = wilcoxon(a, np.zeros(300))
    assert not comparison.exact
    assert comparison.p == pytest.approx(stats.wilcoxon(a).pvalue, rel=1e-6)


@pytest.mark.parametrize(("a", "b"), [([1.0], [1.0, 2.0]), ([np.nan], [1.0]), ([[1.0]], [[2.0]])])
def test_what_cannot_be_compared_is_refused(a, b):
    with pytest.raises(ValueError, match="paired values"):
        wilcoxon(a, b)


def test_geometric_mean(published):
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    for none in ([1.0, 0.0], []):
        with pytest.raises(ValueError, match="positive"):
            geometric_mean(none)
    speedups = lookup(published, Source("dn2mn_tree", "speedup", study="dn2mn", table="5"))
    printed = speedups.pop("geometric_mean")
    ours = geometric_mean([number.value for number in speedups.values()])
    assert ours == pytest.approx(printed.value, abs=0.1)


def test_friedman_on_the_printed_cmll(published):
    table = [
        lookup(published, Source(m, "cmll", study="gssl", table="2"))
        for m in ("gssl", "l1", "dtsl", "blm")
    ]
    values = np.array([[column[d].value for column in table] for d in table[0]])
    ranked = friedman(values)
    # Tabulated for four methods at 0.05: 2.569 (Demsar 2006, Table 5).
    assert ranked.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 120), abs=1e-3)
    np.testing.assert_allclose(ranked.mean.sum(), 10)
    assert ranked.mean.argmax() == 3  # BLM is last.
    expected = -values
    counted = [(expected < expected[:, [i]]).sum(axis=1).mean() + 1 for i in range(4)]
    np.testing.assert_allclose(ranked.mean, counted)  # There are no ties.
    chi2 = 12 * 20 / (4 * 5) * (np.sum(ranked.mean**2) - 4 * 5**2 / 4)
    assert ranked.p == pytest.approx(stats.chi2.sf(chi2, 3), rel=1e-6)


def test_friedman_of_equal_methods():
    ranked = friedman(np.ones((5, 3)))
    np.testing.assert_allclose(ranked.mean, 2.0)
    assert ranked.p == 1.0


@pytest.mark.parametrize(
    "values", [np.ones((5, 2)), np.ones((1, 3)), np.full((4, 3), np.nan), np.ones(3)]
)
def test_what_cannot_be_ranked_is_refused(values):
    with pytest.raises(ValueError, match=r"methods|finite"):
        friedman(values)
