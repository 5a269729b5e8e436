"""Public files that datasets are built from, fetched and verified like the benchmark files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from mnlearn.runtime.errors import InputError

_GITHUB = "https://raw.githubusercontent.com"
_PGMPY = (
    f"{_GITHUB}/pgmpy/pgmpy/94105f10d4177e4420e2fa6766d819c19aa6b66e/pgmpy/utils/example_models"
)
_ARFF = f"{_GITHUB}/renatopp/arff-datasets/c59f172882592bb58982cc54d2d3c8a2b57e9b73/classification"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


class SourceFile(NamedTuple):
    """One file as it is published: its name, address, length and git's object id."""

    name: str
    url: str
    n_bytes: int
    blob_id: str


@dataclass(frozen=True)
class Source:
    """The files that some datasets are built from; it is fetched like a `Benchmark`.

    name : of the dataset that is asked for. folder : where the files are kept in a data folder,
    the same for all datasets that are built from them. files : in the order of their use.
    """

    name: str
    folder: str
    files: tuple[SourceFile, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the files."""
        return tuple(file.name for file in self.files)

    @property
    def origin(self) -> str:
        """Address of the first file."""
        return self.files[0].url

    def file(self, part: str) -> SourceFile:
        """Return the file of this name."""
        return next(file for file in self.files if file.name == part)

    def url(self, part: str) -> str:
        """Return the address of a file at its origin."""
        return self.file(part).url

    def relative_path(self, part: str) -> Path:
        """Return the place of a file in a data folder."""
        return Path(self.folder, part)

    def mirror_paths(self, part: str) -> Sequence[str]:
        """Return the places where a mirror may have a file."""
        places = (f"{self.folder}/{part}", part)
        return [name for place in places for name in (f"{place}.xz", place)]

    def check_shape(self, content: bytes, part: str) -> None:
        """Accept any content: building the dataset checks it."""

    def named(self, name: str) -> "Source":
        """Return the same files for another dataset."""
        return replace(self, name=name)


def _single(name: str, folder: str, file: str, n_bytes: int, blob_id: str) -> Source:
    """Return a source of one file."""
    return Source(name, name, (SourceFile(file, f"{folder}/{file}", n_bytes, blob_id),))


SOURCES = {
    source.name: source
    for source in (
        _single("alarm", _PGMPY, "alarm.bif.gz", 1_832, "a0a56f8b6fe1dd7bb549825721c08415ce741e27"),
        _single("asia", _PGMPY, "asia.bif.gz", 310, "2d0f84037cfcd2d46905feecbdf3b8d6eeef7fcd"),
        _single("child", _PGMPY, "child.bif.gz", 1_443, "755aa88af7b079319660045267d04c23d3541db9"),
        _single(
            "insurance",
            _PGMPY,
            "insurance.bif.gz",
            3_802,
            "1d5dab1614fde9d5fed397f5796c023dbeb3ec3b",
        ),
        _single(
            "hailfinder",
            _PGMPY,
            "hailfinder.bif.gz",
            9_075,
            "42e857103cb3f78ee679fd9ad3815944c0895347",
        ),
        _single(
            "win95pts", _PGMPY, "win95pts.bif.gz", 4_261, "7a0e06185024c06663ee218876af080fbab8059a"
        ),
        _single(
            "mushroom", _ARFF, "mushroom.arff", 759_524, "b28549a6cb117690e692208d882f91aad52a6776"
        ),
        _single(
            "nursery", _ARFF, "nursery.arff", 1_077_366, "c97e2eed9a8ff1c68ffa52b4d7a4161eee35b1f8"
        ),
        _single(
            "splice", _ARFF, "splice.arff", 527_517, "ac6657f9823467211b8510ec638228db45c1d891"
        ),
        Source(
            "adult",
            "adult",
            (
                SourceFile(
                    "adult.data",
                    f"{_UCI}/adult/adult.data",
                    3974305,
                    "e3cf049c46ef54b8b69dd9b2fa4d8d01376cc8e4",
                ),
                SourceFile(
                    "adult.test",
                    f"{_UCI}/adult/adult.test",
                    2003153,
                    "b67e1fbb62332b2222482be2a0105e496aa281a8",
                ),
            ),
        ),
    )
}


def find_source(name: str) -> Source:
    """Return the source of this name."""
    if name not in SOURCES:
        raise InputError(f"no source '{name}'; known: {', '.join(SOURCES)}.")
    return SOURCES[name]
