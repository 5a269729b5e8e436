"""The benchmark datasets: what `workflow/datasets.tsv` says about each."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table

# In a package that was built as a wheel: the files of the checkout that a study needs.
PACKAGED = Path(__file__).resolve().parents[1] / "study_files"

COLUMNS = (
    "name",
    "label",
    "n_vars",
    *(f"n_{split}" for split in SPLITS),
    "density",
    *(f"{split}_blob" for split in SPLITS),
    *(f"{split}_bytes" for split in SPLITS),
    "origin",
    "domain",
    "citation",
)


class RemoteFile(Protocol):
    """What a file must be to be the published one."""

    @property
    def n_bytes(self) -> int:
        """Length of the file."""

    @property
    def blob_id(self) -> str:
        """Git's object id of the content, 40 hexadecimal digits."""


class Remote(Protocol):
    """Files that are fetched and verified: those of a `Benchmark`, or of another source."""

    @property
    def name(self) -> str:
        """Name of the dataset."""

    @property
    def origin(self) -> str:
        """An address at the server of the files."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the files; of a benchmark these are the splits."""

    def file(self, part: str) -> RemoteFile:
        """Return what a file must be."""

    def url(self, part: str) -> str:
        """Return the address of a file at its origin."""

    def relative_path(self, part: str) -> Path:
        """Return the place of a file in a data folder."""

    def mirror_paths(self, part: str) -> Sequence[str]:
        """Return the places where a mirror may have a file."""

    def check_shape(self, content: bytes, part: str) -> None:
        """Refuse a content that is not what the data are said to be."""


@dataclass(frozen=True)
class SplitFile:
    """The file of one split: what it must be to be the benchmark's.

    Attributes
    ----------
    n_rows : int
        Number of examples.
    n_bytes : int
        Length of the file.
    blob_id : str
        git's object id of the content, 40 hexadecimal digits.

    """

    n_rows: int
    n_bytes: int
    blob_id: str


@dataclass(frozen=True)
class Benchmark:
    """One dataset of the registry.

    Attributes
    ----------
    name : str
        The name in file names, configuration and results.
    label : str
        The name as the papers print it.
    n_vars : int
        Number of binary variables.
    density : float
        Share of ones over all three splits, to three places.
    train, valid, test : SplitFile
        The three files.
    origin : str
        URL of the files with `{split}` in the place of the split.
    domain : str
        What the examples and variables are.
    citation : str
        Who published the data, and where.

    """

    name: str
    label: str
    n_vars: int
    density: float
    train: SplitFile
    valid: SplitFile
    test: SplitFile
    origin: str
    domain: str
    citation: str

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the splits."""
        return SPLITS

    def sizes(self) -> dict[str, int | float]:
        """Return the numbers of rows of the splits and of variables, and the density."""
        rows = {f"n_{split}": self.file(split).n_rows for split in SPLITS}
        return {**rows, "n_vars": self.n_vars, "density": self.density}

    def file(self, split: str) -> SplitFile:
        """Return the description of the file of `split`."""
        if split not in SPLITS:
            raise ValueError(f"split: expected one of {SPLITS}, got {split!r}")
        file: SplitFile = getattr(self, split)
        return file

    def n_rows(self, split: str) -> int:
        """Return the number of examples of `split`."""
        return self.file(split).n_rows

    def url(self, split: str) -> str:
        """Return the address of `split` at its origin."""
        return self.origin.replace("{split}", split)

    def relative_path(self, split: str) -> Path:
        """Return the place of `split` in a data folder or a mirror."""
        return Path(self.name, f"{self.name}.{split}.data")

    def mirror_paths(self, split: str) -> Sequence[str]:
        """Return the places where a mirror may have `split`, compressed or plain."""
        relative = self.relative_path(split).as_posix()
        return f"{relative}.xz", relative

    def check_shape(self, content: bytes, split: str) -> None:
        """Refuse a content that has not the shape of `split`, or values other than 0 and 1.

        Raises
        ------
        InputError
            Number of rows or columns differ, or a value is not 0 or 1.

        """
        n_rows, n_vars = self.n_rows(split), self.n_vars
        cells = np.frombuffer(content, np.uint8)
        if len(cells) != n_rows * n_vars * 2:
            raise InputError(f"expected {n_rows} rows of {n_vars} values, the length differs.")
        cells = cells.reshape(n_rows, n_vars, 2)
        ends = cells[:, :, 1]
        if not ((ends[:, :-1] == ord(",")).all() and (ends[:, -1] == ord("\n")).all()):
            raise InputError(f"expected {n_rows} rows of {n_vars} values separated by commas.")
        if not np.isin(cells[:, :, 0], (ord("0"), ord("1"))).all():
            raise InputError("expected values 0 and 1 only.")


Found = TypeVar("Found", bound=Remote)


def registry_path() -> Path:
    """Return the registry of the checkout one is in, else of the one mnlearn was installed from.

    A package without a checkout brings its own.

    Raises
    ------
    InputError
        Neither the current folder, nor one above it, nor the package's checkout holds
        `workflow/datasets.tsv`, and the package does not bring it.

    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3], PACKAGED):
        path = folder / "workflow" / "datasets.tsv"
        if path.is_file():
            return path
    raise InputError(
        f"workflow/datasets.tsv: neither in {here} nor above it; run mnlearn inside its checkout."
    )


def load_registry(path: Path | str | None = None) -> dict[str, Benchmark]:
    """Read the registry at `path` (`registry_path()` if not given), by name, in file order.

    Raises
    ------
    InputError
        The file is missing or malformed; the sentence names the line.

    """
    path = Path(path) if path is not None else registry_path()
    registry: dict[str, Benchmark] = {}
    for where, cells in read_table(path, COLUMNS):
        benchmark = _parse(cells, where)
        if benchmark.name in registry:
            raise InputError(f"{where}: a second dataset named {benchmark.name!r}.")
        registry[benchmark.name] = benchmark
    return registry


def _parse(row: dict[str, str], where: str) -> Benchmark:
    """Return the benchmark of one row of the table; `where` names the row in errors."""
    # The name becomes part of paths: nothing in it may lead out of the data folder.
    if not re.fullmatch(r"[a-z0-9][a-z0-9_]*", row["name"]):
        raise InputError(
            f"{where}, name: expected lower-case letters, digits and _, got {row['name']!r}."
        )
    if "{split}" not in row["origin"]:
        raise InputError(f"{where}, origin: expected a URL with {{split}}, got {row['origin']!r}.")
    try:
        density = float(row["density"])
    except ValueError:
        density = -1.0
    if not 0 <= density <= 1:
        raise InputError(f"{where}, density: expected a share, got {row['density']!r}.")
    train, valid, test = (_parse_split(row, split, where) for split in SPLITS)
    return Benchmark(
        name=row["name"],
        label=row["label"],
        n_vars=_parse_count(row, "n_vars", where),
        density=density,
        train=train,
        valid=valid,
        test=test,
        origin=row["origin"],
        domain=row["domain"],
        citation=row["citation"],
    )


def _parse_split(row: dict[str, str], split: str, where: str) -> SplitFile:
    blob_id = row[f"{split}_blob"]
    if not re.fullmatch(r"[0-9a-f]{40}", blob_id):
        raise InputError(f"{where}, {split}_blob: expected 40 hexadecimal digits, got {blob_id!r}.")
    return SplitFile(
        n_rows=_parse_count(row, f"n_{split}", where),
        n_bytes=_parse_count(row, f"{split}_bytes", where),
        blob_id=blob_id,
    )


def _parse_count(row: dict[str, str], column: str, where: str) -> int:
    text = row[column]
    # Longer ones are no sizes of files, and the longest cannot be converted.
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text):
        raise InputError(f"{where}, {column}: expected a positive whole number, got {text!r}.")
    return int(text)


def find_benchmark(registry: Mapping[str, Found], name: str) -> Found:
    """Return the dataset called `name`.

    Raises
    ------
    InputError
        There is none; the sentence suggests the nearest name and lists all.

    """
    if name in registry:
        return registry[name]
    by_lower = {known.lower(): known for known in registry}
    by_lower |= {b.label.lower(): b.name for b in registry.values() if isinstance(b, Benchmark)}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    hint = f"; did you mean '{by_lower[near[0]]}'?" if near else ";"
    raise InputError(f"no dataset '{name}'{hint} known: {', '.join(registry)}.")
