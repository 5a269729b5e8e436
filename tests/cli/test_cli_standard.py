"""`-` is stdin or stdout, for data, evidence, tables and models in text."""

import json

import pytest
from click.testing import CliRunner

from made_random import random_dependency_network, random_network
from mnlearn.cli import main
from mnlearn.models.io.formats import save_model

ROWS = "a,b\nx,y\nx,z\nw,z\nw,y\nx,y\n"


def piped(capfd, content, *line):
    """Return what a command writes to stdout; it may write there through the descriptor."""
    capfd.readouterr()
    result = CliRunner().invoke(main, line, input=content)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout + capfd.readouterr().out


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(ROWS)
    assert (
        CliRunner()
        .invoke(main, ["fit", "chow_liu", "--train", "d.csv", "--out", "m.npz"])
        .exit_code
        == 0
    )


def test_data_evidence_and_tables_go_through_pipes(model, capfd):
    scored = CliRunner().invoke(main, ["score", "m.npz", "d.csv"]).stdout
    assert piped(capfd, ROWS, "score", "m.npz", "-") == scored
    assert piped(capfd, ROWS, "convert", "-", "-") == ROWS
    asked = CliRunner().invoke(main, ["query", "m.npz", "--evidence", "a=x"]).stdout
    row = asked.replace("variable", "row,variable").replace("\nb", "\n1,b")
    assert piped(capfd, "a,b\nx,*\n", "query", "m.npz", "--evidence", "-", "--out", "-") == row
    drawn = piped(capfd, "", "sample", "m.npz", "--rows", "4")
    assert drawn.splitlines()[0] == "a,b"
    assert piped(capfd, drawn, "score", "m.npz", "-", "--json")
    assert piped(capfd, "", "convert", "m.npz", "--", "-.bif").startswith("network")


@pytest.mark.parametrize(
    ("make", "form"),
    [(random_network, "mn"), (random_network, "uai"), (random_dependency_network, "dn")],
)
def test_models_in_text_go_through_pipes(make, form, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    save_model(make(0), "m.npz")
    text = piped(capfd, "", "convert", "m.npz", "--", f"-.{form}")
    (tmp_path / f"m.{form}").write_text(text)
    from_file = json.loads(piped(capfd, "", "info", f"m.{form}", "--json"))
    assert from_file.pop("bytes") == len(text)
    assert json.loads(piped(capfd, text, "info", "-", "--json")) == from_file


def test_bayesian_networks_and_circuits_go_through_pipes(model, capfd):
    for form in ("bn", "bif", "ac"):
        text = piped(capfd, "", "convert", "m.npz", "--", f"-.{form}")
        kind = "arithmetic circuit" if form == "ac" else "Bayesian network"
        assert kind in piped(capfd, text, "info", "-")
        piped(capfd, text, "convert", "-", f"{form}.npz")
        assert piped(capfd, "", "convert", f"{form}.npz", "--", f"-.{form}") == text
