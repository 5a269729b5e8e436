"""Growth of circuits: gains by definition, an objective that rises, budgets that nest."""

from dataclasses import replace

import numpy as np
import pytest

from l1_oracle import least_with_l1
from made_circuits import edges_of_copies
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.circuits import markov
from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import CircuitGrowth
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.circuits.splitting import ExtensionCounts, split
from mnlearn.learning.tuning import tune
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.methods import load_learner
from mnlearn.models.io.native import write_npz
from mnlearn.scoring.metrics import mean_score
from oracles import all_states

N = 7
PENALTY = Penalty(0.8, 0.5)


@pytest.fixture(scope="module")
def train():
    """Examples in which variables depend on the two before them."""
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 2, (600, N))
    for v in range(2, N):
        copied = rng.random(len(rows)) < 0.8
        rows[copied, v] = (rows[copied, v - 1] & rows[copied, v - 2]) ^ (v % 2)
    return merge_rows(rows, rng.uniform(0.5, 2.0, len(rows)))


def objective(model, train, penalty):
    w = model.weight
    ll = train.weight @ log_value(model, train.rows) - train.n_examples * log_partition(model)
    return ll - penalty.l1 * np.abs(w).sum() - 0.5 * penalty.precision * w @ w


def grow_one_by_one(growth, limit):
    """Yield after each split."""
    while not growth.ended:
        done = growth.n_splits
        growth.grow(growth.model.circuit.n_edges)
        while growth.n_splits == done and not growth.ended:
            growth.grow(growth.model.circuit.n_edges + growth._pending.n_new_edges)
        if growth.n_splits > limit:
            return
        yield


def test_counts_are_those_of_the_data(train):
    total, ones = ExtensionCounts(train).count([(1, 1), (4, 0)])
    held = (train.rows[:, 1] == 1) & (train.rows[:, 4] == 0)
    assert total == pytest.approx(train.weight[held].sum())
    np.testing.assert_allclose(ones, train.weight[held] @ train.rows[held])


@pytest.mark.parametrize("model_of", [MarkovGrowth, BayesGrowth])
@pytest.mark.parametrize("n_edges", [150, 1000])
def test_edges_of_splits_are_counted(train, model_of, n_edges):
    """As the splits add; kernels/circuits/test_split_costs.py has the counts up to a limit."""
    model = model_of(train, PENALTY if model_of is MarkovGrowth else 0.5)
    CircuitGrowth(model, 0.05, 0.0, n_edges).grow(n_edges)
    circuit, n_counted = model.circuit, 0
    for group in range(len(model.n_satisfied if model_of is MarkovGrowth else model.target)):
        own = model.literals[group] if model_of is MarkovGrowth else model.path[group]
        taken = {var for var, _ in own}
        if model_of is BayesGrowth:
            taken.add(model.target[group])
        leaves = [group] if model_of is MarkovGrowth else model.parameters[group]
        found = model.edges(group)
        for var in sorted(set(range(N)) - taken):
            assert found[var] == edges_of_copies(circuit, leaves, var)
            n_new_edges = model.new_edges(group, var, 10**6)
            if n_new_edges is not None:
                after = split(circuit, np.array(leaves), var, model_of is MarkovGrowth)
                assert found[var] <= n_new_edges == after.n_edges - circuit.n_edges
                n_counted += 1
    assert n_counted > 30


def test_each_split_gains_what_was_said_and_the_circuit_stays_right(train):
    model = MarkovGrowth(train, PENALTY)
    growth = CircuitGrowth(model, 0.05, 0.5, 600)
    before, n_checked = model.objective, 0
    accept = model.accept

    def checked(chosen):
        nonlocal before
        groups = accept(chosen)
        # Weights are learned after the split, so that at least its own gain is gained.
        assert model.objective >= before + chosen.gain * (1 - 1e-9) - 1e-9
        before = model.objective
        return groups

    model.accept = checked
    for _ in grow_one_by_one(growth, 25):
        learned = model.model()
        satisfied = learned.features.satisfied(all_states(N))
        polynomial = satisfied @ learned.weight
        np.testing.assert_allclose(log_value(learned, all_states(N)), polynomial, atol=1e-9)
        assert log_partition(learned) == pytest.approx(np.log(np.exp(polynomial).sum()))
        learned.check()
        assert objective(learned, train, PENALTY) >= model.objective - 1e-6
        n_checked += 1
    assert n_checked > 15


def test_learned_weights_are_the_best(train):
    model = MarkovGrowth(train, PENALTY)
    CircuitGrowth(model, 0.05, 1.0, 150).grow(150)
    learned = model.model()
    states, rows = (
        learned.features.satisfied(x).astype(float) for x in (all_states(N), train.rows)
    )
    in_data = train.weight @ rows

    def smooth(w):
        energy = states @ w
        log_z = np.logaddexp.reduce(energy)
        slope = train.n_examples * np.exp(energy - log_z) @ states - in_data
        value = train.n_examples * log_z - in_data @ w + 0.5 * PENALTY.precision * w @ w
        return value, slope + PENALTY.precision * w

    best = -least_with_l1(smooth, np.full(len(in_data), PENALTY.l1))
    assert objective(learned, train, PENALTY) >= best - 0.01


@pytest.mark.nightly
def test_last_bits_of_learned_weights_decide_nothing(train, monkeypatch):
    def grown(shift):
        def learn(*args, **settings):
            found = fit_weights(*args, **settings)
            return replace(found, weight=found.weight * (1.0 + shift))

        monkeypatch.setattr(markov, "fit_weights", learn)
        growth = CircuitGrowth(MarkovGrowth(train, PENALTY), 0.01, 0.0, 4000)
        growth.grow(4000)
        return growth

    exact, other = grown(0.0), grown(2.0**-51)
    assert exact.n_splits > 15
    assert exact.model.literals == other.model.literals
    assert exact.model.circuit.weight.tolist() == other.model.circuit.weight.tolist()


def test_budgets_of_edges_nest(train):
    """What a small budget gives does not depend on whether a larger one was to follow."""
    path = CircuitGrowth(MarkovGrowth(train, PENALTY), 0.1, 0.5, 500)
    models = []
    for budget in (80, 200, 500):
        path.grow(budget)
        models.append(path.model.model())
        assert models[-1].n_edges <= budget
    alone = CircuitGrowth(MarkovGrowth(train, PENALTY), 0.1, 0.5, 500)
    alone.grow(500)
    again = alone.model.model()
    assert again.weight.tobytes() == models[-1].weight.tobytes()
    assert again.child.tobytes() == models[-1].child.tobytes()
    assert models[0].n_edges < models[1].n_edges < models[2].n_edges


def test_a_deadline_ends_growth_with_a_model(train):
    growth = CircuitGrowth(MarkovGrowth(train, PENALTY), 0.1, 0.5, 500)
    growth.grow(500, deadline=0.0)
    assert growth.ended
    assert growth.model.model().n_edges == 7 * N


def test_bayesian_networks_gain_what_was_said(train):
    model = BayesGrowth(train, 0.5)
    growth = CircuitGrowth(model, 0.05, 0.5, 600)
    n_checked = 0
    for _ in grow_one_by_one(growth, 40):
        learned = model.model()
        per_row = log_value(learned, train.rows)
        assert train.weight @ per_row == pytest.approx(model.log_likelihood)
        assert log_partition(learned) == pytest.approx(0.0, abs=1e-9)
        polynomial = learned.features.satisfied(all_states(N)) @ learned.weight
        np.testing.assert_allclose(log_value(learned, all_states(N)), polynomial, atol=1e-9)
        n_checked += 1
    assert n_checked > 15


@pytest.mark.parametrize("model_of", [MarkovGrowth, BayesGrowth])
def test_an_exact_search_takes_the_best_split_there_is(train, model_of):
    model = model_of(train, PENALTY if model_of is MarkovGrowth else 0.5)
    growth = CircuitGrowth(model, 0.05, 0.5, 400, quick=False)
    n_checked = 0
    for _ in range(12):
        split = growth._next()
        price = growth.edge_cost
        taken = split.gain - price * split.n_new_edges
        for group, bound in growth._queue.gains().items():
            model.bounds([group])
            for var in np.flatnonzero(np.isfinite(bound)):
                n_new_edges = model.new_edges(group, int(var), 10**6)
                of_bayes = model_of is BayesGrowth
                gain = bound[var] if of_bayes else model._best_extension(group, int(var))[0]
                if n_new_edges is not None:
                    assert gain - price * n_new_edges <= taken + 1e-9
                    n_checked += 1
        growth._take(split)
    assert n_checked > 100


class KilledError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize("method_name", ["acmn", "acbn"])
@pytest.mark.parametrize("n_states", [1, 3, 9])
def test_a_killed_run_goes_on_to_the_same_bytes(
    train, tmp_path, monkeypatch, method_name, n_states
):
    monkeypatch.setattr("mnlearn.learning.shares.SECONDS_BETWEEN_STATES", -1.0)
    method, left = load_learner(method_name), n_states
    grid = method.grid({"max_edges": [80, 150, 300, 600], "split_cost": 0.5})

    class Dying(Checkpoints):
        def save(self, key, arrays):
            nonlocal left
            super().save(key, arrays)
            left -= 1
            if left == 0:
                raise KilledError

    def outcome(checkpoints):
        criterion = mean_score(method.criterion, train)
        tuned = tune(method, train, grid, criterion, checkpoints=checkpoints)
        model = tuned.best.fitted.model
        scores = [(row["n_edges"], row["validation"]) for row in tuned.trace]
        return scores, model.weight.tobytes(), model.child.tobytes()

    whole = outcome(Checkpoints(None))
    with pytest.raises(KilledError):
        outcome(Dying(tmp_path, code="x"))
    began = BayesGrowth if method_name == "acbn" else MarkovGrowth
    monkeypatch.setattr(began, "first", lambda self: pytest.fail("began again"))
    assert outcome(Checkpoints(tmp_path, code="x")) == whole


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [-1.0, 1e9])
@pytest.mark.parametrize("method_name", ["acmn", "acbn"])
def test_a_search_that_ends_early_ends_there_after_any_kill(
    train, tmp_path, monkeypatch, method_name, seconds
):
    """Wherever it is killed: while a circuit is scored, or before it is on disk."""
    monkeypatch.setattr("mnlearn.learning.shares.SECONDS_BETWEEN_STATES", seconds)
    method = load_learner(method_name)
    budgets = [80, 120, 160, 240, 320, 480]
    grid = method.grid({"max_edges": budgets, "split_cost": 0.1})

    def outcome(n_steps, checkpoints):
        left = n_steps

        def step():
            nonlocal left
            left -= 1
            if left == 0:
                raise KilledError

        def criterion(model):
            step()
            return -abs(model.n_edges - 110.0)

        def write(model, path):
            step()
            write_npz(model, path)

        monkeypatch.setattr("mnlearn.learning.checkpoints.write_npz", write)
        trace = tune(method, train, grid, criterion, checkpoints=checkpoints).trace
        return [(row["max_edges"], row["n_edges"], row["validation"]) for row in trace]

    whole = outcome(0, Checkpoints(None))
    assert whole[3][1] < whole[-1][1] + 1 <= 241  # It ends at the fourth budget.
    for n_steps in range(1, 17):
        kept = Checkpoints(tmp_path / str(n_steps), code="x")
        with pytest.raises(KilledError):
            outcome(n_steps, kept)
        assert outcome(0, kept) == whole, n_steps
