"""A server that misbehaves in random ways: files are verified or absent, and soon."""

import socket
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from faults.counting import N
from made_server import make_benchmark, split_content
from mnlearn.data.own_files import SPLITS
from mnlearn_studies.datasets import places
from mnlearn_studies.datasets.fetch import fetch_many
from mnlearn_studies.datasets.places import MIRROR_VARIABLE

MOST_SECONDS = 10.0
HEAD = b"HTTP/1.1 200 OK\r\n"


def answers(content):
    """Return answers to one request: sound ones, and such as no client should trust."""
    length = b"Content-Length: %d\r\n\r\n" % len(content)
    chunks = b"Transfer-Encoding: chunked\r\n\r\n"
    return {
        "sound": HEAD + length + content,
        "sound without a length": HEAD + b"Connection: close\r\n\r\n" + content,
        "sound in chunks": HEAD + chunks + b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content),
        "nothing": b"",
        "half a head": HEAD[:9],
        "no head": content,
        "bytes": bytes(range(256)) * 20,
        "half": HEAD + length + content[: len(content) // 2],
        "another length": HEAD + b"Content-Length: 7\r\n\r\n" + content,
        "a negative length": HEAD + b"Content-Length: -5\r\n\r\n" + content,
        "a length in words": HEAD + b"Content-Length: many\r\n\r\n" + content,
        "two lengths": HEAD + b"Content-Length: 3\r\n" + length + content,
        "a huge length": HEAD + b"Content-Length: 99999999999999\r\n\r\n" + content,
        "bad chunks": HEAD + chunks + b"zz\r\n" + content,
        "a negative chunk": HEAD + chunks + b"-1\r\n" + content,
        "no last chunk": HEAD + chunks + b"%x\r\n%s\r\n" % (len(content), content),
        "bad gzip": HEAD + b"Content-Encoding: gzip\r\n" + length + content,
        "unknown encoding": HEAD + b"Content-Encoding: zz\r\n" + length + content,
        "itself": b"HTTP/1.1 302 Found\r\nLocation: PATH\r\nContent-Length: 0\r\n\r\n",
        "elsewhere": b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
        "a long head": HEAD + b"X: " + b"a" * 200_000 + b"\r\n" + length + content,
        "many heads": HEAD + b"X: a\r\n" * 500 + length + content,
        "altered": HEAD + length + content[:-2] + b"x\n",
        "longer": HEAD + b"Connection: close\r\n\r\n" + content * 500,
        "busy": b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n",
        "no status": b"HTTP/1.1 abc\r\n\r\n",
        "status 99999": b"HTTP/1.1 99999 What\r\nContent-Length: 0\r\n\r\n",
    }


@contextmanager
def serve(plan):
    """Serve on a port; `plan` gives the name of an answer for each request, and ends soundly."""
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.1)
    stopping = threading.Event()

    def answer(connection):
        with connection:
            connection.settimeout(2.0)
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    if not (part := connection.recv(65536)):
                        return
                    request += part
                path = request.split()[1]
                _, name, file = path.decode().split("/")
                found = answers(split_content(name, file.split(".")[1]))
                text = found[next(plan, "sound")]
                connection.sendall(text.replace(b"PATH", path))
                connection.shutdown(socket.SHUT_WR)
            except OSError:  # The client may leave at any moment.
                return

    def accept():
        while not stopping.is_set():
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        stopping.set()
        thread.join()
        listening.close()


def problem_of(folder, url):
    """Fetch two datasets; return what is wrong with what is then in the folder."""
    registry = {name: make_benchmark(name, url) for name in "ab"}
    began = time.monotonic()
    results = fetch_many(registry, folder, jobs=2, registry=registry)
    if time.monotonic() - began > MOST_SECONDS:
        return "took too long"
    files = {p for p in folder.rglob("*") if p.is_file() and not p.name.endswith(".lock")}
    for name, result in results.items():
        there = [folder / name / f"{name}.{split}.data" for split in SPLITS]
        for split, path in zip(SPLITS, there, strict=True):
            if path in files and path.read_bytes() != split_content(name, split):
                return f"{path.name} is not the file"
        if result.ok and not files >= set(there):
            return f"{name} is called complete"
        if not result.ok and (not result.reason.endswith(".") or "\n" in result.reason):
            return f"is not a sentence: {result.reason!r}"
        files -= set(there)
    return f"left over: {files}" if files else None


def test_hostile_server(counts, monkeypatch, tmp_path):
    monkeypatch.setattr(places, "BACKOFF_SECONDS", 0.0)
    monkeypatch.setattr(places, "TIMEOUT_SECONDS", (1.0, 1.0))
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    kinds = list(answers(b""))
    rng = np.random.default_rng(N)
    for number in range(max(len(kinds), N)):
        # Every answer comes to the first request once; later requests get any.
        length = int(rng.integers(0, 8))
        plan = [kinds[number % len(kinds)], *rng.choice(kinds, length).tolist()]
        with serve(iter(plan)) as url:
            problem = problem_of(tmp_path / str(number), url)
        counts.add(problem and f"{plan}: {problem}")
    counts.check()


@pytest.mark.parametrize("kind", ["sound", "sound without a length", "sound in chunks"])
def test_sound_answers_are_taken(kind, tmp_path, monkeypatch):
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    with serve(iter([kind] * 3)) as url:
        registry = {"a": make_benchmark("a", url)}
        assert fetch_many(registry, tmp_path, registry=registry)["a"].ok
