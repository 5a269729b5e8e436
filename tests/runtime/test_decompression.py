"""Compressed files that expand to far more than they hold."""

import gzip
import lzma
import tracemalloc

import pytest

from mnlearn.runtime.decompression import (
    DEFAULT_LIMIT,
    ExpansionLimit,
    expand,
    read_limited,
)
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


def test_content_that_is_not_compressed_is_refused():
    with pytest.raises(InputError, match=r"http://x/a\.xz: is not a complete \.xz file"):
        expand(b"<html>", "http://x/a.xz")


def test_the_limit_that_holds_for_all_files():
    free = 256 * 2**20
    DEFAULT_LIMIT.check("a.gz", 1, free)
    DEFAULT_LIMIT.check("a.gz", free, 4 * 2**30)
    DEFAULT_LIMIT.check("a.gz", free // 100, 200 * (free // 100))
    for n_compressed, n_expanded in (
        (1, free + 1),
        (free, 4 * 2**30 + 1),
        (2**21, 200 * 2**21 + 1),
    ):
        with pytest.raises(InputError, match="; decompress the file yourself if it is meant to"):
            DEFAULT_LIMIT.check("a.gz", n_compressed, n_expanded)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r": cannot be read: Is a directory\.$"):
        read_limited(tmp_path)
    with pytest.raises(InputError, match=r"a\.data: no such file\.$"):
        read_limited(tmp_path / "a.data")
