"""Messages of tables: exact on trees, and bounds of log Z, against enumeration."""

import itertools

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

import mnlearn as mn
from made_factors import agreeing, log_joint, log_sum, random_evidence, random_factors
from made_random import random_network
from made_state_models import random_states_network
from mnlearn.inference import queries
from mnlearn.inference.evidence import read_mapping
from mnlearn.inference.plan import Plan
from mnlearn.inference.settings import SCHEDULES, Inference
from mnlearn.inference.tables import relaxed
from mnlearn.inference.tables.factors import factors_of, factors_of_tables, given_of_factors
from mnlearn.inference.variational import (
    bethe_log_partition,
    bound_log_partition,
    bound_log_partition_above,
    propagate,
)
from mnlearn.kernels.tables.beliefs import MessagePlan
from mnlearn.kernels.tables.forests import bound_by_forests
from mnlearn.kernels.tables.graphs import graph_given
from mnlearn.kernels.tables.runs import runs_of
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE
from oracles import log_partition, log_potentials


def run(**settings):
    return Inference("bp", **{"iterations": 3000, "tolerance": 1e-11, **settings})


def drawn(rng, arity, scopes, scale=1.0, zeros=0.0):
    tables = [rng.normal(size=[arity[v] for v in scope], scale=scale) for scope in scopes]
    for table in tables:
        table[rng.random(table.shape) < zeros] = -np.inf
    return factors_of_tables(arity, scopes, tables)


def tree_scopes(rng):
    """Seven variables: pairs with one before, none now and then, the tables in any order."""
    pairs = [rng.permutation([rng.integers(v), v]).tolist() for v in range(1, 7)]
    kept = [tuple(pair) for pair in pairs if rng.random() < 0.9]
    scopes = [*kept, (3,), (5,)]
    return [scopes[k] for k in rng.permutation(len(scopes))]


def polytree_scopes(rng):
    """Four roots, each child of which joins two trees."""
    triples = [(0, 1, 4), (4, 2, 5), (5, 3, 6)]
    return [(v,) for v in range(4)] + [tuple(rng.permutation(t).tolist()) for t in triples]


def beliefs_of(factors, values, inference):
    """Return distributions of the variables that are not known, log Z, and the approximation."""
    query = np.flatnonzero(values == NO_STATE)
    found = propagate(given_of_factors(factors), values[None], query, inference)
    out, start = {}, 0
    for v in query.tolist():
        k = factors.arity[v]
        width = k if k > 2 else k - 1
        own = found.log_odds[0, start : start + width]
        own = scipy.special.log_expit([-own[0], own[0]]) if k == 2 else own
        start += width
        out[v] = np.exp(own - log_sum(own)) if k > 1 else np.ones(1)
    return out, found.log_partition[0], found


def exact_of(factors, values):
    """Return the same by enumeration."""
    joint = agreeing(log_joint(factors), values)
    log_z = log_sum(joint)
    axes = range(joint.ndim)
    with np.errstate(invalid="ignore"):
        p = np.exp(joint - log_z)
    return [p.sum(axis=tuple(a for a in axes if a != v)) for v in axes], log_z


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("scopes", [tree_scopes, polytree_scopes])
def test_trees_of_tables_are_exact_after_two_sweeps(scopes, schedule):
    n_impossible = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        arity = rng.integers(1, 5, 7)
        factors = drawn(rng, arity, scopes(rng), scale=2.0, zeros=(0.0, 0.2)[seed % 2])
        values = random_evidence(seed, factors, share=0.2)
        own, log_z, found = beliefs_of(factors, values, run(schedule=schedule))
        exact, exact_z = exact_of(factors, values)
        assert_allclose(log_z, exact_z, atol=1e-9)
        assert found.converged.all()
        if exact_z == -np.inf:
            n_impossible += 1
            continue
        assert found.n_iterations.tolist() == [2]
        for v, p in own.items():
            assert_allclose(p, exact[v], atol=1e-9)
    assert 0 < n_impossible < 30


def test_cells_far_apart_keep_their_digits():
    """The probability of a state is 1e-300 times smaller in one table and larger in the other."""
    tables = [np.array([0.0, -900.0]), np.array([[0.0, -2000.0], [-3.0, 905.0]])]
    factors = factors_of_tables([2, 2], [(0,), (0, 1)], tables)
    own, log_z, _ = beliefs_of(factors, np.full(2, NO_STATE, np.uint8), run())
    exact, exact_z = exact_of(factors, np.full(2, NO_STATE, np.uint8))
    assert_allclose(log_z, exact_z, atol=1e-9)
    assert_allclose(own[0], exact[0], atol=1e-12)


class ByEnumeration:
    """Sum-product in the order of the factors from probabilities, as the textbook writes it."""

    def __init__(self, factors):
        self.factors = factors
        self.to_variable = {
            (f, v): np.ones(factors.arity[v]) / factors.arity[v]
            for f, scope in enumerate(factors.scopes)
            for v in scope
        }

    def belief(self, v, without=None):
        out = np.ones(self.factors.arity[v])
        for (f, u), message in self.to_variable.items():
            if u == v and f != without:
                out = out * message
        return out / out.sum()

    def joint(self, f, without=None):
        scope = self.factors.scopes[f]
        out = np.exp(self.factors.table(f))
        for axis, v in enumerate(scope):
            if v != without:
                shape = [-1 if a == axis else 1 for a in range(len(scope))]
                out = out * self.belief(v, f).reshape(shape)
        return out

    def iterate(self):
        """Send the messages of all factors with half of the old ones; return the change."""
        change = 0.0
        for f, scope in enumerate(self.factors.scopes):
            for axis, v in enumerate(scope):
                axes = tuple(a for a in range(len(scope)) if a != axis)
                new = self.joint(f, v).sum(axis=axes)
                new = np.sqrt(new / new.sum() * self.to_variable[f, v])
                new /= new.sum()
                change = max(change, np.abs(new - self.to_variable[f, v]).max())
                self.to_variable[f, v] = new
        return change

    def log_partition(self):
        """Return the mean log-potential plus the entropies of the beliefs."""
        total = 0.0
        n_factors = np.zeros(len(self.factors.arity))
        for f, scope in enumerate(self.factors.scopes):
            b = self.joint(f)
            b = b / b.sum()
            held = b > 0
            total += (b[held] * (self.factors.table(f)[held] - np.log(b[held]))).sum()
            n_factors[list(scope)] += 1
        for v, n in enumerate(n_factors):
            b = self.belief(v)
            total += (n - 1) * (b[b > 0] * np.log(b[b > 0])).sum()
        return total


@pytest.mark.parametrize("seed", range(8))
def test_fixed_points_of_loopy_tables_are_those_of_the_textbook(seed):
    factors = random_factors(seed, n_vars=6, n_factors=8, zeros=(0.0, 0.1)[seed % 2], scale=0.7)
    textbook = ByEnumeration(factors)
    while textbook.iterate() > 1e-13:
        pass
    for schedule in SCHEDULES:
        own, log_z, found = beliefs_of(
            factors, np.full(6, NO_STATE, np.uint8), run(schedule=schedule)
        )
        assert found.converged.all()
        assert_allclose(log_z, textbook.log_partition(), atol=1e-8)
        for v, p in own.items():
            assert_allclose(p, textbook.belief(v), atol=1e-8)


def test_residuals_take_fewer_messages_where_part_of_a_network_is_slow():
    """A loop of strong couplings far from the other end of a long chain of weak ones."""
    rng = np.random.default_rng(0)
    pairs = [(v, v + 1) for v in range(59)] + [(0, 2), (0, 3), (1, 3)]
    tables = [rng.normal(size=(2, 2), scale=2.5 if max(pair) < 4 else 0.3) for pair in pairs]
    factors = factors_of_tables([2] * 60, pairs, tables)
    values = np.full(60, NO_STATE, np.uint8)
    n = {}
    for schedule in SCHEDULES:
        _, log_z, found = beliefs_of(factors, values, run(schedule=schedule))
        assert found.converged.all()
        n[schedule] = found.n_iterations[0], log_z
    assert n["residual"][0] < n["sequential"][0] < n["parallel"][0]
    assert_allclose([log_z for _, log_z in n.values()], n["residual"][1], atol=1e-7)


@pytest.mark.parametrize("n_vars", [3, 30])
def test_factors_of_one_run_share_no_variable_and_are_of_one_kind(n_vars):
    """Thousands of factors of three variables: the first 4,096 runs have bits, others have not."""
    rng = np.random.default_rng(n_vars)
    scopes = [tuple(rng.permutation(n_vars)[: rng.integers(2, 4)].tolist()) for _ in range(4500)]
    factors = factors_of_tables([2] * n_vars, scopes, [np.zeros([2] * len(s)) for s in scopes])
    graph, _ = graph_given(given_of_factors(factors), np.full(n_vars, NO_STATE, np.uint8))
    runs = runs_of(graph)
    assert sorted(runs.factor.tolist()) == list(range(4500))
    for first, last in itertools.pairwise(runs.run_start.tolist()):
        own = [v for f in runs.factor[first:last] for v in scopes[f]]
        assert len(set(own)) == len(own)
        assert len({len(scopes[f]) for f in runs.factor[first:last]}) == 1
    assert len(runs.run_start) < 2000 or n_vars == 3


def test_propagation_that_ends_early_is_reported():
    factors = random_factors(0, zeros=0.0)
    for schedule in SCHEDULES:
        inference = Inference("bp", iterations=1, tolerance=1e-9, schedule=schedule)
        found = beliefs_of(factors, np.full(7, NO_STATE, np.uint8), inference)[2]
        assert not found.converged.any()
        assert found.n_iterations.tolist() == [1]


def couplings(rng, n, pairs, scale, kind):
    """Fields, and pairs of equal or opposite states that a coupling makes more probable."""
    strength = rng.exponential(scale, len(pairs))
    sign = np.ones(len(pairs)) if kind == "attractive" else rng.choice([-1, 1], len(pairs))
    tables = [rng.normal(size=2, scale=0.5) for _ in range(n)]
    tables += [w * np.array([[1.0, -1.0], [-1.0, 1.0]]) for w in strength * sign]
    return factors_of_tables([2] * n, [(v,) for v in range(n)] + pairs, tables)


def bounded_networks():
    """Spins on grids and on all pairs, and tables of any kind, with zeros and of many states."""
    grid = [(v, v + 1) for v in range(8) if v % 3 < 2] + [(v, v + 3) for v in range(6)]
    every = [(u, v) for v in range(7) for u in range(v)]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scale = (0.2, 1.0, 4.0)[seed % 3]
        for kind in ("attractive", "mixed"):
            yield couplings(rng, 9, grid, scale, kind)
            yield couplings(rng, 7, every, scale, kind)
    for seed in range(120):
        zeros, scale = (0.0, 0.15, 0.4)[seed % 3], (0.3, 1.0, 4.0)[seed // 3 % 3]
        yield random_factors(seed, n_vars=6, n_factors=9, zeros=zeros, scale=scale)


@pytest.mark.nightly
def test_the_upper_bound_holds_converged_or_not():
    gaps, n_open, n = [], 0, 0
    for factors in bounded_networks():
        arrays = given_of_factors(factors)
        joint = log_joint(factors)
        for k, values in enumerate(
            (np.full(joint.ndim, NO_STATE, np.uint8), random_evidence(n, factors))
        ):
            log_z = log_sum(agreeing(joint, values))
            for most in (1, 4, 300):
                bound, _, change = bound_by_forests(arrays, values, MessagePlan(most, 1e-7, 0.5, 0))
                assert bound >= log_z - 1e-9
                n_open += change > 1e-7
            if k == 0 and log_z > -np.inf:
                gaps.append(bound - log_z)
        n += 1
    assert n == 360
    assert n_open > n
    assert 0.05 < np.mean(gaps) < 5


def test_the_upper_bound_of_a_tree_is_exact():
    rng = np.random.default_rng(0)
    factors = drawn(rng, rng.integers(2, 4, 7), tree_scopes(rng), scale=2.0)
    arrays = given_of_factors(factors)
    unknown = np.full(7, NO_STATE, np.uint8)
    bound, _, _ = bound_by_forests(arrays, unknown, MessagePlan(1, 0.0, 0.5, 0))
    assert_allclose(bound, log_sum(log_joint(factors)), atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_log_z_of_a_network_is_between_its_bounds(seed):
    network = random_network(seed, n_vars=8, n_features=25, scale=(0.5, 3.0)[seed % 2])
    log_z = log_partition(network)
    lower, _ = bound_log_partition(network, run())
    upper, _ = bound_log_partition_above(network, run(iterations=200))
    assert lower <= log_z + 1e-9
    assert upper >= log_z - 1e-9
    states = random_states_network(seed, (3, 1, 4, 2), scale=2.0)
    assert bound_log_partition_above(states, run(iterations=200))[0] >= (
        log_sum(log_joint(factors_of(states))) - 1e-9
    )


@pytest.mark.parametrize("seed", range(10))
def test_features_too_long_for_tables_are_bounded_by_shorter_ones(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    conjunctions = [
        [(int(v), int(rng.integers(2))) for v in np.sort(rng.permutation(10)[: rng.integers(1, 9)])]
        for _ in range(12)
    ]
    network = markov_network(10, features_of(conjunctions), rng.normal(size=12, scale=2.0))
    log_z = log_partition(network)
    monkeypatch.setattr(relaxed, "factors_of", lambda model: None)
    factors = relaxed.relaxed_factors(network)
    assert max(map(len, factors.scopes)) == 5
    greater = log_joint(factors).ravel()
    assert (greater >= log_potentials(network) - 1e-9).all()
    assert bound_log_partition_above(network, run(iterations=100))[0] >= log_z


def test_a_long_feature_has_messages_of_its_own():
    """Propagation by tables would need 2^40 cells."""
    network = markov_network(40, features_of([[(v, 1) for v in range(40)], [(0, 1)]]), [2.0, 1.0])
    assert factors_of(network) is None
    value, converged = bethe_log_partition(network, run())
    assert converged
    assert value == pytest.approx(39 * np.log(2) + np.log1p(np.e), abs=1e-9)
    assert bound_log_partition_above(network, run())[0] >= value
    assert bethe_log_partition(network, run(schedule="residual"))[0] == pytest.approx(value)


BIF = """network polytree {}
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 3 ] { low, mid, high }; }
variable c { type discrete [ 2 ] { no, yes }; }
variable d { type discrete [ 2 ] { no, yes }; }
variable e { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b ) { table 0.2, 0.5, 0.3; }
probability ( c | a, b ) {
  (no, low) 1.0, 0.0; (no, mid) 0.6, 0.4; (no, high) 0.1, 0.9;
  (yes, low) 0.7, 0.3; (yes, mid) 0.2, 0.8; (yes, high) 0.5, 0.5;
}
probability ( d ) { table 0.4, 0.6; }
probability ( e | c, d ) {
  (no, no) 0.9, 0.1; (no, yes) 0.3, 0.7; (yes, no) 0.25, 0.75; (yes, yes) 0.0, 1.0;
}
"""


@pytest.mark.parametrize("given", [{}, {"e": "no"}, {"e": "yes", "a": "no"}, {"c": "yes"}])
def test_a_polytree_from_a_file_is_exact(given, tmp_path):
    (tmp_path / "polytree.bif").write_text(BIF)
    model = mn.load(tmp_path / "polytree.bif")
    found = model.query(given, inference="bp")
    assert_allclose(found, model.query(given, inference="exact"), atol=1e-12)
    assert all(found.attrs["converged"])


def test_impossible_evidence_is_refused():
    """Also where no circuit says so first."""
    network = mn.MarkovNetwork.from_features([{0: 1, 1: 1}, {2: 1}], [-np.inf, 1.0], 3)
    assert network.query({0: 1}, inference="bp")["V1", 1] == 0
    evidence = read_mapping(network.schema, {0: 1, 1: 1}, "evidence")
    chosen = Plan("bp", is_exact=False)
    with pytest.raises(InputError, match="has probability 0"):
        queries.answer(network, evidence, chosen, Inference("bp"), seed=0)


def test_features_of_one_pair_are_one_table():
    cells = [[(0, x), (1, y)] for x in (0, 1) for y in (0, 1)]
    network = markov_network(2, features_of([[(0, 1)], *cells]), [0.3, *np.arange(4.0)])
    exact = log_partition(network)
    assert bethe_log_partition(network, run())[0] == pytest.approx(exact, abs=1e-12)
    by_feature = bethe_log_partition(network, run(), by_feature=True)[0]
    assert abs(by_feature - exact) > 0.01
