"""`mnlearn fit` and `methods`: what they write, print and refuse."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import mnlearn as mn
from command import mean, refuse, succeed
from mnlearn.data.dataset import merge_rows
from mnlearn.data.text_tables import save_text
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.io.suffixes import READ, WRITTEN
from mnlearn.runtime.errors import InputError

pytestmark = pytest.mark.usefixtures("folder")


def can_hold(model, suffix):
    try:
        save_model(model, f"kept{suffix}")
    except InputError:
        return False
    return True


@pytest.mark.parametrize("method", learner_names())
def test_a_method_with_its_defaults(method):
    """On a hidden variable with six copies: its score, its seeds and the forms of its model."""
    rng = np.random.default_rng(20)
    copies = (rng.random((300, 1)) < 0.5) ^ (rng.random((300, 6)) < 0.15)
    save_text(merge_rows(copies.astype(np.uint8)), "hidden.data")
    learner = load_learner(method)
    network = " --network dn.npz" if learner.network == "required" else ""
    result = succeed(f"fit {method} --train hidden.data --seed 3 --out a.npz{network}")
    assert result.stdout == ""
    assert f"a.npz: {method} with " in result.stderr
    for name in learner.fields():
        if "seed" in name:
            assert f"{name}=3" in result.stderr
            assert learner.defaults()[name] == 20
    model = load_model("a.npz")
    assert isinstance(model, DependencyNetwork) == method.startswith("dn_")
    assert model.n_vars == 6
    succeed("fit atomic --train hidden.data --out base.npz")
    assert mean("a.npz hidden.data") >= mean("base.npz hidden.data")
    assert {suffix for suffix in WRITTEN if can_hold(model, suffix)} == set(learner.formats)


@pytest.mark.parametrize(
    ("method", "out"),
    [("mixture", "a.mn"), ("l1", "a.ac"), ("dn_lr", "a.MN"), ("hclt", "a.bn"), ("acmn", "a.bif")],
)
def test_a_form_that_cannot_hold_the_model_is_refused_before_the_data_are_read(method, out):
    *first, last = (form for form in load_learner(method).formats if form in READ)
    forms = f"{', '.join(first)} or {last}"
    sentence = f"{out}: expected a file that ends in {forms}, which can hold a model of {method}."
    refuse(f"fit {method} --train nothing.data --out {out}", sentence)


def test_fit_takes_parameters_and_keeps_names():
    plain = "fit dtsl --train named.csv --out"
    succeed(f"{plain} a.npz --set kappa=0.1 --set feature_mode=nonzero --set ' sd = none '")
    weak = succeed(f"{plain} b.npz --set sd=0.01")
    assert "sd=0.01" in weak.stderr
    a, b = load_model("a.npz"), load_model("b.npz")
    assert a.schema.names == tuple("abcdef")
    assert np.abs(b.weight).max() < np.abs(a.weight).max()


@pytest.mark.nightly
def test_an_interrupted_search_resumes_from_its_checkpoints():
    line = "fit dtsl --train d.data --valid v.data --grid grid.yaml --checkpoints kept --out"
    succeed(f"{line} a.npz")
    first = {path: path.stat().st_mtime_ns for path in Path("kept").iterdir()}
    for path in [path for path in first if path.name.endswith(".fit.json")][:2]:
        path.unlink()
    succeed(f"{line} b.npz")
    assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()
    again = {path: path.stat().st_mtime_ns for path in Path("kept").iterdir()}
    assert again.keys() == first.keys()
    changed = {path.name.partition(".")[0] for path in again if again[path] != first[path]}
    assert len(changed) == 2
    # A search in Python finds the same points.
    grid = yaml.safe_load(Path("grid.yaml").read_text(encoding="utf-8"))
    train, valid = mn.read_data("d.data"), mn.read_data("v.data")
    search = mn.GridSearch(mn.DTSL(), grid, checkpoints="kept").fit(train, validation=valid)
    assert {path: path.stat().st_mtime_ns for path in Path("kept").iterdir()} == again
    assert search.model_.weight.tolist() == load_model("a.npz").weight.tolist()


def test_fit_searches_a_grid_on_validation_data():
    result = succeed(
        "fit dtsl --train d.data --valid v.data --grid grid.yaml --out a.npz --trace t.csv"
    )
    trace = pd.read_csv("t.csv")
    assert len(trace) == 2 + 2 * 2
    last = trace[trace["stage"] == trace["stage"].max()]
    best = last.loc[last["validation"].idxmax()]
    assert f"feature_mode={best['feature_mode']}, sd={best['sd']:g}" in result.stderr.replace(
        "sd=1.0", "sd=1"
    )
    assert mean("a.npz v.data") == pytest.approx(best["validation"], abs=1e-12)


def test_fit_without_validation_data_shows_no_score():
    result = succeed("fit atomic --train d.data --out a.npz --trace t.csv")
    assert "learned" in result.stderr
    assert "validation" not in result.stderr
    assert pd.read_csv("t.csv")["validation"].isna().all()


def test_a_seed_that_is_set_by_name_wins():
    Path("seed.yaml").write_text("generation_seed: [5]\n", encoding="utf-8")
    line = "fit gssl --train d.data --set n_generated=8 --seed 3 --out a.npz"
    assert "generation_seed=5" in succeed(f"{line} --set generation_seed=5").stderr
    assert "generation_seed=5" in succeed(f"{line} --grid seed.yaml").stderr


def test_set_overrides_the_grid():
    succeed(
        "fit dtsl --train d.data --valid v.data --grid grid.yaml --set kappa=0.5 "
        "--set feature_mode=prune --out a.npz --trace t.csv"
    )
    trace = pd.read_csv("t.csv")
    assert set(trace["kappa"]) == {0.5}
    assert set(trace["feature_mode"]) == {"prune"}
    assert len(trace) == 2


def test_fit_refuses_a_network_of_other_variables():
    succeed("fit dn_tree --train d5.data --out dn5.npz")
    succeed("fit dn_tree --train named.csv --out named.npz")
    Path("turned.csv").write_text(
        "f,e,d,c,b,a\n" + Path("named.csv").read_text(encoding="utf-8").split("\n", 1)[1],
        encoding="utf-8",
    )
    line = "fit dn2mn --out a.npz --train"
    refuse(f"{line} d.data --network dn5.npz", "dn5.npz: expected 6 variables")
    refuse(f"{line} turned.csv --network named.npz", "named.npz: expected 'f' as column 1")
    succeed(f"{line} named.csv --network named.npz")


def test_methods():
    text = succeed("methods").stdout
    for name in learner_names():
        assert f"{name}: " in text
    assert "    kappa=0.01    " in text
