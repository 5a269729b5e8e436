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
from mnlearn_studies.datasets.networks import build_samples
from mnlearn_studies.datasets.sources import Source, find_source
from mnlearn_studies.datasets.tables import build_table
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
_BNLEARN = (
    "Scutari, the network repository of bnlearn; samples of the network in pgmpy's repository"
)
_UCI = "Dua & Graff, UCI Machine Learning Repository, in renatopp's collection of ARFF files"
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
            37,
            50_000,
            4_000,
            4_000,
            0.383,
            (
                "483e704f5593b2103b0fde2c21b6ea14a95c01e7",
                "34335e91cdccf2c4281f7ef302af129ced0e2e2c",
                "79dfa10974989ef86cb89d468f74495867cc0a11",
            ),
            "alarm",
            build_alarm_groups,
            "patient monitoring, 37 variables of 2 to 4 states",
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
            15,
            36_515,
            5_000,
            7_327,
            0.110,
            (
                "96035928bd0047950c6c9c4676224c7787f29103",
                "847a15ebb6919a83cf0b281d9e3da93fe7f309e1",
                "98a9e3b5fb546d47f705f2c6bc9752048f51e83c",
            ),
            "adult",
            build_adult_groups,
            "census answers and income, 15 variables of 2 to 42 states",
            _ADULT,
        ),
        Built(
            "asia",
            "Asia",
            8,
            10_000,
            2_000,
            5_000,
            0.796,
            (
                "2a76e7f4cbad5c3cc8f3c38e6d1c0958af82046d",
                "9b996747f01b6e80d59da3add2de383d5235a3df",
                "83e267ec4e7c0536cb4d3dba7b9bc1c8925fc892",
            ),
            "asia",
            build_samples,
            "chest clinic",
            _BNLEARN,
        ),
        Built(
            "child",
            "Child",
            20,
            10_000,
            2_000,
            5_000,
            0.325,
            (
                "be07f4e2e830ec0ddbd409b74d0c4d351a987a09",
                "83be2f04de66edda9957669f503f5b39b6c38df8",
                "56e84758e2636e502c277b933b78c9df1705f0c5",
            ),
            "child",
            build_samples,
            "congenital heart disease",
            _BNLEARN,
        ),
        Built(
            "insurance",
            "Insurance",
            27,
            10_000,
            2_000,
            5_000,
            0.305,
            (
                "371b1a60436a916a6a87e6165d94e6c2d85cf8f0",
                "cefe34dfa3e6ddcfae16d34a1196b410434e2f05",
                "611a1af41b6dde9f9870a10d54ff05edaea244cd",
            ),
            "insurance",
            build_samples,
            "car insurance risks",
            _BNLEARN,
        ),
        Built(
            "alarm37",
            "Alarm, 10,000",
            37,
            10_000,
            2_000,
            5_000,
            0.383,
            (
                "9512e24513e03a56c71919be28d15894f7a6a5f8",
                "bc0dda77faccee59249f0e73b4d0c6176bca42dd",
                "0cfbc2a4de414c2f652deb1a996d9fbc5c1a9196",
            ),
            "alarm",
            build_samples,
            "patient monitoring",
            _BNLEARN,
        ),
        Built(
            "hailfinder",
            "Hailfinder",
            56,
            10_000,
            2_000,
            5_000,
            0.25,
            (
                "f68b1394d28d3305af6adb491b7f0b79c32b3980",
                "aee3f30eb38df82a06b5250d87485efd0a5298cb",
                "bce4f8f807197aacfb8032ad1a9e6ed2912f783e",
            ),
            "hailfinder",
            build_samples,
            "severe summer hail",
            _BNLEARN,
        ),
        Built(
            "win95pts",
            "Win95pts",
            76,
            10_000,
            2_000,
            5_000,
            0.135,
            (
                "88c51cd113c5ffaff0a17d53c090db91c5837777",
                "57adda047135d46f4a54a4f12ec90deb43f49f4e",
                "d28ca94b89e7932c489a01fc8e99bb7da503eeb3",
            ),
            "win95pts",
            build_samples,
            "printer problems",
            _BNLEARN,
        ),
        Built(
            "mushroom",
            "Mushroom",
            23,
            5_688,
            812,
            1_624,
            0.169,
            (
                "04ce38d685518a918129e18a907e4ac879bc1db5",
                "0c5da9ac2ba935cdc307b2d41372af891d96a659",
                "1b5de5b2fae9c332a28d9ceb3a1c68bf07a1ac73",
            ),
            "mushroom",
            build_table,
            "marks of 8,124 mushrooms",
            _UCI,
        ),
        Built(
            "nursery",
            "Nursery",
            9,
            9_072,
            1_296,
            2_592,
            0.274,
            (
                "dfd6a2a142ca32ccc3fe1e524573f44590f4ed06",
                "2c256ec287a080793275de5b05916289fc7dd1db",
                "ac5d05b9a6d65ca4ced8a05dbdebb315c35db925",
            ),
            "nursery",
            build_table,
            "applications to nursery schools",
            _UCI,
        ),
        Built(
            "splice",
            "Splice",
            61,
            2_233,
            319,
            638,
            0.21,
            (
                "f4473b97838a7556e681bfd25df87a9d28abdec1",
                "f641b82c77c43c7a0e7d2371efd125bc5274f67e",
                "a368b713433afa6406439d7d0fb753145ca2ae7e",
            ),
            "splice",
            build_table,
            "splice junctions of genes, 60 nucleotides",
            _UCI,
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
    """Return the examples as text, numbers of states separated by commas, without a header."""
    values = data.schema.values(data.rows)
    lines = np.array([",".join(map(str, row)) + "\n" for row in values.tolist()], object)
    return "".join(lines[data.row_of]).encode("ascii")


def sources() -> dict[str, Source]:
    """Return the files that have to be fetched, by the dataset that is built from them."""
    return {name: dataset.source for name, dataset in BUILT.items()}
