"""`mnlearn fit` refuses, before it learns, a file that cannot hold the model."""

import numpy as np
import pytest

from command import refuse, succeed
from command_folder import fill_folder
from mnlearn.data.dataset import merge_rows
from mnlearn.data.text_tables import save_text
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.io.formats import FORMS, load_model, save_model
from mnlearn.runtime.errors import InputError

WRITTEN = (
    *(".npz", ".mn", ".dn", ".bn", ".ac", ".bif", ".uai"),
    *(".nnf", ".csv", ".graphml"),
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data, also of a hidden variable with six copies, as current folder."""
    rng = np.random.default_rng(20)
    copies = (rng.random((300, 1)) < 0.5) ^ (rng.random((300, 6)) < 0.15)
    fill_folder(tmp_path, monkeypatch)
    save_text(merge_rows(copies.astype(np.uint8)), "hidden.data")


def can_hold(model, suffix):
    try:
        save_model(model, f"kept{suffix}")
    except InputError:
        return False
    return True


@pytest.mark.parametrize("method", learner_names())
def test_the_formats_of_a_method_are_those_that_can_hold_its_model(method):
    network = " --network dn.npz" if load_learner(method).network == "required" else ""
    succeed(f"fit {method} --train hidden.data --out a.npz{network}")
    model = load_model("a.npz")
    assert {suffix for suffix in WRITTEN if can_hold(model, suffix)} == set(
        load_learner(method).formats
    )


@pytest.mark.parametrize(
    ("method", "out"),
    [("mixture", "a.mn"), ("l1", "a.ac"), ("dn_lr", "a.MN"), ("hclt", "a.bn"), ("acmn", "a.bif")],
)
def test_a_format_that_cannot_hold_the_model_is_refused_before_learning(method, out):
    *first, last = (form for form in load_learner(method).formats if form in FORMS)
    forms = f"{', '.join(first)} or {last}"
    sentence = f"{out}: expected a file that ends in {forms}, which can hold a model of {method}."
    assert refuse(f"fit {method} --train d.data --out {out}", sentence) == []
    # Not even the data are read.
    refuse(f"fit {method} --train nothing.data --out {out}", sentence)
