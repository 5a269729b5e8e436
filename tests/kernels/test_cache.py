"""The cache of compiled kernels: its key, where it lies, and folders that cannot be written."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

from mnlearn.kernels import cache
from test_layers import own_imports

KERNELS = Path(cache.__file__).parent
PACKAGE = KERNELS.relative_to(KERNELS.parents[1])
FILES = sorted(path.relative_to(KERNELS).as_posix() for path in KERNELS.rglob("*.py"))


def test_an_edit_changes_the_key_of_what_uses_the_file_and_of_nothing_else():
    sources = cache.Sources(KERNELS)
    imports = nx.DiGraph()
    for place in FILES:
        imports.add_node(place)
        for inner in own_imports(KERNELS / place):
            if (KERNELS.parents[1] / inner).with_suffix(".py").is_relative_to(KERNELS):
                imports.add_edge(place, f"{inner.relative_to(PACKAGE)}.py")
    keys = {place: sources.digest(place) for place in FILES}
    assert len({*keys.values(), sources.digest()}) == len(FILES) + 1
    for edited in FILES:
        other = cache.Sources(KERNELS)
        other.texts[edited] += b"# edited\n"
        changed = {place for place in FILES if other.digest(place) != keys[place]}
        assert changed == {edited, *nx.ancestors(imports, edited)}
        assert other.digest() != sources.digest()


# A process that runs one kernel of its own file and says whether the cache had it.
PROCESS = """
import sys
import numba
settings = {name: getattr(numba.config, name) for name in dir(numba.config) if name.isupper()}
from own_kernel import twice
print(twice(21), sum(twice.stats.cache_hits.values()))
assert settings == {name: getattr(numba.config, name) for name in settings}
"""
OWN_KERNEL = """
from mnlearn.kernels.jit import kernel
@kernel
def twice(x):
    return FACTOR * x
FACTOR = 2
"""


@pytest.fixture
def module(tmp_path):
    """A folder with a module `own_kernel` that defines a kernel."""
    place = tmp_path / "code"
    place.mkdir()
    (place / "own_kernel.py").write_text(OWN_KERNEL)
    return place


def twice_in_a_process(module, cache_dir, umask=0o022, largest_file=None):
    """Run PROCESS and return what it prints: the value of the kernel, and hits of the cache."""

    def limit():
        os.umask(umask)
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(cache_dir), "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join([str(KERNELS.parents[1]), str(module)]),
    }  # fmt: skip
    command = [sys.executable, "-W", "error", "-c", PROCESS]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, preexec_fn=limit, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    value, hits = map(int, done.stdout.split())
    return value, hits


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_second_process_finds_what_the_first_compiled(module, tmp_path):
    place = tmp_path / "cache"
    assert twice_in_a_process(module, place, umask=0o027) == (42, 0)
    assert [path.name for path in place.iterdir()] == [cache.Sources(KERNELS).digest()]
    assert {path.stat().st_mode & 0o777 for path in files_in(place)} == {0o640}
    assert twice_in_a_process(module, place) == (42, 1)


@pytest.mark.nightly
def test_an_edit_of_a_kernel_outside_the_folder_is_noticed(module, tmp_path):
    assert twice_in_a_process(module, tmp_path / "cache") == (42, 0)
    (module / "own_kernel.py").write_text(OWN_KERNEL.replace("FACTOR = 2", "FACTOR = 3"))
    assert twice_in_a_process(module, tmp_path / "cache") == (63, 0)


def test_a_folder_that_cannot_be_created_is_done_without(module, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert twice_in_a_process(module, tmp_path / "file") == (42, 0)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_full_disk_is_done_without(module, tmp_path):
    assert twice_in_a_process(module, tmp_path / "cache", largest_file=0) == (42, 0)
    assert files_in(tmp_path / "cache") == []


@pytest.mark.nightly
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_is_written_again(module, tmp_path, suffix):
    place = tmp_path / "cache"
    twice_in_a_process(module, place)
    (file,) = (path for path in files_in(place) if path.suffix == suffix)
    file.write_bytes(file.read_bytes()[:20])
    assert twice_in_a_process(module, place) == (42, 0)
    assert twice_in_a_process(module, place) == (42, 1)


def test_a_form_for_other_types_is_not_taken(module, tmp_path, monkeypatch):
    """Two processes that begin with an empty index may both write the first data file."""
    monkeypatch.setattr(cache.numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(module)
    source = module / "own_kernel.py"

    def fresh():
        names = {"__name__": "own_kernel"}
        exec(compile(source.read_text(), str(source), "exec"), names)
        return names["twice"]

    assert fresh()(21) == 42
    (data,) = (path for path in files_in(tmp_path) if path.suffix == ".nbc")
    of_integers = data.read_bytes()
    assert fresh()(0.25) == 0.5
    (of_floats,) = (p for p in files_in(tmp_path) if p.suffix == ".nbc" and p != data)
    of_floats.write_bytes(of_integers)
    assert fresh()(0.25) == 0.5


# A search that takes many small steps: a difference in the last bit of a gain changes its result.
SEARCH = """
import numpy as np
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.features.bottom_up import search_bottom_up
from mnlearn.learning.weights.descent import Penalty

rng = np.random.default_rng(0)
hidden = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 10))
data = merge_rows((hidden + rng.normal(size=(500, 10)) > 0.8).astype(np.uint8))
found = search_bottom_up(data, Penalty(1.0, 1.0), "positive", 10, price=0.1)
print(found.replaced, [gain.hex() for gain in found.gained], found.objective.hex())
"""


@pytest.mark.nightly
def test_a_cold_and_a_warm_cache_give_the_same_bytes(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SEARCH]
    cold, warm = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert list(tmp_path.rglob("*.nbi"))
    assert cold == warm
