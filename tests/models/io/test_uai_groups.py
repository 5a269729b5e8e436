"""Variables of several values in `.uai` files of models that are no junction trees."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from mnlearn.models.exclusive_columns import exclusive_columns

import mnlearn as mn
from command import succeed
from made_feature_trees import learned_twice
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.markov_network import markov_network


def table_of(path):
    """The numbers of values in a file, and the distribution: the product of its factors."""
    kind, *words = path.read_text().split()
    assert kind == "MARKOV"
    words = iter(words)
    arity = [int(next(words)) for _ in range(int(next(words)))]
    scopes = [[int(next(words)) for _ in range(int(next(words)))] for _ in range(int(next(words)))]
    whole = np.ones(arity)
    for scope in scopes:
        shape = [arity[v] for v in scope]
        size = int(next(words))
        assert size == math.prod(shape)
        own = np.array([float(next(words)) for _ in range(size)]).reshape(shape)
        for state in itertools.product(*map(range, arity)):
            whole[state] *= own[tuple(state[v] for v in scope)]
    return arity, whole / whole.sum()


@pytest.mark.parametrize("seed", range(12))
def test_feature_trees_keep_their_variables(seed, tmp_path):
    tree, _, states = learned_twice(seed)
    save_model(tree, tmp_path / "a.uai")
    arity, table = table_of(tmp_path / "a.uai")
    assert arity == tree.variables.arity.tolist()
    expected = np.exp(tree.log_likelihood(tree.variables.one_hot(states)))
    np.testing.assert_allclose(table.ravel(), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_their_markov_networks_keep_variables_of_three_values_or_more(seed, tmp_path):
    """A `.mn` file keeps no names and no groups, but the features that exclude states."""
    tree, _, states = learned_twice(seed)
    network = tree.to_markov_network()
    groups = tuple(tuple(sorted(g)) for g in tree.variables.groups if len(g) > 2)
    assert exclusive_columns(network) == groups
    save_model(network, tmp_path / "a.mn")
    save_model(load_model(tmp_path / "a.mn"), tmp_path / "a.uai")
    arity, table = table_of(tmp_path / "a.uai")
    columns = [tree.variables.columns(v) for v in range(len(tree.variables))]
    assert arity == [n for own in columns for n in ([len(own)] if len(own) > 2 else [2] * len(own))]
    expected = np.zeros(arity)
    rows = tree.variables.one_hot(states)
    for state, row in zip(states, rows, strict=True):
        place = []
        for own, value in zip(columns, state, strict=True):
            place += [value] if len(own) > 2 else row[list(own)].tolist()
        expected[tuple(place)] = np.exp(tree.log_likelihood(row[None]))[0]
    np.testing.assert_allclose(table, expected, atol=1e-12)


def excluding(columns, *, but=()):
    """Conjunctions that exclude all states of columns but those with one 1."""
    found = [[(c, 0) for c in columns]]
    found += [[(a, 1), (b, 1)] for a, b in itertools.combinations(columns, 2)]
    return [one for k, one in enumerate(found) if k not in but]


@pytest.mark.parametrize(
    ("conjunctions", "least", "groups"),
    [
        (excluding((0, 2, 3)), 3, ((0, 2, 3),)),
        (excluding((0, 2, 3), but=[0]), 3, ()),
        (excluding((0, 2, 3), but=[2]), 3, ()),
        (excluding((0, 1)), 3, ()),
        (excluding((0, 1)), 2, ((0, 1),)),
        (excluding((0, 1, 2)) + excluding((2, 3, 4)), 3, ((0, 1, 2),)),
        (excluding((0, 1, 2)) + excluding((3, 4, 5)), 3, ((0, 1, 2), (3, 4, 5))),
    ],
)
def test_columns_are_exclusive_if_every_other_state_is(conjunctions, least, groups):
    weights = np.full(len(conjunctions), -np.inf)
    network = markov_network(6, features_of([*conjunctions, [(5, 1)]]), [*weights, 1.0])
    assert exclusive_columns(network, least) == groups
    unlikely = markov_network(6, features_of(conjunctions), np.full(len(weights), -99.0))
    assert exclusive_columns(unlikely, least) == ()


def survey(n_rows=200):
    drug = np.random.default_rng(0).integers(0, 3, n_rows)
    ill = (np.random.default_rng(1).random(n_rows) < 0.2 + 0.2 * drug).astype(int)
    columns = {f"drug={name}": drug == k for k, name in enumerate(("alcohol", "nicotine", "none"))}
    return pd.DataFrame(columns, dtype=int).assign(ill=ill)


def test_a_model_that_excludes_no_state_says_that_columns_are_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learner = mn.DTSL().fit(survey())
    sentence = (
        "a.uai: has a variable of two values for each of the columns drug=alcohol, drug=nicotine, "
        "drug=none, because the model does not exclude that none or several of them are 1."
    )
    for save in (lambda path: mn.save(learner, path), learner.model_.save):
        with pytest.warns(UserWarning, match="does not exclude") as caught:
            save("a.uai")
        assert [str(one.message) for one in caught] == [sentence]
        assert caught[0].filename == __file__
    assert (tmp_path / "a.uai").read_text().split()[:6] == ["MARKOV", "4", "2", "2", "2", "2"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.model_.save("a.npz")
    assert sentence in succeed("convert a.npz a.uai").stderr
    survey().to_csv("d.csv", index=False)
    assert sentence in succeed("fit dtsl --train d.csv --out a.uai").stderr


def test_a_model_that_excludes_them_says_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survey().to_csv("d.csv", index=False)
    learned = "fit lem --train d.csv --groups names --out"
    assert succeed(f"{learned} a.npz").exit_code == 0
    assert "two values" not in succeed("convert a.npz a.uai").stderr
    assert (tmp_path / "a.uai").read_text().split()[:4] == ["MARKOV", "2", "3", "2"]
    tree = mn.load("a.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.to_markov_network().save("b.uai")
    for path in ("a.uai", "b.uai"):
        arity, table = table_of(tmp_path / path)
        assert arity == [3, 2]
        expected = [tree.probability({f"drug={n}": 1}) for n in ("alcohol", "nicotine", "none")]
        np.testing.assert_allclose(table.sum(axis=1), expected, atol=1e-9)
