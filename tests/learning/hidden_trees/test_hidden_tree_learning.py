"""Hidden Chow-Liu trees: EM against enumeration, and the learner."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from made_hidden_trees import complete_joint, random_hidden_tree
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.hidden_trees import log_value
from mnlearn.learning import hidden_trees as em
from mnlearn.learning.hidden_trees import (
    Counts,
    Settings,
    expected_counts,
    hold_out,
    learn_hidden_tree,
    log_prior,
    maximise,
)
from mnlearn.learning.learner import Task
from mnlearn.methods.hclt import HCLT
from oracles import all_states


def made_data(seed, n_vars=5, n_rows=300):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n_rows)
    rows = rng.random((n_rows, n_vars)) < rng.uniform(0.1, 0.9, (3, n_vars))[z]
    return merge_rows(rows.astype(np.uint8))


def enumerated_counts(tree, data):
    """Expected counts by the posterior of all hidden and observed states of each row."""
    joint, hidden = complete_joint(tree)
    states = all_states(tree.n_vars)
    k = tree.n_states
    edge, leaf = np.zeros((tree.n_vars, k, k)), np.zeros((tree.n_vars, k, 2))
    total = 0.0
    for row, weight in zip(data.rows, data.weight, strict=True):
        p = joint * (states == row).all(axis=1)[:, None]
        total += weight * np.log(p.sum())
        p *= weight / p.sum()
        for v in range(tree.n_vars):
            above = tree.parent[v]
            given = hidden[:, above] if above >= 0 else np.zeros(len(hidden), int)
            np.add.at(edge[v], (given, hidden[:, v]), p.sum(axis=0))
            for x in (0, 1):
                np.add.at(leaf[v, :, x], hidden[:, v], p[states[:, v] == x].sum(axis=0))
    return edge, leaf, total


@pytest.mark.parametrize("seed", range(4))
def test_one_step_of_em(seed):
    tree, data = random_hidden_tree(seed), made_data(seed)
    edge, leaf, total = enumerated_counts(tree, data)
    for dtype, rtol in ((np.float64, 1e-10), (np.float32, 1e-4)):
        found = expected_counts(tree, data.rows, data.weight, dtype=dtype)
        np.testing.assert_allclose(found.edge, edge, rtol=rtol)
        np.testing.assert_allclose(found.leaf, leaf, rtol=rtol)
        assert found.log_likelihood == pytest.approx(total, rel=rtol)
    after = maximise(tree, found, 0.6)
    for v in range(tree.n_vars):
        own = edge[v] + 0.2
        if v == tree.root:
            own = np.broadcast_to(own[0], own.shape)
        expected = own / own.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(after.transition[v], expected, rtol=1e-3)
    expected = (leaf[:, :, 1] + 0.3) / (leaf.sum(axis=2) + 0.6)
    np.testing.assert_allclose(after.emission, expected, rtol=1e-3)


def test_em_never_lowers_the_penalised_likelihood():
    data = made_data(3, 9)
    settings = Settings(n_states=4, batch_epochs=0, max_iterations=40, tolerance=0.0)
    found = learn_hidden_tree(data, settings)
    steps = np.diff(found.objective)
    assert len(steps) > 5
    assert steps.min() > -1e-6 * abs(found.objective[-1])
    assert steps.max() > 1e-4 * abs(found.objective[-1])


def test_the_result_does_not_depend_on_threads():
    data = made_data(5, 12, 3000)
    settings = Settings(n_states=16, batch_rows=300, batch_epochs=3, max_iterations=3)
    found = [learn_hidden_tree(data, settings, threads=t).best for t in (1, 2, 3)]
    for other in found[1:]:
        assert other.transition.tobytes() == found[0].transition.tobytes()
        assert other.emission.tobytes() == found[0].emission.tobytes()
    with threadpool_limits(2):
        other = learn_hidden_tree(data, settings).best
    assert other.transition.tobytes() == found[0].transition.tobytes()
    other = learn_hidden_tree(data, replace(settings, em_seed=1)).best
    assert other.transition.tobytes() != found[0].transition.tobytes()


def test_the_best_tree_on_validation_data_is_kept():
    data = made_data(6, 8, 60)
    scores = []

    def judge(tree):
        scores.append(-abs(len(scores) - 4.0))
        seen.append(tree)
        return scores[-1]

    seen = []
    settings = Settings(n_states=3, batch_epochs=0, patience=2, tolerance=0.0)
    found = learn_hidden_tree(data, settings, judge)
    assert found.best is seen[4]
    assert len(found.validation) == 7


def test_counts_of_a_part_are_blended_with_earlier_ones():
    """The mean of 8 and 3 times 2, of which the second weighs a quarter, is 7.5."""
    held, found = (
        Counts(np.full((1, 2, 2), edge), np.full((1, 2, 2), leaf), 0.0)
        for edge, leaf in ((8.0, 4.0), (2.0, 1.0))
    )
    blended = em._blend(held, found, step=0.25, scale=3.0)
    assert np.unique(blended.edge).tolist() == [7.5]
    assert np.unique(blended.leaf).tolist() == [3.75]
    first = em._blend(None, found, step=0.25, scale=3.0)
    assert np.unique(first.edge).tolist() == [6.0]
    assert np.unique(first.leaf).tolist() == [3.0]


def test_one_part_of_all_rows_with_step_1_is_an_iteration_of_em(monkeypatch):
    monkeypatch.setattr(em, "_FIRST_STEP", 1.0)
    monkeypatch.setattr(em, "_LAST_STEP", 1.0)
    data = made_data(8)
    settings = Settings(n_states=3, batch_rows=data.n_rows, batch_epochs=2)
    search = em.Search(data, settings, None, threads=1)
    search.run_by_parts()
    whole = replace(settings, batch_epochs=0, max_iterations=2, tolerance=0.0)
    expected = learn_hidden_tree(data, whole).best
    np.testing.assert_allclose(search.best.transition, expected.transition)
    np.testing.assert_allclose(search.best.emission, expected.emission)


def test_every_row_is_in_one_part_of_an_epoch(monkeypatch):
    data, parts = made_data(9), []
    assert data.n_rows > 20
    number = {row.tobytes(): k for k, row in enumerate(data.rows)}

    def keep(tree, rows, *given):
        if len(rows) < data.n_rows:
            parts.append([number[row.tobytes()] for row in rows])
        return expected_counts(tree, rows, *given)

    monkeypatch.setattr(em, "expected_counts", keep)
    learn_hidden_tree(data, Settings(n_states=2, batch_rows=8, batch_epochs=2, max_iterations=1))
    n_parts = -(-data.n_rows // 8)
    assert len(parts) == 2 * n_parts
    assert max(map(len, parts)) <= 8
    epochs = parts[:n_parts], parts[n_parts:]
    for epoch in epochs:
        assert sorted(row for part in epoch for row in part) == list(range(data.n_rows))
    assert epochs[0] != epochs[1]


def test_em_on_all_rows_starts_from_the_best_tree_of_the_parts():
    data, seen, scores = made_data(9), [], iter([0.0, 3.0, 2.0, 1.0, 0.0, 0.0])

    def judge(tree):
        seen.append(tree)
        return next(scores)

    settings = Settings(n_states=3, batch_rows=8, patience=2)
    found = learn_hidden_tree(data, settings, judge)
    assert (found.n_epochs, found.n_iterations) == (3, 2)
    expected, last = (
        expected_counts(tree, data.rows, data.weight).log_likelihood + log_prior(tree, 1.0)
        for tree in (seen[1], seen[3])
    )
    assert found.objective[0] == pytest.approx(expected, rel=1e-9)
    assert abs(expected - last) > 1e-3


def test_held_out_examples():
    data = made_data(2)
    kept, held = hold_out(data, 0.1, np.random.default_rng(1))
    assert held.n_examples == 30
    assert kept.n_examples == 270
    assert hold_out(data, 0.0, np.random.default_rng(1)) == (data, None)
    weighted = merge_rows(data.rows, data.weight * 1.5)
    kept, held = hold_out(weighted, 0.4, np.random.default_rng(1))
    assert kept.n_examples + held.n_examples == pytest.approx(450)
    assert kept.n_rows + held.n_rows == data.n_rows


def test_it_learns_what_a_chow_liu_tree_cannot():
    """Three hidden classes: the tree of observed variables loses much of their dependence."""
    data, test = made_data(7, 10, 4000), made_data(7, 10, 4000)
    chosen = HCLT.choose({"n_states": 4})
    fitted = chosen.learn(Task(data, {}))
    assert fitted.details["n_iterations"] > 0
    from mnlearn.methods.chow_liu import ChowLiu
    from mnlearn.scoring.any_model import ll

    baseline = ll(ChowLiu().learn(Task(data, {})).model, test).mean
    assert ll(fitted.model, test).mean > baseline + 0.05


def test_columns_that_are_constant():
    """Sums in single precision must not give probabilities above 1."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (6000, 6)).astype(np.uint8)
    rows[:, 1], rows[:, 4] = 1, 0
    weight = rng.exponential(100.0, 6000)
    for seed in range(5):
        tree = learn_hidden_tree(
            merge_rows(rows, weight),
            Settings(n_states=5, batch_epochs=2, max_iterations=2, em_seed=seed),
        ).best
        assert tree.emission[1].min() > 0.9
        assert tree.emission[4].max() < 0.1


@pytest.mark.parametrize("rows", [[[0]], [[0], [1]], [[0, 1]], [[1, 1]] * 5, [[0, 1], [1, 0]]])
@pytest.mark.parametrize("values", [{}, {"pseudocount": 0.0}])
def test_tiny_data(rows, values):
    data = merge_rows(np.array(rows, np.uint8))
    tree = HCLT(n_states=3, **values).learn(Task(data, {})).model
    assert np.isfinite(log_value(tree, data.rows)).all()
