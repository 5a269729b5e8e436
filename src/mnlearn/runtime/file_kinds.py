"""Files that are no text, named for what they are."""

from collections.abc import Callable
from pathlib import Path

# The first bytes of a file, what it is, and what a person can do with it.
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", "a table of this kind is read if its name ends in .parquet"),
    (b"ARROW1", "a Feather file", "a table of this kind is read if its name ends in .feather"),
    (b"$FL", "an SPSS file", "a table of this kind is read if its name ends in .sav"),
    (b"<stata_dta>", "a Stata file", "a table of this kind is read if its name ends in .dta"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file", "save it as .xlsx or as CSV UTF-8"),
    (b"\x93NUMPY", "an array of NumPy", "numpy.load reads it, and functions of mnlearn take it"),
    (b"\x89HDF", "an HDF5 file", "write the table in it as CSV or Parquet"),
    (b"SQLite format 3", "a database of SQLite", "write the table in it as CSV or Parquet"),
    (b"%PDF", "a PDF file", "save the table in it as CSV"),
    (b"RDX", "a data file of R", "write.csv(x, file, row.names = FALSE) writes a table"),
    (b"\x1f\x8b", "a gzip file", "its name has to end in .gz"),
    (b"\xfd7zXZ", "an xz file", "its name has to end in .xz"),
    (b"BZh", "a bzip2 file", "its name has to end in .bz2"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it first"),
)
# What a zip archive holds tells what it is.
_ARCHIVES: tuple[tuple[bytes, str, str], ...] = (
    (b"[Content_Types].xml", "an Excel file", "a table is read if its name ends in .xlsx"),
    (b"xl/", "an Excel file", "a table is read if its name ends in .xlsx"),
    (b".npy", "an archive of NumPy", "data and models in it are read if its name ends in .npz"),
    (b"mimetypeapplication/vnd.oasis", "an OpenDocument file", "save it as .xlsx or as CSV UTF-8"),
)
# So many bytes show what an archive holds.
_HEAD = 4096
# Old Stata files begin with the number of their release, and the order of bytes.
_STATA_RELEASES = range(0x69, 0x77)


def kind_of(content: bytes) -> tuple[str, str] | None:
    """Return what a file is by its first bytes, and what to do with it; None if not known."""
    if content.startswith(b"PK\x03\x04"):
        found = (pair for mark, *pair in _ARCHIVES if mark in content[:_HEAD])
        name, advice = next(found, ("a zip archive", "unpack it first"))
        return name, advice
    if content[:1] == b"\x80" and content[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "a pickle", "it is not read, because it can run any program; mnlearn.load reads .npz"
    if len(content) > 1 and content[0] in _STATA_RELEASES and content[1] in (1, 2):
        return "a Stata file", "a table of this kind is read if its name ends in .dta"
    begins: Callable[[bytes], bool] = content.startswith
    return next(((name, advice) for mark, name, advice in _KINDS if begins(mark)), None)


def kind_of_file(path: Path | str) -> tuple[str, str] | None:
    """Return what a file is by its first bytes, as `kind_of`; None if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return kind_of(file.read(_HEAD))
    except OSError:
        return None
