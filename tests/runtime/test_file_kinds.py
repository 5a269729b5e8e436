"""Files that are no text are named for what they are, and marks of text are read."""

import bz2
import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from mnlearn.data.examples import load_dataset
from mnlearn.models.io.formats import load_model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text

CSV = "a,b\n1,0\n0,1\n1,1\n"


def _archive(name):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, CSV)
    return content.getvalue()


def _array():
    content = io.BytesIO()
    np.save(content, np.eye(3))
    return content.getvalue()


def _stata():
    content = io.BytesIO()
    pd.DataFrame({"a": [1, 0]}).to_stata(content, version=114)
    return content.getvalue()


BINARY = [
    (b"PAR1\x15\x04", "a Parquet file"),
    (b"ARROW1\x00\x00\xff", "a Feather file"),
    (b"$FL2@(#)\xff", "an SPSS file"),
    (_stata(), "a Stata file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel file"),
    (_archive("[Content_Types].xml"), "an Excel file"),
    (_archive("data.npy"), "an archive of NumPy"),
    (_archive("\xe4.csv"), "a zip archive"),
    (_array(), "an array of NumPy"),
    (pickle.dumps([1, "\xe4"]), "a pickle"),
    (bz2.compress(CSV.encode()), "a bzip2 file"),
]


@pytest.mark.parametrize(("content", "kind"), BINARY, ids=[kind for _, kind in BINARY])
def test_binary_file_is_named(tmp_path, content, kind):
    path = tmp_path / "table.csv"
    path.write_bytes(content + b"\xff")
    with pytest.raises(InputError, match=f"table.csv: is {kind}, not text; "):
        read_text(path)
    path = path.rename(tmp_path / "model.pkl")
    with pytest.raises(InputError, match=f"model.pkl: is {kind}, which is not read; "):
        load_model(path)
    path = path.rename(tmp_path / "model.npz")
    sentence = "model.npz" if content.startswith(b"PK") else rf"a readable \.npz file \(is {kind}\)"
    with pytest.raises(InputError, match=sentence):
        load_model(path)


def test_networks_of_other_programs_are_named(tmp_path):
    for suffix, name in ((".xdsl", "GeNIe"), (".net", "Hugin"), (".DNE", "Netica"), (".rds", "R")):
        with pytest.raises(InputError, match=f"of {name}, which is not read; .*\\.bif"):
            load_model(tmp_path / f"a{suffix}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("pack", [bytes, bz2.compress])
def test_text_with_a_mark_is_read(tmp_path, encoding, pack):
    path = tmp_path / ("t.csv" if pack is bytes else "t.csv.bz2")
    path.write_bytes(pack(CSV.replace("a", "müde").encode(encoding)))
    assert read_text(path).startswith("müde,b\n")
    assert load_dataset(path).schema.names == ("müde", "b")


@pytest.mark.parametrize("name", ["t.csv", "t.bif"])
def test_text_of_windows_is_refused_with_the_place(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(CSV.replace("a", "müde").encode("cp1252"))
    sentence = rf"{name}: is not a text file \(line 1, byte 1\); if it is one, save it in UTF-8"
    with pytest.raises(InputError, match=sentence):
        load_dataset(path) if name == "t.csv" else load_model(path)
