"""Mirrors: folders and servers, compressed or not, damaged or without the file."""

import lzma
from dataclasses import replace

import pytest

from made_server import make_benchmark, make_mirror, split_content, visible
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.fetch import fetch_file


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("as_url", [False, True])
def test_mirror_folder(server, toy, tmp_path, compressed, as_url):
    folder = make_mirror(tmp_path / "mirror folder", ("toy",), compressed)
    mirror = folder.as_uri() if as_url else str(folder)
    for split in SPLITS:
        counted: list[int] = []
        path = tmp_path / "out" / f"{split}.data"
        fetch_file(toy.file(split), path, mirror, progress=counted.append)
        assert path.read_bytes() == split_content("toy", split)
        assert sum(counted) == toy.file(split).n_bytes
    assert not server.requests


@pytest.mark.parametrize("compressed", [False, True])
def test_mirror_on_a_server(server, tmp_path, compressed):
    away = make_benchmark("toy", "http://127.0.0.1:9")
    if compressed:
        server.faults["toy/toy.train.data.xz"] = ["compressed"]
    counted: list[int] = []
    path = tmp_path / "a.data"
    fetch_file(away.file("train"), path, server.url + "/", progress=counted.append)
    assert path.read_bytes() == split_content("toy", "train")
    assert server.requests["toy/toy.train.data"] == (0 if compressed else 1)
    assert sum(counted) == away.file("train").n_bytes


def test_mirror_of_the_environment(server, toy, tmp_path, monkeypatch):
    monkeypatch.setenv("MNLEARN_DATA_MIRROR", str(make_mirror(tmp_path / "mirror", ("toy",), True)))
    fetch_file(toy.file("test"), tmp_path / "a.data")
    assert not server.requests
    with pytest.raises(InputError, match="no such folder"):
        fetch_file(toy.file("train"), tmp_path / "b.data", mirror=str(tmp_path / "other"))


def test_mirror_without_the_file_is_reported_and_the_origin_left_alone(server, toy, tmp_path):
    (tmp_path / "mirror").mkdir()
    message = r"mirror: has neither toy/toy\.train\.data nor toy/toy\.train\.data\.xz"
    with pytest.raises(InputError, match=message):
        fetch_file(toy.file("train"), tmp_path / "a.data", str(tmp_path / "mirror"))
    assert not server.requests
    with pytest.raises(InputError, match="has neither"):
        fetch_file(replace(toy.file("train"), path="to-y"), tmp_path / "a.data", server.url)


@pytest.mark.parametrize(
    ("mirror", "message"),
    [
        ("ftp://example.org/data", "expected a folder or an http, https or file URL"),
        ("http://[bad", "cannot be fetched"),
    ],
)
def test_mirror_that_is_no_place(server, toy, tmp_path, mirror, message):
    with pytest.raises(InputError, match=message):
        fetch_file(toy.file("train"), tmp_path / "a.data", mirror)


def test_damaged_mirror_is_reported(server, toy, tmp_path):
    folder = make_mirror(tmp_path / "mirror", ("toy",), True)
    packed = folder / "toy" / "toy.train.data.xz"
    packed.write_bytes(packed.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"toy\.train\.data\.xz: is not a complete \.xz"):
        fetch_file(toy.file("train"), tmp_path / "a.data", str(folder))
    packed.write_bytes(lzma.compress(split_content("other", "train")))
    with pytest.raises(InputError, match=r"toy\.train\.data\.xz: is not the train data of toy"):
        fetch_file(toy.file("train"), tmp_path / "a.data", str(folder))
    assert visible(tmp_path / "mirror") == sorted(f"toy.{s}.data.xz" for s in SPLITS)
    assert not (tmp_path / "a.data").exists()


def test_mirror_file_of_another_length_is_not_read(server, toy, tmp_path):
    folder = make_mirror(tmp_path / "mirror", ("toy",), False)
    (folder / "toy" / "toy.train.data").write_bytes(bytes(1000))
    with pytest.raises(InputError, match=r"is not the train data of toy: expected 400 bytes, got"):
        fetch_file(toy.file("train"), tmp_path / "a.data", str(folder))


def test_compressed_mirror_file_expands_to_the_known_length_only(server, toy, tmp_path):
    folder = make_mirror(tmp_path / "mirror", ("toy",), True)
    bomb = lzma.compress(bytes(50_000_000))
    (folder / "toy" / "toy.train.data.xz").write_bytes(bomb)
    message = (
        r"toy\.train\.data\.xz: 7\.\d+ kB expand to .* or more; expected at most 400 bytes; "
        "the train data of toy is no longer"
    )
    with pytest.raises(InputError, match=message):
        fetch_file(toy.file("train"), tmp_path / "a.data", str(folder))
    assert visible(tmp_path / "mirror") == sorted(f"toy.{s}.data.xz" for s in SPLITS)
