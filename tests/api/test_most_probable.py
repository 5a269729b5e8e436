"""What `most_probable` says of its answers, compared with the enumeration of all states."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit
from oracles import all_states

N = 5
STATES = all_states(N)
RNG = np.random.default_rng(0)
CLASS = RNG.integers(0, 3, 300)
P = RNG.random((3, N))
ROWS = (RNG.random((300, N)) < P[CLASS]).astype(int)
ONE = [{v: x} for v in range(N) for x in (0, 1)]
EVIDENCE = [{}, *ONE, *({0: x, 1: y} for x in (0, 1) for y in (0, 1))]
EXACT = {
    "Atomic": mn.Atomic(),
    "ACBN": mn.ACBN(max_edges=500),
    "ACMN": mn.ACMN(max_edges=500),
    "ChowLiu": mn.ChowLiu(),
    "DN2MN": mn.DN2MN(),
    "DTSL": mn.DTSL(),
    "JunctionTree": mn.JunctionTree(),
    "LEM": mn.LEM(),
    "Mixture of one tree": mn.Mixture(n_components=1),
}
NOT_EXACT = {
    "HCLT": mn.HCLT(n_states=3, random_state=0),
    "Mixture": mn.Mixture(random_state=0),
    "Mixture of circuits": mn.Mixture(base="acmn", max_edges=1000, random_state=0),
    "Mixture of feature trees": mn.Mixture(base="lem", random_state=0),
    "TreeBag": mn.TreeBag(random_state=0),
}


def answers(model):
    """For each evidence: how the answer was found, its log-probability, and the highest one."""
    log_p = mn.score(model, STATES, "ll").per_example
    for evidence in EVIDENCE:
        found = model.most_probable(evidence)
        values = {f"V{v}": x for v, x in evidence.items()} | found.to_dict()
        state = np.array([values[f"V{v}"] for v in range(N)])
        agrees = np.all([STATES[:, v] == x for v, x in evidence.items()], axis=0) | (not evidence)
        own = log_p[(state == STATES).all(axis=1)].item()
        yield found.attrs["is_exact"], own, log_p[agrees].max()


@pytest.mark.parametrize("name", EXACT)
def test_the_most_probable_state_is_exact(name):
    for is_exact, own, best in answers(EXACT[name].fit(ROWS).model_):
        assert is_exact
        assert own == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", NOT_EXACT)
def test_a_model_with_hidden_variables_does_not_say_exact(name):
    """And is right not to: a state of some evidence has a lower probability than another."""
    model = NOT_EXACT[name].fit(ROWS).model_
    found = list(answers(model))
    assert {is_exact for is_exact, _, _ in found} == {False}
    assert any(own < best - 1e-6 for _, own, best in found)
    table = model.most_probable(pd.DataFrame([[1, *[np.nan] * (N - 1)]]))
    assert table.attrs["inference"] == "max-product"


def test_a_tree_with_summed_out_variables_does_not_say_exact():
    """The last two variables of a chain, which a latent tree leaves out of its circuit."""
    parent = np.array([NO_PARENT, *range(N - 1)])
    chain = tree_circuit(parent, np.log(np.full((N, 2, 2), 0.5)), 3)
    assert chain.most_probable().attrs["inference"] == "max-product"
    assert chain.query().attrs["is_exact"]
