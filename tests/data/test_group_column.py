"""Groups of examples, which a column of a table names."""

import pytest

from made_data import examples, write
from mnlearn.data.examples import MOST_GROUPS, join_groups, load_groups
from mnlearn.data.incomplete import MISSING
from mnlearn.data.rules import Rules
from mnlearn.runtime.errors import InputError


def test_rows_are_divided_in_order(tmp_path):
    path = write(tmp_path / "people.csv", "a,sex,b\n1,m,no\n0,f,yes\n1,f,yes\n0,m,no\n1,m,no\n")
    found, groups = load_groups(path, "sex")
    assert list(groups) == ["f", "m"]
    assert examples(groups["m"]).tolist() == [[1, 0], [0, 0], [1, 0]]
    # Both groups are read alike, though all of f have one value of b.
    assert examples(groups["f"]).tolist() == [[0, 1], [1, 1]]
    assert found.data.schema.names == groups["f"].schema.names == ("a", "b")
    assert examples(join_groups(groups)).tolist() == [[0, 1], [1, 1], [1, 0], [0, 0], [1, 0]]
    assert len(examples(found.data)) == 5


def test_groups_may_have_missing_cells(tmp_path):
    path = write(tmp_path / "people.csv", "a,g,b\n1,1,\n0,2,1\n1,2,x\n0,1,1\n")
    found, groups = load_groups(path, "g", rules=Rules(na=("x",)))
    assert examples(groups["1"]).tolist() == [[1, MISSING], [0, 1]]
    assert examples(groups["2"]).tolist() == [[0, 1], [1, MISSING]]
    assert found.data.n_with_missing == 2


def test_rows_without_a_group_are_left_out_on_request(tmp_path, caplog):
    path = write(tmp_path / "people.csv", "a,g,b\n1,x,0\n0,NA,1\n1,y,1\n0,,0\n0,y,0\n")
    with caplog.at_level("INFO", "mnlearn"):
        _, groups = load_groups(path, "g", leave_out=True)
    assert {name: examples(data).tolist() for name, data in groups.items()} == {
        "x": [[1, 0]],
        "y": [[1, 1], [0, 0]],
    }
    assert f"{path}, column 'g': left out 2 rows without a group." in caplog.messages


@pytest.mark.parametrize(
    ("text", "column", "sentence"),
    [
        ("a,g\n1,x\n0,y\n", "h", "there is no column 'h'; the columns are a, g."),
        ("a,g\n1,x\n0,x\n", "g", f"column 'g': expected 2 to {MOST_GROUPS} groups, got 1."),
        ("a,g\n1,x\n0,\n", "g", "line 3, column 'g': the group is missing; --missing drop"),
        ("1,0\n0,1\n", "2", "expected a table whose first line has names of columns."),
        ("a,g\n1.5,x\n2,y\n3,y\n", "g", "line 2, column 'a'"),
    ],
)
def test_what_names_no_groups_is_refused(tmp_path, text, column, sentence):
    path = write(tmp_path / "people.csv", text)
    with pytest.raises(InputError) as caught:
        load_groups(path, column)
    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_column_of_many_values_names_no_groups(tmp_path):
    rows = "".join(f"{k % 2},p{k}\n" for k in range(MOST_GROUPS + 1))
    with pytest.raises(InputError, match=f"got {MOST_GROUPS + 1}"):
        load_groups(write(tmp_path / "people.csv", f"a,g\n{rows}"), "g")
    with pytest.raises(InputError, match="expected a table"):
        load_groups(tmp_path / "a.npz", "g")
