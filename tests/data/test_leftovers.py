"""What spreadsheets and survey programs leave in a table."""

import shlex

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.data.examples import load_dataset, load_examples
from mnlearn.data.rules import OPTION, Rules
from mnlearn.data.text_lines import _comments
from mnlearn.data.text_tables import save_text
from mnlearn.runtime.errors import InputError

PLAIN = "a,b,c\n" + "1,0,1\n0,1,1\n1,1,0\n0,0,1\n1,0,0\n0,1,0\n"


@pytest.fixture(autouse=True)
def _progress(caplog):
    caplog.set_level("INFO", logger="mnlearn")


def _read(tmp_path, text, **said):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    return load_dataset(path, rules=Rules.said(said, OPTION))


def _same(one, other):
    return one.schema == other.schema and np.array_equal(
        one.rows[one.row_of], other.rows[other.row_of]
    )


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("sep=;\n" + PLAIN.replace(",", ";"), None),
        ("\ufeffsep=,\r\n" + PLAIN.replace("\n", "\r\n"), None),
        ("# made by a program\n#\n" + PLAIN + "# end, of, the, file\n", "left out 3 lines of"),
        (PLAIN + ",,\n,,\n", "left out 2 rows without any value, the first in line 8"),
        (PLAIN.replace("\n1,1,0", "\n,,\n1,1,0"), "left out 1 rows without any value"),
        (PLAIN.replace("\n", ",,\n"), "left out 2 empty columns without a name"),
        (PLAIN + "\x1a", None),
        ("sep=\t\n\n" + PLAIN.replace(",", "\t"), None),
        ("sep=|\n" + PLAIN.replace(",", "|"), None),
        ("# " + PLAIN, None),
        (PLAIN.replace("\n", "\n,").replace("a,", ",a,", 1)[:-1], "left out 1 empty columns"),
        (PLAIN.replace("\n1", '\n="1"').replace("a,", '="a",\u200b', 1), None),
        ("\ufeff\ufeff" + PLAIN, None),
        ("\n\n" + PLAIN, None),
        (PLAIN.replace(",", " "), None),
        (PLAIN.replace(",", "   ").replace("\n", " \n"), None),
        (
            'a,b,c\n"Are you, a?",b?,c?\n"{""ImportId"":""Q1""}",x,y\n' + PLAIN[6:],
            "left out 2 lines of Qualtrics",
        ),
    ],
)
def test_leftovers_are_left_out(tmp_path, caplog, text, note):
    plain = _read(tmp_path, PLAIN)
    assert _same(_read(tmp_path, text), plain)
    said = caplog.text
    assert said == "" if note is None else note in said


def test_table_of_r_without_a_name_for_row_names(tmp_path):
    lines = PLAIN.splitlines()
    header = " ".join(f'"{name}"' for name in lines[0].split(","))
    rows = [f'"{k}" {line.replace(",", " ")}' for k, line in enumerate(lines[1:], start=1)]
    found = _read(tmp_path, "\n".join([header, *rows]) + "\n")
    assert _same(found, _read(tmp_path, PLAIN))


def test_lines_are_counted_with_those_that_are_left_out(tmp_path):
    with pytest.raises(InputError, match=r"line 6, column 'b'"):
        _read(tmp_path, "# note\na,b\n1,2\n,\n2,1\n1,2.5\n")


def test_an_empty_row_of_two_columns_is_left_out(tmp_path, caplog):
    assert len(_read(tmp_path, "a,b\n1,0\n,\n0,1\n").row_of) == 2
    assert "left out 1 rows without any value" in caplog.text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@relation x\n@attribute a {0,1}\n@data\n1\n", "is an ARFF file"),
        ("% comment\n@RELATION x\n", "is an ARFF file"),
        ("%%MatrixMarket matrix coordinate\n3 3 1\n1 1\n", "is a file of Matrix Market"),
        ("1 3:1 7:1\n-1 2:1\n", "is a libsvm file"),
        ('{"a": [1, 0]}', "is a JSON file"),
        ("<html><table>\n", "is an XML or HTML file"),
        ("10110\n01011\n11100\n", "5 digits and no separator"),
        (PLAIN + "3,3,3\n", "line 8: the last row has the sums of the rows above"),
        (PLAIN.replace(",1\n", ",0\n") + "3,3,0\n", "line 8: the last row has the sums"),
        ("a,b\n1,0\n1\n1,0,1\n1,1,1,1\n0,1,1,1,1\n", "is read with --baskets"),
        ("x\n" + "1\n\n" * 6, None),
        (
            "when,ticked\n" + '1,"x;y"\n2,"y;z"\n3,x\n4,"x;y;z"\n5,\n',
            r"column 'ticked': lists items.*'x;y'.*get_dummies\(';'\).*--keep ticked says",
        ),
        (PLAIN.replace(",", "|"), "has one column.*sep=|.*--baskets.*--keep"),
        (PLAIN.replace(",", "^"), "has one column"),
        (PLAIN.replace("a,b,c", "sex,2019,2020"), "line 1: has values.*'sex'.*quotation marks"),
        (PLAIN.replace("a,b,c", "0,1,2"), "line 1: has values.*'2'.*quotation marks"),
        ("Survey 2024\n\n" + PLAIN, "line 2: is empty.*delete what stands above the names"),
        ("Survey 2024\n" + PLAIN, "line 2: expected 1 values.*delete what stands above the names"),
        (PLAIN.replace("b", ""), "line 1, column 2: has no name; give it one"),
    ],
)
def test_other_forms_are_named(tmp_path, text, words):
    if words is None:
        # A column of one variable may have empty lines, which are missing cells or ticks.
        words = "is missing, and all other cells are '1'"
    with pytest.raises(InputError, match=words):
        _read(tmp_path, text)


@pytest.mark.parametrize("cells", ["x;x y;y x;y", "x;y u;v w;z", "1,2 2,3 1,3", "x;y x;z x"])
def test_cells_with_marks_are_states(tmp_path, cells):
    text = "a,b\n" + "".join(f'{k % 2},"{cell}"\n' for k, cell in enumerate(cells.split() * 4))
    assert _read(tmp_path, text).schema[1].arity == 3


def test_one_answer_a_row_is_refused(tmp_path):
    answers = [(p, i, (p * 7 + len(i)) % 2) for p in range(12) for i in ("one", "three")]
    text = "who,what,says\n" + "".join(f"{p},{i},{says}\n" for p, i, says in answers)
    with pytest.raises(InputError, match=r"frame.pivot\(index='who', columns='what'"):
        _read(tmp_path, text)
    assert len(_read(tmp_path, text, columns=["who,what,says"]).schema) == 3


TICKS = "a,b\n" + "1,\n,1\n1,1\n,\n1,\n,1\n" * 2


@pytest.mark.parametrize("words", [("1", "0"), ("x", "no")])
def test_ticks_are_refused_or_filled(tmp_path, words):
    yes, no = words
    text = TICKS.replace("1", "yes" if yes == "x" else yes)
    with pytest.raises(InputError, match=f"column 'a': is missing.*--empty \"a={no}\" says"):
        _read(tmp_path, text)
    with pytest.raises(InputError, match=f"column 'b': is missing.*--empty \"b={no}\" says"):
        _read(tmp_path, text, empty=[f"a={no}"])
    assert _same(
        _read(tmp_path, text, empty=[f"a={no}", f"b={no}"]), _read(tmp_path, text, empty=no)
    )
    found = _read(tmp_path, text, empty=no)
    assert found.n_vars == 2
    assert found.rows[found.row_of][:6].tolist() == [[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]]


def test_ticks_of_a_frame_are_filled():
    frame = pd.DataFrame({"a": [1.0, np.nan] * 5, "b": [0, 1] * 5})
    with pytest.raises(InputError, match=r'empty={"a": "0"}'):
        mn.read_data(frame, missing="impute")
    with pytest.raises(InputError, match=r"empty: expected a text or several, got \[None\]"):
        mn.read_data(frame, empty=[None])
    data = mn.read_data(frame, empty=0)
    assert data.schema[0].states == (0, 1)
    assert data.rows[data.row_of][:, 0].tolist() == [1, 0] * 5


@pytest.mark.parametrize("mark", [".", "?", "#NULL!", "#N/A", "--"])
def test_marks_of_missing_cells_are_refused(tmp_path, mark):
    text = PLAIN + f"{mark},1,0\n"
    with pytest.raises(InputError, match="line 8, column 'a': expected a number or a word"):
        _read(tmp_path, text)
    path = tmp_path / "t.csv"
    found = load_examples(path, rules=Rules.said({"na": [mark]}, OPTION))
    assert found.data.n_with_missing == 1
    assert _read(tmp_path, text, states=[f"a=0,1,{mark}"]).schema[0].arity == 3


def test_columns_that_cannot_be_read_are_named_together(tmp_path):
    rows = "".join(f"{k}.5,{k % 2},2026-01-{k + 1:02},{k * k}.25\n" for k in range(12))
    with pytest.raises(InputError, match=r"2 more cannot be read: 'when', 'd'; --columns"):
        _read(tmp_path, "x,y,when,d\n" + rows)
    assert _read(tmp_path, "x,y,when,d\n" + rows, columns=["y"]).schema.names == ("y",)


def test_column_of_weights(tmp_path):
    text = "w,a,b\n2.5,1,0\n1,0,1\n0.5,1,0\n"
    data = _read(tmp_path, text, weights="w")
    assert data.schema.names == ("a", "b")
    assert sorted(data.weight.tolist()) == [1.0, 3.0]
    with pytest.raises(
        InputError, match=r"line 2, column 'w': expected a positive weight, got '0'"
    ):
        _read(tmp_path, text.replace("2.5", "0"), weights="w")
    frame = pd.DataFrame({"w": [2.0, 1.0], "a": ["x", "y"]})
    assert mn.read_data(frame, weights="w").weight.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("separator", [",", ";", " ", "\t"])
def test_baskets(tmp_path, separator):
    text = "milk,jam\ntea\n\njam,milk,tea\n".replace(",", separator)
    data = _read(tmp_path, text, baskets=True)
    assert data.schema.names == ("jam", "milk", "tea")
    assert data.rows[data.row_of].tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1]]
    path = tmp_path / "fewer.csv"
    path.write_text("tea\ntea\n")
    again = load_dataset(path, rules=Rules.said({"baskets": True}, OPTION), schema=data.schema)
    assert again.rows.tolist() == [[0, 0, 1]]


def test_items_that_are_numbers_are_in_their_order(tmp_path):
    assert _read(tmp_path, "10 9\n2 10\n", baskets=True).schema.names == ("2", "9", "10")


def test_items_of_baskets_are_counted(tmp_path):
    with pytest.raises(InputError, match="expected 1 to 65,536 items, got 65,537"):
        _read(tmp_path, " ".join(map(str, range(65_537))) + "\n1\n", baskets=True)


def test_notes_on_what_may_not_be_meant(tmp_path, caplog):
    _read(
        tmp_path,
        "id,q_a,q_b,says,r_a,r_b,r_c\n"
        + "".join(
            f"{k // 2},{k % 2},{1 - k % 2},{'Yy'[k % 2]}es,{k % 2},{1 - k % 2},0\n"
            for k in range(24)
        ),
    )
    said = caplog.text
    assert "'id' is a variable of 12 states; if it only numbers people, --leave-out id" in said
    assert "the states 'Yes' and 'yes' of 'says' differ in capitals only" in said
    assert "exactly one of the 2 columns that begin with 'q' is 1 in each row" in said
    assert "columns that begin with 'r'" not in said  # One of them is never 1.


def test_spreadsheets_find_no_formulas(tmp_path):
    frame = pd.DataFrame({"=cmd()": ["-1", "+49 30", "-1"], "@b": ["@x", "-y", "-y"]})
    data = mn.read_data(frame)
    save_text(data, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    assert text.splitlines()[:2] == ["'=cmd(),'@b", "-1,'@x"]
    again = load_dataset(tmp_path / "t.csv")
    assert again.schema.names == data.schema.names
    assert [v.texts for v in again.schema] == [v.texts for v in data.schema]
    model = mn.MarkovNetwork.from_features([{"=a": 1, "b": 1}], [1.0], ["=a", "b"])
    mn.save(model, tmp_path / "edges.csv")
    assert (tmp_path / "edges.csv").read_text() == "source,target,weight\n'=a,b,1.0\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (PLAIN.replace("c\n", "c\n[n],[n],[n]\n") + PLAIN[6:], 2),
        (PLAIN + PLAIN[6:] + "9,9,9\n", 14),
        # The fewest rows that are looked at.
        (PLAIN + PLAIN[6:24] + "9,9,9\n", 11),
    ],
)
def test_a_row_of_values_that_no_other_row_has_is_told(tmp_path, caplog, text, line):
    assert _read(tmp_path, text).n_examples == text.count("\n") - 1
    assert f"t.csv: line {line}: no value of this row stands in another one" in caplog.text


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"columns": "a,b", "leave_out": "b"}, "--leave-out: the column 'b' is named by --columns"),
        ({"keep": "a", "leave_out": "a"}, "--leave-out: the column 'a' is named by --keep too"),
        ({"weights": "a", "columns": "a,b"}, "--weights: the column 'a' is named by --columns"),
        ({"cut": "a=1", "states": "a=0,1"}, "--cut: the column 'a' is named by --states too"),
    ],
)
def test_options_that_contradict_each_other(tmp_path, said, words):
    with pytest.raises(InputError, match=words):
        _read(tmp_path, PLAIN, **said)


def test_a_guarded_name_loses_its_guard(tmp_path):
    assert _read(tmp_path, "'+" + PLAIN).schema.names == ("+a", "b", "c")


def test_a_table_of_too_many_columns(tmp_path):
    with pytest.raises(InputError, match="line 1: expected at most 100,000 columns, got 100,001"):
        _read(tmp_path, ",".join("0" * 100_001) + "\n")


@pytest.mark.parametrize("word", ["x", "Bus", "no", "5"])
def test_a_missing_cell_beside_one_value_is_refused(tmp_path, word):
    rows = [f"{word},f\n", ",m\n", f"{word},m\n", f"{word},f\n"] * 5
    with pytest.raises(InputError, match="line 3, column 'a': is missing, and all other cells"):
        _read(tmp_path, "a,b\n" + "".join(rows))
    rows = [",m\n", *(row for row in rows if not row.startswith(","))]
    with pytest.raises(InputError, match=r'leave it out with .* or --states "a='):
        _read(tmp_path, "a,b\n" + "".join(rows))
    frame = pd.DataFrame({"a": pd.Categorical([word, None] * 5), "b": [0, 1] * 5})
    with pytest.raises(InputError, match="column 'a': is missing"):
        mn.read_data(frame, missing="drop")


def test_values_that_all_differ_are_refused_beside_a_missing_cell(tmp_path):
    rows = "".join(f"{k % 2},{'' if k == 4 else f'u{k}@x.org'}\n" for k in range(20))
    with pytest.raises(InputError, match="column 'mail': all 19 values are different"):
        _read(tmp_path, "a,mail\n" + rows)


@pytest.mark.parametrize("day", ["{}/1/26", "{}.11.2026", "2026/11/0{}", "{}/11/2026 10:00"])
def test_dates_are_refused(tmp_path, day):
    rows = "".join(f"{k % 2},{day.format(k % 3 + 1)}\n" for k in range(12))
    with pytest.raises(InputError, match="is a date"):
        _read(tmp_path, "a,when\n" + rows)


def test_names_that_stand_again_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"line 8: has the names of the columns again"):
        _read(tmp_path, PLAIN + PLAIN)


@pytest.mark.parametrize("rows", ['"f",0\n"m",1\n', '"z,b",x\n"c","y, z"\n'])
def test_quoted_names_may_be_numbers_above_quoted_texts(tmp_path, rows):
    found = _read(tmp_path, '"sex","2019"\n' + rows * 3)
    assert found.schema.names == ("sex", "2019")
    save_text(found, tmp_path / "again.csv")
    assert _same(load_dataset(tmp_path / "again.csv"), found)


def test_the_first_written_row_stands_below_the_names(tmp_path):
    frame = pd.DataFrame({"2019": ["z,b", "c", "z,b"], "2020": ["u", "v, w", "v, w"]})
    data = mn.read_data(frame)
    save_text(data, tmp_path / "t.csv")
    assert _same(load_dataset(tmp_path / "t.csv"), load_dataset(tmp_path / "t.csv"))
    assert load_dataset(tmp_path / "t.csv").schema.names == ("2019", "2020")


@pytest.mark.parametrize("first", ["# one comment here\n", "", "a b\n"])
def test_a_row_of_too_few_numbers_between_spaces_is_refused(tmp_path, first):
    text = first + "1 0\n0 1\n1\n"
    with pytest.raises(InputError, match=f"line {text.count(chr(10))}: expected 2 values"):
        _read(tmp_path, text)


def test_dummies_are_told_in_a_table_of_0_and_1(tmp_path, caplog):
    rows = "".join(f"{int(k == 0)},{int(k == 1)},{int(k == 2)}\n" for k in [0, 1, 2] * 3)
    _read(tmp_path, "city_a,city_b,city_c\n" + rows)
    assert "exactly one of the 3 columns that begin with 'city'" in caplog.text
    caplog.clear()
    words = rows.replace("1", "True").replace("0", "False")
    _read(tmp_path, "town_a,town_b,town_c\n" + words)
    assert "exactly one of the 3 columns that begin with 'town'" in caplog.text


def test_baskets_with_quoted_items(tmp_path):
    text = 'bread,"jam, red"\nbeer\n"jam, red",beer\n'
    assert _read(tmp_path, text, baskets=True).schema.names == ("beer", "bread", "jam, red")


def test_what_names_no_column_is_told_when_a_model_reads(tmp_path, caplog):
    schema = _read(tmp_path, PLAIN).schema
    path = tmp_path / "t.csv"
    rules = Rules.said({"leave_out": "nope", "cut": "age=3"}, OPTION)
    load_examples(path, rules=rules, schema=schema)
    assert "--leave-out names 'nope', and there is no such column" in caplog.text
    assert "--cut names 'age', and there is no such column" in caplog.text
    with pytest.raises(InputError, match="--weights: there is no column 'W'"):
        load_examples(path, rules=Rules.said({"weights": "W"}, OPTION), schema=schema)


@pytest.mark.parametrize(
    "states", [["Yes, sure", "No"], ["<30", ">=50"], ['say "no"', "a=b"], ["$x"]]
)
def test_what_a_message_advises_is_read_again(states):
    advised = Rules().write("states", "how $often", states)
    text = shlex.split(advised)[1]
    assert Rules.said({"states": [text]}, OPTION).states == {"how $often": tuple(states)}
    assert "'" in advised


def test_the_first_two_lines_say_whether_a_line_above_is_a_comment():
    assert _comments(["# one comment here", "x y", "y x", "x"]) == 1
    assert _comments(["# x y", "1 0", "0 1", "1 1"]) == 0
