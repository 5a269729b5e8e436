"""Data with names of columns for a model without names: their order counts, which is told."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, refuse, succeed

SENTENCE = "the model has no names of variables, so the columns are taken in their order: {}."


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A named model, the same one without names, and data in two orders, as current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((200, 3)) < [0.2, 0.5, 0.9], columns=list("abc"), dtype=int)
    table.to_csv("abc.csv", index=False)
    table[list("cba")].to_csv("cba.csv", index=False)
    table.to_csv("bare.csv", index=False, header=False)
    table.to_csv("labels.csv", index=False, header=["V0", "V1", "V2"])
    for line in (
        "fit dtsl --train abc.csv --out named.npz", "convert named.npz m.mn",
        "fit dn_tree --train abc.csv --out named.dn",
    ):  # fmt: skip
        succeed(line)


@pytest.mark.parametrize("line", ["score m.mn {} --metric pll", "weights m.mn {} --out w.npz"])
def test_commands_say_that_the_order_counts(line):
    for name, listed in (("abc", "a, b, c"), ("cba", "c, b, a")):
        said = succeed(line.format(f"{name}.csv")).stderr
        assert said.count(f"{name}.csv: {SENTENCE.format(listed)}") == 1
    for name in ("bare", "labels"):
        assert "names of variables" not in succeed(line.format(f"{name}.csv")).stderr
    named = line.replace("m.mn", "named.npz").format("cba.csv")
    assert "names of variables" not in succeed(named).stderr
    assert mean("m.mn cba.csv --metric pll") < mean("m.mn abc.csv --metric pll")
    assert mean("named.npz cba.csv --metric pll") == pytest.approx(
        mean("named.npz abc.csv --metric pll")
    )


def test_a_network_to_build_on_may_have_no_names():
    said = succeed("fit dn2mn --train abc.csv --network named.dn --out d.npz").stderr
    assert f"named.dn: {SENTENCE.format('a, b, c')}" in said
    data = pd.read_csv("abc.csv")
    network = mn.load("named.dn")
    with pytest.warns(UserWarning, match=f"network: {SENTENCE.format('a, b, c')}"):
        mn.DN2MN(network=network).fit(data)
    with pytest.warns(UserWarning, match=f"X: {SENTENCE.format('a, b, c')}"):
        mn.from_dependency_network(network, mn.read_data("abc.csv"))


def test_rows_of_evidence_say_that_the_order_counts():
    Path("e.csv").write_text("c,b,a\n1,*,0\n", encoding="utf-8")
    found = succeed("query m.mn --evidence e.csv")
    assert f"e.csv, line 1: {SENTENCE.format('c, b, a')}" in found.stderr
    Path("bare").write_text("1,*,0\n", encoding="utf-8")
    bare = succeed("query m.mn --evidence bare")
    assert bare.stdout == found.stdout
    assert "names of variables" not in bare.stderr


def test_columns_v0_and_so_on_are_names_in_rows_of_evidence():
    Path("e.csv").write_text("V2,V0\n1,0\n", encoding="utf-8")
    Path("bare").write_text("0,*,1\n", encoding="utf-8")
    found = succeed("query m.mn --evidence e.csv")
    assert "names of variables" not in found.stderr
    assert found.stdout == succeed("query m.mn --evidence bare").stdout
    Path("e.csv").write_text("V2,V2\n1,0\n", encoding="utf-8")
    refuse("query m.mn --evidence e.csv", "e.csv, line 1: names the variable 'V2' twice")


@pytest.mark.parametrize(
    ("ask", "argument"),
    [
        (lambda model, table: model.score(table), "X"),
        (lambda model, table: mn.score(model, mn.read_data(table)), "X"),
        (lambda model, table: model.fit_weights(table), "X"),
        (lambda model, table: model.query(table.astype(float).replace(1, np.nan)), "evidence"),
        (lambda model, table: model.most_probable(table.astype(float)), "evidence"),
        (lambda model, table: mn.read_data(table, model=model), "source"),
    ],
    ids=["score", "dataset", "weights", "query", "most_probable", "read_data"],
)
def test_python_warns_that_the_order_counts(ask, argument):
    table, model = pd.read_csv("cba.csv"), mn.load("m.mn")
    with pytest.warns(UserWarning, match="in their order") as caught:
        ask(model, table)
    assert [str(w.message) for w in caught] == [f"{argument}: {SENTENCE.format('c, b, a')}"]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A Dataset has to be in the order of the model.
        ask(mn.load("named.npz"), table[list("abc")])
        ask(model, table.set_axis(["V0", "V1", "V2"], axis=1))
        ask(model, table.set_axis(range(3), axis=1))
