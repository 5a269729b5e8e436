"""`mnlearn datasets` and `fetch`: what they write, print and refuse."""

from pathlib import Path

import pytest

from command import numbers, refuse, succeed
from mnlearn.data.own_files import SPLITS, load_local
from mnlearn_studies.datasets.registry import load_datasets

pytestmark = pytest.mark.usefixtures("folder")


def test_datasets():
    rows = {row["name"]: row for row in numbers("datasets --json --folder here")["datasets"]}
    assert list(rows) == list(load_datasets())
    assert rows["nltcs"]["state"] == "absent"
    assert rows["triples"]["state"] == "embedded"
    assert (rows["nltcs"]["n_vars"], rows["nltcs"]["n_train"]) == (16, 16181)
    assert (rows["adult"]["state"], rows["adult"]["n_test"]) == ("absent", 7327)
    assert (rows["traffic"]["state"], rows["traffic"]["n_train"]) == ("unavailable", None)
    lines = succeed("datasets --folder here").stdout.splitlines()
    assert any(line.startswith("traffic, temperature: no public copy was found") for line in lines)
    assert lines[0].split()[:4] == ["name", "label", "vars", "train"]
    assert len(lines) >= 1 + len(rows)
    assert not Path("here").exists()


def test_own_datasets_are_listed(folder, monkeypatch):
    own = {"mine": {"train": str(folder / "d.data")}, "lost": {"train": "nowhere.csv"}}
    monkeypatch.setattr("mnlearn_studies.plan.configuration.configuration", lambda: {"local": own})
    for split, data in zip(SPLITS, load_local("d.data"), strict=True):
        data.save(Path("here/mine", f"{split}@1a2b3c4d.npz"))
    rows = {row["name"]: row for row in numbers("datasets --json --folder here")["datasets"]}
    assert list(rows)[-2:] == ["mine", "lost"]
    sizes = [rows["mine"][key] for key in ("n_vars", "n_train", "n_valid", "n_test", "state")]
    assert sizes == [6, 210, 30, 60, "own"]
    assert (rows["lost"]["n_vars"], rows["lost"]["state"]) == (None, "own, missing")
    lines = [line.split() for line in succeed("datasets --folder here").stdout.splitlines()]
    assert ["mine", "mine", "6", "210", "30", "60", "own"] in lines
    assert ["lost", "lost", "?", "?", "?", "?", "own,", "missing"] in lines


def test_fetch_from_an_empty_mirror():
    progress = refuse(
        "fetch nltcs --mirror folder --folder here",
        "nltcs: mirror folder: has neither nltcs/nltcs.train.data",
        leaves=("here",),
    )
    assert len(progress) == 1
    assert progress[0].startswith("nltcs: ")
    left = {path.name for path in Path("here").rglob("*") if path.is_file()}
    assert not any(name.endswith((".data", ".npz", ".xz")) for name in left)
    refuse("fetch nltcs msnbc --mirror none --folder here", "nltcs, msnbc", leaves=("here",))


def test_fetch_of_wrong_files():
    Path("mirror/nltcs").mkdir(parents=True)
    Path("mirror/nltcs/nltcs.train.data").write_text("0,1\n", encoding="utf-8")
    refuse("fetch nltcs --mirror mirror --folder here", "nltcs.train.data", leaves=("here",))
    assert not list(Path("here").rglob("nltcs*.data"))


def test_fetch_from_the_mirror(mirror):
    succeed(f"fetch nltcs --folder here --mirror {mirror}")
    before = {p: p.stat().st_mtime_ns for p in Path("here").rglob("*.data")}
    assert len(before) == 3
    again = succeed(f"fetch nltcs --folder here --mirror {mirror}")
    assert "was already here" in again.stderr
    assert before == {p: p.stat().st_mtime_ns for p in Path("here").rglob("*.data")}
    rows = {row["name"]: row for row in numbers("datasets --json --folder here")["datasets"]}
    assert rows["nltcs"]["state"] == "verified"
