"""The steps of the study `acmn` by command line, on samples of a known network."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import succeed
from mnlearn.data.examples import load_dataset
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.models.io.formats import load_model
from mnlearn.runtime.files import read_json
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.report.tables import make_table
from mnlearn_studies.study.definition import Study, load_study
from mnlearn_studies.study.published import load_published
from oracles import all_states

# The tests share what one run makes.
pytestmark = pytest.mark.xdist_group("acmn steps")
LIMITS = [120, 250, 600]
GRIDS = {
    "acmn": {"l1": [1, 5], "split_cost": [2], "edge_cost": [0.1], "max_edges": LIMITS},
    "acbn": {"split_cost": [2, 5], "edge_cost": [0.1], "max_edges": LIMITS},
}
PAIRS = [("acbn", "acmn"), ("acmn", "acbn")]
DATA = {split: f"data/triples/{split}.npz" for split in ("train", "valid", "test")}
IDENTITY = "--study acmn --dataset triples"
# As `write` reads it.
READ = {"keep_default_na": False, "na_values": {"stderr": [""]}}
QUICK = '{"method": "gibbs", "burn_in": 10, "samples": 50}'
# Test LL of the best circuit within each limit, as the program gave it when this was written.
GOLDEN = {
    "acmn": {"120": -7.8948, "250": -7.5197, "600": -7.2293},
    "acbn": {"120": -7.8276, "250": -7.5490, "600": -7.3325},
}


def run_cell(method):
    tune = f"tune {method} --label {method} {IDENTITY} --train {DATA['train']}"
    succeed(
        f"{tune} --valid {DATA['valid']} --models models/{method} --threads 1 --grid",
        json.dumps(GRIDS[method]),
    )
    succeed(
        f"score-cell models/{method} --groups g.json --test {DATA['test']} --cmll-of chosen "
        f"--per-example {method}.pe.csv --trace {method}.csv --cell cells/{method}.json "
        "--threads 1 --inference",
        QUICK,
    )
    succeed(
        f"query-curve models/{method}/chosen.npz --label {method} {IDENTITY} --test {DATA['test']} "
        f"--queries q.npz --percentages [50,100] --sampled 20 --out curves/{method}.json "
        "--threads 1"
    )


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """The gathered scores, in the folder of the run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("acmn"))
        succeed("prepare triples --folder data --seed 0")
        succeed(f"partition {DATA['train']} --dataset triples --groups 4 --number 1 --out g.json")
        succeed(f"queries {DATA['test']} --dataset triples --examples 60 --out q.npz")
        for method in GRIDS:
            run_cell(method)
        for first, second in PAIRS:
            succeed(
                f"divergence {IDENTITY} --first {first} models/{first}/chosen.npz "
                f"--second {second} models/{second}/chosen.npz --threads 1 "
                f"--out {first}-{second}.json"
            )
        cells = " ".join(f"cells/{method}.json" for method in GRIDS)
        curves = " ".join(f"--curve curves/{method}.json" for method in GRIDS)
        divergences = " ".join(f"--divergence {a}-{b}.json" for a, b in PAIRS)
        succeed(f"gather {cells} {curves} {divergences} --out scores.csv")
        yield pd.read_csv("scores.csv", **READ)


def value(scores, method, quantity, variant=""):
    found = scores[
        (scores["method"] == method)
        & (scores["quantity"] == quantity)
        & (scores["variant"] == variant)
    ]
    assert len(found) == 1, (method, quantity, variant)
    return float(found["value"].iloc[0])


@pytest.mark.parametrize("method", GRIDS)
def test_the_best_model_of_each_edge_limit_is_kept_and_scored(scores, method):
    names = {"", *map(str, LIMITS)}
    assert set(scores[scores["method"] == method]["variant"]) == names
    assert {path.stem for path in Path(f"models/{method}").glob("*.npz")} == {
        name or "chosen" for name in names
    }
    trace = pd.read_csv(f"{method}.csv")
    test = load_dataset(DATA["test"])
    for limit in LIMITS:
        circuit = load_model(f"models/{method}/{limit}.npz")
        assert circuit.n_edges == value(scores, method, "n_edges", str(limit)) <= limit
        best = trace[trace["max_edges"] == limit]["validation"].max()
        assert value(scores, method, "validation", str(limit)) == pytest.approx(best)
        exact = test.weight @ log_value(circuit, test.rows) / test.n_examples
        ll = exact - log_partition(circuit)
        assert value(scores, method, "ll", str(limit)) == pytest.approx(ll, abs=1e-9)
    validation = [value(scores, method, "validation", str(limit)) for limit in LIMITS]
    assert value(scores, method, "validation") == max(validation)
    assert value(scores, method, "chosen_max_edges") == LIMITS[int(np.argmax(validation))]
    own = scores[(scores["method"] == method) & (scores["quantity"] == "cmll")]
    assert own["variant"].tolist() == [""]


@pytest.mark.parametrize("method", GRIDS)
def test_log_likelihoods_are_as_they_were(scores, method):
    found = {variant: value(scores, method, "ll", variant) for variant in GOLDEN[method]}
    assert found == pytest.approx(GOLDEN[method], abs=5e-3)


@pytest.mark.parametrize("method", GRIDS)
def test_a_query_of_all_variables_is_the_log_likelihood(scores, method):
    circuit = load_model(f"models/{method}/chosen.npz")
    test = load_dataset(DATA["test"])
    with np.load("q.npz") as queries:
        rows = test.rows[test.row_of[queries["example"]]]
    ll = log_value(circuit, rows) - log_partition(circuit)
    expected = ll.mean() / test.n_vars
    assert value(scores, method, "cll_q100") == pytest.approx(expected, abs=1e-9)
    first = ll[:20].mean() / test.n_vars
    assert value(scores, method, "cll_sampled_q100") == pytest.approx(first, abs=1e-9)
    assert value(scores, method, "seconds_single_q50") > 0


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_divergence_is_that_of_enumeration(scores, first, second):
    states = all_states(12)
    circuits = [load_model(f"models/{method}/chosen.npz") for method in (first, second)]
    log_p, log_q = (log_value(circuit, states) - log_partition(circuit) for circuit in circuits)
    kl = np.exp(log_p) @ (log_p - log_q)
    error = read_json(f"{first}-{second}.json")["kl"]["stderr"]
    assert value(scores, first, f"kl_to_{second}") == pytest.approx(kl, abs=4 * error)
    assert 0 < error < 0.05
    assert value(scores, first, "n_nodes") == circuits[0].n_nodes


def test_the_tables_of_the_study_show_the_numbers(scores):
    given = load_study(registry_path().parent / "studies" / "acmn.yaml").content
    study = Study("acmn", {**given, "datasets": ["triples"]})
    entries = {entry["name"]: entry for entry in given["tables"]}

    def shown(name, **changes):
        entry = {**entries[name], **changes}
        table = make_table(study, entry, scores, load_published(), labels={"triples": "Triples"})
        return dict(zip(table.columns, table.body[0].cells, strict=True))

    limits = shown("edge_limits", limits=LIMITS)
    loss = value(scores, "acmn", "ll", "600") - value(scores, "acmn", "ll", "120")
    assert limits["loss_120"].value == pytest.approx(loss)
    assert limits["chosen"].value == value(scores, "acmn", "chosen_max_edges")
    validation = shown("edge_limits_validation_acbn", limits=LIMITS)
    assert validation["600"].value == value(scores, "acbn", "validation", "600")
    divergence = shown("divergence")
    assert all(cell.text for cell in divergence.values())
    assert divergence["kl_acmn_acbn"].value == value(scores, "acmn", "kl_to_acbn")
