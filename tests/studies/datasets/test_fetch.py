"""Fetching datasets: what is put in place, by several threads, processes and datasets at a time."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from made_server import (
    N_VARS,
    free_port,
    make_benchmark,
    registry_text,
    split_content,
    visible,
)
from mnlearn.cli.progress import show_progress
from mnlearn.data.examples import load_dataset
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import FullDiskError, InputError
from mnlearn_studies.datasets import fetch, places
from mnlearn_studies.datasets.fetch import fetch_file, fetch_many
from mnlearn_studies.datasets.registry import load_registry

REGISTRY = Path(__file__).parents[3] / "workflow" / "datasets.tsv"


def test_fetch_from_the_origin(server, toy, tmp_path):
    counted: list[int] = []
    path = tmp_path / "toy" / "toy.train.data"
    assert fetch_file(toy.file("train"), path, progress=counted.append)
    assert path.read_bytes() == split_content("toy", "train")
    assert load_dataset(path).n_vars == N_VARS
    assert sum(counted) == toy.file("train").n_bytes
    assert visible(tmp_path) == ["toy.train.data"]


def test_verified_file_is_not_fetched_again(server, toy, tmp_path):
    path = tmp_path / "toy.train.data"
    fetch_file(toy.file("train"), path)
    counted: list[int] = []
    assert not fetch_file(toy.file("train"), path, progress=counted.append)
    assert sum(counted) == toy.file("train").n_bytes
    assert server.requests["toy/toy.train.data"] == 1
    path.write_text("0,1\n")
    assert fetch_file(toy.file("train"), path), "an altered file is replaced"
    assert path.read_bytes() == split_content("toy", "train")


def test_failed_fetch_leaves_what_was_there(server, toy, tmp_path):
    server.faults["toy/toy.train.data"] = ["altered"]
    path = tmp_path / "toy.train.data"
    path.write_text("mine")
    with pytest.raises(InputError):
        fetch_file(toy.file("train"), path)
    assert path.read_text() == "mine"


def test_destination_that_cannot_be_written(server, toy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        fetch_file(toy.file("train"), tmp_path / "file" / "toy.train.data")


def test_fetch_that_waits_too_long_for_another(server, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "LOCK_TIMEOUT_SECONDS", 0.05)
    with (
        FileLock(tmp_path / ".a.data.lock"),
        pytest.raises(InputError, match="another process"),
    ):
        fetch_file(toy.file("train"), tmp_path / "a.data")


# --- many datasets ----------------------------------------------------------------------------


def test_one_dataset_that_fails_does_not_stop_the_others(server, tmp_path, capsys):
    registry = {name: make_benchmark(name, server.url) for name in "abcdef"}
    server.faults["c/c.valid.data"] = ["altered"]
    server.faults["e/e.train.data"] = ["404"]
    with show_progress():
        results = fetch_many("abcdefa", tmp_path, jobs=2, registry=registry)
    assert list(results) == list("abcdef")
    assert [name for name, result in results.items() if not result.ok] == ["c", "e"]
    assert "expected the git blob" in (results["c"].reason or "")
    assert "404" in (results["e"].reason or "")
    states = {name: benchmark.state(tmp_path) for name, benchmark in registry.items()}
    assert states == dict.fromkeys("abdf", "verified") | dict.fromkeys("ce", "absent")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "a: verified, 3 files fetched\n" in captured.err
    assert f"c: {results['c'].reason}\n" in captured.err
    again = fetch_many("a", tmp_path, registry=registry)
    assert (again["a"].ok, again["a"].n_fetched) == (True, 0)


def test_state(server, toy, tmp_path):
    assert toy.state(tmp_path) == "absent"
    fetch_file(toy.file("train"), tmp_path / toy.file("train").path)
    assert toy.state(tmp_path) == "absent"
    fetch_many(["toy"], tmp_path, registry={"toy": toy})
    assert toy.state(tmp_path) == "verified"
    path = tmp_path / toy.file("test").path
    for content in (path.read_bytes()[::-1], b""):
        path.write_bytes(content)
        assert toy.state(tmp_path) == "altered"


def test_misspelt_name_is_refused_before_anything_is_fetched(server, tmp_path):
    registry = {"toy": make_benchmark("toy", server.url)}
    with pytest.raises(InputError, match="did you mean 'toy'"):
        fetch_many(["toy", "toi"], tmp_path, registry=registry)
    assert not server.requests


def test_without_a_network_one_dataset_tries_for_all(server, tmp_path, monkeypatch):
    calls = []
    original = places.download

    def counting(url, *args):
        calls.append(url)
        return original(url, *args)

    monkeypatch.setattr(places, "download", counting)
    away = f"http://127.0.0.1:{free_port()}"
    registry = {name: make_benchmark(name, away) for name in "abcd"}
    registry["e"] = make_benchmark("e", server.url)
    results = fetch_many(registry, tmp_path, jobs=1, registry=registry)
    assert [result.ok for result in results.values()] == [False] * 4 + [True]
    assert all("MNLEARN_DATA_MIRROR" in (results[name].reason or "") for name in "abcd")
    assert len(calls) == 1 + 3


PROCESS = """
import sys
from pathlib import Path
from mnlearn_studies.datasets.fetch import fetch_many
from mnlearn_studies.datasets.registry import load_registry
results = fetch_many(["toy"], Path(sys.argv[2]), registry=load_registry(Path(sys.argv[1])))
assert results["toy"].ok, results
print(results["toy"].n_fetched)
"""


def test_processes_that_want_one_dataset_fetch_it_once(server, toy, tmp_path):
    table = tmp_path / "datasets.tsv"
    table.write_text(registry_text({"toy": server.url}))
    assert load_registry(table)["toy"] == toy
    command = [sys.executable, "-c", PROCESS, str(table), str(tmp_path / "data")]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(2)
    ]
    n_fetched = [int(process.communicate(timeout=60)[0]) for process in running]
    assert sum(n_fetched) == 3
    assert all(server.requests[f"toy/toy.{split}.data"] == 1 for split in SPLITS)


INTERRUPTED = """
import signal, sys
from pathlib import Path
from made_server import make_benchmark
from mnlearn.cli.progress import show_progress
from mnlearn_studies.datasets.fetch import fetch_many
signal.signal(signal.SIGINT, signal.default_int_handler)
registry = {name: make_benchmark(name, sys.argv[1]) for name in "abcdef"}
with show_progress():
    fetch_many(registry, Path(sys.argv[2]), jobs=2, registry=registry)
"""


def test_interruption_ends_all_downloads_and_leaves_whole_files(server, tmp_path):
    for name in "bcdef":
        server.faults[f"{name}/{name}.train.data"] = ["drip"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, server.url, str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    error = ""
    while "a: verified, 3 files fetched" not in error and (line := process.stderr.readline()):
        error += line
    deadline = time.monotonic() + 60
    while server.requests.total() < 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    error += process.communicate(timeout=30)[1]
    # One dripping file alone would take 8 seconds.
    assert time.monotonic() - began < 5
    assert "KeyboardInterrupt" in error
    assert "a: verified, 3 files fetched" in error
    assert visible(tmp_path) == ["a.test.data", "a.train.data", "a.valid.data"]
    assert server.requests.total() == 5


def test_interruption_while_waiting_for_another_process(server, toy, tmp_path):
    reported: list[int] = []

    def interrupt(n_bytes: int) -> None:
        reported.append(n_bytes)
        if len(reported) == 2:
            raise KeyboardInterrupt

    with FileLock(tmp_path / ".a.data.lock"), pytest.raises(KeyboardInterrupt):
        fetch_file(toy.file("train"), tmp_path / "a.data", progress=interrupt)
    assert reported == [0, 0]


def test_a_full_disk_ends_the_fetching(server, tmp_path):
    """Other datasets would not fit either; what was there stays, and nothing is half written."""
    registry = {name: make_benchmark(name, server.url) for name in "ab"}
    path = tmp_path / "a/a.train.data"
    path.parent.mkdir()
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(
            FullDiskError, match=r"\.train\.data: cannot be written: File too large"
        ):
            fetch_many(registry, tmp_path, registry=registry)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert visible(tmp_path) == ["a.train.data"]
    assert path.read_text() == "old"
    assert all(result.ok for result in fetch_many(registry, tmp_path, registry=registry).values())


# --- the real thing ---------------------------------------------------------------------------


@pytest.mark.slow
def test_every_benchmark_of_the_mirror_is_verified(tmp_path, mirror):
    registry = load_registry(REGISTRY)
    results = fetch_many(registry, tmp_path, str(mirror), jobs=2, registry=registry)
    assert [result.reason for result in results.values()] == [None] * 20
    for benchmark in registry.values():
        assert benchmark.state(tmp_path) == "verified"
        parts = [load_dataset(tmp_path / file.path) for file in benchmark.files]
        assert [part.n_vars for part in parts] == [benchmark.n_vars] * 3
        assert [part.n_examples for part in parts] == [benchmark.n_rows(s) for s in SPLITS]
        ones = sum(part.density * part.n_examples for part in parts)
        assert ones / sum(part.n_examples for part in parts) == pytest.approx(
            benchmark.density, abs=6e-4
        )
