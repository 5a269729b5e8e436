"""Model files: exact round trips, Libra's semantics, and a sentence for every malformed file."""

import csv
import itertools
import re
import zipfile

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oracles
from mnlearn.data.dataset import merge_rows
from mnlearn.models.dependency_network import (
    LEAF,
    DependencyNetwork,
    Trees,
    tree_network,
)
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.io.graphs import write_edges, write_graphml
from mnlearn.models.io.libra import read_dn, read_mn, write_dn, write_mn
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError

modest = settings(
    deadline=None,
    max_examples=40,
    # The files of one example are overwritten by the next.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def states(n_vars):
    return np.array(list(itertools.product((0, 1), repeat=n_vars)), np.uint8)


def log_prob_of(log_odds):
    return (-np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds))


# ---- Random models -----------------------------------------------------------------------------

numbers = st.one_of(
    st.floats(-60, 60),
    st.sampled_from([0.0, -0.0, 1e-300, 3.0, 1e16, -1e22, 0.1, float("-inf")]),
)
leaves = st.one_of(
    st.floats(-40, 40).map(log_prob_of),
    st.sampled_from([(-np.inf, 0.0), (0.0, -np.inf), log_prob_of(0.0)]),
)


def name_tuples(n_vars):
    # Control characters, but not tab, line feed and carriage return, are refused in names.
    printable = st.characters(
        codec="utf-8",
        exclude_categories=("Cs",),
        exclude_characters=[*map(chr, (*range(9), 11, 12, *range(14, 32), 127, 0xFFFE, 0xFFFF))],
    )
    text = st.text(printable, min_size=1, max_size=5)
    return st.none() | st.lists(text, min_size=n_vars, max_size=n_vars, unique=True).map(tuple)


def conjunctions(variables, max_size=4):
    pairs = st.dictionaries(st.sampled_from(variables), st.integers(0, 1), max_size=max_size)
    return pairs.map(lambda d: sorted(d.items()))


@st.composite
def markov_networks(draw):
    n_vars = draw(st.integers(1, 6))
    row = st.tuples(conjunctions(range(n_vars)).filter(len), numbers)
    rows = draw(st.lists(row, min_size=1, max_size=12))
    weight = np.array([weight for _, weight in rows])
    names = draw(name_tuples(n_vars))
    return markov_network(n_vars, features_of([c for c, _ in rows]), weight, names)


@st.composite
def nested_trees(draw, variables, depth):
    """A leaf is its pair of log-probabilities, an inner node (variable, zero, one)."""
    if depth == 0 or not variables or draw(st.booleans()):
        return draw(leaves)
    below = nested_trees(variables, depth - 1)
    return (draw(st.sampled_from(variables)), draw(below), draw(below))


def trees_of(nested):
    """Flat arrays of nested trees; the subtree for value 1 comes first."""
    start, split_var, child, log_prob = [0], [], [], []

    def add(tree):
        node = len(split_var)
        split_var.append(LEAF)
        child.append([LEAF, LEAF])
        log_prob.append(log_prob_of(0.0))
        if len(tree) == 2:
            log_prob[node] = tree
        else:
            split_var[node] = tree[0]
            one, zero = add(tree[2]), add(tree[1])
            child[node] = [zero, one]
        return node

    for tree in nested:
        add(tree)
        start.append(len(split_var))
    return Trees(
        np.array(start, np.int64),
        np.array(split_var, np.int32),
        np.array(child, np.int32),
        np.array(log_prob, np.float64),
    )


@st.composite
def dependency_networks(draw):
    n_vars = draw(st.integers(1, 6))
    others = [[u for u in range(n_vars) if u != v] for v in range(n_vars)]
    nested = [draw(nested_trees(others[v], 3)) for v in range(n_vars)]
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        v = draw(st.integers(0, n_vars - 1))
        literals = draw(conjunctions(others[v], 3)) if others[v] else []
        literals = sorted([*literals, (v, draw(st.integers(0, 1)))])
        rows.append((literals, v, draw(st.floats(-60, 60))))
    return DependencyNetwork(
        trees_of(nested),
        features_of([literals for literals, _, _ in rows]),
        np.array([v for _, v, _ in rows], np.int32),
        np.array([weight for _, _, weight in rows], np.float64),
        draw(name_tuples(n_vars)),
    )


def arrays_of(model):
    """The arrays that make a model, by name."""
    arrays = {f"features.{k}": getattr(model.features, k) for k in ("start", "var", "value")}
    arrays["weight"] = model.weight
    if isinstance(model, DependencyNetwork):
        arrays["target"] = model.target
        for k in ("start", "split_var", "child", "log_prob"):
            arrays[f"trees.{k}"] = getattr(model.trees, k)
    return arrays


def assert_equal_models(a, b):
    assert type(a) is type(b)
    assert (a.n_vars, a.names) == (b.n_vars, b.names)
    ours, theirs = arrays_of(a), arrays_of(b)
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


# ---- Libra's grammar and semantics, restated as an independent check -----------------------------

LEXER = re.compile(
    r"(?P<cond>[+-]v[0-9]+_[0-9]+)|(?P<tvar>v[0-9]+_[0-9]+)|(?P<vidx>v[0-9]+)"
    r"|(?P<float>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])|-?inf(?!\w))"
    r"|(?P<eol>[\r\n]+)|(?P<mark>[{}()])|(?P<word>[A-Za-z]+)|(?P<blank>[ \t]+)|(?P<bad>.)"
)


def accepted_by_libra(text):
    """Tell whether a written file follows the grammar, line ends included."""
    schema, _, body = text.partition("\n")
    assert re.fullmatch(r"[0-9]+(,[0-9]+)*", schema)
    short = {"cond": "c", "tvar": "t", "vidx": "v", "float": "n", "eol": "e", "bad": "?"}
    words = {"mn": "M", "dn": "D", "features": "F", "table": "B", "tree": "T"}
    code = ""
    for match in LEXER.finditer(body):
        kind = match.lastgroup
        if kind == "blank":
            continue
        if kind == "mark":
            code += match[0]
        elif kind == "word":
            code += words[match[0].lower()]
        else:
            code += short[kind]
    while (reduced := re.sub(r"\(te*ne*n\)", "n", code)) != code:
        code = reduced
    feature = r"n?nc*e"
    factor = rf"(?:{feature}|[FB]\{{(?:e|{feature})*\}}|T\{{e*ne?\}})"
    cpd = rf"v\{{(?:e|{factor})*\}}"
    return bool(re.fullmatch(rf"(?:Me?\{{(?:e|{factor})*|De?\{{(?:e|{cpd})*)\}}e", code))


def holds(literals, state):
    return all((state[v] == value) == (sign == "+") for sign, v, value in literals)


def tree_value(tree, state):
    while isinstance(tree, tuple):
        var, value, first, second = tree
        tree = first if state[var] == value else second
    return tree


def factor_value(factor, state):
    kind, content = factor
    if kind == "tree":
        return tree_value(content, state)
    return sum(weight for _, weight, literals in content if holds(literals, state))


finite = st.one_of(st.floats(-9, 9), st.integers(-9, 9)).map(float)


@st.composite
def libra_rows(draw, n_vars):
    literals = [
        literal
        for v, value in draw(conjunctions(range(n_vars)))
        for literal in draw(
            st.sampled_from([[("+", v, value)], [("-", v, 1 - value)]])
            | st.permutations([("+", v, value), ("-", v, 1 - value)])
        )
    ]
    literals = draw(st.permutations(literals))
    return draw(st.none() | st.integers(0, 99)), draw(finite), literals


@st.composite
def libra_trees(draw, n_vars, depth):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(finite)
    below = libra_trees(n_vars, depth - 1)
    return (draw(st.integers(0, n_vars - 1)), draw(st.integers(0, 1)), draw(below), draw(below))


def libra_factors(n_vars):
    rows = libra_rows(n_vars)
    return st.one_of(
        rows.map(lambda row: ("feature", [row])),
        st.lists(rows, max_size=4).map(lambda content: ("features", content)),
        st.lists(rows, max_size=6).map(lambda content: ("table", content)),
        libra_trees(n_vars, 4).map(lambda content: ("tree", content)),
    )


def row_text(row):
    weight_id, weight, literals = row
    head = "" if weight_id is None else f"{weight_id} "
    return head + repr(weight) + "".join(f" {sign}v{v}_{k}" for sign, v, k in literals) + "\n"


def tree_text(tree, between):
    if not isinstance(tree, tuple):
        return f"{between}{tree!r}"
    var, value, first, second = tree
    return f"{between}(v{var}_{value} {tree_text(first, between)} {tree_text(second, between)})"


@st.composite
def factor_text(draw, factor):
    kind, content = factor
    if kind == "feature":
        return draw(st.sampled_from(["", "\n", "   "])) + row_text(content[0])
    keyword = draw(st.sampled_from([kind, kind.upper(), kind.title()]))
    if kind == "tree":
        between = draw(st.sampled_from([" ", "\n  ", "\n\n\t"]))
        return f"{keyword} {{{tree_text(content, between)}\n}}\n"
    after = draw(st.sampled_from(["\n", " "]))
    return f"{keyword} {{{after}{''.join(map(row_text, content))}\n}}\n\n"


@given(st.data())
@modest
def test_mn_has_libras_semantics(tmp_path, data):
    n_vars = data.draw(st.integers(1, 5))
    factors = data.draw(st.lists(libra_factors(n_vars), max_size=5))
    body = "".join(data.draw(factor_text(factor)) for factor in factors)
    text = ",".join(["2"] * n_vars) + "\nMN {\n" + body + "}\n"
    if data.draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    path = tmp_path / "a.mn"
    path.write_bytes(text.encode())
    network = read_mn(path)
    rows = states(n_vars)
    expected = np.array([sum(factor_value(f, row) for f in factors) for row in rows.tolist()])
    got = network.log_potential(rows)
    # Constants are dropped; a potential is defined up to one.
    np.testing.assert_allclose(got - got[0], expected - expected[0], atol=1e-10)


@given(st.data())
@modest
def test_dn_has_libras_semantics(tmp_path, data):
    n_vars = data.draw(st.integers(1, 5))
    cpds = [data.draw(st.lists(libra_factors(n_vars), max_size=3)) for _ in range(n_vars)]
    order = data.draw(st.permutations(range(n_vars)))
    text = ",".join(["2"] * n_vars) + "\nDN {\n"
    for v in order:
        text += f"v{v} {{\n" + "".join(data.draw(factor_text(f)) for f in cpds[v]) + "}\n"
    path = tmp_path / "a.dn"
    path.write_text(text + "}\n")
    rows = states(n_vars)
    got = oracles.log_odds_matrix(read_dn(path), rows)
    for i, row in enumerate(rows.tolist()):
        for v in range(n_vars):
            zero, one = [*row[:v], 0, *row[v + 1 :]], [*row[:v], 1, *row[v + 1 :]]
            expected = sum(factor_value(f, one) - factor_value(f, zero) for f in cpds[v])
            assert got[i, v] == pytest.approx(expected, abs=1e-10)


# ---- Round trips ---------------------------------------------------------------------------------


@given(markov_networks() | dependency_networks())
@modest
def test_npz_round_trip(tmp_path, model):
    path = tmp_path / "model.npz"
    save_model(model, path)
    loaded = load_model(path)
    assert_equal_models(loaded, model)
    first = path.read_bytes()
    save_model(loaded, tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == first


@given(markov_networks())
@modest
def test_mn_round_trip(tmp_path, network):
    path = tmp_path / "model.mn"
    save_model(network, path)
    text = path.read_text()
    assert accepted_by_libra(text)
    loaded = load_model(path)
    rows = states(network.n_vars)
    np.testing.assert_array_equal(loaded.log_potential(rows), network.log_potential(rows))
    for name, array in arrays_of(network).items():
        np.testing.assert_array_equal(arrays_of(loaded)[name], array)
    save_model(loaded, path)
    assert path.read_text() == text


@given(dependency_networks())
@modest
def test_dn_round_trip(tmp_path, network):
    path = tmp_path / "model.dn"
    save_model(network, path)
    assert accepted_by_libra(path.read_text())
    loaded = load_model(path)
    rows = states(network.n_vars)
    np.testing.assert_array_equal(
        oracles.log_odds_matrix(loaded, rows), oracles.log_odds_matrix(network, rows)
    )
    assert np.all(np.abs(np.logaddexp(*loaded.trees.log_prob.T)) < 1e-12)
    # Branches out of reach are gone now, so that the second writing is the first again.
    save_model(loaded, path)
    first = path.read_bytes()
    again = load_model(path)
    assert_equal_models(again, loaded)
    save_model(again, path)
    assert path.read_bytes() == first


def test_equal_models_have_equal_bytes_whatever_their_memory_layout(tmp_path):
    trees = trees_of([(1, (2, (-1.0, np.log1p(-np.exp(-1.0))), (-np.inf, 0.0)), log_prob_of(2.0))]
                     + [log_prob_of(0.3)] * 2)  # fmt: skip
    other = Trees(
        trees.start.copy(),
        trees.split_var.astype(np.int64),
        np.asfortranarray(trees.child),
        np.asfortranarray(trees.log_prob),
    )
    for suffix in (".npz", ".dn", ".csv", ".graphml"):
        save_model(tree_network(trees), tmp_path / f"a{suffix}")
        save_model(tree_network(other), tmp_path / f"b{suffix}")
        assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_written_text(tmp_path):
    network = markov_network(3, features_of([[(0, 1), (2, 0)], [(1, 1)]]), [0.1, -np.inf])
    write_mn(network, tmp_path / "a.mn")
    assert (tmp_path / "a.mn").read_text() == "2,2,2\nMN {\n-inf +v1_1\n0.1 +v0_1 +v2_0\n}\n"
    trees = trees_of([(1, (-np.inf, 0.0), (2, (-0.5, -0.9), (-0.25, -1.5)))] + [log_prob_of(0)] * 2)
    features = features_of([[(0, 1), (2, 0)], [(1, 1)]])
    write_dn(DependencyNetwork(trees, features, np.array([0, 1]), np.array([2.0, -1e-7])),
             tmp_path / "a.dn")  # fmt: skip
    assert (tmp_path / "a.dn").read_text() == (
        "2,2,2\nDN {\nv0 {\n"
        "tree {\n(v1_0\n    (v0_0 -inf 0.0)\n    (v2_0\n"
        "        (v0_0 -0.5 -0.9)\n        (v0_0 -0.25 -1.5)))\n}\n\n"
        "features {\n2.0 +v0_1 +v2_0\n}\n\n"
        "}\nv1 {\nfeatures {\n-1e-07 +v1_1\n}\n\n}\nv2 {\n}\n}\n"
    )


@pytest.mark.parametrize("suffix", [".mn", ".dn"])
def test_a_weight_that_is_not_a_number_is_not_written(tmp_path, suffix):
    network = markov_network(1, features_of([[(0, 1)]]), [0.5])
    model = type(network)(1, network.features, np.array([np.nan]))
    if suffix == ".dn":
        model = tree_network(trees_of([(np.nan, np.nan)]))
    with pytest.raises(InputError, match="not a number"):
        save_model(model, tmp_path / f"a{suffix}")
    assert not list(tmp_path.iterdir())


# ---- Examples of Libra's files, made binary ------------------------------------------------------


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def test_mn_example(tmp_path):
    network = read_mn(written(tmp_path, "a.mn", """2,2,2
MN {
1.200000e+00 +v0_1 -v1_1
-inf +v0_0 +v1_1
-3.000000e-01
features {
5.000000e-01 +v0_1 +v1_0
-2.000000e-01 -v1_0
}

table {
1.000000e-01 +v0_1 +v2_1
2.000000e-01 +v0_0 +v2_1
3.000000e-01 +v0_1 +v2_0
4.000000e-01 +v0_0 +v2_0
}

tree {
(v1_1
    (v0_0 -1.000000e+00 2.500000e-01)
    (v2_1 inf 0.000000e+00))
}

}
"""))  # fmt: skip
    # The constant -0.3 of every state is dropped.
    rows = np.array([[1, 0, 0], [0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1]], np.uint8)
    expected = [1.2 + 0.5 + 0.3, 0.4, -0.2 + 0.3 + 0.25, -0.2 + 0.1 + 0.25, -np.inf, np.inf]
    np.testing.assert_allclose(network.log_potential(rows), expected, rtol=1e-14)
    assert network.names is None


def test_dn_example(tmp_path):
    network = read_dn(written(tmp_path, "b.dn", """2,2,2
DN {
v0 {
tree {
(v2_1
    (v0_0 -1.053605e-01 -2.302585e+00)
    (v1_0
        (v0_0 -6.931472e-01 -6.931472e-01)
        (v0_0 -inf 0.000000e+00)))
}

}
v1 {
5.000000e-01 +v1_1
-1.250000e+00 +v0_1 +v1_1
}
v2 {
tree {
(v0_1
    (v2_0 -6.931472e-01 -6.931472e-01)
    (v2_0 -inf -6.931472e-01))
}

}
}
"""))  # fmt: skip
    rows = states(3)
    p = 1 / (1 + np.exp(-oracles.log_odds_matrix(network, rows)))
    x0, x1, x2 = rows.T
    np.testing.assert_allclose(p[x2 == 1, 0], 0.1, atol=1e-6)
    np.testing.assert_allclose(p[(x2 == 0) & (x1 == 0), 0], 0.5, rtol=1e-12)
    assert np.all(p[(x2 == 0) & (x1 == 1), 0] == 1)
    np.testing.assert_allclose(p[x0 == 0, 1], 0.62246, atol=1e-5)
    np.testing.assert_allclose(p[x0 == 1, 1], 0.32082, atol=1e-5)
    np.testing.assert_allclose(p[x0 == 1, 2], 0.5, rtol=1e-12)
    assert np.all(p[x0 == 0, 2] == 1)
    trees = network.trees
    assert trees.split_var.tolist() == [2, 1, -1, -1, -1, -1, 0, -1, -1]
    np.testing.assert_array_equal(trees.log_prob[3], [-np.inf, 0.0])
    np.testing.assert_array_equal(trees.log_prob[7], [-np.inf, 0.0])
    np.testing.assert_allclose(np.exp(trees.log_prob[1]), [0.25, 0.75], rtol=1e-6)
    assert [network.features.literals(f) for f in range(2)] == [[(1, 1)], [(0, 1), (1, 1)]]
    assert network.target.tolist() == [1, 1]


def test_tables_and_negated_features_example(tmp_path):
    network = read_dn(written(tmp_path, "c.dn", """2,2,2
DN {
v0 {
table {
-1.203973e+00 +v0_1
-3.566749e-01 +v0_0
}

}
v1 {
table {
-1.053605e-01 +v0_1 +v1_1
-2.302585e+00 +v0_1 +v1_0
-inf +v0_0 +v1_1
0.000000e+00 +v0_0 +v1_0
}

}
v2 {
features {
1.500000e+00 +v0_1 -v2_0
7.500000e-01 -v1_0 +v2_1
-inf +v0_0 +v2_1
}

}
}
"""))  # fmt: skip
    log_odds = oracles.log_odds_matrix(network, states(3)).reshape(2, 2, 2, 3)
    np.testing.assert_allclose(log_odds[..., 0], np.log(0.3 / 0.7), atol=1e-6)
    np.testing.assert_allclose(log_odds[1, ..., 1], np.log(0.9 / 0.1), atol=1e-6)
    assert np.all(log_odds[0, ..., 1] == -np.inf)
    np.testing.assert_array_equal(log_odds[:, :, 0, 2], [[-np.inf, -np.inf], [1.5, 2.25]])
    assert network.trees.split_var.tolist() == [-1, 0, -1, -1, -1]
    np.testing.assert_array_equal(network.trees.log_prob[2], [0.0, -np.inf])


def test_loose_layout_example(tmp_path):
    network = read_dn(written(tmp_path, "d.dn", """2 , 2
dn
{

  v1 { Table {
\t0 +v1_1
    3 -0.25 +v1_0 +v0_1

  } tree { -2 }
  }
  v0 {
  }
} """))  # fmt: skip
    log_odds = oracles.log_odds_matrix(network, states(2))
    p = np.exp(-0.25) / (1 + np.exp(-0.25))
    np.testing.assert_allclose(log_odds[:, 0], 0)
    np.testing.assert_allclose(1 / (1 + np.exp(-log_odds[:, 1])), [0.5, 0.5, 1 - p, 1 - p])
    assert p == pytest.approx(0.43782, abs=1e-5)


def test_weight_ids_declarations_and_literals_without_blanks(tmp_path):
    network = read_mn(written(tmp_path, "a.mn", (
        "2,2,\r\n\r\nmn\r\n{\r\nw 0 1.5\r\n7 2.5 +v0_1\r\n1.5+v0_1-v1_0\r\n5 6\r\n"
        " \t\r\n3 +v1_0\r\n1e-2 -v0_1 +v0_0 -v0_1\r\nFEATURES{}\r\n}"
    )))  # fmt: skip
    found = {tuple(network.features.literals(f)): weight for f, weight in enumerate(network.weight)}
    assert found == {
        ((0, 0),): 0.01, ((0, 1),): 2.5, ((1, 0),): 3.0, ((0, 1), (1, 1)): 1.5,
    }  # fmt: skip


def test_infinite_leaves_of_a_dn(tmp_path):
    leaves = ["-inf inf", "inf -inf", "3 inf", "-inf -7", "-1e308 1e308"]
    cpds = "".join(f"v{v} {{\ntree {{ (v{v}_0 {pair}) }}\n}}\n" for v, pair in enumerate(leaves))
    network = read_dn(written(tmp_path, "a.dn", f"2,2,2,2,2\nDN {{\n{cpds}}}\n"))
    np.testing.assert_array_equal(network.trees.log_prob, [
        [-np.inf, 0], [0, -np.inf], [-np.inf, 0], [-np.inf, 0], [-np.inf, 0],
    ])  # fmt: skip
    write_dn(network, tmp_path / "b.dn")
    assert "-inf 0.0" in (tmp_path / "b.dn").read_text()
    assert_equal_models(read_dn(tmp_path / "b.dn"), network)


def test_a_tree_may_test_the_target_above_other_variables(tmp_path):
    tree = "(v1_1 (v0_1 -1 -2) (v2_0 -3 (v1_0 -4 99)))"
    text = f"2,2,2\nDN {{\nv0 {{ }}\nv1 {{ tree {{ {tree} }} }}\nv2 {{ }}\n}}"
    network = read_dn(written(tmp_path, "a.dn", text))
    log_odds = oracles.log_odds_matrix(network, states(3))[:, 1]
    expected = [(-1 if x0 else -2) - (-3 if x2 == 0 else -4) for x0, _, x2 in states(3).tolist()]
    np.testing.assert_allclose(log_odds, expected, atol=1e-14)
    # Merged: v2 as the value-0 side tests it, then v0 as the value-1 side does.
    assert network.trees.split_var[1:8].tolist() == [2, 0, -1, -1, 0, -1, -1]


def test_further_trees_and_wide_tables_become_features(tmp_path):
    wide = " ".join(f"+v{v}_1" for v in range(23))
    cpds = "".join(f"v{v} {{ }}\n" for v in range(1, 23))
    table = f"table {{\n1.5 {wide}\n4 +v1_0\n}}"
    trees = "tree { (v0_0 -1 -3) }\ntree { (v1_0 (v0_0 1 2) 7) }\n"
    text = f"{','.join('2' * 23)}\nDN {{\nv0 {{ {table} {trees} }}\n{cpds}}}\n"
    network = read_dn(written(tmp_path, "a.dn", text))
    assert len(network.trees.split_var) == 23
    np.testing.assert_allclose(network.trees.log_prob[0], -np.log1p(np.exp([-2.0, 2.0])))
    assert network.features.length.tolist() == [23, 2, 2]
    assert network.weight.tolist() == [1.5, 1.0, 2.0]
    assert network.target.tolist() == [0, 0, 0]


def test_deep_trees(tmp_path):
    depth = 300
    n_vars = depth + 1
    schema = ",".join(["2"] * n_vars)
    state = np.zeros((1, n_vars), np.uint8)
    state[0, depth] = 1

    chain = "".join(f"(v{v}_1 {v} " for v in range(1, n_vars)) + "0.5" + ")" * depth
    mn = read_mn(written(tmp_path, "a.mn", f"{schema}\nMN {{\ntree {{ {chain} }}\n}}\n"))
    assert mn.features.length.max() == depth
    assert mn.log_potential(state)[0] == depth

    dn = read_dn(written(tmp_path, "a.dn", chain_dn(depth)))
    assert dn.trees.depth.max() == depth
    assert oracles.log_odds_matrix(dn, state)[0, 0] == depth
    write_dn(dn, tmp_path / "b.dn")
    assert_equal_models(read_dn(tmp_path / "b.dn"), dn)


def chain_dn(depth):
    """A `.dn` whose v0 has log-odds d where v_d is the first variable that is 1."""
    chain = "".join(f"(v{v}_1 (v0_1 {v} 0) " for v in range(1, depth + 1)) + "0.5" + ")" * depth
    cpds = "".join(f"v{v} {{ }}\n" for v in range(1, depth + 1))
    return f"{','.join(['2'] * (depth + 1))}\nDN {{\nv0 {{ tree {{ {chain} }} }}\n{cpds}}}\n"


def test_very_deep_tree(tmp_path):
    dn = read_dn(written(tmp_path, "a.dn", chain_dn(5000)))
    assert dn.trees.depth.max() == 5000
    assert len(dn.trees.split_var) == 5000 + 2 * 5000 + 1


def test_network_without_features(tmp_path):
    for body in ("", "-0.3\n", "features {\n}\n", "tree { 2 }\n"):
        network = read_mn(written(tmp_path, "a.mn", f"2,2\nMN {{\n{body}}}\n"))
        assert (network.n_vars, len(network.features), len(network.weight)) == (2, 0, 0)
        for suffix in (".mn", ".npz", ".csv", ".graphml"):
            save_model(network, tmp_path / f"b{suffix}")
        assert_equal_models(load_model(tmp_path / "b.mn"), network)
        assert_equal_models(load_model(tmp_path / "b.npz"), network)


# ---- Malformed files -----------------------------------------------------------------------------

MALFORMED_MN = {
    "empty": ("", 1, "expected a schema such as 2,2,2, got nothing"),
    "no schema": ("MN {\n}\n", 1, "expected a schema such as 2,2,2, got 'MN {'"),
    "hole in the schema": ("2,,2\nMN {\n}\n", 1, "expected a schema such as 2,2,2, got nothing"),
    "ternary": ("2,3,2\nMN {\n}\n", 1, "expected binary variables, v1 has 3 values"),
    "schema only": ("2,2\n", 1, "expected MN, got the end of the file"),
    "other kind": ("2,2\nDN {\n}\n", 2, "expected MN, got 'DN'"),
    "no brace": ("2,2\nMN\n0.5 +v0_1\n}\n", 3, "expected {, got '0.5'"),
    "truncated": ("2,2\nMN {\n0.5 +v0_1\n", 3,
                  "expected a feature, features, table, tree or }, got the end of the file"),
    "truncated feature": ("2,2\nMN {\n0.5 +v0_", 3,
                          "expected a literal such as +v0_1 or the end of the line, got '+v0_'"),
    "truncated features": ("2,2\nMN {\nfeatures {\n0.5 +v0_1\n", 4,
                           "expected a feature or }, got the end of the file"),
    "truncated tree": ("2,2\nMN {\ntree {\n(v0_1 0.5\n", 4,
                       "expected a number or a test such as (v0_1, got the end of the file"),
    "unknown keyword": ("2,2\nMN {\n\nmtable {\n}\n}\n", 4,
                        "expected a feature, features, table, tree or }, got 'mtable'"),
    "comment": ("2,2\nMN {\n# none\n}\n", 3,
                "expected a feature, features, table, tree or }, got '#'"),
    "no weight": ("2,2\nMN {\n+v0_1\n}\n", 3,
                  "expected a feature, features, table, tree or }, got '+v0_1'"),
    "not a number": ("2,2\nMN {\nfeatures {\nnan +v0_1\n}\n}\n", 4,
                     "expected a feature or }, got 'nan'"),
    "signed": ("2,2\nMN {\n+1.5 +v0_1\n}\n", 3,
               "expected a feature, features, table, tree or }, got '+1.5'"),
    "bare point": ("2,2\nMN {\n1. +v0_1\n}\n", 3,
                   "expected a literal such as +v0_1 or the end of the line, got '.'"),
    "capital infinity": ("2,2\nMN {\ntree { INF }\n}\n", 3,
                         "expected a number or a test such as (v0_1, got 'INF'"),
    "three numbers": ("2,2\nMN {\n1 2 3\n}\n", 3,
                      "expected a literal such as +v0_1 or the end of the line, got '3'"),
    "unfinished line": ("2,2\nMN {\nfeatures { 0.5 +v0_1 }\n}\n", 3,
                        "expected a literal such as +v0_1 or the end of the line, got '}'"),
    "tree in features": ("2,2\nMN {\nfeatures {\ntree { 1 }\n}\n}\n", 4,
                         "expected a feature or }, got 'tree'"),
    "variable out of range": ("2,2\nMN {\n0.5 +v0_1\n\n0.5 +v2_1\n}\n", 5,
                              "expected a variable from v0 to v1, got v2"),
    "value out of range": ("2,2\nMN {\n0.5 -v1_2\n}\n", 3,
                           "expected value 0 or 1 of a variable, got 2"),
    "long number": ("2,2\nMN {\n0.5 +v" + "9" * 5000 + "_0\n}\n", 3,
                    "expected a literal such as +v0_1 or the end of the line, got '+v9"),
    "tree variable": ("2,2\nMN {\ntree {\n(v5_1 0 1)\n}\n}\n", 4,
                      "expected a variable from v0 to v1, got v5"),
    "tree value": ("2,2\nMN {\ntree {\n(v1_7 0 1)\n}\n}\n", 4,
                   "expected value 0 or 1 of a variable, got 7"),
    "tree sign": ("2,2\nMN {\ntree {\n(+v1_1 0 1)\n}\n}\n", 4,
                  "expected a number or a test such as (v0_1, got '('"),
    "third subtree": ("2,2\nMN {\ntree {\n(v1_1 0\n1 2)\n}\n}\n", 5, "expected ), got '2'"),
    "two trees": ("2,2\nMN {\ntree {\n1\n2\n}\n}\n", 5, "expected }, got '2'"),
    "tree number": ("2,2\nMN {\ntree { (v0_0 1 .5) }\n}\n", 3,
                    "expected a number or a test such as (v0_1, got '.5'"),
    "both values": ("2,2\nMN {\n0.5 +v0_1\n0.5 +v0_0 +v0_1\n}\n", 4,
                    "a feature asks one variable for both values"),
    "neither value": ("2,2\nMN {\n0.5 -v0_0 +v1_1 -v0_1\n}\n", 3,
                      "a feature asks one variable for both values"),
    "infinite constant": ("2,2\nMN {\n-inf\n}\n", 3,
                          "expected a finite weight without literals, got -inf"),
    "declaration": ("2,2\nMN {\nw x\n}\n", 3, "expected a weight id and a number, got 'x'"),
    "text after the end": ("2,2\nMN {\n}\n}\n", 4, "expected nothing after the closing }, got '}'"),
    "CRLF": ("2,2\r\nMN {\r\n\r\n0.5 +v0_1\r\nfoo\r\n}\r\n", 5,
             "expected a feature, features, table, tree or }, got 'foo'"),
    "foreign blank": ("2,2\nMN {\n\xa00.5 +v0_1\n}\n", 3,
                      "expected a feature, features, table, tree or }, got '\\xa0'"),
    "long token": ("2,2\nMN {\n" + "x" * 90 + "\n}\n", 3,
                   "expected a feature, features, table, tree or }, got '" + "x" * 40 + "…'"),
}  # fmt: skip

MALFORMED_DN = {
    "Bayesian network": ("2\nBN {\nv0 {\n}\n}\n", 2, "expected DN, got 'BN'"),
    "bare factor": ("2\nDN {\n0.5 +v0_1\n}\n", 3, "expected a CPD such as v0 { or }, got '0.5'"),
    "capital": ("2\nDN {\nV0 {\n}\n}\n", 3, "expected a CPD such as v0 { or }, got 'V0'"),
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
    "certain leaf": ("2\nDN {\nv0 {\ntree { (v0_0 inf inf) }\n}\n}\n", 4,
                     "both values of v0 have log-probability inf"),
    "infinite weight of the parents": ("2,2\nDN {\nv0 {\n0.5 +v0_1\n-inf +v1_1\n}\nv1 { }\n}\n", 5,
                                       "expected a finite weight without v0, got -inf"),
    "infinities in a table": ("2\nDN {\nv0 {\ntable {\ninf +v0_1\n-inf +v0_1\n}\n}\n}\n", 4,
                              "rows of this table add up infinities of both signs"),
    "text after the end": ("2\nDN {\nv0 {\n}\n}\njunk @@\n", 6,
                           "expected nothing after the closing }, got 'junk'"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "text", "line", "message"),
    [
        pytest.param(suffix, *case, id=f"{suffix} {name}")
        for suffix, cases in ((".mn", MALFORMED_MN), (".dn", MALFORMED_DN))
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
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match=r"is not a (text file|readable \.npz file)"):
        load_model(path)


# ---- Suffixes and the native form ----------------------------------------------------------------

ISING = markov_network(
    3, features_of([[(0, 1)], [(0, 1), (1, 1)], [(1, 0), (2, 1)]]), [1, 2, 3], ("a", "b", "c,d")
)
TREES = tree_network(trees_of([(1, (2, *[log_prob_of(1.0)] * 2), log_prob_of(0.0)),
                               log_prob_of(0.2), log_prob_of(0.3)]))  # fmt: skip


def test_suffixes(tmp_path):
    save_model(ISING, tmp_path / "a.NPZ")
    assert load_model(tmp_path / "a.NPZ").names == ("a", "b", "c,d")
    with pytest.raises(InputError, match=r"a\.txt: expected a model file that ends in .*graphml"):
        save_model(ISING, tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"a\.txt: expected a model file that ends in \.npz, \.mn"):
        load_model(tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"a\.mn: a \.mn file holds a Markov network, not"):
        save_model(TREES, tmp_path / "a.mn")
    with pytest.raises(InputError, match=r"a\.dn: a \.dn file holds a dependency network, not"):
        save_model(ISING, tmp_path / "a.dn")
    for suffix in (".csv", ".graphml"):
        save_model(ISING, tmp_path / f"a{suffix}")
        with pytest.raises(InputError, match="can only be written"):
            load_model(tmp_path / f"a{suffix}")
    assert {p.name for p in tmp_path.iterdir()} == {"a.NPZ", "a.csv", "a.graphml"}


def with_arrays(tmp_path, model, **changed):
    """Save a model with some arrays replaced, or left out where None."""
    save_model(model, tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz", allow_pickle=False) as archive:
        arrays = {**dict(archive), **changed}
    np.savez(tmp_path / "bad.npz", **{k: v for k, v in arrays.items() if v is not None})
    return tmp_path / "bad.npz"


def test_npz_of_another_kind_or_version(tmp_path):
    merge_rows(np.eye(3)).save(tmp_path / "data.npz")
    with pytest.raises(InputError, match=r"data\.npz: expected a model, .* holds a dataset\."):
        load_model(tmp_path / "data.npz")
    np.savez(tmp_path / "plain.npz", data=np.eye(3))
    with pytest.raises(InputError, match=r"expected a model, .* a file of unnamed kind\."):
        load_model(tmp_path / "plain.npz")
    with pytest.raises(InputError, match=r"format version 2, newer than this program reads \(1\)"):
        load_model(with_arrays(tmp_path, ISING, version=np.array(2)))


def test_npz_cut_short_or_with_a_flipped_byte(tmp_path):
    path = tmp_path / "a.npz"
    save_model(TREES, path)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo("log_prob.npy").header_offset + 80
    flipped = content[:offset] + bytes([content[offset] ^ 255]) + content[offset + 1 :]
    for bad in (b"", content[: len(content) // 2], content[:-1], flipped):
        path.write_bytes(bad)
        with pytest.raises(InputError, match=r"a\.npz: is not a readable \.npz file"):
            load_model(path)
    np.save(tmp_path / "b.npy", np.eye(2))
    (tmp_path / "b.npy").rename(tmp_path / "b.npz")
    with pytest.raises(InputError, match="is not a readable"):
        load_model(tmp_path / "b.npz")


@pytest.mark.parametrize(
    ("model", "name", "array"),
    [
        (ISING, "weight", None),
        (ISING, "version", np.array(1.0)),
        (ISING, "n_vars", np.array(0)),
        (ISING, "names", np.array(["a"])),
        (ISING, "weight", np.array([1, 2, 3])),
        (ISING, "weight", np.array([1.0, np.nan, 3.0])),
        (ISING, "start", np.array([0, 1, 3])),
        (ISING, "start", np.array([0, 3, 1, 5])),
        (ISING, "start", np.array([0, 1, 3, 4])),
        (ISING, "var", np.array([0, 0, 3, 1, 2], np.int32)),
        (ISING, "var", np.array([0, 1, 0, 1, 2], np.int32)),
        (ISING, "value", np.array([1, 1, 1, 0, 2], np.uint8)),
        (ISING, "value", np.array([1, 1, 1, 0], np.uint8)),
        (TREES, "tree_start", np.array([0, 5, 5, 7])),
        (TREES, "split_var", np.array([1, 3, -1, -1, -1, -1, -1], np.int32)),
        (TREES, "log_prob", np.zeros((6, 2))),
        (TREES, "log_prob", np.full((7, 2), np.nan)),
        (TREES, "child", np.zeros((7, 2), np.int32)),
        (TREES, "child", np.zeros((6, 2), np.int32)),
        (TREES, "child", np.array([[2, 5], [3, 4]] + [[-1, -1]] * 5, np.int32)),
        (TREES, "split_var", np.array([1, 1, 1, -1, -1, -1, -1], np.int32)),
        (TREES, "target", np.array([1], np.int32)),
    ],
)
def test_npz_whose_arrays_do_not_fit_together(tmp_path, model, name, array):
    path = with_arrays(tmp_path, model, **{name: array})
    with pytest.raises(InputError, match=r"bad\.npz: is damaged: its array '\w+' is missing or"):
        load_model(path)


def test_npz_with_a_feature_without_its_target(tmp_path):
    network = DependencyNetwork(
        trees_of([log_prob_of(0.0)] * 2),
        features_of([[(0, 1)], [(0, 1), (1, 0)]]),
        np.array([0, 1], np.int32),
        np.array([0.5, 0.25]),
    )
    assert_equal_models(load_model(with_arrays(tmp_path, network)), network)
    path = with_arrays(tmp_path, network, target=np.array([1, 1], np.int32))
    with pytest.raises(InputError, match="'target'"):
        load_model(path)


# ---- Graphs --------------------------------------------------------------------------------------


def test_edges_of_a_markov_network(tmp_path):
    write_edges(ISING, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_bytes().decode()
    assert text == 'source,target,weight\na,b,2.0\nb,"c,d",-3.0\n'
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [row["target"] for row in csv.DictReader(file)] == ["b", "c,d"]
    write_edges(markov_network(2, features_of([[(0, 0), (1, 0)]]), [0.1]), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "source,target,weight\nV0,V1,0.1\n"


def test_edges_of_a_dependency_network(tmp_path):
    leaf = log_prob_of(0.0)
    trees = trees_of([(1, (2, leaf, leaf), (2, leaf, leaf)), leaf, (0, leaf, leaf)])
    features = features_of([[(0, 1), (2, 1)], [(1, 1)], [(0, 1), (1, 0), (2, 1)]])
    network = DependencyNetwork(trees, features, np.array([0, 1, 1], np.int32), np.ones(3))
    assert network.edges() == {(1, 0): 1, (2, 0): 3, (0, 2): 1, (0, 1): 1, (2, 1): 1}
    write_edges(network, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[1:] == [
        "V0,V1,1", "V0,V2,1", "V1,V0,1", "V2,V0,3", "V2,V1,1",
    ]  # fmt: skip
    write_edges(tree_network(trees_of([leaf])), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == "source,target,weight\n"


def test_graphml(tmp_path):
    write_graphml(ISING, tmp_path / "a.graphml")
    graph = nx.read_graphml(tmp_path / "a.graphml")
    assert not graph.is_directed()
    assert dict(graph.nodes(data="name")) == {"V0": "a", "V1": "b", "V2": "c,d"}
    assert {frozenset(e[:2]): e[2] for e in graph.edges(data="weight")} == {
        frozenset(("V0", "V1")): 2.0,
        frozenset(("V1", "V2")): -3.0,
    }
    write_graphml(TREES, tmp_path / "b.graphml")
    graph = nx.read_graphml(tmp_path / "b.graphml")
    assert graph.is_directed()
    assert set(graph.edges(data="weight")) == {("V1", "V0", 1), ("V2", "V0", 1)}
