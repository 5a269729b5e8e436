"""`mnlearn compare` and `mnlearn cite`, and names of learners as people write them."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.stats

import mnlearn as mn
from command import succeed
from mnlearn.cli.cite import entries_of
from mnlearn.methods import find_learner, learner_names

pytestmark = pytest.mark.usefixtures("folder")


def test_compare_is_a_paired_test():
    succeed("fit chow_liu --train d.data --out one.npz")
    succeed("fit atomic --train d.data --out two.npz")
    found = json.loads(succeed("compare one.npz two.npz d.data --metric PLL --json").stdout)
    models = [mn.load("one.npz"), mn.load("two.npz")]
    rows = mn.read_data("d.data")
    one, two = (model.score_samples(rows, "pll") for model in models)
    test = scipy.stats.ttest_rel(one, two)
    assert found["metric"] == "pll"
    assert np.isclose(found["difference"], (one - two).mean(), rtol=1e-12)
    assert np.isclose(found["p_value"], test.pvalue, rtol=1e-9)
    assert np.isclose(found["standard_error"], (one - two).std(ddof=1) / len(one) ** 0.5)
    assert np.isclose(found["mean_of_model"] - found["mean_of_other"], found["difference"])
    assert found["difference"] > 0
    assert mn.score(models[0], rows, "PLL").metric == "pll"


def test_equal_models_have_no_p_value():
    succeed("fit atomic --train d.data --out two.npz")
    line = "compare two.npz two.npz d.data"
    assert "none, the models are equal on every example" in succeed(line).stdout
    assert json.loads(succeed(f"{line} --json").stdout)["p_value"] is None
    found = mn.compare(mn.load("two.npz"), mn.load("two.npz"), mn.read_data("d.data"))
    assert "p = none, the models are equal" in repr(found)


def test_weights_count_in_the_difference():
    rows = pd.DataFrame({"a": [0] * 10 + [1] * 5, "b": [0, 1, 1] * 5})
    weight = np.array([1.0] * 10 + [20, 1, 3, 1, 1])
    one, two = mn.ChowLiu().fit(rows, sample_weight=weight), mn.Atomic().fit(rows)
    found = mn.compare(one, two, rows, "ll", sample_weight=weight)
    again = mn.compare(one, two, rows.loc[rows.index.repeat(weight.astype(int))], "ll")
    assert np.isclose(found.means[0] - found.means[1], found.difference)
    assert np.isclose(found.difference, again.difference)
    assert np.isclose(found.stderr, again.stderr)
    assert np.isclose(found.p_value, again.p_value)
    assert found.n_examples == again.n_examples == weight.sum()


def test_two_forms_of_a_model_are_equal():
    rows = mn.read_data("d.data")
    model = mn.ChowLiu().fit(rows).model_
    found = mn.compare(model, model.to_circuit(), rows, "ll")
    assert (found.difference, found.stderr) == (0.0, 0.0)
    assert found.p_text.startswith("none, the models are equal")


def test_impossible_examples_are_counted_apart():
    rows = pd.DataFrame({"a": ["x", "y", "x", "y"], "b": ["u", "u", "w", "u"]})
    sure = mn.MarkovNetwork.from_features
    variables = {"a": ["x", "y"], "b": ["u", "w"]}
    never = sure([{"b": "w"}], [-np.inf], variables)
    some = sure([{"a": "x"}], [0.5], variables)
    found = mn.compare(never, some, rows, "ll")
    assert found.impossible == (1, 0)
    assert found.n_examples == 3
    assert found.means[0] == -np.inf
    with pytest.raises(mn.InputError, match="two examples or more"):
        mn.compare(never, some, rows.iloc[1:3], "ll")


def test_every_learner_can_be_cited():
    without = {name for name in learner_names() if not list(entries_of(name))}
    assert without == {"atomic"}
    text = succeed("cite DTSL --set kappa=0.01").stdout
    assert "kappa=0.01" in text
    assert "@inproceedings{lowd2010," in text
    assert "@software{mnlearn," in text
    assert "keywords" not in text


@pytest.mark.parametrize("text", ["DTSL", "chow-liu", "ChowLiu", "DN2MN", "Junction Tree", "l1"])
def test_learners_are_found_as_people_write_them(text):
    assert find_learner(text) == text.lower().replace("-", "_").replace(" ", "_").replace(
        "chowliu", "chow_liu"
    )
