"""The steps of the pipeline as a person can call them."""

import gzip
import json
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import numbers, refuse, run, succeed
from made_random import random_data
from mnlearn.data.examples import load_dataset
from mnlearn.data.text import save_text
from mnlearn_studies.datasets.embedded import load_embedded

pytestmark = pytest.mark.usefixtures("folder")


def test_prepare_embedded_and_own_data():
    for place in ("here", "there"):
        succeed(f"prepare triples --folder {place} --seed 0")
    for split, data in zip(("train", "valid", "test"), load_embedded("triples", 0), strict=True):
        path = Path("here/triples") / f"{split}.npz"
        assert path.read_bytes() == Path("there/triples", f"{split}.npz").read_bytes()
        np.testing.assert_array_equal(load_dataset(path).row_of, data.row_of)
    own = '{"train": "d.data", "fractions": [0.5, 0.25, 0.25]}'
    succeed("prepare mine --folder here --local", own)
    sizes = [len(load_dataset(f"here/mine/{s}.npz").row_of) for s in ("train", "valid", "test")]
    assert sizes == [150, 75, 75]
    three = '{"train": "d.data", "valid": "v.data", "test": "named.csv"}'
    succeed("prepare three --folder here --local", three)
    assert load_dataset("here/three/train.npz").names == tuple("abcdef")


def test_partition():
    line = "partition d.npz --dataset x --groups 4 --number"
    succeed(f"{line} 3 --out p.json")
    succeed(f"{line} 1 --out q.json")
    drawn = json.loads(Path("p.json").read_text(encoding="utf-8"))
    assert len(drawn) == 3
    for groups in drawn:
        assert sorted(v for group in groups for v in group) == list(range(6))
        assert sorted(map(len, groups)) == [1, 1, 2, 2]
    assert json.loads(Path("q.json").read_text(encoding="utf-8")) == drawn[:1]


CELL = (
    "--study s --dataset triples --train data/triples/train.npz --valid data/triples/valid.npz "
    "--threads 1"
)


def learn(method, grid, *more):
    return run(
        f"tune {method} --label {method} {CELL} --models models/{method}",
        "--grid",
        grid,
        *more,
    )


def test_the_steps_of_a_study():
    succeed("prepare triples --folder data --seed 0")
    succeed("partition data/triples/train.npz --dataset triples --groups 4 --number 2 --out g.json")
    cmll = '{"groups": 4, "method": "gibbs", "burn_in": 10, "samples": 50}'
    grids = {"atomic": "{}", "dtsl": '{"kappa": [0.01], "feature_mode": ["prune-5", "nonzero"]}'}
    for method, grid in grids.items():
        assert learn(method, grid, "--cmll", cmll).exit_code == 0
        result = succeed(
            f"score-cell models/{method} --groups g.json --test data/triples/test.npz "
            f"--checkpoints kept --per-example {method}.pe.csv --trace {method}.csv "
            f"--cell cells/{method}.json --threads 1 --inference",
            '{"method": "gibbs", "burn_in": 10, "samples": 50}',
            "--further",
            '{"mcsat": {"method": "mcsat", "burn_in": 10, "samples": 200}}',
        )
        assert result.stdout == ""
    models = {p.stem for p in Path("models/dtsl").glob("*.npz")}
    assert models == {"chosen", "prune-5", "nonzero"}
    assert Path("dtsl.csv").read_bytes() == Path("models/dtsl/trace.csv").read_bytes()
    succeed(
        "pair --study s --dataset triples --first dtsl dtsl.pe.csv --second atomic atomic.pe.csv "
        "--out pair.json"
    )
    succeed("gather cells/atomic.json cells/dtsl.json --paired pair.json --out scores.csv")
    table = pd.read_csv("scores.csv", keep_default_na=False)
    chosen = table[table["variant"] == ""].set_index(["method", "quantity"])["value"]
    for method in grids:
        record = numbers(f"score models/{method}/chosen.npz data/triples/test.npz --json")
        assert chosen[method, "pll"] == pytest.approx(record["mean"], abs=1e-12)
        per_example = pd.read_csv(f"{method}.pe.csv")
        assert list(per_example) == ["pll", "cmll", "ll"]
        assert per_example["pll"].mean() == pytest.approx(record["mean"], abs=1e-9)
    assert chosen["dtsl", "pll"] > chosen["atomic", "pll"]
    difference = chosen["dtsl", "pll"] - chosen["atomic", "pll"]
    assert chosen["dtsl", "pll_less_atomic"] == pytest.approx(difference)
    assert chosen["dtsl", "ll"] > chosen["atomic", "ll"]
    for method in grids:
        assert chosen[method, "cmll_mcsat"] == pytest.approx(chosen[method, "cmll"], rel=0.05)
        assert chosen[method, "seconds_inference_mcsat"] > 0
    assert chosen["dtsl", "cmll_mcsat_monte_carlo_error"] > 0
    Path("table.md").write_text(
        "Scores with a < b.\n\n| a | b |\n| - | -: |\n| x | **1.5** |\n", encoding="utf-8"
    )
    succeed("page table.md --out page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "a &lt; b" in page
    assert "<strong>1.5</strong>" in page
    assert page.count("<tr>") == 2


def refuse_with(line, value, names):
    refuse(f"{line} {shlex.quote(value)}", names)


LOCAL = [
    ("{", "--local: is not JSON"),
    ('{"train": "no"}', "no: no such file"),
    ('{"train": "ragged"}', "ragged, line 3"),
    ('{"train": "d.data", "valid": "v.data"}', "d.data: expected a validation and a test file"),
    ('{"train": "d.data", "valid": "v.data", "test": "d5.data"}', "d5.data: expected 6"),
    ('{"train": "d.data", "fractions": [1]}', "fractions: expected three numbers"),
    ('{"train": "d.data", "fractions": [0.5, 0.5, 0.5]}', "fractions: expected a sum of 1"),
    ("[1]", "--local"),
    ("3", "--local"),
    ('{"trian": "d.data"}', "--local"),
    ('{"train": 5}', "--local"),
    ('{"train": "d.data", "fractions": 5}', "--local"),
    ('{"train": "d.data", "fractions": ["a", "b", "c"]}', "--local"),
]


@pytest.mark.parametrize(("value", "names"), LOCAL)
def test_prepare_refuses(value, names):
    refuse_with("prepare mine --folder here --local", value, names)


def test_prepare_takes_the_limit_of_expansion_from_the_configuration():
    save_text(random_data(0), "d.csv.gz")
    n_bytes = len(gzip.decompress(Path("d.csv.gz").read_bytes()))
    for file, bound, advice in (
        ("d.csv.gz", (n_bytes - 1) / 1e9, "max_expanded of the dataset in config.yaml raises the"),
        ("d.csv.gz", 0, "above 0 and of at most 1e+09 as max_expanded, got 0"),
        ("d.csv.gz", True, "got true"),
    ):
        own = json.dumps({"train": file, "max_expanded": bound})
        refuse_with("prepare mine --folder here --local", own, advice)
    own = json.dumps({"train": "d.csv.gz", "max_expanded": n_bytes / 1e9})
    succeed("prepare mine --folder here --local", own)
    assert load_dataset("here/mine/train.npz").n_examples == 210


def test_prepare_refuses_names_that_lead_elsewhere():
    refuse_with("prepare ../up --folder folder --local", '{"train": "d.data"}', "../up")


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ("--round variables --own 3/2 --out p.json", "part '3/2': expected K/N"),
        (
            "--round variables --own '$(touch hit)' --out p.json",
            "part '$(touch hit)': expected K/N",
        ),
        ("--round stage7 --own 1/2 --out p.json", "round stage7: expected one of variables."),
        ("--round variables --own 1/2 --out p.json --part no.json", "no.json: no such file"),
        ("--round variables --own 1/2 --out p.json --part broken.json", "broken.json, line 1"),
        ("--round variables --own 1/2 --out p.json --part object.json", "is not a complete record"),
        ("--round variables --own 1/2", "Missing option '--out'"),
    ],
)
def test_tune_part_refuses(more, names):
    cell = "--study s --label a --dataset d --train d.npz --valid v.npz --grid {} --checkpoints c"
    refuse(f"tune-part dn_tree {cell} {more}", names)


TUNE = "tune atomic --study s --label a --dataset d --train d.npz --models models"

SCORE = (
    "score-cell learned --groups groups.json --per-example p.csv --trace t.csv --cell c.json --test"
)


@pytest.mark.parametrize(
    ("line", "value", "names"),
    [
        (f"{TUNE} --valid d.npz --grid", "{", "--grid: is not JSON"),
        (f"{TUNE} --valid d.npz --grid", '{"x": 1}', "parameter x"),
        (f"{TUNE} --valid no.npz --grid", "{}", "no.npz: no such file"),
        (f"{TUNE} --valid d5.npz --grid", "{}", "6 variables"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", "{", "--cmll: is not JSON"),
        (f"{SCORE} d.npz --inference", "{", "--inference: is not JSON"),
        (f"{SCORE} d.npz --inference", "{}", "learned/tuning.json: no such file"),
    ],
)
def test_tune_and_score_cell_refuse(line, value, names):
    refuse_with(line, value, names)


@pytest.mark.parametrize(
    ("line", "value", "names"),
    [
        (f"{TUNE} --valid d.npz --grid", "[]", "--grid"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", "[1]", "--cmll"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", '{"samples": 5}', "--cmll"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", '{"groups": 2, "x": 1}', "--cmll"),
        (f"{SCORE} d.npz --inference", "[1]", "--inference"),
        (f"{SCORE} d.npz --inference", '{"x": 1}', "--inference"),
        (f"{SCORE} d.npz --inference {{}} --further", '{"m": 1}', "--further, m"),
        (f"{SCORE} d.npz --inference {{}} --further", '{"m": {"x": 1}}', "--further, m"),
    ],
)
def test_tune_and_score_cell_refuse_json_of_another_shape(line, value, names):
    Path("learned").mkdir()
    Path("learned/tuning.json").write_text("{}", encoding="utf-8")
    refuse_with(line, value, names)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("partition no.npz --dataset x --groups 2 --number 1 --out p.json", "no.npz: no such"),
        ("partition m.npz --dataset x --groups 2 --number 1 --out p.json", "expected a dataset"),
        ("partition d.npz --dataset x --groups 2 --number 1 --out file/p", "file/p: cannot be"),
        ("gather no.json --out s.csv", "no.json: no such file"),
        ("gather broken.json --out s.csv", "broken.json, line 1"),
        ("gather object.json --out s.csv", "object.json"),
        ("page no.csv --out p.html", "no.csv"),
        ("page binary.csv --out p.html", "binary.csv"),
    ],
)
def test_other_steps_refuse(line, names):
    refuse(line, names)
