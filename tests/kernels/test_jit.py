"""The key of the cache of compiled kernels."""

import shutil
from pathlib import Path

import pytest

from mnlearn.kernels import jit

KERNELS = Path(jit.__file__).parent
FILES = sorted(path.relative_to(KERNELS) for path in KERNELS.rglob("*.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of all kernels."""
    copy = tmp_path_factory.mktemp("copy") / "kernels"
    shutil.copytree(KERNELS, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def test_the_key_does_not_depend_on_where_the_kernels_are(folder, monkeypatch):
    key = jit.kernel_sources_digest()
    monkeypatch.setattr(jit, "__file__", str(folder / "jit.py"))
    assert jit.kernel_sources_digest() == key


@pytest.mark.parametrize("name", FILES, ids=str)
def test_an_edit_of_any_kernel_changes_the_key(folder, monkeypatch, name):
    monkeypatch.setattr(jit, "__file__", str(folder / "jit.py"))
    key, text = jit.kernel_sources_digest(), (folder / name).read_text()
    (folder / name).write_text(text + "# edited\n")
    edited = jit.kernel_sources_digest()
    (folder / name).write_text(text)
    assert edited != key
    assert jit.kernel_sources_digest() == key


def test_files_in_sub_folders_are_kernels_too():
    assert Path("sampling/gibbs.py") in FILES
