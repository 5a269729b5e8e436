"""`mnlearn convert` and `info`: what they write, print and refuse."""

import dataclasses
from pathlib import Path

import pytest

import mnlearn as mn
from command import mean, numbers, refuse, succeed
from made_random import random_network
from mnlearn.data.examples import load_dataset
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.variables.schema import binary_schema

pytestmark = pytest.mark.usefixtures("folder")


def test_convert_a_markov_network_and_back():
    for line in ("m.npz a.mn", "a.mn b.npz", "b.npz c.mn", "m.npz e.csv", "a.mn e.graphml"):
        assert succeed(f"convert {line}").output == ""
    assert Path("a.mn").read_bytes() == Path("c.mn").read_bytes()
    for metric in ("pll", "ll"):
        scores = {mean(f"{m} d.data --metric {metric}") for m in ("m.npz", "a.mn", "b.npz")}
        assert len(scores) == 1
    assert Path("e.csv").read_text(encoding="utf-8").startswith("source,target,weight\n")
    assert "<graphml" in Path("e.graphml").read_text(encoding="utf-8")


def test_convert_a_dependency_network_and_back():
    for line in ("dn.npz a.dn", "a.dn b.npz", "b.npz c.dn", "dn.npz e.csv", "a.dn e.graphml"):
        assert succeed(f"convert {line}").output == ""
    assert Path("a.dn").read_bytes() == Path("c.dn").read_bytes()
    assert mean("a.dn d.data") == mean("b.npz d.data")
    assert mean("a.dn d.data") == pytest.approx(mean("dn.npz d.data"), abs=1e-12)
    assert 'edgedefault="directed"' in Path("e.graphml").read_text(encoding="utf-8")


def test_info_prints_the_partition_function():
    network = mn.load("m.npz")
    for method in ("exact", "bp", "meanfield", "trw"):
        record = numbers(f"info m.npz --log-partition {method} --json")
        assert record["log_partition"] == network.log_partition(method)
        assert ("converged" in record) == (method != "exact")
    record = numbers("info m.npz --log-partition bounds --json")
    assert record["log_partition_lower"] == network.log_partition("meanfield")
    assert record["log_partition_upper"] == network.log_partition("trw")
    assert record["log_partition_lower"] < network.log_partition() < record["log_partition_upper"]
    record = numbers("info m.npz --log-partition ais --seed 3 --json")
    assert record["log_partition"] == network.log_partition("ais", random_state=3)
    assert record["monte_carlo_error"] > 0
    assert "log_partition" not in numbers("info m.npz --json")
    refuse("info m.npz --seed 3", "--seed: is not read without --log-partition")
    refuse("info dn.npz --log-partition exact", "a dependency network has no joint distribution")


def test_convert_data_and_back():
    for a, b in (("d.data", "a.npz"), ("a.npz", "b.csv"), ("b.csv", "c.data.xz")):
        assert succeed(f"convert {a} {b}").output == ""
    succeed("convert c.data.xz e.data")
    assert Path("e.data").read_bytes() == Path("d.data").read_bytes()
    succeed("convert named.csv n.npz")
    succeed("convert n.npz n.csv.gz")
    succeed("convert n.csv.gz n.csv")
    assert Path("n.csv").read_bytes() == Path("named.csv").read_bytes()
    Path("w.data").write_text("0.5|0,1\n2|1,1\n", encoding="utf-8")
    succeed("convert w.data w.npz")
    succeed("convert w.npz v2.data")
    assert load_dataset("v2.data").weight.tolist() == [0.5, 2]


def test_a_circuit_is_conditioned_on_a_text_or_a_file():
    succeed("fit acbn --train named.csv --out c.ac")
    save_model(
        dataclasses.replace(load_model("c.ac"), schema=binary_schema("abcdef")),
        "c.npz",
    )
    Path("e.csv").write_text("d,b\n0,1\n", encoding="utf-8")
    for name, given in (("text", "b=1,d=0"), ("file", "e.csv")):
        succeed(f"convert c.npz {name}.npz --given {given}")
    assert Path("text.npz").read_bytes() == Path("file.npz").read_bytes()
    expected = mn.load("c.npz").query({"b": 1, "d": 0})
    assert mn.load("text.npz").query().drop(["b", "d"]).tolist() == pytest.approx(expected.tolist())
    assert mn.load("c.npz").condition({"b": 1, "d": 0}).n_edges == load_model("text.npz").n_edges
    Path("e.csv").write_text("d,b\n0,1\n0,0\n", encoding="utf-8")
    refuse("convert c.npz x.npz --given e.csv", "e.csv: expected one row of evidence, got 2")
    refuse("convert c.npz x.npz --given no.csv", "no.csv: no such file; expected a file")
    Path("x.bif").write_text(
        "network x {}\nvariable mood { type discrete [ 3 ] { low, fair, high }; }\n"
        "probability ( mood ) { table 0.2, 0.8, 0.0; }\n",
        encoding="utf-8",
    )
    succeed("convert x.bif part.ac --given mood=low")
    assert mn.load("part.ac").query()["mood", "low"] == 1
    refuse("convert x.bif part.ac --given mood=high", "--given: has probability 0")
    refuse("convert c.npz x.npz --given z=1", "--given: there is no variable 'z'")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("convert no.mn a.npz", "no.mn: no such file"),
        ("convert no.npz a.mn", "no.npz: no such file"),
        ("convert no.data a.npz", "no.data: no such file"),
        ("convert m.npz a.foo", "a.foo: expected a model file"),
        ("convert m.npz a.data", "a.data: expected a model file"),
        ("convert m.npz a.dn", "a.dn: a .dn file holds"),
        ("convert dn.npz a.mn", "a.mn: a .mn file holds"),
        ("convert empty a.npz", "empty: holds no examples"),
        ("convert binary.csv a.npz", "binary.csv: is not a text file"),
        ("convert m.npz file/a.mn", "file/a.mn: cannot be written"),
        ("convert d.data file/a.npz", "file/a.npz: cannot be written"),
        ("convert d.data a.mn", "a.mn"),
        ("convert d.npz a.dn", "a.dn"),
        ("convert d.data a.graphml", "a.graphml"),
        ("convert d.data a.pdf", "a.pdf"),
        ("convert d.data a.npz --given evidence", "--given: is not read for d.data, which holds"),
        ("convert d.npz a.csv --given evidence", "--given: is not read for d.npz, which holds"),
        ("convert m.npz a.mn --cut 2", "--cut: is not read for m.npz, which is a model"),
        ("convert m.mn a.npz --leave-out a", "--leave-out: is not read for m.mn, which is a model"),
        ("convert dn.npz a.dn --keep a", "--keep: is not read for dn.npz, which is a model"),
        ("convert m.npz a.mn --na -9", "--na: is not read for m.npz, which is a model"),
        ("convert m.npz a.mn --missing drop", "--missing: is not read for m.npz, which is a model"),
        ("convert d.npz a.csv --max-expanded 1e-7", "--max-expanded raises the limit"),
    ],
)
def test_convert_refuses(line, names):
    refuse(line, names)


def test_info():
    record = numbers("info m.npz --json")
    assert record["kind"] == "Markov network"
    assert record["n_vars"] == 6
    assert sum(record["features_by_length"].values()) == record["n_features"]
    assert record["bytes"] == Path("m.npz").stat().st_size
    text = succeed("info m.mn").stdout
    assert "Markov network" in text
    record = numbers("info dn.npz --json")
    assert record["kind"] == "dependency network"
    assert record["n_leaves"] >= 6
    assert "n leaves" in succeed("info dn.npz").stdout


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("info no.mn", "no.mn: no such file"),
        ("info d.npz", "d.npz: expected a model"),
        ("info file", "file: expected a model file"),
        ("info no.graphml", "no.graphml: .graphml files of models can only be written"),
    ],
)
def test_info_refuses(line, names):
    refuse(line, names)


def test_info_names_the_variables():
    network = random_network(0)
    names = tuple(f"item{v}" for v in range(network.n_vars))
    save_model(dataclasses.replace(network, schema=network.schema.rename(names)), "named.npz")
    assert numbers("info named.npz --json")["names"] == list(names)
    assert "item0, item1, item2" in succeed("info named.npz").stdout
    save_model(network, "plain.npz")
    assert "names" not in succeed("info plain.npz").stdout
