"""Every task by every way, through the public methods of models, against sums over all states."""

import ast
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

import mnlearn as mn
from made_random import random_dependency_network
from made_state_models import random_states_network
from mnlearn.inference import chains, forms, plan, queries, tempering
from mnlearn.inference.plan import GIBBS, MARGINALS, TEMPERING, WEIGHTING
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.memory import limit_memory

N = 7
RNG = np.random.default_rng(3)
CLASS = RNG.integers(0, 3, 400)
ROWS = (RNG.random((400, N)) < RNG.random((3, N))[CLASS]).astype(int)
LEARNERS = {
    "ACMN": mn.ACMN(max_edges=500),
    "HCLT": mn.HCLT(n_states=3, random_state=0),
    "JunctionTree": mn.JunctionTree(),
    "LEM": mn.LEM(),
    "Mixture": mn.Mixture(random_state=0),
}


def made(kind):
    if kind == "MarkovNetwork":
        return random_states_network(1, (2, 3, 1, 4, 3, 2, 2), 30)
    if kind == "zeros":
        features = [{0: 1, 1: 1}, {1: 0, 2: 0}, {2: 1, 5: 1}, {4: 1, 3: 0}]
        return mn.MarkovNetwork.from_features(features, [-np.inf, 1.0, -np.inf, 2.0], N)
    if kind == "BayesianNetwork":
        return mn.ChowLiu().fit(ROWS).model_.to_bayesian_network()
    return LEARNERS[kind].fit(ROWS).model_


KINDS = ["MarkovNetwork", "zeros", "BayesianNetwork", *LEARNERS]
# The ways of a network: all states, tables, and the circuit where there are no tables.
WAYS = {"enumeration": {}, "tables": {"_FEW": -1}, "circuit": {"_FEW": -1}}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    for name, value in WAYS[request.param].items():
        monkeypatch.setattr(plan, name, value)
    if request.param == "circuit":
        monkeypatch.setattr(forms, "factors_of", lambda model: None)
    return request.param


class Oracle:
    """All joint states of a model and their probabilities."""

    def __init__(self, model):
        self.schema = model.schema
        states = itertools.product(*(v.states for v in self.schema))
        self.table = pd.DataFrame(states, columns=self.schema.names)
        self.p = np.exp(mn.score(model, self.table, "ll").per_example)
        self.p /= self.p.sum()

    def holds(self, given):
        names = {self.schema.names[v]: x for v, x in given.items()}
        return np.all([self.table[name] == x for name, x in names.items()], axis=0) | (not given)

    def of(self, event, given):
        known = self.holds(given)
        return self.p[known & self.holds(event)].sum() / self.p[known].sum()


@pytest.mark.parametrize("kind", KINDS)
def test_every_task_is_a_sum_over_states(kind, way):
    model = made(kind)
    oracle, schema = Oracle(model), model.schema
    given = {3: schema[3].states[1]}
    name = schema.names[3]
    found = model.query(given)
    assert found.attrs["is_exact"]
    for (variable, state), p in found.items():
        assert p == pytest.approx(oracle.of({schema.number(variable): state}, given), abs=1e-9)
    part = model.query(given, [5, 0])
    assert part.to_dict() == pytest.approx({k: found[k] for k in part.index}, abs=1e-9)
    frame = model.query(pd.DataFrame({name: [given[3], np.nan]}).astype(object))
    assert frame.iloc[0][found.index].to_dict() == pytest.approx(found.to_dict(), abs=1e-9)
    table = model.joint([1, 4], given)
    for (a, b), p in table.items():
        assert p == pytest.approx(oracle.of({1: a, 4: b}, given), abs=1e-9)
        assert model.probability({1: a, 4: b}, given) == pytest.approx(p, abs=1e-9)
    check_modes(model, oracle, given)


def check_modes(model, oracle, given):
    schema = model.schema
    best = model.most_probable(given, variables=[0, 4, 5])
    assert best.attrs["is_exact"]
    event = {schema.number(v): x for v, x in best.items()}
    every = itertools.product(*(schema[v].states for v in (0, 4, 5)))
    most = max(oracle.of(dict(zip((0, 4, 5), states, strict=True)), given) for states in every)
    assert list(event) == [0, 4, 5]
    assert oracle.of(event, given) == pytest.approx(most, abs=1e-9)
    whole = model.most_probable(given)
    if whole.attrs["is_exact"]:
        event = {schema.number(v): x for v, x in whole.items()}
        most = oracle.p[oracle.holds(given)].max() / oracle.p[oracle.holds(given)].sum()
        assert oracle.of(event, given) == pytest.approx(most, abs=1e-9)


@pytest.mark.parametrize("kind", ["MarkovNetwork", "zeros", "BayesianNetwork"])
def test_scores_and_samples_are_those_of_all_states(kind, way, monkeypatch):
    model = made(kind)
    oracle = Oracle(model)
    monkeypatch.setattr(plan, "_MOST", 20 if way == "enumeration" else -1)
    schema, table = model.schema, oracle.table
    ll = mn.score(model, table, "ll").per_example
    np.testing.assert_allclose(np.exp(ll), oracle.p, atol=1e-9)
    some = table.iloc[np.flatnonzero(oracle.p > 1e-6)[:20]]
    own = {v: some[schema.names[v]].to_numpy() for v in range(N)}
    groups = [[0, 1, 3], [2, 4, 5, 6]]
    cll, cmll = np.zeros(len(some)), np.zeros(len(some))
    for group in groups:
        for i in range(len(some)):
            event = {v: own[v][i] for v in group}
            given = {v: own[v][i] for v in range(N) if v not in group}
            cll[i] += np.log(oracle.of(event, given))
            cmll[i] += sum(np.log(oracle.of({v: x}, given)) for v, x in event.items())
    found = mn.score(model, some, "cll", groups=groups).per_example
    np.testing.assert_allclose(found, cll, atol=1e-8)
    found = mn.score(model, some, "cmll", groups=groups).per_example
    np.testing.assert_allclose(found, cmll, atol=1e-8)
    drawn = model.sample(4000, inference="exact")
    drawn = drawn if isinstance(drawn, pd.DataFrame) else pd.DataFrame(drawn)
    for v in (0, 3, 5):
        state = schema[v].states[-1]
        share = float((drawn.iloc[:, v] == state).mean())
        assert share == pytest.approx(oracle.of({v: state}, {}), abs=0.04)
    if kind != "BayesianNetwork":
        expected = logsumexp(model.log_potential(table))
        assert model.log_partition() == pytest.approx(expected, abs=1e-9)


def assert_drawn_given(model, oracle, given, **settings):
    schema, drawn = model.schema, pd.DataFrame(model.sample(4000, evidence=given, **settings))
    for v in range(N):
        for state in schema[v].states:
            share = float((drawn.iloc[:, v] == state).mean())
            expected = float(given[v] == state) if v in given else oracle.of({v: state}, given)
            assert share == pytest.approx(expected, abs=0.05 if 0.0 < expected < 1.0 else 0)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_agree_with_the_evidence_and_follow_the_rest(kind, way, monkeypatch):
    model = made(kind)
    monkeypatch.setattr(plan, "_MOST", 20 if way == "enumeration" else -1)
    oracle, schema = Oracle(model), model.schema
    given = {3: schema[3].states[1], 5: schema[5].states[0]}
    assert_drawn_given(model, oracle, given)
    if kind in ("MarkovNetwork", "BayesianNetwork"):
        assert_drawn_given(model, oracle, given, inference="gibbs", burn_in=60)
        everything = {v: schema[v].states[-1] for v in range(N)}
        drawn = pd.DataFrame(model.sample(3, evidence=everything))
        assert drawn.drop_duplicates().to_numpy().tolist() == [list(everything.values())]
    if kind == "zeros":
        with pytest.raises(InputError, match="evidence: has probability 0"):
            model.sample(3, evidence={0: 1, 1: 1})


def test_chains_of_a_dependency_network_keep_the_evidence():
    model = random_dependency_network(0)
    drawn = model.sample(4000, evidence={1: 1, 4: 0}, burn_in=60)
    assert (drawn[:, [1, 4]] == [1, 0]).all()
    expected = model.query({1: 1, 4: 0}, inference="exact")
    for v in (0, 2, 3):
        assert drawn[:, v].mean() == pytest.approx(expected[model.schema.names[v], 1], abs=0.05)


@pytest.fixture
def no_memory(monkeypatch):
    limit_memory(1e-8)
    monkeypatch.setattr(plan, "_FEW", -1)
    monkeypatch.setattr(plan, "_MOST", -1)
    monkeypatch.setattr(forms, "SMALL", 0)
    monkeypatch.setattr(forms, "MAX_EDGES", 5)
    monkeypatch.setattr(forms.circuit_of, "__defaults__", (5,))
    yield
    limit_memory(None)


def test_what_is_too_wide_is_estimated_or_refused(no_memory):
    model = made("MarkovNetwork")
    found = model.query({3: 1})
    assert (found.attrs["inference"], found.attrs["is_exact"]) == (TEMPERING, False)
    assert all(found.attrs["converged"])
    limit_memory(None)
    oracle = Oracle(model)
    errors = found.attrs["monte_carlo_error"]
    for ((name, state), p), error in zip(found.items(), errors, strict=True):
        expected = oracle.of({model.schema.number(name): state}, {3: 1})
        assert abs(p - expected) <= 5 * error < 0.5
    limit_memory(1e-8)
    for ask, advice in (
        (lambda: model.most_probable({3: 1}), "no estimate of the most probable states"),
        (lambda: model.probability({3: 1}), "query estimates the probabilities"),
        (lambda: model.log_partition(), 'inference="ais" or inference="bp" estimates log Z'),
        (lambda: model.query(inference="exact"), 'inference="auto" estimates'),
    ):
        with pytest.raises(InputError, match=advice):
            ask()
    with pytest.warns(UserWarning, match="end of a Gibbs chain of 9 sweeps.*an exact answer would"):
        model.sample(5, burn_in=9)
    with pytest.warns(UserWarning, match="cmll is estimated, by one Gibbs chain for each row"):
        mn.score(model, oracle.table.iloc[:5], "cmll", folds=1)
    network = made("BayesianNetwork")
    assert plan.plan(network, MARGINALS).way == WEIGHTING
    assert plan.plan(random_dependency_network(0, n_vars=14), MARGINALS).way == GIBBS


def test_a_dense_network_beyond_the_memory_is_refused_before_it_is_compiled(monkeypatch):
    pairs = [{u: 1, v: 1} for u, v in itertools.combinations(range(20), 2)]
    model = mn.MarkovNetwork.from_features(pairs, [0.1] * len(pairs), 20)
    monkeypatch.setattr(forms, "compile_network", None)
    limit_memory(0.01)
    with pytest.raises(InputError, match=r"tables of 1e\+06 cells, more than 416,666"):
        model.log_partition()
    limit_memory(None)


def test_an_estimate_that_has_not_converged_is_marked_or_refused(monkeypatch):
    monkeypatch.setattr(chains, "MOST_R_HAT", 0.5)
    monkeypatch.setattr(tempering, "WORK", 1)
    monkeypatch.setattr(queries, "_LEAST_WORK", 1)
    model = random_dependency_network(0, n_vars=14)
    with pytest.warns(UserWarning, match=r"\d+ of 28 probabilities have not converged"):
        found = model.query()
    assert not all(found.attrs["converged"])
    with pytest.raises(InputError, match="have not converged and may be far off"):
        model.query(strict=True)
    with pytest.warns(UserWarning, match="2 of 2 probabilities have not converged"):
        model.query(variables=[3])


def test_a_method_that_is_named_is_used_or_said_not_to_be():
    model = made("MarkovNetwork")
    assert model.query(inference="bp").attrs["inference"] == "bp"
    circuit = made("ACMN")
    with pytest.warns(UserWarning, match='inference="bp": not used, because .* is exact'):
        assert circuit.query({0: 1}, inference="bp").attrs["is_exact"]


# What finds or makes an exact form, or compares costs: only the planner calls it.
CHOICES = {"circuit_of", "small_circuit", "tables_of", "exact_form", "exact_circuit", "cost_of"}
CHOICES |= {"is_enumerable", "excludes_states", "MAX_ENUMERATED", "has_exact_likelihood"}


def test_only_the_planner_chooses():
    root = Path(mn.__file__).parent
    asked = [root / folder for folder in ("scoring", "api", "cli")]
    files = [path for folder in asked for path in folder.rglob("*.py")]
    files += [root / "inference" / f"{name}.py" for name in ("queries", "sampling", "annealing")]
    choosing = {}
    for path in files:
        tree = ast.walk(ast.parse(path.read_text("utf-8")))
        named = {a.name for node in tree if isinstance(node, ast.ImportFrom) for a in node.names}
        choosing[path.relative_to(root).as_posix()] = named & CHOICES
    # The list of scores asks which models have a record of the likelihood.
    assert choosing.pop("scoring/metrics.py") == {"has_exact_likelihood"}
    assert {path: names for path, names in choosing.items() if names} == {}
