"""Worked examples of the papers: what our code gives, and the largest difference that passes."""

import numpy as np
import pytest

from claim_cases import outcome
from mnlearn.models.feature_tree import leaf_features
from mnlearn_studies.report.claims import examples
from mnlearn_studies.report.claims.examples import figure_1_tree
from mnlearn_studies.report.claims.verdicts import CONTRADICTED, REPRODUCED


def test_shares_of_rotations_sum_to_one():
    """The paper prints 5/n as the last of them."""
    shares = examples.EXAMPLES["rotations"]()
    np.testing.assert_allclose(shares, [1 / 15, 2 / 15, 6 / 15, 6 / 15], rtol=1e-12)


def test_the_feature_tree_of_figure_1():
    """Its eight leaf features, as Figure 1 (b) lists them; a pair stands for x_a and x_b."""
    leaves = list(leaf_features(figure_1_tree()))
    found = [
        ([v + 1 for v, _ in leaf.literals], [[v + 1 for v, _ in other] for other in leaf.negated])
        for leaf in leaves
    ]
    assert {x for leaf in leaves for part in (leaf.literals, *leaf.negated) for _, x in part} == {1}
    assert found == [
        ([], [[1, 2], [3, 4]]), ([3, 4], [[1, 2]]), ([], [[1, 2], [5, 6]]), ([5, 6], [[1, 2]]),
        ([1, 2], [[3, 5]]), ([1, 2, 3, 5], []), ([1, 2], [[4, 6]]), ([1, 2, 4, 6], []),
    ]  # fmt: skip


@pytest.mark.parametrize(("difference", "verdict"), [(9e-7, REPRODUCED), (1.5e-6, CONTRADICTED)])
def test_the_largest_difference_that_passes(published, monkeypatch, difference, verdict):
    monkeypatch.setitem(examples.EXAMPLES, "uniform", lambda: [0.5 + difference, 0.25])
    found = outcome(published, None, kind="example", example="uniform", published="0.5; 0.25")
    assert found.verdict == verdict
