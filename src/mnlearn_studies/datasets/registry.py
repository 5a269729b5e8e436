"""The datasets: what `workflow/datasets.tsv` says about each, and the public files of each.

Files are those of `workflow/sources.tsv`, verified by their length and git's object id.
"""

import difflib
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table

# In a package that was built as a wheel: the files of the checkout that a study needs.
PACKAGED = Path(__file__).resolve().parents[1] / "study_files"

COLUMNS = (
    *("name", "label", "n_vars"),
    *(f"n_{split}" for split in SPLITS),
    "density",
    *(f"{split}_blob" for split in SPLITS),
    *("recipe", "origin", "domain", "citation"),
)
SOURCE_COLUMNS = ("source", "file", "n_bytes", "blob", "url")
# The recipes of datasets that are not built from other files, see `Entry`.
FETCHED, EMBEDDED, UNAVAILABLE = "fetched", "embedded", "unavailable"
State = Literal["verified", "absent", "altered"]


@dataclass(frozen=True)
class RemoteFile:
    """A public file: its name for messages, its place in a data folder, its git object id."""

    content: str
    path: str
    url: str
    n_bytes: int
    blob_id: str

    @property
    def mirror_paths(self) -> tuple[str, ...]:
        """Return the places where a mirror may have the file, compressed or plain."""
        name = self.path.rpartition("/")[2]
        return f"{self.path}.xz", self.path, f"{name}.xz", name

    def check_length(self, n_bytes: int) -> None:
        """Refuse another length."""
        if n_bytes != self.n_bytes:
            raise InputError(f"expected {self.n_bytes} bytes, got {n_bytes}.")

    def verify(self, content: bytes) -> None:
        """Refuse another content."""
        self.check_length(len(content))
        if (found := compute_blob_id(content)) != self.blob_id:
            raise InputError(f"expected the git blob {self.blob_id}, got {found}.")

    def state(self, path: Path) -> State:
        """Return the state of the file at a path; one of another length is not read."""
        try:
            self.check_length(path.stat().st_size)
            self.verify(path.read_bytes())
        except FileNotFoundError:
            return "absent"
        except (InputError, OSError):
            return "altered"
        return "verified"


@dataclass(frozen=True)
class Entry:
    """One dataset of the registry.

    rows, blob_ids : of each split, empty if it is not public. density : share of ones, 0 if it is
    not stated. recipe : `FETCHED`, `EMBEDDED`, `UNAVAILABLE` or a name of `built.RECIPES`. origin :
    the address with `{split}`, or the source of the files; one source has the same examples in one
    order.
    """

    name: str
    label: str
    n_vars: int
    rows: tuple[int, ...]
    density: float
    blob_ids: tuple[str, ...]
    recipe: str
    origin: str
    domain: str
    citation: str
    files: tuple[RemoteFile, ...]

    @property
    def is_built(self) -> bool:
        """Whether it is built from public files."""
        return self.recipe not in (FETCHED, EMBEDDED, UNAVAILABLE)

    def n_rows(self, split: str) -> int:
        """Return the number of examples of a split."""
        return self.rows[SPLITS.index(split)]

    def sizes(self) -> dict[str, int | float]:
        """Return the numbers of rows of the splits and of variables, and the density."""
        rows = {f"n_{split}": self.n_rows(split) for split in SPLITS}
        return {**rows, "n_vars": self.n_vars, "density": self.density}

    def file(self, split: str) -> RemoteFile:
        """Return the file of a split of a dataset that is fetched as it is."""
        return self.files[SPLITS.index(split)]

    def state(self, folder: Path) -> State:
        """Return whether a folder has all files, unaltered."""
        states = {file.state(folder / file.path) for file in self.files}
        return next(state for state in ("altered", "absent", "verified") if state in states)

    @property
    def reason(self) -> str:
        """Why it cannot be had, and how a person uses a copy."""
        return (
            "no public copy was found; name your own files under local in config.yaml to use "
            f"{self.name}"
        )


def compute_blob_id(content: bytes) -> str:
    """Return git's object id of a file with this content, 40 hexadecimal digits."""
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def registry_path() -> Path:
    """Return the registry of the checkout one is in, else of the one mnlearn was installed from.

    A package without a checkout brings its own.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3], PACKAGED):
        path = folder / "workflow" / "datasets.tsv"
        if path.is_file():
            return path
    raise InputError(
        f"workflow/datasets.tsv: neither in {here} nor above it; run mnlearn inside its checkout."
    )


def load_datasets(path: Path | None = None) -> dict[str, Entry]:
    """Read the registry at a path (`registry_path()` if not given), by name, in file order."""
    path = registry_path() if path is None else path
    # A plan asks for the size of a dataset thousands of times.
    state = path.stat() if path.exists() else None
    return dict(_load_datasets(path, state and (state.st_mtime_ns, state.st_size)))


@lru_cache(maxsize=4)
def _load_datasets(path: Path, _state: tuple[int, int] | None) -> dict[str, Entry]:
    sources: dict[str, list[RemoteFile]] | None = None
    datasets: dict[str, Entry] = {}
    for where, row in read_table(path, COLUMNS):
        name, recipe = row["name"], row["recipe"]
        # The name becomes part of paths: nothing in it may lead out of the data folder.
        if not re.fullmatch(r"[a-z0-9][a-z0-9_]*", name):
            raise InputError(
                f"{where}, name: expected lower-case letters, digits and _, got {name!r}."
            )
        if name in datasets:
            raise InputError(f"{where}: a second dataset named {name!r}.")
        if recipe == FETCHED:
            files = tuple(_splits(row, where))
        elif recipe in (EMBEDDED, UNAVAILABLE):
            files = ()
        else:
            sources = sources or _load_sources(path.with_name("sources.tsv"))
            if row["origin"] not in sources:
                known = ", ".join(sources)
                raise InputError(
                    f"{where}, origin: expected one of {known}, got {row['origin']!r}."
                )
            files = tuple(sources[row["origin"]])
        datasets[name] = _parse(row, where, files)
    return datasets


def load_registry(path: Path | None = None) -> dict[str, Entry]:
    """Return the datasets that are fetched as they are: the public benchmarks."""
    datasets = load_datasets(path).items()
    return {name: entry for name, entry in datasets if entry.recipe == FETCHED}


def _parse(row: Mapping[str, str], where: str, files: tuple[RemoteFile, ...]) -> Entry:
    is_public, is_stated = row["recipe"] != UNAVAILABLE, bool(row["density"])
    try:
        density = float(row["density"]) if is_stated else 0.0
    except ValueError:
        density = -1.0
    if not 0 <= density <= 1:
        raise InputError(f"{where}, density: expected a share, got {row['density']!r}.")
    n_rows = (_count(row, f"n_{split}", where) for split in SPLITS if is_public)
    blobs = (_blob(row, f"{split}_blob", where) for split in SPLITS if is_stated)
    texts = {key: row[key] for key in ("name", "label", "recipe", "origin", "domain", "citation")}
    return Entry(
        n_vars=_count(row, "n_vars", where), rows=tuple(n_rows), density=density,
        blob_ids=tuple(blobs), files=files, **texts,
    )  # fmt: skip


def _splits(row: Mapping[str, str], where: str) -> Iterator[RemoteFile]:
    """Yield the files of the splits; each value in them is one digit and one separator."""
    if "{split}" not in row["origin"]:
        raise InputError(f"{where}, origin: expected a URL with {{split}}, got {row['origin']!r}.")
    name, n_vars = row["name"], _count(row, "n_vars", where)
    for split in SPLITS:
        n_bytes, blob = 2 * n_vars * _count(row, f"n_{split}", where), f"{split}_blob"
        url, path = row["origin"].replace("{split}", split), f"{name}/{name}.{split}.data"
        yield RemoteFile(f"{split} data of {name}", path, url, n_bytes, _blob(row, blob, where))


def _load_sources(path: Path) -> dict[str, list[RemoteFile]]:
    sources: dict[str, list[RemoteFile]] = {}
    for where, row in read_table(path, SOURCE_COLUMNS):
        source, name = row["source"], row["file"]
        n_bytes, blob = _count(row, "n_bytes", where), _blob(row, "blob", where)
        file = RemoteFile(f"file {name}", f"{source}/{name}", row["url"], n_bytes, blob)
        sources.setdefault(source, []).append(file)
    return sources


def _blob(row: Mapping[str, str], column: str, where: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{40}", row[column]):
        raise InputError(f"{where}, {column}: expected 40 hexadecimal digits, got {row[column]!r}.")
    return row[column]


def _count(row: Mapping[str, str], column: str, where: str) -> int:
    # Longer ones are no sizes of files, and the longest cannot be converted.
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text := row[column]):
        raise InputError(f"{where}, {column}: expected a positive whole number, got {text!r}.")
    return int(text)


def find_dataset(datasets: Mapping[str, Entry], name: str) -> Entry:
    """Return the dataset called `name`, or refuse it with the nearest name and all others."""
    if name in datasets:
        return datasets[name]
    by_lower = {text.lower(): e.name for e in datasets.values() for text in (e.label, e.name)}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    hint = f"; did you mean '{by_lower[near[0]]}'?" if near else ";"
    raise InputError(f"no dataset '{name}'{hint} known: {', '.join(datasets)}.")
