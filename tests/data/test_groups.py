"""Groups of columns: what is declared, what is refused, what keeps them."""

import numpy as np
import pytest

from made_data import assert_same, write
from mnlearn.data.categories import encode, load_encoding, read_one_hot
from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.data.examples import load_dataset
from mnlearn.data.groups import describe_columns, find_groups
from mnlearn.data.own_files import declare_groups, load_local
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json

NAMES = ("a=x", "flag", "a=y", "b=1", "b=2", "b=3", "c=yes")
GROUPS = ((0, 2), (3, 4, 5))
ROWS = np.array(
    [[1, 1, 0, 0, 1, 0, 0], [0, 1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 0, 1, 1]]
)


def test_groups_are_kept(tmp_path):
    data = Dataset.from_arrays(ROWS, names=NAMES, groups=[[5, 3, 4], [2, 0]])
    assert data.groups == GROUPS
    renamed = data.rename([f"v{v}" for v in range(7)])
    parts = (data.take(np.array([0, 3])), data.subset(np.array([1])), renamed)
    for part in (*parts, data.resample(np.random.default_rng(1))):
        assert part.groups == GROUPS
    data.save(tmp_path / "a.npz")
    assert_same(load_dataset(tmp_path / "a.npz"), data)
    assert data.with_groups([]).groups == ()
    # Programs that know no groups read files without any.
    data.with_groups([]).save(tmp_path / "b.npz")
    with np.load(tmp_path / "a.npz") as grouped, np.load(tmp_path / "b.npz") as plain:
        assert (int(grouped["version"]), int(plain["version"])) == (2, 1)
        assert "group_of" not in plain


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0]], "data, group 1: expected two columns or more"),
        ([[0, 7]], "data, group 1: expected columns 1 to 7, got 8"),
        ([[0, 2], [-1, 3]], "data, group 2: expected columns 1 to 7, got 0"),
        ([[0, 2], [2, 3]], "data, group 2: column 3 is already in group 1"),
        ([[3, 4]], "data, row 3: expected exactly one 1 in the columns 4, 5, .* group, got none"),
        ([[0, 1]], "data, row 1: expected exactly one 1 in the columns 1, 2, .* got 2"),
        ([[2, 3, 4, 5, 6]], "data, row 2: expected exactly one 1 in the columns 3 to 7, .* got 2"),
    ],
)
def test_groups_that_are_none_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_arrays(ROWS, groups=groups)
    # Stored rows are in another order than the examples that the sentence counts.
    with pytest.raises(InputError, match=message):
        merge_rows(ROWS).with_groups(groups)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([0, -1, 0, 1, 1], "group_of: expected 7 whole numbers"),
        ([0.5] * 7, "group_of: expected 7 whole numbers"),
        ([1, -1, 1, 0, 0, 0, -1], "group_of: expected groups numbered by their first columns"),
        ([0, -2, 0, 1, 1, 1, -1], "group_of: expected groups numbered by their first columns"),
        ([0, 1, 0, 2, 2, 2, -1], "group_of, group 2: expected two columns or more"),
        ([0, 0, -1, -1, -1, -1, -1], "row 1: expected exactly one 1 in the columns 1, 2"),
        # Of two rows without a value, the first is named.
        ([-1, -1, -1, 0, 0, -1, -1], "row 3: expected exactly one 1 in the columns 4, 5, .* none"),
        ([[0, -1, 0, 1, 1, 1, -1]], "group_of: expected 7 whole numbers"),
    ],
)
def test_files_with_other_groups_are_refused(tmp_path, label, message):
    path = tmp_path / "a.npz"
    Dataset.from_arrays(ROWS, groups=GROUPS).save(path)
    with np.load(path) as archive:
        arrays = {**archive, "group_of": np.array(label)}
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=message) as caught:
        load_npz(path)
    assert str(caught.value).startswith(str(path))


def test_declared_groups():
    assert find_groups("names", 7, NAMES) == GROUPS
    assert find_groups(" 4-6, 1-2", 7, None) == ((0, 1), (3, 4, 5))
    for text, names, message in (
        ("names", None, "groups: the columns have no names; expected `names`, or ranges"),
        ("names", ("a", "b=1"), "no two columns have names that agree before an `=`"),
        ("names", ("a", "a=1", "a=2"), "no two columns have names that agree before an `=`"),
        ("1-3,5", NAMES, "expected `names`, or ranges of columns such as 1-3,7-10; got '1-3,5'"),
        ("6-8", NAMES, "group 1: expected columns 1 to 7, got 8"),
        ("3-2", NAMES, "group 1: expected two columns or more"),
        ("0-2", NAMES, "^groups, group 1: expected columns 1 to 7, got 0"),
        ("a-2", NAMES, "expected `names`, or ranges"),
        ("1-b", NAMES, "expected `names`, or ranges"),
        ("x" * 50, NAMES, f"got '{'x' * 40}'"),
    ):
        with pytest.raises(InputError, match=message):
            find_groups(text, 7, names)


def test_categories_are_groups(tmp_path):
    text = "colour,size,smoker\nred,1,no\nblue,2,yes\ngreen,3,no\n"
    data, encoding = read_one_hot(write(tmp_path / "a.csv", text))
    assert data.groups == ((0, 1, 2), (3, 4, 5))
    # A person may leave a value out; what is left is no group.
    for key in ("variables", "indicated"):
        encoding["columns"][0][key] = encoding["columns"][0][key][:-1]
    write_json(tmp_path / "e.json", encoding)
    assert encode(tmp_path / "a.csv", load_encoding(tmp_path / "e.json")).groups == ((2, 3, 4),)


def test_own_files_with_groups(tmp_path):
    path = write(tmp_path / "a.csv", "a=x,a=y,flag\n" + "1,0,0\n0,1,1\n0,1,0\n" * 10)
    parts = load_local(path, groups="names")
    assert [part.groups for part in parts] == [((0, 1),)] * 3
    parts[0].save(tmp_path / "train.npz")
    with pytest.raises(InputError, match=r"a\.csv: expected the groups of columns of .*train\.npz"):
        load_local(tmp_path / "train.npz", path, path)
    with pytest.raises(InputError, match=r"a\.csv, row 1: expected exactly one 1 .* got none"):
        declare_groups(load_dataset(path), "2-3", str(path))


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ([0], "1"),
        ([0, 1, 2, 3], "1, 2, 3, 4"),
        ([2, 3, 4, 5, 6], "3 to 7"),
        ([0, 2, 3, 4, 5], "1, 3, 4, 5, 6"),
    ],
)
def test_columns_in_a_sentence(columns, text):
    assert describe_columns(columns) == text
