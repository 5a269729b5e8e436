"""Queries of growing shares of the variables: which, how they are answered, how they are drawn."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from made_circuits import N, grown
from made_study import make, scores_of
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.evaluation import UNKNOWN, Evaluator
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.records.kinds import curves
from oracles import all_states

EXACT = {"method": "exact"}


def draw(out="q.npz", n=25, *, data="t.npz", seed=4):
    """Draw queries; return them and the places of their examples."""
    make("queries", out, {"examples": n, "seed": seed}, method="", inputs={"test": data})
    with np.load(out) as arrays:
        return arrays["rank"], arrays["example"]


def curve(*percentages, model="c", queries="q.npz", out="curve.json", threads=1, **recipe):
    """Return the record of a curve."""
    inputs = {"models": f"{model}/tuning.json", "queries": queries, "test": "t.npz"}
    asked = {"percentages": percentages, "inference": None, "beliefs": None, "n_sampled": None}
    whole = {**asked, "seed": 20, **recipe}
    out = make("curves", out, whole, method="acmn", inputs=inputs, threads=threads)
    return read_json(out)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A circuit `c`, a network `m` of the same distribution, test data and queries."""
    monkeypatch.chdir(tmp_path)
    circuit, features = grown(3)
    save_model(circuit, "c/chosen.npz")
    save_model(replace(circuit, features=features), "m.mn")
    save_model(load_model("m.mn"), "m/chosen.npz")
    merge_rows(np.random.default_rng(0).integers(0, 2, (40, N))).save("t.npz")
    draw()
    return circuit


def test_queries_nest_and_depend_on_the_seed_alone(folder):
    rank, example = draw()
    assert rank.shape == (25, N)
    assert (np.sort(rank, axis=1) == np.arange(N)).all()
    assert len(np.unique(example)) == 25
    fewer_ranks, fewer_examples = draw("first.npz", 10)
    np.testing.assert_array_equal(fewer_ranks, rank[:10])
    np.testing.assert_array_equal(fewer_examples, example[:10])
    np.testing.assert_array_equal(draw("again.npz")[0], rank)
    assert (draw("other.npz", seed=5)[0] != rank).any()


def test_answers_are_those_of_enumeration(folder):
    points = curve(20, 50, 100)["points"]
    p = np.exp(log_value(folder, all_states(N)))
    p /= p.sum()
    with np.load("q.npz") as queries, np.load("t.npz") as test:
        rank, example = queries["rank"], queries["example"]
        rows = np.unpackbits(test["packed_rows"], axis=1, count=N)[test["row_of"]][example]
    for point, n_query in zip(points, (1, 3, 6), strict=True):
        assert point["n_query_variables"] == n_query
        cll, cmll = [], []
        for row, order in zip(rows, rank, strict=True):
            agrees = ((all_states(N) == row) | (order < n_query)).all(axis=1)
            own = (all_states(N) == row).all(axis=1)
            cll.append(np.log(p[own].sum() / p[agrees].sum()) / n_query)
            total = 0.0
            for v in np.flatnonzero(order < n_query):
                same = agrees & (all_states(N)[:, v] == row[v])
                total += np.log(p[same].sum() / p[agrees].sum())
            cmll.append(total / n_query)
        assert point["cll"]["mean"] == pytest.approx(np.mean(cll))
        assert point["cmll"]["mean"] == pytest.approx(np.mean(cmll))
        assert point["cll"]["stderr"] == pytest.approx(np.std(cll, ddof=1) / 5)
        assert point["seconds_per_query"] > 0


def test_networks_answer_the_same_queries_by_enumeration_and_by_sampling(folder):
    samples = {"model": "m", "inference": {"samples": 4000}, "seed": 3}
    expected, exact = curve(20, 50, 100), curve(20, 50, 100, model="m", inference=EXACT)
    again = curve(20, 50, 100, **samples, threads=2)
    gibbs = curve(20, 50, 100, **samples)
    assert gibbs["inference"] == {"method": "gibbs", "burn_in": 100, "samples": 4000}
    for points in zip(*(r["points"] for r in (expected, exact, gibbs, again)), strict=True):
        cmll = [point["cmll"]["mean"] for point in points]
        assert cmll[1] == pytest.approx(cmll[0], abs=1e-9)
        assert cmll[2] == pytest.approx(cmll[0], abs=0.02)
        assert cmll[3] == cmll[2]
        assert ["cll" in point for point in points] == [True, False, False, False]
    quantities = set(scores_of(curves=["curve.json"])["quantity"])
    assert quantities == {f"{q}_q{p}" for q in ("cmll", "seconds") for p in (20, 50, 100)}


def test_samples_of_a_curve_depend_on_the_seed(folder):
    records = [curve(50, model="m", inference={"samples": 20}, seed=seed) for seed in (3, 4)]
    # A record names the seed that was derived for it.
    assert records[0]["seed"] != records[1]["seed"]
    means = [record["points"][0]["cmll"]["mean"] for record in records]
    assert means[0] != means[1]


def test_models_that_sample_answer_the_first_queries_and_circuits_all(folder):
    records = [
        curve(50, n_sampled=10, out="circuit.json"),
        curve(50, n_sampled=10, model="m", inference=EXACT),
    ]
    draw("ten.npz", 10)
    records.append(curve(50, queries="ten.npz"))
    assert [record["n_queries"] for record in records] == [25, 10, 10]
    of_circuit, of_network, of_ten = (record["points"][0] for record in records)
    assert of_circuit["cmll_sampled"] == pytest.approx(of_ten["cmll"], abs=1e-12)
    assert of_network["cmll_sampled"] == pytest.approx(of_ten["cmll"], abs=1e-9)
    assert of_network["cmll"] == of_network["cmll_sampled"]
    assert of_circuit["cmll"] != of_circuit["cmll_sampled"]
    assert of_circuit["cll_sampled"] == pytest.approx(of_ten["cll"], abs=1e-12)
    assert of_circuit["cll"] != of_circuit["cll_sampled"]
    assert "cmll_sampled" not in of_ten
    assert "cll_sampled" not in {**of_ten, **of_network}
    quantities = set(scores_of(curves=["circuit.json"])["quantity"])
    assert {"cll_sampled_q50", "cmll_sampled_q50"} <= quantities


def test_faults_of_queries(folder):
    merge_rows(np.eye(4, dtype=np.uint8)).save("other.npz")
    draw("q4.npz", 2, data="other.npz")
    with pytest.raises(InputError, match=f"expected queries of {N} variables"):
        curve(10, queries="q4.npz")
    assert not Path("curve.json").exists()


def test_curves_are_gathered_with_and_without_a_time_of_single_queries(folder):
    record = curve(50)
    (point,) = record["points"]
    scores = scores_of(curves=["curve.json"]).set_index("quantity")
    assert scores.loc["cll_q50", "value"] == point["cll"]["mean"]
    assert scores.loc["cmll_q50", "stderr"] == point["cmll"]["stderr"]
    assert scores.loc["seconds_q50", "value"] == point["seconds_per_query"]
    assert scores.loc["seconds_single_q50", "value"] == point["seconds_single_per_query"] > 0
    del point["seconds_single_per_query"]
    write_json("curve.json", record)
    quantities = scores_of(curves=["curve.json"])["quantity"].tolist()
    assert quantities == ["cll_q50", "cmll_q50", "seconds_q50"]


def test_single_queries_are_timed_one_at_a_time_on_the_first_of_them(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(curves, "_SINGLE", 10)
    monkeypatch.setattr(
        Evaluator, "conditionals", lambda self, row: asked.append(row.copy()) or (0.0, None)
    )
    assert curve(50)["n_queries_single"] == 10
    with np.load("q.npz") as queries:
        unknown = queries["rank"][:10] < 3
    # The first query is answered once before, so that compilation is not timed.
    assert len(asked) == 11
    np.testing.assert_array_equal(np.array(asked[1:]) == UNKNOWN, unknown)


def test_networks_also_answer_by_belief_propagation(folder):
    asked = {"model": "m", "inference": EXACT, "n_sampled": 10, "beliefs": True}
    one, several = curve(20, 60, **asked)["points"]
    # With one query variable there is nothing to propagate.
    assert one["cmll_beliefs"]["mean"] == pytest.approx(one["cmll"]["mean"], abs=1e-4)
    assert one["converged_beliefs"] == 1
    assert several["cmll_beliefs"]["mean"] != several["cmll"]["mean"]
    assert several["cmll_beliefs"]["mean"] == pytest.approx(several["cmll"]["mean"], abs=0.3)
    quantities = set(scores_of(curves=["curve.json"])["quantity"])
    names = ("cmll_beliefs", "seconds_beliefs", "converged_beliefs")
    assert {f"{name}_q20" for name in names} <= quantities
    again = curve(20, 60, **asked, threads=2)["points"]
    assert again[1]["cmll_beliefs"] == several["cmll_beliefs"]
    assert "cmll_beliefs" not in curve(50, beliefs=True)["points"][0]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rank": np.zeros((25, N + 1), np.uint16)}, f"expected queries of {N} variables"),
        ({"rank": np.zeros((25, N))}, f"expected queries of {N} variables"),
        ({"example": np.full(25, 40)}, "expected the number of the test example of each query"),
        ({"example": np.full(25, -1)}, "expected the number of the test example of each query"),
        ({"example": np.zeros(25)}, "expected the number of the test example of each query"),
        ({"example": np.zeros(24, int)}, "expected the number of the test example of each query"),
    ],
)
def test_damaged_queries_are_refused(folder, change, problem):
    with np.load("q.npz") as arrays:
        np.savez("q.npz", **{**arrays, **change})
    with pytest.raises(InputError, match=f"q.npz: {problem}"):
        curve(20)
