"""Hostile and damaged files: each ends with one sentence, soon, and no file is written."""

import csv
import gzip
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import refuse, succeed
from command_folder import save_named
from made_random import random_data, random_network
from made_study import make
from mnlearn.data.text_tables import save_text
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.kinds import ASKED
from mnlearn_studies.records.kinds.paired import compare_paired
from mnlearn_studies.study.definition import Study

LONG = "9" * 5000
MOST_SECONDS = 10


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data, a model and bad files, as current folder."""
    monkeypatch.chdir(tmp_path)
    save_text(random_data(0), "d.data")
    save_model(random_network(0), "m.npz")
    texts = {
        "long.ac": f"(2)\nv 0 0\nv 0 1\n+ {LONG} 1\nEOF\n",
        "long_variable.ac": f"(2)\nv {LONG} 0\nEOF\n",
        "long_node.ac": f"(2)\nn 1.0\n* 0\nEOF\n{LONG} 1.0 +v0_1\nEOF\n",
        "long_literal.ac": f"(2)\nn 1.0\n* 0\nEOF\n0 1.0 +v{LONG}_1\nEOF\n",
        "header.ac": "(" + "2" * 60 + "\nEOF\n",
        "lines.ac": "(2)\x0bv 0 0\u2028v 0 1\nEOF\n",
        "long.json": f"[[{LONG}]]",
        "deep.json": "[" * 100_000,
        "long.yaml": f"kappa: [{LONG}]\n",
        "deep.yaml": "[" * 100_000,
        "aliases.yaml": "a: &a [1]\n"
        + "".join(f"{chr(98 + k)}: &{chr(98 + k)} [{f'*{chr(97 + k)}, ' * 9}]\n" for k in range(9)),
        "cell.csv": "a" * 200_000 + ",b\n0,1\n",
        "quote.csv": '"a,b\n0,1\n',
        "control.csv": "a\x01,b\n0,1\n1,0\n",
        "vertical.csv": "0,1\x0b1,0\n",
        "separator.csv": "0,1\u20281,0\n",
        "tiny.data": "1e-300|0,1,1\n1e-300|1,0,1\n1e-300|1,1,0\n",
        "normalised.data": "0.2|0,1,1\n0.3|1,0,1\n0.5|1,1,0\n",
        "little.data": "0.1|0,1,1\n0.2|1,0,1\n",
        "evidence_cell": "*" * 200_000 + ",0,1,0,1,0\n",
        "evidence_quote": '"*,0,1,0,1,0\n',
        "evidence_lines": "*,0,1,0,1,0\u2028*,0,1,0,1,0\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8", newline="")
    write_model("huge.npz", n_vars=10**9)
    write_model("control.npz", names=np.array(["a\x01", *"bcdef"]))
    write_model("twice.npz", names=np.array(list("aacdef")))
    return tmp_path


def write_model(name, **changes):
    """Write the model again with other arrays."""
    arrays = dict(np.load("m.npz"))
    np.savez(name, **{**arrays, **{key: np.asarray(value) for key, value in changes.items()}})


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("info long.ac", "long.ac, line 4: expected the numbers of nodes that stand before"),
        ("info long_variable.ac", "long_variable.ac, line 2: expected v, a variable and a value"),
        ("info long_node.ac", "long_node.ac, line 5: expected the number of a parameter node"),
        ("info long_literal.ac", "long_literal.ac, line 5: expected literals"),
        ("info header.ac", "header.ac, line 1: expected the numbers of values"),
        ("info lines.ac", "lines.ac, line 1: expected the numbers of values"),
        ("info huge.npz", "huge.npz: expected at most 1000000 variables"),
        ("info control.npz", r"control.npz, names, column 1: 'a\x01' has a control character"),
        ("info twice.npz", "twice.npz, names: two columns are called 'a'"),
        ("convert control.npz a.graphml", "control.npz, names, column 1"),
        ("score m.npz d.data --metric cmll --groups long.json", "long.json: expected numbers of"),
        ("score m.npz d.data --metric cmll --groups deep.json", "deep.json: its brackets are"),
        ("fit dn_tree --train d.data --valid d.data --grid long.yaml --out o.npz", "long.yaml: "),
        ("fit dn_tree --train d.data --valid d.data --grid deep.yaml --out o.npz", "deep.yaml: "),
        (
            "fit dn_tree --train d.data --valid d.data --grid aliases.yaml --out o.npz",
            "aliases.yaml: expected at most 100000 values, aliases included",
        ),
        ("fit atomic --train cell.csv --out o.npz", "cell.csv, line 1: is not CSV: field larger"),
        ("fit atomic --train quote.csv --out o.npz", "quote.csv, line 1: is not CSV"),
        ("fit atomic --train control.csv --out o.npz", "control.csv, line 1, column 1"),
        ("fit atomic --train vertical.csv --out o.npz", "vertical.csv, line 1, column 2"),
        ("fit atomic --train separator.csv --out o.npz", "separator.csv, line 1, column 2"),
        ("fit ltm --train tiny.data --out o.npz", "tiny.data: expected weights that sum to"),
        ("fit ltm --train normalised.data --out o.npz", "at least 2 for the BIC, got 1."),
        ("fit dn_bag --train little.data --out o.npz", "little.data: cannot be resampled"),
        ("query m.npz --evidence evidence_cell", "evidence_cell, line 1: is not CSV: field larger"),
        ("query m.npz --evidence evidence_quote", "evidence_quote, line 1: is not CSV"),
        ("query m.npz --evidence evidence_lines", "evidence_lines, line 1: expected 6 values"),
        (f"fit atomic --train d.data --out o.npz --set pseudocount=-{LONG}", "pseudocount"),
        (f"fit dn_bag --train d.data --out o.npz --set n_bags={LONG}", "parameter n_bags"),
        (f"step record '[{LONG}]'", "JOB: expected the JSON that the workflow writes"),
        (f"step record {'[' * 50_000}", "JOB: expected the JSON that the workflow writes"),
        ("step record '{}'", "JOB: expected the JSON that the workflow writes"),
    ],
)  # fmt: skip
def test_bad_files_are_refused(line, names):
    began = time.monotonic()
    refuse(line, names)
    assert time.monotonic() - began < MOST_SECONDS


@pytest.mark.parametrize(
    "line",
    [
        "fit atomic --train d.csv.gz --out o.npz",
        "fit atomic --train d.data --valid d.csv.gz --out o.npz",
        "score m.npz d.csv.gz",
        "convert d.csv.gz o.npz",
    ],
)
def test_an_option_sets_the_limit_of_expansion(line):
    save_text(random_data(0), "d.csv.gz")
    size = len(gzip.decompress(Path("d.csv.gz").read_bytes()))
    refuse(f"{line} --max-expanded {(size - 1) / 1e9:.12f}", "--max-expanded raises the limit")
    refuse(f"{line} --max-expanded 0", "--max-expanded")
    succeed(f"{line} --max-expanded {size / 1e9:.12f}")


def test_an_option_raises_the_limit_of_the_ratio(monkeypatch):
    line = "0,1,1,0,1,0\n1,0,0,1,1,1\n"
    Path("d.csv.gz").write_bytes(gzip.compress((line * 200_000).encode()))
    monkeypatch.setattr(ExpansionLimit, "free_bytes", 1000)
    monkeypatch.setattr(
        ExpansionLimit.__init__, "__defaults__", (4 << 30, 200.0, 1000, "decompress it")
    )
    refuse("score m.npz d.csv.gz", "expected at most 200 times as much; --max-expanded raises the")
    succeed("score m.npz d.csv.gz --max-expanded 1")


def test_the_trace_is_kept_if_the_model_cannot_be_written():
    Path("t.csv").write_text("old", encoding="utf-8")
    refuse("fit atomic --train d.data --out d.data/o.npz --trace t.csv", "cannot be written")
    assert Path("t.csv").read_text(encoding="utf-8") == "old"
    succeed("fit atomic --train d.data --out o.npz --trace t.csv.gz")
    assert len(pd.read_csv("t.csv.gz")) == 1


NAMES = [
    ["$x_{$", r"$\frac$", r"a\$b$"],
    ["variable", "value", "source"],
    ["target", "weight", "variable"],
]


@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
def test_ising_takes_names_of_every_kind(names, request):
    if "$" not in names[0]:  # The sign begins and ends a formula in a picture.
        request.getfixturevalue("sketched")
    data = random_data(0, n_vars=3)
    save_named(data.rows[data.row_of], names, "named.csv")
    succeed("ising named.csv --out net --gamma 0 --merge or --bootstraps 2")
    matrix = pd.read_csv("net/weights.csv", index_col=0)
    assert matrix.index.tolist() == names
    assert matrix.columns.tolist() == names
    assert np.array_equal(matrix, matrix.T)
    assert pd.read_csv("net/thresholds.csv")["variable"].tolist() == names
    assert load_model("net/model.npz").schema.names == tuple(names)
    with Path("net/weights.csv").open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    assert header == ["" if "variable" in names else "variable", *names]


RECORDS = {
    "empty": "",
    "text": '"a"',
    "list": "[1]",
    "object": "{}",
    "half": '{"method": "atomic", "dataset": "a", "variants": {"": 1}}',
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_damaged_records_are_named(text):
    Path("r.json").write_text(text, encoding="utf-8")
    Path("models").mkdir()
    succeed("fit atomic --train d.data --out models/chosen.npz")
    Path("models/tuning.json").write_text(text, encoding="utf-8")
    random_data(0).save("d.npz")
    with pytest.raises(InputError, match=r"r\.json"):
        make("times", "o.json", {"searches": {}}, inputs={"cells": "r.json", "train": "d.npz"})
    with pytest.raises(InputError, match=r"tuning\.json"):
        score("r.json")


def score(groups):
    """Score the models of the folder `models`."""
    inputs = {"models": "models/tuning.json", "test": "d.npz", "groups": groups}
    make("cells", "o.json", {"inference": {}, "cmll_of": "all"}, inputs=inputs)


@pytest.mark.parametrize("kind", [kind for kind in ASKED if kind != "structures"])
@pytest.mark.parametrize("text", RECORDS.values(), ids=RECORDS)
def test_damaged_records_are_named_where_they_are_gathered(kind, text):
    Path("r.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"r\.json"):
        gather(Study("a", {}), {kind: [Path("r.json")]})


@pytest.mark.parametrize("text", ["{}", "[]", "[[0]]", "[[[0], [0]]]", "[[[9]]]", "[[[1.5]]]", "["])
def test_damaged_partitions_are_named(text):
    Path("models").mkdir()
    succeed("fit atomic --train d.data --out models/chosen.npz")
    random_data(0).save("d.npz")
    record = {
        "study": "a", "dataset": "a", "method": "atomic", "learner": "atomic", "seed": 1,
        "variants": {}, "recipe": {},
    }  # fmt: skip
    Path("models/tuning.json").write_text(json.dumps(record), encoding="utf-8")
    Path("p.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"p\.json"):
        score("p.json")


@pytest.mark.parametrize("text", ["", "\0", "a,b\n1\n2,3,4\n", '"', "a\n1\n", "pll\nx\ny\n"])
def test_damaged_scores_by_example_are_named(text):
    Path("a.csv").write_text("pll\n1\n2\n", encoding="utf-8")
    Path("b.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"b\.csv"):
        compare_paired(Path("a.csv"), Path("b.csv"))
