"""`mnlearn study` and `write`: what they print and refuse."""

from pathlib import Path

import pytest

from command import refuse, succeed
from command_folder import fill_folder
from mnlearn.study.datasets.registry import load_registry
from mnlearn.study.planning import KINDS

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data, models and broken files, as current folder."""
    return fill_folder(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("fetch nltc", "no dataset 'nltc'; did you mean 'nltcs'?"),
        ("fetch nltcs zzz --mirror folder", "no dataset 'zzz'"),
        ("study zzz", "study zzz: expected one of acmn, demo"),
        ("study zzz --stale", "study zzz: expected one of acmn, demo"),
        ("study dtsl --datasets zzz", "--datasets zzz: expected some of nltcs"),
        ("write zzz tables", "study zzz: expected one of acmn, demo"),
        ("write dtsl tables", "nowhere/dtsl/scores.csv"),
    ],
)
def test_fetch_study_and_write_refuse(line, names, monkeypatch):
    # Each of the two modules has the name of its own: a command must not write into the checkout.
    for module in ("reproduce", "study_products"):
        monkeypatch.setattr(f"mnlearn.cli.{module}.RESULTS", "nowhere")
    refuse(line, names)


def test_stale_cells_of_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)
    result = succeed("study dtsl --stale")
    known = set(load_registry())
    for line in result.stdout.splitlines():
        record, changed = line.split(": ")
        dataset, _, kind = record.split()
        assert dataset in known
        assert kind in KINDS
        assert changed
    assert result.stderr == ""
