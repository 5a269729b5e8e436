"""Own data, as config.yaml names them: how they are read and split, and what is refused."""

import gzip
from pathlib import Path

import pytest

from made_random import random_data
from made_study import make
from mnlearn.data.examples import load_dataset
from mnlearn.data.text_tables import save_text
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.prepare import prepare_dataset
from mnlearn_studies.plan.configuration import configuration

pytestmark = pytest.mark.usefixtures("folder")


def prepare(**local):
    """Return the splits of a dataset of some files."""
    return prepare_dataset("mine", Path("data"), 0, local)


def sizes(splits):
    return [len(data.row_of) for data in splits.values()]


def test_own_files_are_split_or_taken_as_they_are():
    assert sizes(prepare(train="d.data", fractions=[0.5, 0.25, 0.25])) == [150, 75, 75]
    three = prepare(train="d.data", valid="v.data", test="named.csv")
    assert sizes(three) == [300, 300, 300]
    assert three["train"].schema == three["test"].schema


def test_the_record_of_data_is_what_was_prepared():
    given = {"local": {"train": "d.data"}, "mirror": ""}
    train = make("data", "train@0.npz", {}, given=given, seed=0)
    for split, data in prepare(train="d.data").items():
        path = train if split == "train" else train.with_name(f"{split}-{train.name}")
        assert (load_dataset(path).row_of == data.row_of).all()


@pytest.mark.parametrize(
    ("local", "message"),
    [
        ({"train": "no"}, "no: no such file"),
        ({"train": "ragged"}, "ragged, line 3"),
        ({"train": "d.data", "valid": "v.data"}, "d.data: expected a validation and a test file"),
        ({"train": "d.data", "valid": "v.data", "test": "d5.data"}, "d5.data: expected 6"),
        ({"train": "d.data", "fractions": [1]}, "fractions: expected three numbers"),
        ({"train": "d.data", "fractions": [0.5, 0.5, 0.5]}, "fractions: expected a sum of 1"),
    ],
)
def test_files_that_cannot_be_split_are_refused(local, message):
    with pytest.raises(InputError, match=message):
        prepare(**local)


@pytest.mark.parametrize(
    "local",
    [
        [1],
        3,
        {"mine": "d.data"},
        {"mine": {"trian": "d.data"}},
        {"mine": {"train": 5}},
        {"mine": {"train": "d.data", "fractions": 5}},
        {"mine": {"train": "d.data", "fractions": ["a", "b", "c"]}},
        {"mine": {"train": "d.data", "groups": 3}},
        {"mine": {"train": "d.data", "categories": 1}},
        {"mine": {"train": "d.data", "max_expanded": 0}},
        {"mine": {"train": "d.data", "max_expanded": True}},
        {"../up": {"train": "d.data"}},
    ],
)
def test_entries_of_another_form_are_refused(local):
    Path("config.yaml").write_text(f"local: {local!r}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.yaml, local"):
        configuration()


def test_the_configuration_limits_how_far_files_expand():
    save_text(random_data(0), "d.csv.gz")
    n_bytes = len(gzip.decompress(Path("d.csv.gz").read_bytes()))
    advice = "max_expanded of the dataset in config.yaml raises the limit"
    with pytest.raises(InputError, match=advice):
        prepare(train="d.csv.gz", max_expanded=(n_bytes - 1) / 1e9)
    splits = prepare(train="d.csv.gz", max_expanded=n_bytes / 1e9)
    assert splits["train"].n_examples == 210
