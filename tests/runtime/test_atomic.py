"""Files are complete or absent, have the usual mode, and say in one sentence what went wrong."""

import os
import re
import resource
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest

from mnlearn.runtime import atomic
from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.errors import FullDiskError, InputError
from mnlearn.runtime.files import write_text

# Taken before `unsynced` replaces it.
SYNC = atomic._sync


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder as current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o000])
def test_a_file_has_the_mode_of_every_new_file(umask):
    before = os.umask(umask)
    try:
        write_text("folder/a.txt", "a")
        Path("plain").write_text("a", encoding="utf-8")
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert Path("folder/a.txt").stat().st_mode == Path("plain").stat().st_mode


def test_the_umask_is_not_touched(monkeypatch):
    """A thread that creates a file at that moment would give it the wrong mode."""
    monkeypatch.setattr(os, "umask", None)
    write_text("a.txt", "a")
    assert Path("a.txt").read_text(encoding="utf-8") == "a"


def test_a_block_that_fails_changes_nothing():
    write_text("a.txt", "old")
    with pytest.raises(KeyError), atomic_path("a.txt") as temporary:  # noqa: PT012
        temporary.write_text("new")
        raise KeyError
    assert [path.name for path in Path().iterdir()] == ["a.txt"]
    assert Path("a.txt").read_text(encoding="utf-8") == "old"


def test_a_full_disk_is_said_in_a_sentence():
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    write_text("a.txt", "old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        sentence = r"^a\.txt: cannot be written: File too large\.$"
        with pytest.raises(FullDiskError, match=sentence) as caught:
            write_text("a.txt", "new")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.exit_status == 1
    assert [path.name for path in Path().iterdir()] == ["a.txt"]
    assert Path("a.txt").read_text(encoding="utf-8") == "old"


def test_a_folder_in_the_place_is_said_in_a_sentence():
    Path("a.txt").mkdir()
    with pytest.raises(InputError, match=r"^a\.txt: cannot be written: Is a directory\.$"):
        write_text("a.txt", "new")
    assert [path.name for path in Path().iterdir()] == ["a.txt"]


def test_errors_of_other_files_are_left_alone():
    with pytest.raises(FileNotFoundError), atomic_path("a.txt"):
        Path("nowhere").read_text(encoding="utf-8")
    assert list(Path().iterdir()) == []


def test_a_file_is_synced_before_it_takes_its_place_and_its_folder_after_that(monkeypatch):
    calls = []
    sync, replace = os.fsync, Path.replace

    def note_sync(handle):
        kind = "folder" if Path(f"/proc/self/fd/{handle}").is_dir() else "file"
        calls.append(f"sync {kind}")
        sync(handle)

    def note_replace(path, target):
        calls.append("replace")
        return replace(path, target)

    monkeypatch.setattr(atomic, "_sync", SYNC)
    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_replace)
    write_text("a.txt", "a")
    assert calls == ["sync file", "replace", "sync folder"]


def test_a_name_as_long_as_names_can_be_is_written():
    name = "a" * 251 + ".txt"
    write_text(name, "a")
    assert Path(name).read_text(encoding="utf-8") == "a"


def test_a_link_stays_and_its_file_is_replaced():
    Path("folder").mkdir()
    Path("folder/a.txt").write_text("old", encoding="utf-8")
    Path("link.txt").symlink_to("folder/a.txt")
    Path("ahead.txt").symlink_to("folder/b.txt")
    write_text("link.txt", "new")
    write_text("ahead.txt", "new")
    assert [str(Path(name).readlink()) for name in ("link.txt", "ahead.txt")] == [
        "folder/a.txt",
        "folder/b.txt",
    ]
    assert sorted(path.name for path in Path("folder").iterdir()) == ["a.txt", "b.txt"]
    assert {path.read_text() for path in Path("folder").iterdir()} == {"new"}


def test_a_circle_of_links_is_said_in_a_sentence():
    Path("a.txt").symlink_to("b.txt")
    Path("b.txt").symlink_to("a.txt")
    with pytest.raises(InputError, match=r"^a\.txt: cannot be written: Too many levels"):
        write_text("a.txt", "new")
    assert all(path.is_symlink() for path in Path().iterdir())


def test_a_fifo_is_written_to_and_stays():
    os.mkfifo("fifo.txt")
    found = []
    reader = threading.Thread(
        target=lambda: found.append(Path("fifo.txt").read_text(encoding="utf-8"))
    )
    reader.start()
    write_text("fifo.txt", "line\n" * 50_000)
    # A reader of a file that took the place of the FIFO would wait for ever.
    reader.join(10)
    assert found == ["line\n" * 50_000]
    assert Path("fifo.txt").is_fifo()
    assert len(list(Path().iterdir())) == 1


def test_a_device_is_written_to_and_stays():
    ours, theirs = os.openpty()
    try:
        write_text(os.ttyname(theirs), "a line\n")
        assert os.read(ours, 100) == b"a line\r\n"
        assert Path(os.ttyname(theirs)).is_char_device()
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_full_device_is_a_full_disk():
    Path("full.txt").symlink_to("/dev/full")
    with pytest.raises(FullDiskError, match=r"^full\.txt: cannot be written: No space left"):
        write_text("full.txt", "new")
    assert Path("/dev/full").is_char_device()
    assert Path("full.txt").is_symlink()


def test_stdout_is_written_to_where_it_stands():
    code = (
        "from mnlearn.runtime.files import write_text\n"
        "print('before', flush=True)\n"
        "write_text('/dev/stdout', 'written\\n')\n"
        "print('after')\n"
    )
    with Path("out.txt").open("w", encoding="utf-8") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert Path("out.txt").read_text(encoding="utf-8") == "before\nwritten\nafter\n"


def test_a_block_that_fails_writes_nothing_to_a_device():
    ours, theirs = os.openpty()
    try:
        with pytest.raises(KeyError), atomic_path(os.ttyname(theirs)) as temporary:  # noqa: PT012
            temporary.write_text("new")
            raise KeyError
        assert not temporary.exists()
        assert re.fullmatch("mnlearn-[a-z0-9_]{8}", temporary.name)
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 1)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_descriptor_of_this_process_is_written_to_where_it_stands():
    with Path("out.txt").open("wb", buffering=0) as out:
        out.write(b"before\n")
        write_text(f"/dev/fd/{out.fileno()}", "written\n")
        Path("link.txt").symlink_to(f"/proc/self/fd/{out.fileno()}")
        Path("again.txt").symlink_to("link.txt")
        write_text("again.txt", "again\n")
        out.write(b"after\n")
    assert Path("out.txt").read_text(encoding="utf-8") == "before\nwritten\nagain\nafter\n"
    assert Path("again.txt").is_symlink()


def test_no_descriptor_stays_open(monkeypatch):
    monkeypatch.setattr(atomic, "_sync", SYNC)
    ours, theirs = os.openpty()
    try:
        before = len(list(Path("/proc/self/fd").iterdir()))
        write_text("a.txt", "a")
        write_text(os.ttyname(theirs), "a")
        assert len(list(Path("/proc/self/fd").iterdir())) == before
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_temporary_file_of_another_process_is_not_taken(monkeypatch):
    name = uuid.UUID(int=0)
    monkeypatch.setattr(uuid, "uuid4", lambda: name)
    Path(f".a.txt.{name.hex[:12]}").write_text("theirs", encoding="utf-8")
    with pytest.raises(InputError, match=r"^a\.txt: cannot be written: File exists\.$"):
        write_text("a.txt", "ours")
    assert [path.read_text() for path in Path().iterdir()] == ["theirs"]


def test_a_reader_that_has_seen_enough_is_no_fault_of_the_file(tmp_path):
    with pytest.raises(BrokenPipeError), atomic._blame(tmp_path / "out"):
        raise BrokenPipeError
