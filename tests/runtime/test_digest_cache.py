"""Digests kept on disk: read again, never trusted where damaged, and no error where unwritable."""

import os

import platformdirs
import pytest

from mnlearn.runtime import code_digest as digests
from mnlearn.runtime import digest_cache

ROOTS = ("mnlearn.small.Small",)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in the place of the user's cache folder, and small packages to read."""
    for name in digests.PACKAGES:
        (tmp_path / "src" / name).mkdir(parents=True)
        (tmp_path / "src" / name / "small.py").write_text("class Small:\n    x = 1\n")
    monkeypatch.setattr(digests, "SOURCES", tmp_path / "src")
    monkeypatch.setattr(digest_cache.platformdirs, "user_cache_dir", lambda name: str(tmp_path))
    digests.clear_caches()
    yield tmp_path / "digests"
    digests.clear_caches()


def test_tests_do_not_write_to_the_cache_folder_of_the_user():
    file = digest_cache.digest_file([digests.SOURCES / digests.PACKAGES[0]])
    assert not file.is_relative_to(platformdirs.user_cache_dir("mnlearn"))


def computed(monkeypatch):
    """Return the digest as a new process finds it, and whether its syntax was read."""
    reads = []
    hashes = digests._hashes
    with monkeypatch.context() as patch:
        patch.setattr(digests, "_hashes", lambda *found: reads.append(1) or hashes(*found))
        digests.clear_caches()
        return digests.code_digest(*ROOTS), bool(reads)


def test_a_digest_is_computed_once(folder, monkeypatch):
    digest, computed_first = computed(monkeypatch)
    assert computed_first
    assert computed(monkeypatch) == (digest, False)


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"mnlearn.small.Small": 3}', '{"mnlearn.small.Small": "x"}'],
)
def test_a_damaged_file_is_not_used(folder, monkeypatch, damage):
    digest, _ = computed(monkeypatch)
    (file,) = folder.iterdir()
    file.write_text(damage)
    assert computed(monkeypatch) == (digest, True)
    assert computed(monkeypatch) == (digest, False)


def test_a_folder_that_cannot_be_written_is_no_error(folder, monkeypatch):
    folder.write_text("a file in the place of the folder")
    digest, _ = computed(monkeypatch)
    assert computed(monkeypatch) == (digest, True)


def test_each_state_of_the_sources_has_a_file(folder, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("x = 1\n")
    files = {digest_cache.digest_file([package])}
    (package / "a.py").write_text("x = 2\n")
    files.add(digest_cache.digest_file([package]))
    (package / "a.py").rename(package / "b.py")
    files.add(digest_cache.digest_file([package]))
    assert len(files) == 3


def test_files_of_former_states_are_removed_after_a_month(folder, monkeypatch):
    folder.mkdir()
    for name, days in (("old", 31), ("young", 29)):
        file = folder / f"{name}.json"
        file.write_text("{}")
        os.utime(file, (file.stat().st_atime, file.stat().st_mtime - days * 86400))
    computed(monkeypatch)
    names = {path.name for path in folder.iterdir()}
    assert "young.json" in names
    assert "old.json" not in names
    assert len(names) == 2
