"""The registry, and fetching from servers and mirrors that misbehave."""

import http.server
import lzma
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mnlearn.cli.progress import show_progress
from mnlearn.data.splits import SPLITS
from mnlearn.data.text import load_dataset
from mnlearn.runtime.errors import InputError
from mnlearn.study.datasets import fetch
from mnlearn.study.datasets.fetch import blob_id, fetch_many, fetch_split, state
from mnlearn.study.datasets.registry import (
    COLUMNS,
    Benchmark,
    SplitFile,
    find_benchmark,
    load_registry,
    registry_path,
)

REGISTRY = Path(__file__).parents[3] / "workflow" / "datasets.tsv"


# --- the registry -----------------------------------------------------------------------------


def test_registry_of_the_checkout():
    registry = load_registry(REGISTRY)
    assert len(registry) == 20
    assert {b.label for b in registry.values()} >= {"NLTCS", "KDDCup 2000", "20 Newsgroups"}
    for name, benchmark in registry.items():
        assert benchmark.name == name
        assert benchmark.domain
        assert "Van Haaren & Davis" in benchmark.citation
        for split in SPLITS:
            file = benchmark.file(split)
            # Every value is one digit and one separator.
            assert file.n_bytes == 2 * file.n_rows * benchmark.n_vars
            assert re.fullmatch(
                rf"https://raw\.githubusercontent\.com/UCLA-StarAI/Density-Estimation-Datasets/"
                rf"[0-9a-f]{{40}}/datasets/{name}/{name}\.{split}\.data",
                benchmark.url(split),
            )
    nltcs = registry["nltcs"]
    assert [nltcs.n_rows(split) for split in SPLITS] == [16181, 2157, 3236]
    assert (nltcs.n_vars, nltcs.density) == (16, 0.332)
    assert len({b.file(s).blob_id for b in registry.values() for s in SPLITS}) == 60


def test_unknown_dataset_is_refused_with_a_suggestion():
    registry = load_registry(REGISTRY)
    with pytest.raises(InputError, match=r"no dataset 'nltc'; did you mean 'nltcs'\? known: nltcs"):
        find_benchmark(registry, "nltc")
    with pytest.raises(InputError, match="did you mean 'tretail'"):
        find_benchmark(registry, "Retail")
    with pytest.raises(InputError, match=r"no dataset 'zzzz'; known: nltcs"):
        find_benchmark(registry, "zzzz")


def test_unknown_split_is_our_fault():
    with pytest.raises(ValueError, match="expected one of"):
        load_registry(REGISTRY)["nltcs"].file("training")


def test_registry_is_found_from_below_and_from_elsewhere(tmp_path, monkeypatch):
    own = tmp_path / "project" / "workflow" / "datasets.tsv"
    own.parent.mkdir(parents=True)
    own.write_text(REGISTRY.read_text())
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert registry_path() == own
    monkeypatch.chdir(tmp_path)
    assert registry_path().resolve() == REGISTRY.resolve()


def test_registry_that_is_nowhere_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "mnlearn.study.datasets.registry.__file__", str(tmp_path / "a/b/c/d/registry.py")
    )
    with pytest.raises(InputError, match="run mnlearn inside its checkout"):
        registry_path()
    with pytest.raises(InputError, match="no such file"):
        load_registry(tmp_path / "absent.tsv")


def change(column: str, value: str) -> str:
    """The first two lines of the registry with one value changed."""
    header, row = REGISTRY.read_text().splitlines()[:2]
    cells = dict(zip(COLUMNS, row.split("\t"), strict=True)) | {column: value}
    return header + "\n" + "\t".join(cells.values()) + "\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected the tab-separated columns name, label"),
        ("name\tlabel\n", "line 1: expected the tab-separated columns"),
        (change("label", "a\tb"), "line 2: expected 16 tab-separated values, got 17"),
        (change("name", "../up"), "line 2, name: expected lower-case letters"),
        (change("n_vars", "many"), "line 2, n_vars: expected a positive whole number, got 'many'"),
        (change("n_test", "0"), "line 2, n_test: expected a positive whole number"),
        (change("valid_bytes", "-3"), "line 2, valid_bytes: expected a positive"),
        (change("train_blob", "8c47"), "line 2, train_blob: expected 40 hexadecimal"),
        (change("density", "33 %"), "line 2, density: expected a share"),
        (change("source", "https://example.org/a.data"), "line 2, source: expected a URL"),
        (change("name", "a") + change("name", "a").splitlines()[1], "line 3: a second dataset"),
    ],
)
def test_malformed_registry_is_refused_with_its_line(tmp_path, content, message):
    path = tmp_path / "datasets.tsv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        load_registry(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


# --- a small benchmark and a server for it ----------------------------------------------------

N_VARS = 5


def split_content(name: str, split: str) -> bytes:
    rng = np.random.default_rng([*name.encode(), *split.encode()])
    matrix = rng.integers(0, 2, (40 if split == "train" else 12, N_VARS))
    return "".join(",".join(map(str, row)) + "\n" for row in matrix.tolist()).encode()


def make_benchmark(name: str, source: str) -> Benchmark:
    files = {}
    for split in SPLITS:
        content = split_content(name, split)
        files[split] = SplitFile(content.count(b"\n"), len(content), blob_id(content))
    return Benchmark(
        name=name,
        label=name.upper(),
        n_vars=N_VARS,
        density=0.5,
        source=f"{source}/{name}/{name}.{{split}}.data",
        domain="random",
        citation="none",
        **files,
    )


class Server(http.server.ThreadingHTTPServer):
    """Serves the toy benchmarks; `faults` maps a path to what goes wrong, try by try."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: dict[str, list[str]] = {}
        self.requests: Counter[str] = Counter()
        self.busy = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.strip("/")
        with self.server.busy:
            self.server.requests[path] += 1
            faults = self.server.faults.get(path, [])
            fault = faults.pop(0) if len(faults) > 1 else next(iter(faults), "")
        match = re.fullmatch(r"(\w+)/\1\.(\w+)\.data(\.xz)?", path)
        if fault.isdigit() or match is None or (match[3] and fault != "compressed"):
            self.send_error(int(fault) if fault.isdigit() else 404)
            return
        content = split_content(match[1], match[2])
        if match[3]:
            content = lzma.compress(content)
        if fault == "altered":
            content = content[:20] + (b"1" if content[20:21] == b"0" else b"0") + content[21:]
        if fault == "short":
            content = content[:-10]
        if fault == "long":
            content += b"0" * 1_000_000
        if fault == "page":
            content = b"<html>please log in</html>"
        self.send_response(200)
        if fault != "unannounced":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        breaks_off = fault in ("truncated", "unannounced")
        self.wfile.write(content[: len(content) // 2] if breaks_off else content)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(fetch, "BACKOFF_SECONDS", 0.005)
    monkeypatch.delenv(fetch.MIRROR_VARIABLE, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def toy(server: Server) -> Benchmark:
    return make_benchmark("toy", server.url)


def visible(folder: Path) -> list[str]:
    """Files other than the lock, temporary files included."""
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# --- one file ---------------------------------------------------------------------------------


def test_blob_id_is_that_of_git():
    assert blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_id(b"what is up, doc?") == "bd9dbf5aae1a3862dd1526723246b20206e5fc37"


def test_fetch_from_the_source(server, toy, tmp_path):
    counted: list[int] = []
    path = tmp_path / "toy" / "toy.train.data"
    assert fetch_split(toy, "train", path, progress=counted.append)
    assert path.read_bytes() == split_content("toy", "train")
    assert load_dataset(path).n_vars == N_VARS
    assert sum(counted) == toy.train.n_bytes
    assert visible(tmp_path) == ["toy.train.data"]


def test_verified_file_is_not_fetched_again(server, toy, tmp_path):
    path = tmp_path / "toy.train.data"
    fetch_split(toy, "train", path)
    counted: list[int] = []
    assert not fetch_split(toy, "train", path, progress=counted.append)
    assert sum(counted) == toy.train.n_bytes
    assert server.requests["toy/toy.train.data"] == 1


def test_altered_file_is_replaced(server, toy, tmp_path):
    path = tmp_path / "toy.train.data"
    path.write_text("0,1\n")
    assert fetch_split(toy, "train", path)
    assert path.read_bytes() == split_content("toy", "train")


@pytest.mark.parametrize("fault", ["503", "429", "truncated", "unannounced"])
def test_passing_faults_are_tried_again(server, toy, tmp_path, fault):
    server.faults["toy/toy.train.data"] = [fault, fault, "none"]
    counted: list[int] = []
    fetch_split(toy, "train", tmp_path / "a.data", progress=counted.append)
    assert (tmp_path / "a.data").read_bytes() == split_content("toy", "train")
    assert server.requests["toy/toy.train.data"] == 3
    assert sum(counted) == toy.train.n_bytes


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("503", "the server answers 503 Service Unavailable"),
        ("truncated", "the transfer broke off 5 times"),
        ("unannounced", "the transfer broke off 5 times"),
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
        fetch_split(toy, "train", path)
    assert message in str(caught.value)
    assert toy.url("train") in str(caught.value)
    assert str(caught.value).endswith(".")
    assert visible(tmp_path) == []
    tries = fetch.TRIES if "broke" in message or fault == "503" else 1
    assert server.requests["toy/toy.train.data"] == tries


def test_failed_fetch_leaves_what_was_there(server, toy, tmp_path):
    server.faults["toy/toy.train.data"] = ["altered"]
    path = tmp_path / "toy.train.data"
    path.write_text("mine")
    with pytest.raises(InputError):
        fetch_split(toy, "train", path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_vars": N_VARS + 1}, "expected 40 rows of 6 values, the length differs"),
        ({"n_vars": 2 * N_VARS, "n_rows": 20}, "expected 20 rows of 10 values separated"),
    ],
)
def test_registry_of_another_shape_is_refused(server, toy, tmp_path, changed, message):
    n_rows = changed.pop("n_rows", toy.train.n_rows)
    wrong = replace(toy, train=replace(toy.train, n_rows=n_rows), **changed)
    with pytest.raises(InputError, match=message):
        fetch_split(wrong, "train", tmp_path / "a.data")
    assert visible(tmp_path) == []


def test_values_that_are_not_binary_are_refused(server, toy):
    content = split_content("toy", "train").replace(b"1", b"2")
    file = replace(toy.train, blob_id=blob_id(content))
    with pytest.raises(InputError, match="expected values 0 and 1 only"):
        fetch.verify(content, replace(toy, train=file), "train")


def test_source_that_cannot_be_reached(toy, tmp_path, monkeypatch, server):
    url = f"http://127.0.0.1:{free_port()}"
    away = make_benchmark("toy", url)
    with pytest.raises(InputError) as caught:
        fetch_split(away, "train", tmp_path / "a.data")
    assert str(caught.value) == (
        f"{url}/toy/toy.train.data: cannot be reached (connection refused); name a folder or URL "
        "that has the files with --mirror or the environment variable MNLEARN_DATA_MIRROR."
    )


def test_destination_that_cannot_be_written(server, toy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        fetch_split(toy, "train", tmp_path / "file" / "toy.train.data")


def test_fetch_that_waits_too_long_for_another(server, toy, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "LOCK_TIMEOUT_SECONDS", 0.05)
    with (
        fetch.FileLock(tmp_path / ".a.data.lock"),
        pytest.raises(InputError, match="another process"),
    ):
        fetch_split(toy, "train", tmp_path / "a.data")


# --- mirrors ----------------------------------------------------------------------------------


def make_mirror(folder: Path, names: tuple[str, ...], compressed: bool) -> Path:
    for name in names:
        (folder / name).mkdir(parents=True)
        for split in SPLITS:
            content = split_content(name, split)
            path = folder / name / f"{name}.{split}.data"
            if compressed:
                path.with_name(path.name + ".xz").write_bytes(lzma.compress(content))
            else:
                path.write_bytes(content)
    return folder


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("as_url", [False, True])
def test_mirror_folder(server, toy, tmp_path, compressed, as_url):
    folder = make_mirror(tmp_path / "mirror folder", ("toy",), compressed)
    mirror = folder.as_uri() if as_url else str(folder)
    for split in SPLITS:
        counted: list[int] = []
        path = tmp_path / "out" / f"{split}.data"
        fetch_split(toy, split, path, mirror, counted.append)
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
    fetch_split(away, "train", path, server.url + "/", counted.append)
    assert path.read_bytes() == split_content("toy", "train")
    assert server.requests["toy/toy.train.data"] == (0 if compressed else 1)
    assert sum(counted) == away.train.n_bytes


def test_mirror_of_the_environment(server, toy, tmp_path, monkeypatch):
    monkeypatch.setenv("MNLEARN_DATA_MIRROR", str(make_mirror(tmp_path / "mirror", ("toy",), True)))
    fetch_split(toy, "test", tmp_path / "a.data")
    assert not server.requests
    with pytest.raises(InputError, match="no such folder"):
        fetch_split(toy, "train", tmp_path / "b.data", mirror=str(tmp_path / "other"))


def test_mirror_without_the_file_is_reported_and_the_source_left_alone(server, toy, tmp_path):
    (tmp_path / "mirror").mkdir()
    message = r"mirror: has neither toy/toy\.train\.data nor toy/toy\.train\.data\.xz"
    with pytest.raises(InputError, match=message):
        fetch_split(toy, "train", tmp_path / "a.data", str(tmp_path / "mirror"))
    assert not server.requests
    with pytest.raises(InputError, match="has neither"):
        fetch_split(make_benchmark("to-y", ""), "train", tmp_path / "a.data", server.url)


@pytest.mark.parametrize(
    ("mirror", "message"),
    [
        ("ftp://example.org/data", "expected a folder or an http, https or file URL"),
        ("http://[bad", "cannot be fetched"),
    ],
)
def test_mirror_that_is_no_place(server, toy, tmp_path, mirror, message):
    with pytest.raises(InputError, match=message):
        fetch_split(toy, "train", tmp_path / "a.data", mirror)


def test_damaged_mirror_is_reported(server, toy, tmp_path):
    folder = make_mirror(tmp_path / "mirror", ("toy",), True)
    packed = folder / "toy" / "toy.train.data.xz"
    packed.write_bytes(packed.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"toy\.train\.data\.xz: is not a complete \.xz"):
        fetch_split(toy, "train", tmp_path / "a.data", str(folder))
    packed.write_bytes(lzma.compress(split_content("other", "train")))
    with pytest.raises(InputError, match=r"toy\.train\.data\.xz: is not the train data of toy"):
        fetch_split(toy, "train", tmp_path / "a.data", str(folder))
    assert visible(tmp_path / "mirror") == sorted(f"toy.{s}.data.xz" for s in SPLITS)
    assert not (tmp_path / "a.data").exists()


# --- many datasets ----------------------------------------------------------------------------


def test_state(server, toy, tmp_path):
    assert state(toy, tmp_path) == "absent"
    fetch_split(toy, "train", tmp_path / toy.relative_path("train"))
    assert state(toy, tmp_path) == "absent"
    fetch_many(["toy"], tmp_path, registry={"toy": toy})
    assert state(toy, tmp_path) == "verified"
    path = tmp_path / toy.relative_path("test")
    path.write_bytes(path.read_bytes()[::-1])
    assert state(toy, tmp_path) == "altered"
    path.write_bytes(b"")
    assert state(toy, tmp_path) == "altered"


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
    states = {name: state(benchmark, tmp_path) for name, benchmark in registry.items()}
    assert states == dict.fromkeys("abdf", "verified") | dict.fromkeys("ce", "absent")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "a: verified, 3 files fetched\n" in captured.err
    assert f"c: {results['c'].reason}\n" in captured.err
    again = fetch_many("a", tmp_path, registry=registry)
    assert (again["a"].ok, again["a"].n_fetched) == (True, 0)


def test_misspelt_name_is_refused_before_anything_is_fetched(server, tmp_path):
    registry = {"toy": make_benchmark("toy", server.url)}
    with pytest.raises(InputError, match="did you mean 'toy'"):
        fetch_many(["toy", "toi"], tmp_path, registry=registry)
    assert not server.requests


def test_without_a_network_one_dataset_tries_for_all(server, tmp_path, monkeypatch):
    calls = []
    original = fetch._download

    def counting(url, *args):
        calls.append(url)
        return original(url, *args)

    monkeypatch.setattr(fetch, "_download", counting)
    away = f"http://127.0.0.1:{free_port()}"
    registry = {name: make_benchmark(name, away) for name in "abcd"}
    registry["e"] = make_benchmark("e", server.url)
    results = fetch_many(registry, tmp_path, jobs=1, registry=registry)
    assert [result.ok for result in results.values()] == [False] * 4 + [True]
    assert all("MNLEARN_DATA_MIRROR" in (results[name].reason or "") for name in "abcd")
    assert len(calls) == 1 + 3


def test_progress_is_a_bar_on_a_terminal(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    registry = {name: make_benchmark(name, server.url) for name in "ab"}
    server.faults["b/b.test.data"] = ["404"]
    with show_progress():
        fetch_many("ab", tmp_path, registry=registry)
    text = capsys.readouterr().err
    assert "fetch:" in text
    assert "a: verified" not in text
    assert "b: http" in text


def test_threads_that_want_one_file_fetch_it_once(server, toy, tmp_path):
    path = tmp_path / "toy.train.data"
    with ThreadPoolExecutor(6) as pool:
        fetched = list(pool.map(lambda _: fetch_split(toy, "train", path), range(6)))
    assert sum(fetched) == 1
    assert server.requests["toy/toy.train.data"] == 1
    assert visible(tmp_path) == ["toy.train.data"]


PROCESS = """
import sys
from mnlearn.study.datasets.fetch import fetch_many
from mnlearn.study.datasets.registry import load_registry
results = fetch_many(["toy"], sys.argv[2], registry=load_registry(sys.argv[1]))
assert results["toy"].ok, results
print(results["toy"].n_fetched)
"""


def test_processes_that_want_one_dataset_fetch_it_once(server, toy, tmp_path):
    row = {
        "name": "toy",
        "label": "Toy",
        "n_vars": toy.n_vars,
        "density": 0.5,
        "source": toy.source,
        "domain": "",
        "citation": "",
        **{f"n_{split}": toy.n_rows(split) for split in SPLITS},
        **{f"{split}_blob": toy.file(split).blob_id for split in SPLITS},
        **{f"{split}_bytes": toy.file(split).n_bytes for split in SPLITS},
    }
    table = tmp_path / "datasets.tsv"
    table.write_text("\t".join(COLUMNS) + "\n" + "\t".join(str(row[c]) for c in COLUMNS) + "\n")
    assert load_registry(table)["toy"].train == toy.train
    command = [sys.executable, "-c", PROCESS, str(table), str(tmp_path / "data")]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for _ in range(2)
    ]
    n_fetched = [int(process.communicate(timeout=60)[0]) for process in running]
    assert sum(n_fetched) == 3
    assert all(server.requests[f"toy/toy.{split}.data"] == 1 for split in SPLITS)


def test_fetched_files_have_the_usual_mode(server, tmp_path):
    usual = os.umask(0)
    os.umask(usual)
    registry = {name: make_benchmark(name, server.url) for name in "abcdefgh"}
    fetch_many("abcdefgh", tmp_path, jobs=8, registry=registry)
    assert {p.stat().st_mode & 0o777 for p in tmp_path.rglob("*.data")} == {0o666 & ~usual}
    after = os.umask(usual)
    assert after == usual


# --- the real thing ---------------------------------------------------------------------------


@pytest.mark.slow
def test_every_benchmark_of_the_mirror_is_verified(tmp_path, mirror):
    registry = load_registry(REGISTRY)
    results = fetch_many(registry, tmp_path, str(mirror), jobs=2, registry=registry)
    assert [result.reason for result in results.values()] == [None] * 20
    for benchmark in registry.values():
        assert state(benchmark, tmp_path) == "verified"
        parts = [load_dataset(tmp_path / benchmark.relative_path(split)) for split in SPLITS]
        assert [part.n_vars for part in parts] == [benchmark.n_vars] * 3
        assert [part.n_examples for part in parts] == [benchmark.n_rows(s) for s in SPLITS]
        ones = sum(part.density * part.n_examples for part in parts)
        assert ones / sum(part.n_examples for part in parts) == pytest.approx(
            benchmark.density, abs=6e-4
        )
