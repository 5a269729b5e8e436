"""Learners of circuits on variables of 1 to 4 states, by sums over all joint states."""

import itertools

import numpy as np
import pytest

from made_states import every_row, examples_of, schema_of
from mnlearn.data.dataset import merge_rows
from mnlearn.data.incomplete import MISSING, merge_incomplete
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import draw, log_partition, log_value, most_probable
from mnlearn.learning.incomplete_circuits import run_em
from mnlearn.learning.latent_trees.chow_liu import StateTables
from mnlearn.learning.tuning import tune
from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import any_model
from mnlearn.variables.schema import NO_STATE

ARITIES = [(2, 3, 4), (3, 1, 4, 2), (3, 3, 2, 4)]
GRIDS = {
    "acbn": {"edge_cost": [0.01], "split_cost": [0.5], "max_edges": [400]},
    "acmn": {"edge_cost": [0.01], "split_cost": [0.5], "max_edges": [400]},
    "chow_liu": {},
    "hclt": {"n_states": [4], "max_iterations": [10]},
    "junction_tree": {},
    "lem": {},
    "mixture": {"n_components": [2]},
    "tree_bag": {"n_bags": [2]},
    "ltm": {},
}


def learn(name, data, **grid):
    learner = load_learner(name)
    return tune(learner, data, learner.grid({**GRIDS[name], **grid}), None).best.fitted.model


@pytest.mark.parametrize(
    ("name", "arity"),
    [
        *itertools.product([name for name in GRIDS if name != "ltm"], ARITIES),
        ("ltm", (3, 3, 1, 3, 3)),
        ("ltm", (4, 4, 4)),
        ("ltm", (2, 2, 1, 2)),
    ],
)
def test_every_learner_has_a_distribution_over_the_joint_states(name, arity):
    schema = schema_of(*arity)
    train, every = examples_of(schema, 500, 1), every_row(schema)
    model = learn(name, train)
    circuit = model.to_circuit()
    circuit.check()
    log_p = log_value(circuit, every)
    assert np.logaddexp.reduce(log_p) == pytest.approx(log_partition(circuit), abs=1e-9)
    if name != "acmn":
        assert log_partition(circuit) == pytest.approx(0.0, abs=1e-9)
    # Better than independent variables.
    alone = sum(
        np.log((np.bincount(values, minlength=k) + 1.0) / (500 + k))[values].sum()
        for values, k in zip(schema.values(train.rows[train.row_of]).T, arity, strict=True)
    )
    found = train.weight @ (log_value(circuit, train.rows) - log_partition(circuit))
    assert found > alone + 20
    if circuit.features is not None:
        # The features add up to the value, up to a constant.
        potential = circuit.features.satisfied(every) @ circuit.weight
        assert np.ptp(potential - log_p) < 1e-9
    # No sample, and no most probable row, has two states or none.
    assert (schema.values(draw(circuit, 200, 3)) != NO_STATE).all()
    unknown = np.full((1, schema.n_columns), 2, np.uint8)
    assert (schema.values(most_probable(circuit, unknown)[0]) != NO_STATE).all()


def test_latent_trees_are_of_variables_with_as_many_states_each():
    with pytest.raises(InputError, match="the same number of states, got 2 and 3 states; hclt"):
        learn("ltm", examples_of(schema_of(2, 3, 1), 100, 0))


def test_a_hidden_variable_of_three_states_is_found():
    """Five noisy copies of a hidden variable: a star is better than any tree over them."""
    rng = np.random.default_rng(3)
    hidden = rng.integers(0, 3, 6000)
    values = np.where(rng.random((6000, 5)) < 0.75, hidden[:, None], rng.integers(0, 3, (6000, 5)))
    schema = schema_of(*[3] * 5)
    data = merge_rows(schema.rows(values), schema=schema)
    learner = load_learner("ltm")
    fitted = tune(learner, data, learner.grid({}), None).best.fitted
    assert fitted.details["n_hidden"] == 1
    tree = learn("chow_liu", data)
    gain = log_value(fitted.model, data.rows) - log_value(tree, data.rows)
    assert data.weight @ gain / 6000 > 0.05


@pytest.mark.parametrize("arity", [(2, 3, 4, 3), (3, 1, 2, 4)])
def test_the_tree_is_the_best_of_all_trees(arity):
    schema = schema_of(*arity)
    data = examples_of(schema, 300, 2, weighted=True)
    tables = StateTables(data, 0.5)
    parent = tables.tree()
    n = len(schema)

    def information(u, v):
        p = tables.joint(u, v)
        return (p * np.log(p / np.outer(tables.single(u), tables.single(v)))).sum()

    for u, v in itertools.permutations(range(n), 2):
        np.testing.assert_allclose(tables.joint(u, v).sum(axis=1), tables.single(u))
        np.testing.assert_array_equal(tables.joint(u, v), tables.joint(v, u).T)
    kept = [v for v in range(n) if arity[v] > 1]
    assert (parent[[v for v in range(n) if v not in kept]] == -1).all()
    total = sum(information(v, parent[v]) for v in kept if parent[v] >= 0)
    every = itertools.product(*([u for u in kept if u != v] for v in kept[1:]))
    best = max(
        sum(information(v, u) for v, u in zip(kept[1:], above, strict=True))
        for above in every
        if _is_tree(dict(zip(kept[1:], above, strict=True)), kept[0])
    )
    assert total == pytest.approx(best, abs=1e-9)


def _is_tree(above, root):
    for v in above:
        for _ in above:
            v = above.get(v, root)
        if v != root:
            return False
    return True


@pytest.mark.parametrize("arity", ARITIES)
def test_acbn_is_its_bayesian_network(arity):
    schema = schema_of(*arity)
    train, every = examples_of(schema, 500, 4), every_row(schema)
    circuit = learn("acbn", train)
    network = circuit.to_bayesian_network()
    again = compile_network(network)
    np.testing.assert_allclose(log_value(again, every), log_value(circuit, every), atol=1e-9)
    # Each leaf has the smoothed shares of its examples.
    for k in range(len(circuit.weight)):
        target = circuit.target[k]
        inside = np.ones(train.n_rows, bool)
        holds = np.ones(train.n_rows, bool)
        for column, bit in circuit.features.literals(k):
            holds &= train.rows[:, column] == bit
            if schema.variable_of[column] != target:
                inside &= train.rows[:, column] == bit
        own, total = train.weight[holds].sum(), train.weight[inside].sum()
        expected = np.log((own + 0.5) / (total + 0.5 * arity[target]))
        assert circuit.weight[k] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "arity"),
    [
        *((name, (2, 3, 1, 4)) for name in GRIDS if name not in ("ltm", "mixture", "tree_bag")),
        ("ltm", (2, 2, 1, 2)),
    ],
)
def test_em_raises_the_likelihood_of_the_known_cells(name, arity):
    schema = schema_of(*arity)
    data = examples_of(schema, 300, 5)
    model = learn(name, data)
    rows = data.rows[data.row_of].copy()
    hidden = np.random.default_rng(6).random((len(rows), len(schema))) < 0.3
    for v in range(len(schema)):
        rows[np.ix_(hidden[:, v], schema.columns(v))] = MISSING
    incomplete = merge_incomplete(rows, None, schema)
    outcome, again = (
        run_em(model, incomplete, iterations=6, tolerance=0.0, prior=0.0, threads=threads)
        for threads in (1, 2)
    )
    np.testing.assert_array_equal(again.log_likelihood, outcome.log_likelihood)
    rise = np.diff(outcome.log_likelihood)
    assert len(rise) > 1
    assert (rise > -1e-6).all()
    assert rise.sum() > 0.1
    # Known cells by their definition.
    every, circuit = every_row(schema), outcome.model.to_circuit()
    p = np.exp(log_value(circuit, every) - log_partition(circuit))
    expected = 0.0
    for row in rows:
        known = row != MISSING
        expected += np.log(p[(every[:, known] == row[known]).all(axis=1)].sum())
    assert outcome.log_likelihood[-1] == pytest.approx(expected)
    score = any_model.marginal_ll(outcome.model, incomplete)
    assert score.mean * incomplete.n_examples == pytest.approx(expected, rel=1e-9)
    assert isinstance(outcome.model, type(model))
    if name != "acmn":
        assert log_partition(circuit) == pytest.approx(0, abs=1e-9)
