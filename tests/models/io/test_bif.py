"""Bayesian networks in the interchange format."""

import dataclasses

import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import ll
from oracles import all_states

# The wet grass: rain depends on clouds, the sprinkler too, the grass on both.
WET = """\
network "wet grass" {
  property author = nobody;
}
// states are listed no, yes
variable Cloudy { type discrete [ 2 ] { no, yes }; }
variable Sprinkler { type discrete[2] { off on };
  property position = (1, 2) ; }
variable Rain {
  type discrete [ 2 ] { no, yes };
}
variable Wet { type discrete [ 2 ] { no, yes }; }
/* tables and
   entries */
probability ( Cloudy ) { table 0.4, 0.6; }
probability ( Sprinkler | Cloudy ) {
  (no) 0.5, 0.5;
  (yes) 0.9, 0.1;
}
probability ( Rain | Cloudy ) {
  property source = a book;
  table 0.8, 0.2, 0.2, 0.8;
}
probability ( Wet | Sprinkler, Rain ) {
  (off, no) 1.0, 0.0;
  (on, yes) 0.01, 0.99;
  default 0.1, 0.9;
}
"""
SPRINKLER = (0.5, 0.1)
RAIN = (0.2, 0.8)
WET_GIVEN = {(0, 0): 0.0, (0, 1): 0.9, (1, 0): 0.9, (1, 1): 0.99}


def chance(p, x):
    return p if x else 1 - p


def joint(cloudy, sprinkler, rain, wet):
    return (
        chance(0.6, cloudy)
        * chance(SPRINKLER[cloudy], sprinkler)
        * chance(RAIN[cloudy], rain)
        * chance(WET_GIVEN[sprinkler, rain], wet)
    )


def test_the_example(tmp_path):
    path = tmp_path / "wet.bif"
    path.write_text(WET)
    network = load_model(path)
    assert network.names == ("Cloudy", "Sprinkler", "Rain", "Wet")
    found = ll(network, merge_rows(all_states(4)))
    expected = [joint(*x) for x in all_states(4).tolist()]
    assert np.exp(found.per_row) == pytest.approx(expected, abs=1e-12)
    assert sorted(network.edges()) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    save_model(network, tmp_path / "wet.bn")
    again = ll(load_model(tmp_path / "wet.bn"), merge_rows(all_states(4)))
    assert np.exp(again.per_row) == pytest.approx(expected, abs=1e-12)


def test_the_last_variable_of_a_table_changes_fastest(tmp_path):
    """The order of the format: P(a | b, c) with a slowest and c fastest."""
    head = "".join(f"variable {v} {{ type discrete [2] {{ 0, 1 }}; }}\n" for v in "abc")
    priors = "probability (b) { table .5, .5; }\nprobability (c) { table .5, .5; }\n"
    path = tmp_path / "abc.bif"
    path.write_text(
        head + priors + "probability (a | c, b) { table .9, .8, .7, .6, .1, .2, .3, .4; }\n"
    )
    found = np.exp(ll(load_model(path), merge_rows(all_states(3))).per_row)
    given = {(0, 0): 0.1, (0, 1): 0.2, (1, 0): 0.3, (1, 1): 0.4}  # by (c, b)
    expected = [0.25 * chance(given[c, b], a) for a, b, c in all_states(3).tolist()]
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{ off on }", "{ off on broken }", r"line 6: expected as many different states of Sprink"),
        ("table 0.4, 0.6", "table 0.4, 0.5", r"line 14: expected probabilities .* add up to 1"),
        ("table 0.4, 0.6", "table 0.4", r"line 14: expected 2 probabilities, not 1"),
        ("(no) 0.5, 0.5", "(maybe) 0.5, 0.5", r"line 16: expected no or yes, got 'maybe'"),
        ("  default 0.1, 0.9;\n", "", r"line 23: expected probabilities for all states"),
        ("0.01, 0.99", "0.01, x", r"line 25: expected a probability, got 'x'"),
        ("0.01, 0.99", "-0.01, 1.01", r"line 25: expected a probability, got '-0.01'"),
        (WET[WET.index("variable Rain") + 15 :], "", r"ends too early, expected }\."),
        ("variable Rain", "variable Cloudy", r"expected a variable that is not declared yet"),
        ("( Rain | Cloudy )", "( Rain | Clouds )", r"expected a variable that is declared before"),
        ("( Rain | Cloudy )", "( Sprinkler | Cloudy )", r"expected one CPD of each variable"),
        ("( Rain | Cloudy )", "( Rain | Rain )", r"expected different variables"),
        ('"wet grass"', '"wet grass', r"line 1: a quotation mark is not closed"),
        ("variable Wet", "variables Wet", r"expected network, variable or probability"),
        ("0.1, 0.9;\n}\n", "0.1, 0.9;\n", r"ends too early, expected }"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, message):
    assert old in WET
    path = tmp_path / "wet.bif"
    path.write_text(WET.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_model(path)


def test_a_variable_without_probabilities(tmp_path):
    path = tmp_path / "wet.bif"
    path.write_text(WET[: WET.index("probability ( Wet")])
    with pytest.raises(InputError, match=r"wet\.bif: variable Wet has no probabilities"):
        load_model(path)


def same_after(network, path, states):
    save_model(network, path)
    again = load_model(path)
    found, expected = (ll(m, merge_rows(states)).per_row for m in (again, network))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    return again


@pytest.mark.parametrize("suffix", [".bif", ".uai", ".npz", ".bn"])
def test_bayesian_networks_come_back(tmp_path, suffix):
    path = tmp_path / "wet.bif"
    path.write_text(WET.replace("Cloudy", '"Cloudy sky"'))
    network = load_model(path)
    assert network.states == (("no", "yes"), ("off", "on"), ("no", "yes"), ("no", "yes"))
    again = same_after(network, tmp_path / f"again{suffix}", all_states(4))
    if suffix in (".bif", ".npz"):
        assert (again.names, again.states) == (network.names, network.states)
    for circuit_suffix in (".ac", ".npz"):
        circuit = same_after(
            compile_network(network), tmp_path / f"c{circuit_suffix}", all_states(4)
        )
        assert (circuit.names, circuit.states) == (network.names, network.states)


@pytest.mark.parametrize("name", ['c"', "two\nlines", "{"])
def test_a_name_that_the_form_cannot_hold(tmp_path, name):
    (tmp_path / "wet.bif").write_text(WET)
    network = load_model(tmp_path / "wet.bif")
    network = dataclasses.replace(network, names=("a", "b", name, "d"))
    with pytest.raises(InputError, match="cannot be written to a"):
        save_model(network, tmp_path / "again.bif")
