"""Samples of datasets: their names, what they take, how they are prepared."""

import numpy as np
import pytest

from made_data import examples, write
from made_study import make_plan
from mnlearn.data.dataset import Dataset
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.drawn_samples import draw_sample
from mnlearn_studies.datasets.prepare import check_dataset, prepare_dataset
from mnlearn_studies.datasets.sample_names import Sample, base_of, parse_drawn
from mnlearn_studies.plan.resources import growth
from mnlearn_studies.records.record import Record


def numbered(n):
    """Training data whose rows are the binary forms of their positions."""
    rows = np.arange(n)[:, None] >> np.arange(12) & 1
    return {"train": Dataset.from_arrays(rows), "valid": Dataset.from_arrays(rows[:5])}


def positions(data):
    return examples(data) @ (1 << np.arange(12))


def test_names():
    assert parse_drawn("msnbc-n1000-f2") == Sample("msnbc", 1000, 2)
    assert base_of("alarm_groups-n100-f0") == "alarm_groups"
    for name in ("msnbc", "msnbc-n0-f0", "msnbc-n10-f01", "msnbc-n10", "msnbc-n10-f1\n", "-n1-f0"):
        assert parse_drawn(name) is None
        assert base_of(name) == name
    with pytest.raises(InputError, match="expected a name such as msnbc-n1000-f2"):
        draw_sample("msnbc", {}, 20)


def test_smaller_sizes_are_part_of_larger_ones():
    splits = numbered(3000)
    taken = {
        (size, fold): draw_sample(f"mine-n{size}-f{fold}", splits, 20)
        for size in (10, 100)
        for fold in (0, 1)
    }
    for fold in (0, 1):
        small, large = (positions(taken[size, fold]["train"]) for size in (10, 100))
        assert len(set(large.tolist())) == 100
        np.testing.assert_array_equal(small, large[:10])
        assert taken[10, fold]["valid"] is splits["valid"]
    assert set(positions(taken[100, 0]["train"])) != set(positions(taken[100, 1]["train"]))
    again = draw_sample("mine-n100-f1", splits, 20)
    other = draw_sample("mine-n100-f1", splits, 21)
    assert positions(again["train"]).tolist() == positions(taken[100, 1]["train"]).tolist()
    assert positions(again["train"]).tolist() != positions(other["train"]).tolist()


def test_fold_0_of_some_datasets_does_not_depend_on_the_seed():
    splits = numbered(500)
    expected = np.random.Generator(np.random.PCG64(20101)).permutation(500)[:50]
    assert positions(draw_sample("msnbc-n50-f0", splits, 3)["train"]).tolist() == list(expected)
    for name in ("alarm", "adult_groups"):
        found = positions(draw_sample(f"{name}-n50-f0", splits, 3)["train"])
        assert found.tolist() == list(range(50))


def test_two_forms_of_one_dataset_have_the_same_folds():
    splits = numbered(500)
    one, other, third = (
        positions(draw_sample(f"{name}-n50-f3", splits, 20)["train"]).tolist()
        for name in ("alarm", "alarm_groups", "adult")
    )
    assert one == other
    assert one != third


def test_samples_that_cannot_be_taken_are_refused():
    splits = numbered(30)
    with pytest.raises(InputError, match="expected at most the 30 training examples there are"):
        draw_sample("mine-n31-f0", splits, 20)
    weighted = {"train": Dataset.from_arrays(np.eye(3), [1, 2, 3])}
    with pytest.raises(InputError, match="weighted examples cannot be drawn"):
        draw_sample("mine-n1-f0", weighted, 20)


def test_a_sample_is_prepared_like_a_dataset(tmp_path):
    name = "grid-n100-f1"
    splits = prepare_dataset(name, tmp_path, 20)
    assert [data.n_examples for data in splits.values()] == [100, 500, 1000]
    whole = prepare_dataset("grid", tmp_path, 20)
    assert np.array_equal(splits["test"].rows, whole["test"].rows)
    own = write(tmp_path / "own.csv", "a,b\n" + "x,0\ny,1\nz,1\n" * 20)
    local = {"train": str(own), "states": {"a": ["z", "y", "x"]}}
    train = prepare_dataset("mine-n10-f0", tmp_path, 20, local)["train"]
    assert (train.n_examples, train.schema["a"].states) == (10, ("z", "y", "x"))


def test_what_a_study_knows_of_a_sample():
    check_dataset("grid-n100-f1", {})
    check_dataset("mine-n100-f1", {"mine": {"train": "a.csv"}})
    with pytest.raises(InputError, match="dataset mine-n100-f1: expected one of"):
        check_dataset("mine-n100-f1", {})
    with pytest.raises(
        InputError, match="dataset traffic: no public copy was found; name your own"
    ):
        check_dataset("traffic-n100-f1", {})
    assert growth("nltcs-n100-f0", "seconds_learn") == 100 * 16 / 1e6
    drawn = [("grid-n9-f0", 1), ("grid-n9-f1", 1), ("grid-n8-f0", 1), ("grid-n9-f0", 2)]
    assert len({str(recipe(*each)) for each in drawn}) == 4
    assert recipe("nltcs-n9-f0")["base"] != recipe("kdd-n9-f0")["base"]


def recipe(name, seed=1):
    """Return the recipe of a dataset."""
    return make_plan(None, {"datasets": []}, seed=seed).recipe(Record("data", "", name))
