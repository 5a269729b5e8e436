"""`mn.read_data`: missing cells, and tables for scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import mnlearn as mn
from made_data import examples, write
from mnlearn.runtime.errors import InputError

RATINGS = pd.DataFrame(
    {"mood": [5, None, 1, 4], "sex": ["f", "m", "m", "f"]}, index=list("pqrs")
)  # fmt: skip
HOW = {"ones": [">=4", "sex=f"]}


@pytest.fixture(params=["table", "file"])
def source(request, tmp_path):
    """Ratings with a missing cell."""
    if request.param == "table":
        return RATINGS
    return write(tmp_path / "a.csv", RATINGS.to_csv(index=False))


def test_messages_name_where_the_examples_come_from(tmp_path):
    holes = pd.DataFrame({"a": ["1", None], "b": [None, "0"]})
    holes.to_csv(tmp_path / "holes.csv", index=False)
    fault = ": each row has a missing cell; expected complete rows to keep."
    for source, where in ((tmp_path / "holes.csv", f"{tmp_path}/holes.csv"), (holes, "source")):
        with pytest.raises(mn.InputError) as caught:
            mn.read_data(source, missing="drop")
        assert str(caught.value) == where + fault
    with pytest.raises(mn.InputError) as caught:
        mn.Atomic(missing="drop").fit(holes)
    assert str(caught.value) == "X" + fault
    (tmp_path / "whole.csv").write_text("a,b\n1,0\n0,1\n", encoding="utf-8")
    with pytest.raises(mn.InputError, match=r"whole\.csv, groups"):
        mn.read_data(tmp_path / "whole.csv", groups="1-9")


def test_missing_cells_are_refused_dropped_filled_in_or_kept(source):
    with pytest.raises(InputError, match=r"column 'mood': is missing, and 1 of 4 .*missing="):
        mn.read_data(source, **HOW)
    assert examples(mn.read_data(source, missing="drop", **HOW)).tolist() == [
        [1, 1],
        [0, 0],
        [1, 1],
    ]
    filled = mn.read_data(source, missing="impute", random_state=3, **HOW)
    assert examples(filled)[[0, 2, 3]].tolist() == [[1, 1], [0, 0], [1, 1]]
    kept = mn.read_data(source, missing="keep", as_frame=True, **HOW)
    np.testing.assert_array_equal(kept, [[1, 1], [np.nan, 0], [0, 0], [1, 1]])
    again = mn.ChowLiu(missing="em").fit(kept)
    assert np.isfinite(again.score(kept))


def test_tables_have_names_and_index(source):
    table = mn.read_data(source, missing="drop", as_frame=True, **HOW)
    assert list(table.columns) == ["mood", "sex"]
    assert len(table) == 3
    assert list(table.index) == (list("prs") if source is RATINGS else [0, 1, 2])
    many = pd.concat([table] * 10, ignore_index=True)
    assert np.isfinite(cross_val_score(mn.ChowLiu(), many, cv=3)).all()


def test_what_read_data_refuses(tmp_path):
    with pytest.raises(InputError, match="missing: expected drop, impute, keep or None, got 'no'"):
        mn.read_data(RATINGS, missing="no")
    with pytest.raises(InputError, match="missing: keep needs as_frame=True"):
        mn.read_data(RATINGS, missing="keep", **HOW)
    path = write(tmp_path / "a.data", "2|1,0\n0,1\n")
    with pytest.raises(InputError, match="as_frame: expected examples without weights"):
        mn.read_data(path, as_frame=True)


def test_learners_name_the_function_that_reads_other_values():
    table = pd.DataFrame({"sex": ["f", "m", "m"], "a": [0, 1, 1]})
    for use in (mn.ChowLiu().fit, mn.impute):
        with pytest.raises(InputError, match=r"'f'; mn\.read_data\(X, ones=\.\.\.\) says which"):
            use(table)
    with pytest.raises(InputError, match="'f'; ones= says which"):
        mn.read_data(table)


def test_groups_are_those_of_the_command_line(tmp_path):
    """LEM then takes the columns of a group as one variable."""
    rng = np.random.default_rng(0)
    states = rng.integers(0, 3, 200)
    table = pd.DataFrame(np.eye(3, dtype=int)[states], columns=["age=low", "age=mid", "age=high"])
    table["ill"] = ((states == 2) ^ (rng.random(200) < 0.1)).astype(int)
    table.to_csv(tmp_path / "train.csv", index=False)
    for source in (table, tmp_path / "train.csv"):
        for groups in ("names", "1-3"):
            data = mn.read_data(source, groups=groups)
            assert data.groups == ((0, 1, 2),)
    model = mn.LEM().fit(data).model_
    assert model.probability({"age=low": 1, "age=mid": 1}) == 0.0
    assert mn.LEM().fit(table).model_.probability({"age=low": 1, "age=mid": 1}) > 0.0
    with pytest.raises(mn.InputError, match="groups: expected no as_frame"):
        mn.read_data(table, groups="names", as_frame=True)
    with pytest.raises(mn.InputError, match="source"):
        mn.read_data(table.assign(**{"age=mid": 1}), groups="names")
