"""Compressed files that expand to far more than they hold."""

import gzip
import lzma
import tracemalloc

import pytest

from mnlearn.runtime.decompression import ExpansionLimit, expand, open_bytes, read_limited
from mnlearn.runtime.errors import InputError

ZEROS = bytes(50_000_000)


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_expansion_stops_at_the_limit(tmp_path, suffix, pack):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(pack(ZEROS))
    limit = ExpansionLimit(max_bytes=5_000_000)
    tracemalloc.start()
    with pytest.raises(InputError, match=rf"a\{suffix}: .* kB expand to 5.* MB or more; expected"):
        read_limited(path, limit)
    with pytest.raises(InputError, match="expected at most 5 MB"):
        expand(path.read_bytes(), path, limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    assert read_limited(path) == ZEROS


def test_ratio_counts_only_beyond_the_free_size(tmp_path):
    path = tmp_path / "a.xz"
    path.write_bytes(lzma.compress(bytes(100_000)))
    assert len(read_limited(path, ExpansionLimit(max_ratio=2, free_bytes=100_000))) == 100_000
    with pytest.raises(InputError, match="expected at most 2 times as much; decompress the file"):
        read_limited(path, ExpansionLimit(max_ratio=2, free_bytes=99_999))


def test_the_size_is_named_where_both_limits_are_the_same():
    limit = ExpansionLimit(max_bytes=1000, max_ratio=10, free_bytes=1000)
    limit.check("a.gz", 100, 1000)
    with pytest.raises(InputError, match="expected at most 1 kB"):
        limit.check("a.gz", 100, 1001)
    with pytest.raises(InputError, match=r"6 GB.*expected at most 5 GB"):
        ExpansionLimit(max_bytes=5e9, max_ratio=1e9).check("a.gz", 100, 6e9)


def test_files_without_compression_have_no_limit(tmp_path):
    path = tmp_path / "a.data"
    path.write_bytes(ZEROS[:1000])
    assert read_limited(path, ExpansionLimit(max_bytes=10)) == ZEROS[:1000]
    with open_bytes(path) as file:
        assert file.read(3) == b"\0\0\0"


def test_content_that_is_not_compressed_is_refused():
    with pytest.raises(InputError, match=r"http://x/a\.xz: is not a complete \.xz file"):
        expand(b"<html>", "http://x/a.xz")
