"""`mnlearn convert` and `info`: what they write, print and refuse."""

import dataclasses
from pathlib import Path

import pytest

import mnlearn as mn
from command import mean, numbers, refuse, succeed
from mnlearn.data.examples import load_dataset
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.variables.schema import binary_schema

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    ("model", "form", "mark"),
    [("m.npz", ".mn", "<graphml"), ("dn.npz", ".dn", 'edgedefault="directed"')],
)
def test_a_network_is_converted_and_back(model, form, mark):
    first, last = f"a{form}", f"c{form}"
    for source, target in (
        *((model, first), (first, "b.npz"), ("b.npz", last)),
        *((model, "e.csv"), (first, "e.graphml")),
    ):
        assert succeed(f"convert {source} {target}").output == ""
    assert Path(first).read_bytes() == Path(last).read_bytes()
    scores = [mean(f"{name} d.data") for name in (model, first, "b.npz")]
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-12)
    assert Path("e.csv").read_text(encoding="utf-8").startswith("source,target,weight\n")
    assert mark in Path("e.graphml").read_text(encoding="utf-8")


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


def test_plain_names_and_states():
    Path("x.bif").write_text(
        'network x {}\nvariable "Größe, cm" { type discrete [ 3 ] { "<4", ">=4", below_4 }; }\n'
        'probability ( "Größe, cm" ) { table 0.2, 0.5, 0.3; }\n',
        encoding="utf-8",
    )
    said = succeed("convert x.bif y.bif --plain").stderr
    assert "y.bif: has below_4_2 for '<4' of 'Größe, cm', from_4 for '>=4' of " in said
    text = Path("y.bif").read_text(encoding="utf-8")
    assert "variable Gro_e_cm {\n  type discrete [ 3 ] { below_4_2, from_4, below_4 };" in text
    assert mn.load("y.bif").query().tolist() == pytest.approx([0.2, 0.5, 0.3])
    assert succeed("convert y.bif z.bif --plain").stderr == ""
    assert Path("z.bif").read_bytes() == Path("y.bif").read_bytes()
    refuse("convert d.data x.npz --plain", "--plain: is not read for d.data, which holds data")


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
