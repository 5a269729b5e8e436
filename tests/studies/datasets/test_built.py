"""Datasets that are built: the recipes on small files, sources, verification."""

import gzip
import hashlib
import lzma
import os
from dataclasses import replace

import numpy as np
import pytest

from made_data import examples
from mnlearn.data.dataset import Dataset
from mnlearn.data.own_files import SPLITS
from mnlearn.models.io.bif import parse_bif
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Variable
from mnlearn_studies.datasets import adult, alarm, fetch, networks, prepare
from mnlearn_studies.datasets.built import build, text_of
from mnlearn_studies.datasets.places import split_mirrors
from mnlearn_studies.datasets.prepare import fetch_dataset, prepare_dataset
from mnlearn_studies.datasets.registry import compute_blob_id, load_datasets

BIF = """network tiny {}
variable C { type discrete [ 3 ] { LOW, MID, HIGH }; }
variable A { type discrete [ 2 ] { YES, NO }; }
variable B { type discrete [ 2 ] { ON, OFF }; }
probability ( C | B, A ) {
  (ON, YES) 0.5, 0.25, 0.25;
  (ON, NO) 0.1, 0.2, 0.7;
  (OFF, YES) 0.0, 1.0, 0.0;
  default 0.2, 0.2, 0.6;
}
probability ( A ) { table 0.25, 0.75; }
probability ( B | A ) { table 0.9, 0.4, 0.1, 0.6; }
"""


def test_networks_of_several_states():
    network = parse_bif(BIF, "tiny.bif")
    assert network.schema["C"] == Variable("C", ("LOW", "MID", "HIGH"))
    c, a, b = map(network.table, range(3))
    assert (a.parents, c.parents) == ((), (2, 1))
    assert c.prob.shape == (2, 2, 3)
    assert c.prob[0, 1].tolist() == [0.1, 0.2, 0.7]
    assert c.prob[1, 1].tolist() == [0.2, 0.2, 0.6]
    assert b.prob.tolist() == [[0.9, 0.1], [0.4, 0.6]]
    for old, new, message in (
        ("[ 3 ]", "[ 4 ]", r"tiny\.bif, line 2: expected as many different states of C"),
        ("MID, HIGH }", "MID, MID }", "expected as many different states of C"),
        ("0.5, 0.25, 0.25", "0.5, 0.5", "line 6: expected 3 probabilities, not 2"),
        ("(ON, NO)", "(ON, MAYBE)", "line 7: expected YES or NO, got 'MAYBE'"),
    ):
        with pytest.raises(InputError, match=message):
            parse_bif(BIF.replace(old, new), "tiny.bif")


def test_samples_follow_the_network():
    files = [gzip.compress(BIF.encode())]
    plain, grouped = alarm.build_alarm(files), alarm.build_alarm_groups(files)
    assert plain["train"].schema.names[:4] == ("C=LOW", "C=MID", "C=HIGH", "C=no value 4")
    assert grouped["train"].schema.column_labels == ("C=LOW", "C=MID", "C=HIGH", "A", "B")
    assert plain["train"].schema.is_binary
    kept = [0, 1, 2, 5, 9]
    for split in SPLITS:
        np.testing.assert_array_equal(examples(plain[split])[:, kept], examples(grouped[split]))
    rows = examples(grouped["train"])
    given = rows[(rows[:, 3] == 0) & (rows[:, 4] == 0)]
    np.testing.assert_allclose(rows[:, 3].mean(), 0.75, atol=0.01)
    np.testing.assert_allclose(given[:, :3].mean(axis=0), [0.5, 0.25, 0.25], atol=0.02)
    # Parents come first: the file is scanned for variables whose parents are known.
    assert networks._ancestral_order(parse_bif(BIF, "")) == [1, 2, 0]


LINE = "39,Private,1,9th,5,Divorced,Sales,Wife,White,Male,0,0,40,Cuba,<=50K"


def adult_line(**changed):
    cells = dict(zip(adult._ATTRIBUTES, LINE.split(","), strict=True))
    return ", ".join({**cells, **changed}.values())


def test_adult_is_cut_and_encoded(monkeypatch):
    monkeypatch.setattr(adult, "_N_TEST", 2)
    monkeypatch.setattr(adult, "_N_VALID", 1)
    lines = [
        adult_line(age=str(a), workclass=w) for a, w in ((20, "Private"), (30, "?"), (40, "?"))
    ]
    gains = [
        adult_line(**dict.fromkeys(("capital-gain", "capital-loss"), str(g)), cls=">50K.")
        for g in (100, 200, 400)
    ]
    first = ("\n".join(lines) + "\n\n").encode()
    second = ("|1x3 Cross validator\n" + "\n".join(gains) + "\n\n").encode()
    plain, grouped = adult.build_adult([first, second]), adult.build_adult_groups([first, second])
    assert [plain[split].n_vars for split in SPLITS] == [125] * 3
    assert [plain[split].n_examples for split in SPLITS] == [3, 1, 2]
    schema = grouped["train"].schema
    assert schema.names == tuple(adult._ATTRIBUTES)
    assert schema["workclass"].states[-1] == "?"
    assert schema["cls"].states == ("<=50K", ">50K")
    order = np.random.Generator(np.random.PCG64(20102)).permutation(6)
    rows = np.empty((6, schema.n_columns), np.uint8)
    rows[order] = np.concatenate([examples(grouped[s]) for s in ("test", "train", "valid")])
    states = dict(zip(schema.names, schema.values(rows).T.tolist(), strict=True))
    assert states["workclass"] == [0, 8, 8, 0, 0, 0]
    assert states["cls"] == [0, 0, 0, 1, 1, 1]
    # Ages 20, 30, 39, 39, 39, 40 have the quartiles 32.25, 39 and 39.
    assert states["age"] == [0, 0, 3, 1, 1, 1]
    # Gains above 0 have the terciles 166.7 and 266.7.
    assert states["capital-gain"] == [0, 0, 0, 1, 2, 3]


@pytest.fixture
def tiny(monkeypatch):
    """The Alarm datasets with a source that is small."""
    packed = gzip.compress(BIF.encode(), mtime=0)
    datasets = load_datasets()
    for name in ("alarm", "alarm_groups"):
        (file,) = datasets[name].files
        url, blob_id = "http://127.0.0.1:9/alarm.bif.gz", compute_blob_id(packed)
        file = replace(file, url=url, n_bytes=len(packed), blob_id=blob_id)
        datasets[name] = replace(datasets[name], files=(file,))
    for module in (fetch, prepare):
        monkeypatch.setattr(module, "load_datasets", lambda: datasets)
    return packed


@pytest.mark.parametrize("place", ["alarm.bif.gz", "alarm/alarm.bif.gz", "alarm.bif.gz.xz"])
def test_sources_are_found_in_mirrors(tmp_path, tiny, place):
    (tmp_path / "empty").mkdir()
    path = tmp_path / "mirror" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.compress(tiny) if place.endswith(".xz") else tiny)
    mirrors = os.pathsep.join(str(tmp_path / name) for name in ("empty", "mirror"))
    results = fetch.fetch_many(["alarm", "alarm_groups"], tmp_path / "data", mirrors)
    assert all(result.ok for result in results.values())
    assert (tmp_path / "data" / "alarm" / "alarm.bif.gz").read_bytes() == tiny
    with pytest.raises(InputError, match=r"alarm, train: expected the git blob .*, built"):
        fetch_dataset("alarm", tmp_path / "data", mirrors)
    with pytest.raises(InputError, match=r"has neither alarm/alarm\.bif\.gz nor alarm/alarm"):
        fetch_dataset("alarm", tmp_path / "other", str(tmp_path / "empty"))


def test_several_mirrors():
    assert split_mirrors("/a:/b") == ["/a", "/b"]
    assert split_mirrors("/a") == ["/a"]
    urls = ["https://x.org/data", "file:///c", "http://h:80/d", "http://h:90", "rel", "~/e"]
    assert split_mirrors(":".join(urls)) == urls


def test_what_is_built_is_verified(tiny):
    made = alarm.build_alarm([tiny])
    blobs = tuple(compute_blob_id(text_of(made[split])) for split in SPLITS)
    lines = text_of(made["test"]).splitlines()
    assert (len(lines), set(lines[0])) == (4000, set(b"01,"))
    entry = replace(load_datasets()["alarm"], blob_ids=blobs)
    assert list(build(entry, [tiny])) == list(SPLITS)


def test_datasets_that_are_not_public_are_refused_by_name(tmp_path):
    with pytest.raises(InputError, match="temperature: no public copy was found; name your own"):
        prepare_dataset("temperature", tmp_path, 20)


@pytest.mark.slow
def test_built_datasets_are_those_of_other_programs(sources_mirror, tmp_path):
    """Digests of files that a program of another author wrote by the same recipes."""
    datasets = load_datasets()
    splits = {
        name: fetch_dataset(name, tmp_path, sources_mirror)
        for name, dataset in datasets.items()
        if dataset.origin in ("alarm", "adult")
    }
    assert len(splits) == 5
    for name, parts in splits.items():
        dataset = datasets[name]
        for split, data in parts.items():
            assert data.n_examples == dataset.n_rows(split)
            assert data.n_vars == dataset.n_vars
        ones = sum(data.weight @ data.rows.sum(axis=1) for data in parts.values())
        cells = sum(data.n_examples * data.n_columns for data in parts.values())
        assert round(ones / cells, 2) == round(dataset.density, 2)
    alarm_rows = {split: examples(data) for split, data in splits["alarm"].items()}
    for split, digest in (
        ("train", "255ef1d44760e3ddee000c7e9ead52a85fbeee6e2b009ac947a6d5ff20f5b8f8"),
        ("test", "52113b6424eede794dfe610f223f397dc0146c22452fd68500a6a80d40feea8e"),
    ):
        values = alarm_rows[split][:10_000].reshape(-1, 37, 4).argmax(axis=2)
        text = "".join(",".join(map(str, row)) + "\n" for row in values.tolist())
        assert hashlib.sha256(text.encode()).hexdigest() == digest
    order = np.random.Generator(np.random.PCG64(20102)).permutation(48_842)
    rows = np.empty((48_842, 125), np.uint8)
    rows[order] = np.concatenate([examples(splits["adult"][s]) for s in ("test", "train", "valid")])
    digest = hashlib.sha256(text_of(Dataset.from_arrays(rows))).hexdigest()
    assert digest == "638b0cde97ee25a52e9ec1a594082f9d7c57d6efdb063993fad8ca4b7ff5e936"
