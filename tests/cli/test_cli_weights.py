"""`mnlearn weights`: new weights for the features of a model."""

import re

import pytest

import mnlearn as mn
from command import refuse, succeed
from mnlearn.models.io.formats import load_model

pytestmark = pytest.mark.usefixtures("folder")


def test_the_command_and_the_library_learn_the_same_weights():
    result = succeed("weights m.npz d.data --out w.mn --sd 0.5 --l1 2 --threads 1")
    assert re.fullmatch(
        r"w\.mn: weights of 20 features, \d+ iterations, at most \S+ nats per example from the "
        r"best\.\n",
        result.stderr,
    )
    model = mn.load("m.npz")
    assert isinstance(model, mn.MarkovNetwork)
    learned = model.fit_weights(mn.read_data("d.data"), sd=0.5, l1=2)
    assert learned.weight.tolist() == load_model("w.mn").weight.tolist()
    succeed("weights m.npz d.data --out x.mn --sd 0.5 --l1 2 --iterations 1")
    assert load_model("x.mn").weight.tolist() != learned.weight.tolist()


def test_without_a_gaussian_prior():
    result = succeed("weights m.npz d.data --out w.mn --sd inf")
    assert result.stderr.endswith("iterations.\n")
    model = mn.load("m.npz")
    assert isinstance(model, mn.MarkovNetwork)
    data = mn.read_data("d.data")
    for sd in (None, float("inf")):
        assert model.fit_weights(data, sd=sd).weight.tolist() == load_model("w.mn").weight.tolist()


def test_other_models_are_taken_as_markov_networks():
    succeed("fit chow_liu --train named.csv --out c.bif")
    succeed("weights c.bif named.csv --out w.npz")
    given, learned = load_model("c.bif"), load_model("w.npz")
    assert isinstance(learned, type(load_model("m.npz")))
    assert learned.schema == given.schema
    assert len(learned.features) == len(given.to_markov_network().features)


def test_models_without_features_are_named():
    succeed("fit hclt --train d.data --out h.npz --set n_states=2")
    refuse("weights h.npz d.data --out w.npz", "h.npz: a hidden tree has no features")
