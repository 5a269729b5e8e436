"""Datasets that are built from public files by a recipe, and those of papers that are not public.

What a recipe makes is verified like a download: as text, every split has the git blob id that is
registered here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.adult import build_adult, build_adult_groups
from mnlearn_studies.datasets.alarm import build_alarm, build_alarm_groups
from mnlearn_studies.datasets.sources import Source, find_source
from mnlearn_studies.datasets.verification import compute_blob_id


@dataclass(frozen=True)
class Built:
    """One dataset that is built, described like a `Benchmark`.

    Attributes
    ----------
    name, label, n_vars, density, domain, citation
        As in `Benchmark`.
    n_train, n_valid, n_test : int
        Numbers of examples.
    blob_ids : tuple of str
        git's object id of each split in the text form without header.
    folder : str
        Name of its source. Datasets of one source have the same examples in the same order.
    build : callable
        Makes the splits of the contents of the files of the source.

    """

    name: str
    label: str
    n_vars: int
    n_train: int
    n_valid: int
    n_test: int
    density: float
    blob_ids: tuple[str, str, str]
    folder: str
    build: Callable[[Sequence[bytes]], Mapping[str, Dataset]]
    domain: str
    citation: str

    def n_rows(self, split: str) -> int:
        """Return the number of examples of `split`."""
        return dict(zip(SPLITS, (self.n_train, self.n_valid, self.n_test), strict=True))[split]

    @property
    def source(self) -> Source:
        """The files that it is built from, under the name of the dataset."""
        return find_source(self.folder).named(self.name)


_ALARM = (
    "Beinlich, Suermondt, Chavez & Cooper, The ALARM monitoring system, AIME 1989; samples of the "
    "network in pgmpy's repository"
)
_ADULT = "Becker & Kohavi, Adult, UCI Machine Learning Repository, 1996"

BUILT = {
    dataset.name: dataset
    for dataset in (
        Built(
            "alarm",
            "Alarm",
            148,
            50_000,
            4_000,
            4_000,
            0.25,
            (
                "5dabd0f57523367afbfb66ee0efa2569a30ac2de",
                "a9e3d0f25af0bb53c4bae2b16555fef14753913d",
                "7ef5573acd7299f672a4f79bbcec91e3b7a05c80",
            ),
            "alarm",
            build_alarm,
            "patient monitoring, 37 variables, four binary columns for each",
            _ALARM,
        ),
        Built(
            "alarm_groups",
            "Alarm, grouped",
            105,
            50_000,
            4_000,
            4_000,
            0.352,
            (
                "c0dbd73ae3832daadc95c60d0cf9018f74e2fc73",
                "0c8eeaeba19f9f40f669a5a97d28ba6d09da9aaa",
                "31ed5e6dc682da8b1b153d0401a5c3bb5adc71ab",
            ),
            "alarm",
            build_alarm_groups,
            "patient monitoring, 37 variables, a group of columns for each",
            _ALARM,
        ),
        Built(
            "adult",
            "Adult",
            125,
            36_515,
            5_000,
            7_327,
            0.119,
            (
                "b3ba42780fd9378743858f16d4c39ad9ca2bc443",
                "9c21832cb05487cc19264a46308164bd9a4722c8",
                "6ec4046989b72603832aa38aa0bd29773061247f",
            ),
            "adult",
            build_adult,
            "census answers and income, a binary column for each value of 15 attributes",
            _ADULT,
        ),
        Built(
            "adult_groups",
            "Adult, grouped",
            128,
            36_515,
            5_000,
            7_327,
            0.117,
            (
                "ffe067114bc862df93b41f4605495698ec0eb032",
                "ea369a9b84ba29b010da6109c1e3ef132704b227",
                "e6add7a4a5886e3a63d3c1d6e4038123f4982cb7",
            ),
            "adult",
            build_adult_groups,
            "census answers and income, a group of columns for each of 15 attributes",
            _ADULT,
        ),
    )
}


@dataclass(frozen=True)
class Unavailable:
    """A dataset of a paper that is not public; `n_vars` is the number that the paper prints."""

    name: str
    label: str
    n_vars: int
    domain: str
    citation: str

    @property
    def reason(self) -> str:
        """Why it cannot be had, and how a person uses a copy."""
        return (
            f"no public copy was found; name your own files under local in config.yaml to use "
            f"{self.name}"
        )


_SENSORS = "Chechetka & Guestrin, Efficient principled learning of thin junction trees, NIPS 2007"
UNAVAILABLE = {
    dataset.name: dataset
    for dataset in (
        Unavailable("traffic", "Traffic", 128, "32 road sensors, four values each", _SENSORS),
        Unavailable(
            "temperature", "Temperature", 216, "54 temperature sensors, four values each", _SENSORS
        ),
    )
}


def build(name: str, files: Sequence[bytes]) -> dict[str, Dataset]:
    """Return the verified splits of a dataset that is built.

    Parameters
    ----------
    name : str
        One of `BUILT`.
    files : sequence of bytes
        Contents of the files of its source, in their order.

    Raises
    ------
    InputError
        A split is not what is registered.

    """
    dataset = BUILT[name]
    made = dataset.build(files)
    splits = {split: made[split] for split in SPLITS}
    for (split, data), blob_id in zip(splits.items(), dataset.blob_ids, strict=True):
        found = compute_blob_id(text_of(data))
        if found != blob_id:
            raise InputError(
                f"{name}, {split}: expected the git blob {blob_id}, built {found}; another "
                "version of NumPy may draw other random numbers."
            )
    return splits


def text_of(data: Dataset) -> bytes:
    """Return the examples as text, values separated by commas, without a header."""
    cells = np.full((len(data.row_of), data.n_vars, 2), ord(","), np.uint8)
    cells[:, :, 0] = data.rows[data.row_of] + ord("0")
    cells[:, -1, 1] = ord("\n")
    return cells.tobytes()


def sources() -> dict[str, Source]:
    """Return the files that have to be fetched, by the dataset that is built from them."""
    return {name: dataset.source for name, dataset in BUILT.items()}
