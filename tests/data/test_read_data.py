"""`mn.read_data`: missing cells, and tables for scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import mnlearn as mn
from made_data import examples, write
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import numbered_schema

RATINGS = pd.DataFrame(
    {"mood": [5, None, 1, 4], "sex": ["f", "m", "m", "f"]}, index=list("pqrs")
)  # fmt: skip
HOW = {"cut": {"mood": 4}, "states": {"sex": ["m", "f"]}}


@pytest.fixture(params=["table", "file"])
def source(request, tmp_path):
    """Ratings with a missing cell."""
    if request.param == "table":
        return RATINGS
    return write(tmp_path / "a.csv", RATINGS.to_csv(index=False))


def test_messages_name_where_the_examples_come_from(tmp_path):
    holes = pd.DataFrame({"a": [1, None], "b": [None, 0]})
    holes.to_csv(tmp_path / "holes.csv", index=False)
    fault = ": each row has a missing cell; expected complete rows to keep."
    for source, where in ((tmp_path / "holes.csv", f"{tmp_path}/holes.csv"), (holes, "source")):
        with pytest.raises(mn.InputError) as caught:
            mn.read_data(source, missing="drop")
        assert str(caught.value) == where + fault
    with pytest.raises(mn.InputError) as caught:
        mn.Atomic(missing="drop").fit(holes)
    assert str(caught.value) == "X" + fault


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
    assert kept["mood"].astype(object).where(kept["mood"].notna(), None).tolist() == [
        ">=4", None, "<4", ">=4",
    ]  # fmt: skip
    assert kept["mood"].cat.ordered
    assert kept["sex"].cat.categories.tolist() == ["m", "f"]
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


def test_data_of_a_model_get_its_states(tmp_path):
    table = pd.DataFrame({"sex": ["f", "m", "x"] * 9, "a": [0, 1, 1] * 9})
    model = mn.ChowLiu().fit(table).model_
    other = pd.DataFrame({"more": [7, 8], "a": ["1", "0"], "sex": ["x", "f"]})
    other.to_csv(tmp_path / "a.csv", index=False)
    for source in (other, tmp_path / "a.csv"):
        data = mn.read_data(source, model=model)
        assert data.schema == model.schema
        assert examples(data).tolist() == [[0, 0, 1, 1], [1, 0, 0, 0]]


def test_a_schema_file_of_libra_says_the_states_of_columns_without_names(tmp_path):
    (tmp_path / "a.data").write_text("0,2,0\n1,0,0\n1,1,0\n")
    (tmp_path / "a.schema").write_text("2,5,1\n")
    data = mn.read_data(tmp_path / "a.data", states=tmp_path / "a.schema")
    assert data.schema == numbered_schema([2, 5, 1])
    assert data.schema.values(data.rows)[data.row_of].tolist() == [[0, 2, 0], [1, 0, 0], [1, 1, 0]]
    for text in ("2,0,1\n", "2,,1\n", "2,x,1", ""):
        (tmp_path / "a.schema").write_text(text)
        with pytest.raises(InputError, match=r"a\.schema, line 1: expected the numbers of states"):
            mn.read_data(tmp_path / "a.data", states=tmp_path / "a.schema")
