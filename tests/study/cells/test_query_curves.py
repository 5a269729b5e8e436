"""Queries of growing shares of the variables: which, how they are answered, how they are drawn."""

from dataclasses import replace

import numpy as np
import pytest

from command import refuse, succeed
from made_circuits import N, grown
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.evaluation import UNKNOWN, RowEvaluator
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.files import read_json, write_json
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.kinds import curves
from oracles import all_states

CURVE = "query-curve c.npz --study acmn --label acmn --dataset d --test t.npz --queries q.npz"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    circuit, _ = grown(3)
    save_model(circuit, "c.npz")
    rng = np.random.default_rng(0)
    merge_rows(rng.integers(0, 2, (40, N))).save("t.npz")
    succeed("queries t.npz --dataset d --examples 25 --seed 4 --out q.npz")
    return circuit


def test_queries_nest_and_depend_on_the_seed_alone(folder):
    with np.load("q.npz") as arrays:
        rank, example = arrays["rank"], arrays["example"]
    assert rank.shape == (25, N)
    assert (np.sort(rank, axis=1) == np.arange(N)).all()
    assert len(np.unique(example)) == 25
    succeed("queries t.npz --dataset d --examples 10 --seed 4 --out first.npz")
    with np.load("first.npz") as arrays:
        np.testing.assert_array_equal(arrays["rank"], rank[:10])
        np.testing.assert_array_equal(arrays["example"], example[:10])
    succeed("queries t.npz --dataset d --examples 25 --seed 4 --out again.npz")
    with np.load("again.npz") as arrays:
        np.testing.assert_array_equal(arrays["rank"], rank)
    succeed("queries t.npz --dataset e --examples 25 --seed 4 --out other.npz")
    with np.load("other.npz") as arrays:
        assert (arrays["rank"] != rank).any()


def test_answers_are_those_of_enumeration(folder):
    succeed(f"{CURVE} --percentages [20,50,100] --out curve.json")
    points = read_json("curve.json")["points"]
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
    circuit, features = grown(3)
    save_model(replace(circuit, features=features), "m.mn")
    line = CURVE.replace("c.npz", "m.mn").replace("--label acmn", "--label gssl")
    percentages = "--percentages [20,50,100]"
    succeed(f"{CURVE} {percentages} --out circuit.json")
    succeed(f'{line} {percentages} --inference \'{{"method": "exact"}}\' --out exact.json')
    sampled = f"{line} {percentages} --inference '{{\"samples\": 4000}}' --seed 3 --out"
    succeed(f"{sampled} gibbs.json")
    succeed(f"{sampled} again.json --threads 2")
    expected, exact = read_json("circuit.json"), read_json("exact.json")
    gibbs, again = read_json("gibbs.json"), read_json("again.json")
    assert gibbs["inference"] == {"method": "gibbs", "burn_in": 100, "samples": 4000}
    for points in zip(*(r["points"] for r in (expected, exact, gibbs, again)), strict=True):
        cmll = [point["cmll"]["mean"] for point in points]
        assert cmll[1] == pytest.approx(cmll[0], abs=1e-9)
        assert cmll[2] == pytest.approx(cmll[0], abs=0.02)
        assert cmll[3] == cmll[2]
        assert ["cll" in point for point in points] == [True, False, False, False]
    scores = gather([], curve_paths=["gibbs.json"])
    shares = (20, 50, 100)
    assert set(scores["quantity"]) == {f"{q}_q{p}" for q in ("cmll", "seconds") for p in shares}


def test_samples_of_a_curve_depend_on_the_seed(folder):
    circuit, features = grown(3)
    save_model(replace(circuit, features=features), "m.mn")
    line = CURVE.replace("c.npz", "m.mn")
    sampled = f"{line} --percentages [50] --inference '{{\"samples\": 20}}' --out o.json --seed"
    found = {}
    for seed in (3, 4):
        succeed(f"{sampled} {seed}")
        record = read_json("o.json")
        # A record names the seed that was derived for it.
        found[record["seed"]] = record["points"][0]["cmll"]["mean"]
    assert len(found) == len(set(found.values())) == 2


def test_models_that_sample_answer_the_first_queries_and_circuits_all(folder):
    circuit, features = grown(3)
    save_model(replace(circuit, features=features), "m.mn")
    succeed(f"{CURVE} --percentages [50] --sampled 10 --out circuit.json")
    line = CURVE.replace("c.npz", "m.mn").replace("--label acmn", "--label gssl")
    exact = '--percentages [50] --inference \'{"method": "exact"}\''
    succeed(f"{line} {exact} --sampled 10 --out network.json")
    succeed("queries t.npz --dataset d --examples 10 --seed 4 --out q.npz")
    succeed(f"{CURVE} --percentages [50] --out ten.json")
    records = [read_json(f"{name}.json") for name in ("circuit", "network", "ten")]
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
    quantities = set(gather([], curve_paths=["circuit.json"])["quantity"])
    assert {"cll_sampled_q50", "cmll_sampled_q50"} <= quantities


def test_faults_of_queries(folder, tmp_path):
    refuse(f"{CURVE} --percentages [0] --out o.json", "whole numbers from 1 to 100")
    refuse(f"{CURVE} --percentages 5x --out o.json", "is not JSON")
    merge_rows(np.eye(4, dtype=np.uint8)).save("other.npz")
    succeed("queries other.npz --dataset d --examples 2 --out q4.npz")
    line = CURVE.replace("q.npz", "q4.npz")
    refuse(f"{line} --percentages [10] --out o.json", f"expected queries of {N} variables")
    refuse(f"{CURVE} --percentages [10] --inference 3 --out o.json", "--inference")


def test_curves_are_gathered(folder):
    succeed(f"{CURVE} --percentages [50] --out curve.json")
    succeed("fit atomic --train t.npz --out m.npz")

    scores = gather([], curve_paths=["curve.json"]).set_index("quantity")
    point = read_json("curve.json")["points"][0]
    assert scores.loc["cll_q50", "value"] == point["cll"]["mean"]
    assert scores.loc["cmll_q50", "stderr"] == point["cmll"]["stderr"]
    assert scores.loc["seconds_q50", "value"] == point["seconds_per_query"]
    assert scores.loc["seconds_single_q50", "value"] == point["seconds_single_per_query"] > 0


def test_single_queries_are_timed_one_at_a_time_on_the_first_of_them(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(curves, "_SINGLE", 10)
    monkeypatch.setattr(
        RowEvaluator, "conditionals", lambda self, row: asked.append(row.copy()) or (0.0, None)
    )
    succeed(f"{CURVE} --percentages [50] --out curve.json")
    assert read_json("curve.json")["n_queries_single"] == 10
    with np.load("q.npz") as queries:
        unknown = queries["rank"][:10] < 3
    # The first query is answered once before, so that compilation is not timed.
    assert len(asked) == 11
    np.testing.assert_array_equal(np.array(asked[1:]) == UNKNOWN, unknown)


def test_records_without_a_time_of_single_queries_are_gathered(folder):
    succeed(f"{CURVE} --percentages [50] --out curve.json")
    record = read_json("curve.json")
    del record["points"][0]["seconds_single_per_query"]
    write_json("curve.json", record)
    quantities = gather([], curve_paths=["curve.json"])["quantity"].tolist()
    assert quantities == ["cll_q50", "cmll_q50", "seconds_q50"]


def test_networks_also_answer_by_belief_propagation(folder):
    circuit, features = grown(3)
    save_model(replace(circuit, features=features), "m.mn")
    line = CURVE.replace("c.npz", "m.mn").replace("--label acmn", "--label gssl")
    exact = '--inference \'{"method": "exact"}\' --percentages [20,60] --beliefs'
    succeed(f"{line} {exact} --sampled 10 --out network.json")
    one, several = read_json("network.json")["points"]
    # With one query variable there is nothing to propagate.
    assert one["cmll_beliefs"]["mean"] == pytest.approx(one["cmll"]["mean"], abs=1e-4)
    assert one["converged_beliefs"] == 1
    assert several["cmll_beliefs"]["mean"] != several["cmll"]["mean"]
    assert several["cmll_beliefs"]["mean"] == pytest.approx(several["cmll"]["mean"], abs=0.3)
    quantities = set(gather([], curve_paths=["network.json"])["quantity"])
    names = ("cmll_beliefs", "seconds_beliefs", "converged_beliefs")
    assert {f"{name}_q20" for name in names} <= quantities
    succeed(f"{line} {exact} --sampled 10 --threads 2 --out again.json")
    assert read_json("again.json")["points"][1]["cmll_beliefs"] == several["cmll_beliefs"]
    succeed(f"{CURVE} --percentages [50] --beliefs --out circuit.json")
    assert "cmll_beliefs" not in read_json("circuit.json")["points"][0]


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
    refuse(f"{CURVE} --percentages [20] --out curve.json", f"q.npz: {problem}")
