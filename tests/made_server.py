"""Toy benchmarks, a server and mirrors of them that misbehave when told to."""

import gzip
import http.server
import lzma
import re
import socket
import tempfile
import threading
from collections import Counter
from pathlib import Path

import numpy as np

from mnlearn.data.own_files import SPLITS
from mnlearn_studies.datasets.registry import COLUMNS, Entry, compute_blob_id, load_datasets

N_VARS = 5


def split_content(name: str, split: str) -> bytes:
    rng = np.random.default_rng([*name.encode(), *split.encode()])
    matrix = rng.integers(0, 2, (40 if split == "train" else 12, N_VARS))
    return "".join(",".join(map(str, row)) + "\n" for row in matrix.tolist()).encode()


def registry_text(origins: dict[str, str]) -> str:
    """Return a registry of benchmarks as the text of a file; origins : of each name, a server."""
    lines = ["\t".join(COLUMNS)]
    for name, origin in origins.items():
        contents = {split: split_content(name, split) for split in SPLITS}
        row = {
            "name": name,
            "label": name.upper(),
            "n_vars": N_VARS,
            "density": 0.5,
            **{f"n_{split}": content.count(b"\n") for split, content in contents.items()},
            **{f"{split}_blob": compute_blob_id(content) for split, content in contents.items()},
            "recipe": "fetched",
            "origin": f"{origin}/{name}/{name}.{{split}}.data",
            "domain": "random",
            "citation": "none",
        }
        lines.append("\t".join(str(row[column]) for column in COLUMNS))
    return "\n".join(lines) + "\n"


def make_benchmark(name: str, origin: str) -> Entry:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "datasets.tsv")
        path.write_text(registry_text({name: origin}), encoding="utf-8")
        return load_datasets(path)[name]


# What an endless body ends at, so that a client that reads on fails a test and does not hang it.
END_OF_ENDLESS = 50_000_000


class Server(http.server.ThreadingHTTPServer):
    """Serves the toy benchmarks; `faults` maps a path to what goes wrong, try by try."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: dict[str, list[str]] = {}
        self.requests: Counter[str] = Counter()
        self.n_sent = 0
        self.stopping = threading.Event()
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
        if fault in ("gzip", "bomb"):
            content = gzip.compress(bytes(20_000_000) if fault == "bomb" else content)
        if fault == "endless":
            self.send_endlessly()
            return
        if fault.startswith("chunked"):
            self.send_chunks(content, complete=fault == "chunked")
            return
        self.send_response(200)
        if fault in ("gzip", "bomb"):
            self.send_header("Content-Encoding", "gzip")
        if fault != "unannounced":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if fault == "drip":
            self.drip(content)
            return
        breaks_off = fault in ("truncated", "unannounced")
        try:
            self.wfile.write(content[: len(content) // 2] if breaks_off else content)
        except OSError:  # The client may leave early.
            return

    def send_chunks(self, content: bytes, complete: bool) -> None:
        """Send the content in two chunks, the way of HTTP/1.1; or the first one and no end."""
        self.protocol_version = "HTTP/1.1"
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(b"%x\r\n%s\r\n" % (half, content[:half]))
        if complete:
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(content) - half, content[half:]))
        self.close_connection = True

    def send_endlessly(self) -> None:
        """Send zeros, as a body whose length is not announced, until the client goes away."""
        self.send_response(200)
        self.end_headers()
        while self.server.n_sent < END_OF_ENDLESS and not self.server.stopping.is_set():
            try:
                self.server.n_sent += self.wfile.write(b"0" * 100_000)
            except OSError:
                return

    def drip(self, content: bytes) -> None:
        """Send one byte in 20 ms, until the test ends or the client goes away."""
        for i in range(len(content)):
            if self.server.stopping.wait(0.02):
                return
            try:
                self.wfile.write(content[i : i + 1])
                self.wfile.flush()
            except OSError:
                return


def visible(folder: Path) -> list[str]:
    """Files other than the lock, temporary files included."""
    return sorted(p.name for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
