"""Fixtures that several tests use."""

import os

from mnlearn.runtime.target import SETTINGS, is_in_class

# Tests compute as the jobs of studies do: numbers are the same on every processor of the class, and
# both have one set of compiled kernels. Who sets a variable tests another target. A second thread
# of BLAS would spin while it waits, which makes tests beside each other ten times as long.
if is_in_class():
    os.environ.update({**SETTINGS, **os.environ})
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from command_folder import fill_folder
from faults.counting import Counts
from made_server import Server, make_benchmark
from mnlearn.data.examples import load_dataset
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime import atomic, digest_cache
from mnlearn_studies.datasets import places
from mnlearn_studies.datasets.drawn_samples import draw_sample
from mnlearn_studies.datasets.places import MIRROR_VARIABLE, split_mirrors
from mnlearn_studies.datasets.prepare import fetch_dataset
from mnlearn_studies.datasets.registry import load_datasets
from mnlearn_studies.study.published import load_published
from mutants import pure_kernels


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Run a file in one worker: it makes its fixtures and compiles its kernels once.

    What starts Snakemake takes longest and comes first, so that no worker ends long after others.
    """
    items.sort(key=lambda item: item.get_closest_marker("workflow") is None)
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))


@pytest.fixture(scope="session", autouse=True)
def unsynced():
    """Write files without waiting for the disk: tests do not outlive a power loss."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic, "_sync", lambda path: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def code_digests(tmp_path_factory):
    """Keep digests of code in a folder of the tests, not in the cache folder of the user.

    Tests take digests of packages of their own, and old digests are removed.
    """
    folder = str(tmp_path_factory.mktemp("cache"))
    with pytest.MonkeyPatch.context() as patch:
        place = SimpleNamespace(user_cache_dir=lambda name: folder)
        patch.setattr(digest_cache, "platformdirs", place)
        yield


@pytest.fixture
def rng(request):
    """A generator that depends on the name of the test alone, not on the tests before it."""
    return np.random.default_rng(list(request.node.name.encode()))


def mirrors():
    """The folders that MNLEARN_DATA_MIRROR names."""
    places = split_mirrors(os.environ.get("MNLEARN_DATA_MIRROR", ""))
    return [Path(place) for place in places if place and Path(place).is_dir()]


@pytest.fixture(scope="session")
def published():
    """The published numbers of all papers."""
    return load_published()


@pytest.fixture(scope="session")
def mirror():
    """The folder of the benchmark datasets.

    They are not part of the repository, so tests that need them are skipped without.
    """
    places = mirrors()
    if not places:
        pytest.skip("MNLEARN_DATA_MIRROR does not name a folder with the benchmark data")
    return next((place for place in places if (place / "nltcs").is_dir()), places[0])


@pytest.fixture(scope="session")
def sources_mirror():
    """A folder with the files that Alarm and Adult are built from, as an option of a command.

    It is one of the mirrors, or the folder `lem` beside one. The files are not part of the
    repository, so tests that need them are skipped without.
    """
    for place in [*mirrors(), *(place.parent / "lem" for place in mirrors())]:
        if any((place / part / "alarm.bif.gz").exists() for part in ("", "alarm")):
            return str(place)
    pytest.skip("MNLEARN_DATA_MIRROR does not name a folder with the sources of Alarm and Adult")


@pytest.fixture(scope="session")
def benchmark_split(mirror):
    """A function that reads one split of a benchmark dataset from the mirror."""

    def load(name, split):
        plain = mirror / name / f"{name}.{split}.data"
        return load_dataset(plain if plain.exists() else plain.with_name(plain.name + ".xz"))

    return load


@pytest.fixture(scope="session")
def structures(tmp_path_factory):
    """A folder with the structure of one method on one dataset."""
    # Matplotlib is imported where figures are drawn.
    from made_figures import record, ring

    folder = tmp_path_factory.mktemp("structures")
    record(ring(extra=[(0, 3)]), folder)
    return folder


@pytest.fixture
def server(monkeypatch):
    """A running server of toy benchmarks, whose faults are tried again at once."""
    monkeypatch.setattr(places, "BACKOFF_SECONDS", 0.005)
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
def toy(server):
    """A toy benchmark of the server."""
    return make_benchmark("toy", server.url)


@pytest.fixture
def counts(request, record_property):
    """Count the cases of a trial of faults; the counts are shown at the end of the run."""
    name = request.node.name.removeprefix("test_").replace("_", " ")
    return Counts(name, lambda line: record_property("faults", line))


def pytest_configure():
    """Run kernels as plain Python, for a debugger, where Numba is told not to compile."""
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pure_kernels.use()


def pytest_terminal_summary(terminalreporter):
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, line in report.user_properties:
                if name == "faults":
                    terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def sample(request, benchmark_split, tmp_path_factory):
    """A function that returns the splits of the first examples of a dataset in fold 0."""
    splits = {}

    def take(name, n):
        if name not in splits and load_datasets()[name].is_built:
            place = request.getfixturevalue("sources_mirror")
            splits[name] = fetch_dataset(name, tmp_path_factory.mktemp("data"), place)
        elif name not in splits:
            splits[name] = {split: benchmark_split(name, split) for split in SPLITS}
        return draw_sample(f"{name}-n{n}-f0", splits[name], 0)

    return take


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with data, models and broken files, as current folder."""
    return fill_folder(tmp_path, monkeypatch)


@pytest.fixture
def sketched(monkeypatch):
    """Commands that draw Ising networks, but do not render them, which takes most of their time."""
    from mnlearn.drawing import style

    monkeypatch.setattr(style, "render", lambda figure: (b"pdf", b"png"))
