"""What docstrings say of all kinds of models and of files, compared with the code."""

import re

import numpy as np
import pandas as pd

import mnlearn as mn
from mnlearn.models.io import formats
from mnlearn.models.io.native import KINDS
from mnlearn.models.questions import Questions

FRAME = pd.DataFrame(np.random.default_rng(7).integers(0, 2, (100, 4)), columns=list("abcd"))


def test_docstrings_name_the_default_metric_of_every_kind_of_model():
    tree = mn.ChowLiu().fit(FRAME).model_
    models = {
        "Markov networks": mn.Atomic().fit(FRAME).model_,
        "dependency networks": mn.DNTree().fit(FRAME).model_,
        "Bayesian networks": tree.to_bayesian_network(),
        "circuits": tree,
        "feature trees": mn.LEM().fit(FRAME).model_,
        "junction trees": mn.JunctionTree().fit(FRAME).model_,
        "hidden trees": mn.HCLT(n_states=2).fit(FRAME).model_,
    }
    assert {type(model) for model in models.values()} == set(KINDS)
    said = " ".join(Questions.score.__doc__.split())
    _, likelihood, others = re.split(r'"p?ll"\)? for ', said)
    pseudo_likelihood, _, _ = others.partition(".")
    for name, model in models.items():
        metric = mn.score(model, FRAME).metric
        assert name in {"ll": likelihood, "pll": pseudo_likelihood}[metric]
    networks = {name for name, model in models.items() if mn.score(model, FRAME).metric == "pll"}
    assert networks == {"Markov networks", "dependency networks"}
    default = 'Default: "pll" for Markov and dependency networks, "ll" for all other models.'
    assert default in mn.score.__doc__


def test_docstrings_name_every_form_of_files():
    for function, forms in ((mn.load, formats.FORMS), (mn.save, formats._WRITTEN)):
        assert set(re.findall(r"`(\.\w+)`", function.__doc__)) == set(forms)
    for kind in KINDS:
        assert kind.__name__ in mn.load.__doc__
