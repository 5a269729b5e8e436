"""Files are complete or absent, have the usual mode, and say in one sentence what went wrong."""

import os
import resource
from pathlib import Path

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import atomic_path, write_text


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder as current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o000])
def test_a_file_has_the_mode_of_every_new_file(umask):
    before = os.umask(umask)
    try:
        write_text("folder/a.txt", "a")
        Path("plain").write_text("a")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert Path("folder/a.txt").stat().st_mode == Path("plain").stat().st_mode


def test_the_umask_is_not_touched(monkeypatch):
    """A thread that creates a file at that moment would give it the wrong mode."""
    monkeypatch.setattr(os, "umask", None)
    write_text("a.txt", "a")
    assert Path("a.txt").read_text() == "a"


def test_a_block_that_fails_changes_nothing():
    write_text("a.txt", "old")
    with pytest.raises(KeyError), atomic_path("a.txt") as temporary:  # noqa: PT012
        temporary.write_text("new")
        raise KeyError
    assert [path.name for path in Path().iterdir()] == ["a.txt"]
    assert Path("a.txt").read_text() == "old"


def test_a_full_disk_is_said_in_a_sentence():
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    write_text("a.txt", "old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(InputError, match=r"^a\.txt: cannot be written: File too large\.$"):
            write_text("a.txt", "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in Path().iterdir()] == ["a.txt"]
    assert Path("a.txt").read_text() == "old"


def test_a_folder_in_the_place_is_said_in_a_sentence():
    Path("a.txt").mkdir()
    with pytest.raises(InputError, match=r"^a\.txt: cannot be written: Is a directory\.$"):
        write_text("a.txt", "new")
    assert [path.name for path in Path().iterdir()] == ["a.txt"]


def test_errors_of_other_files_are_left_alone():
    with pytest.raises(FileNotFoundError), atomic_path("a.txt"):
        Path("nowhere").read_text()
    assert list(Path().iterdir()) == []
