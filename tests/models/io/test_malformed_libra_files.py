"""Malformed files of Libra: a sentence with the line for each of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_models import log_prob_of, modest, trees_of, written
from mnlearn.models.dependency_network import (
    tree_network,
)
from mnlearn.models.io.formats import load_model
from mnlearn.models.io.libra.read import read_dn, read_mn
from mnlearn.models.io.libra.write import write_dn
from mnlearn.runtime.errors import InputError

MALFORMED_MN = {
    "empty": ("", 1, "expected a schema such as 2,2,2, got nothing."),
    "no values": ("2,0,2\nMN {\n}\n", 1, "expected 1 to 254 values of a variable, v1 has 0"),
    "many values": ("2,300\nMN {\n}\n", 1, "expected 1 to 254 values of a variable, v1 has 300"),
    "value of three": ("2,3\nMN {\n1 +v1_3\n}\n", 3,
                       "expected value 0 to 2 of a variable, got 3"),
    "value of one": ("2,1\nMN {\n1 +v1_1\n}\n", 3,
                     "expected value 0 alone of a variable, got 1"),
    "never of one": ("2,1\nMN {\n1 -v1_0\n}\n", 3,
                     "expected a condition that can hold, v1 has only the value 0"),
    "no value left": ("2,3\nMN {\n1 -v1_0 -v1_1 -v1_2\n}\n", 3,
                      "a feature asks v1 for no value that it can have"),
    "schema only": ("2,2\n", 1, "expected MN, got the end of the file"),
    "other kind": ("2,2\nDN {\n}\n", 2, "expected MN, got 'DN'"),
    "no brace": ("2,2\nMN\n0.5 +v0_1\n}\n", 3, "expected {, got '0.5'"),
    "truncated": ("2,2\nMN {\n0.5 +v0_1\n", 3,
                  "expected a feature, features, table, tree or }, got the end of the file"),
    "unknown keyword": ("2,2\nMN {\n\nmtable {\n}\n}\n", 4,
                        "expected a feature, features, table, tree or }, got 'mtable'"),
    "signed": ("2,2\nMN {\n+1.5 +v0_1\n}\n", 3,
               "expected a feature, features, table, tree or }, got '+1.5'"),
    "bare point": ("2,2\nMN {\n1. +v0_1\n}\n", 3,
                   "expected a literal such as +v0_1 or the end of the line, got '.'"),
    "three numbers": ("2,2\nMN {\n1 2 3\n}\n", 3,
                      "expected a literal such as +v0_1 or the end of the line, got '3'"),
    "variable out of range": ("2,2\nMN {\n0.5 +v0_1\n\n0.5 +v2_1\n}\n", 5,
                              "expected a variable from v0 to v1, got v2"),
    "long number": ("2,2\nMN {\n0.5 +v" + "9" * 5000 + "_0\n}\n", 3,
                    "expected a literal such as +v0_1 or the end of the line, got '+v9"),
    "tree variable": ("2,2\nMN {\ntree {\n(v5_1 0 1)\n}\n}\n", 4,
                      "expected a variable from v0 to v1, got v5"),
    "tree sign": ("2,2\nMN {\ntree {\n(+v1_1 0 1)\n}\n}\n", 4,
                  "expected a number or a test such as (v0_1, got '('"),
    "third subtree": ("2,2\nMN {\ntree {\n(v1_1 0\n1 2)\n}\n}\n", 5, "expected ), got '2'"),
    "both values": ("2,2\nMN {\n0.5 +v0_1\n0.5 +v0_0 +v0_1\n}\n", 4,
                    "a feature asks one variable for both values"),
    "too large a weight": ("2,2\nMN {\n1e301 +v0_1\n}\n", 3,
                           "expected a number up to 1e+300, or inf, got 1e301"),
    "infinite constant": ("2,2\nMN {\n-inf\n}\n", 3,
                          "expected a finite weight without literals, got -inf"),
    "declaration": ("2,2\nMN {\nw x\n}\n", 3, "expected a weight id and a number, got 'x'"),
    "text after the end": ("2,2\nMN {\n}\n}\n", 4, "expected nothing after the closing }, got '}'"),
    "CRLF": ("2,2\r\nMN {\r\n\r\n0.5 +v0_1\r\nfoo\r\n}\r\n", 5,
             "expected a feature, features, table, tree or }, got 'foo'"),
    "foreign blank": ("2,2\nMN {\n\xa00.5 +v0_1\n}\n", 3,
                      "expected a feature, features, table, tree or }, got '\\xa0'"),
    "value out of range": ("2,2\nMN {\n0.5 -v1_2\n}\n", 3,
                           "expected value 0 or 1 of a variable, got 2"),
    "no schema": ("MN {\n}\n", 1, "expected a schema such as 2,2,2, got 'MN {'"),
    "not a number": ("2,2\nMN {\nfeatures {\nnan +v0_1\n}\n}\n", 4,
                     "expected a feature or }, got 'nan'"),
    "token of 40 letters": ("2,2\nMN {\n" + "x" * 40 + "\n}\n", 3,
                            "expected a feature, features, table, tree or }, got '"
                            + "x" * 40 + "'."),
    "token of 41 letters": ("2,2\nMN {\n" + "x" * 41 + "\n}\n", 3,
                            "expected a feature, features, table, tree or }, got '"
                            + "x" * 40 + "…'."),
}  # fmt: skip

MALFORMED_DN = {
    "Bayesian network": ("2\nBN {\nv0 {\n}\n}\n", 2, "expected DN, got 'BN'"),
    "no brace": ("2\nDN {\nv0\n0.5 +v0_1\n}\n}\n", 4, "expected {, got '0.5'"),
    "truncated": ("2\nDN {\nv0 {\n}\n", 4, "expected a CPD such as v0 { or }, got the end"),
    "missing brace": ("2,2\nDN {\nv0 {\n1 +v0_1\nv1 {\n}\n}\n", 5,
                      "expected a feature, features, table, tree or }, got 'v1'"),
    "out of range": ("2\nDN {\nv0 {\n}\nv1 {\n}\n}\n", 5,
                     "expected a variable from v0 to v0, got v1"),
    "twice": ("2,2\nDN {\nv0 {\n}\nv1 {\n}\nv0 {\n}\n}\n", 7, "v0 has a second CPD"),
    "missing": ("2,2,2\nDN {\nv2 {\n}\nv0 {\n}\n}\n", 7,
                "expected a CPD of v1 before the closing }"),
    "declaration": ("2\nDN {\nv0 {\nw 1 0.5\n}\n}\n", 4,
                    "expected a feature, features, table, tree or }, got 'w'"),
    "impossible leaf": ("2,2\nDN {\nv0 { }\nv1 {\ntree {\n(v0_0 0\n(v1_0 -inf -inf))\n}\n}\n}\n", 7,
                        "both values of v1 have log-probability -inf"),
    "too large a leaf": ("2\nDN {\nv0 {\ntree { (v0_0 1e999 0) }\n}\n}\n", 4,
                         "expected a number up to 1e+300, or inf, got 1e999"),
    "certain leaf": ("2\nDN {\nv0 {\ntree { (v0_0 inf inf) }\n}\n}\n", 4,
                     "both values of v0 have log-probability inf"),
    "infinite weight of the parents": ("2,2\nDN {\nv0 {\n0.5 +v0_1\n-inf +v1_1\n}\nv1 { }\n}\n", 5,
                                       "expected a finite weight without v0, got -inf"),
    "infinities in a table": ("2\nDN {\nv0 {\ntable {\ninf +v0_1\n-inf +v0_1\n}\n}\n}\n", 4,
                              "rows of this table add up infinities of both signs"),
    "text after the end": ("2\nDN {\nv0 {\n}\n}\njunk @@\n", 6,
                           "expected nothing after the closing }, got 'junk'"),
}  # fmt: skip

MALFORMED_BN = {
    "no factor": ("2\nBN {\nv0 {\n}\n}\n", 3, "expected a CPD that mentions v0"),
    "dependency network": ("2\nDN {\nv0 {\n}\n}\n", 2, "expected BN, got 'DN'"),
    "missing": ("2,2\nBN {\nv0 {\ntable {\n0 +v0_0\n}\n}\n}\n", 8, "expected a CPD of v1"),
    "missing, with a rest": (
        "2,2\nBN {\nv0 {\ntable {\n0 +v0_0\n}\n}\n}\nmore\n",
        8,
        "expected a CPD of v1",
    ),
}


@pytest.mark.parametrize(
    ("suffix", "text", "line", "message"),
    [
        pytest.param(suffix, *case, id=f"{suffix} {name}")
        for suffix, cases in (
            *((".mn", MALFORMED_MN), (".dn", MALFORMED_DN), (".bn", MALFORMED_BN)),
        )
        for name, case in cases.items()
    ],
)
def test_malformed_libra_files(tmp_path, suffix, text, line, message):
    path = written(tmp_path, f"bad{suffix}", text)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}, line {line}: {message}")
    assert str(caught.value).count("\n") == 0
    assert str(caught.value).endswith(".")


def test_one_feature_with_both_infinities(tmp_path):
    path = written(tmp_path, "a.mn", "2\nMN {\ninf +v0_1\n-inf -v0_0\n}\n")
    with pytest.raises(InputError, match="both infinities") as caught:
        read_mn(path)
    assert str(path) in str(caught.value)


@given(st.integers(0, 400), st.sampled_from(["", "\n", "}", "{", "(", " 1 ", "+v0_1", "é"]))
@modest
def test_damaged_text_is_read_or_refused(tmp_path, position, junk):
    network = tree_network(trees_of([(1, (-np.inf, 0.0), log_prob_of(1.5)), log_prob_of(0.5)]))
    write_dn(network, tmp_path / "a.dn")
    text = (tmp_path / "a.dn").read_text()
    position = position % len(text)
    path = written(tmp_path, "b.dn", text[:position] + junk + text[position + 1 :])
    try:
        read_dn(path)
    except InputError as error:
        message = str(error)
    else:
        return
    assert message.startswith(f"{path}, line ")


@pytest.mark.parametrize("suffix", [".mn", ".dn", ".npz"])
def test_missing_and_binary_files(tmp_path, suffix):
    with pytest.raises(InputError, match="no such file"):
        load_model(tmp_path / f"none{suffix}")
    path = tmp_path / f"noise{suffix}"
    path.write_bytes(b"\xff\xff\x00\x01")
    with pytest.raises(InputError, match=r"is not a (text file|readable \.npz file)"):
        load_model(path)
