"""A running server and its toy benchmark."""

import threading
from collections.abc import Iterator

import pytest

from made_server import Server, make_benchmark
from mnlearn.study.datasets import transport
from mnlearn.study.datasets.places import MIRROR_VARIABLE
from mnlearn.study.datasets.registry import Benchmark


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(transport, "BACKOFF_SECONDS", 0.005)
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.stopping.set()
        running.shutdown()
        thread.join()


@pytest.fixture
def toy(server: Server) -> Benchmark:
    return make_benchmark("toy", server.url)
