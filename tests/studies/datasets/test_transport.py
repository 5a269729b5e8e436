"""Servers that misbehave: what is tried again, what is given up, and what is said."""

import pytest

from made_server import END_OF_ENDLESS, free_port, make_benchmark, split_content, visible
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets import places
from mnlearn_studies.datasets.fetch import fetch_file
from mnlearn_studies.datasets.places import CHUNK_BYTES, download


@pytest.mark.parametrize("fault", ["503", "429", "truncated", "unannounced", "chunked-truncated"])
def test_passing_faults_are_tried_again(server, toy, tmp_path, fault):
    server.faults["toy/toy.train.data"] = [fault, fault, "none"]
    counted: list[int] = []
    fetch_file(toy.file("train"), tmp_path / "a.data", progress=counted.append)
    assert (tmp_path / "a.data").read_bytes() == split_content("toy", "train")
    assert server.requests["toy/toy.train.data"] == 3
    assert sum(counted) == toy.file("train").n_bytes


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("503", "the server answers 503 Service Unavailable"),
        ("truncated", "the transfer broke off 5 times"),
        ("unannounced", "the transfer broke off 5 times"),
        ("chunked-truncated", "the transfer broke off 5 times (incomplete body)"),
        ("bomb", "expected 400 bytes, got"),
        ("404", "the server answers 404 Not Found; name a folder or URL"),
        ("401", "the server answers 401 Unauthorized"),
        ("altered", "expected the git blob"),
        ("short", "expected 400 bytes, got 390"),
        ("long", "expected 400 bytes, got"),
        ("page", "expected 400 bytes, got 26"),
    ],
)
def test_lasting_faults_are_reported_and_leave_nothing(server, toy, tmp_path, fault, message):
    server.faults["toy/toy.train.data"] = [fault]
    path = tmp_path / "toy.train.data"
    with pytest.raises(InputError) as caught:
        fetch_file(toy.file("train"), path)
    assert message in str(caught.value)
    assert toy.file("train").url in str(caught.value)
    assert str(caught.value).endswith(".")
    assert visible(tmp_path) == []
    tries = places.TRIES if "broke" in message or fault == "503" else 1
    assert server.requests["toy/toy.train.data"] == tries


def test_origin_that_cannot_be_reached(toy, tmp_path, monkeypatch, server):
    url = f"http://127.0.0.1:{free_port()}"
    away = make_benchmark("toy", url)
    with pytest.raises(InputError) as caught:
        fetch_file(away.file("train"), tmp_path / "a.data")
    assert str(caught.value) == (
        f"{url}/toy/toy.train.data: cannot be reached (connection refused); name a folder or URL "
        "that has the files with --mirror or the environment variable MNLEARN_DATA_MIRROR."
    )


@pytest.mark.parametrize("fault", ["gzip", "chunked"])
def test_other_forms_of_transfer_give_the_same_content(server, toy, tmp_path, fault):
    server.faults["toy/toy.train.data"] = [fault]
    assert fetch_file(toy.file("train"), tmp_path / "a.data")
    assert (tmp_path / "a.data").read_bytes() == split_content("toy", "train")


def test_file_that_takes_too_long_is_given_up(server, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(places, "TOTAL_SECONDS", 0.06)
    server.faults["toy/toy.train.data"] = ["drip"]
    with pytest.raises(InputError, match=r"took longer than 0.001 minutes; expected a faster"):
        fetch_file(toy.file("train"), tmp_path / "a.data")
    assert server.requests["toy/toy.train.data"] == 1


def test_an_endless_body_is_cut(server, toy, tmp_path):
    server.faults["toy/toy.train.data"] = ["endless"]
    counted: list[int] = []
    content = download(toy.file("train").url, toy.file("train").n_bytes, counted.append)
    assert (
        toy.file("train").n_bytes + CHUNK_BYTES
        < len(content)
        <= toy.file("train").n_bytes + 2 * CHUNK_BYTES
    )
    assert sum(counted) == len(content)
    with pytest.raises(InputError, match=r"expected 400 bytes, got \d+"):
        fetch_file(toy.file("train"), tmp_path / "a.data")
    # The sockets hold some of what was sent.
    assert server.n_sent < END_OF_ENDLESS / 2
    assert visible(tmp_path) == []
