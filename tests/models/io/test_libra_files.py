"""Files of Libra: what they mean by their grammar, and examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from libra_oracle import factor_text, factor_value, libra_factors
from made_models import assert_equal_models, modest, written
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.io.libra import read
from mnlearn.models.io.libra.read import read_dn, read_mn
from mnlearn.models.io.libra.write import write_dn
from mnlearn.runtime.errors import InputError


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
    rows = oracles.all_states(n_vars)
    expected = np.array([sum(factor_value(f, row) for f in factors) for row in rows.tolist()])
    got = network.potential_of(rows)
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
    rows = oracles.all_states(n_vars)
    got = oracles.log_odds_matrix(read_dn(path), rows)
    for i, row in enumerate(rows.tolist()):
        for v in range(n_vars):
            zero, one = [*row[:v], 0, *row[v + 1 :]], [*row[:v], 1, *row[v + 1 :]]
            expected = sum(factor_value(f, one) - factor_value(f, zero) for f in cpds[v])
            assert got[i, v] == pytest.approx(expected, abs=1e-10)


def test_weight_ids_declarations_and_literals_without_blanks(tmp_path):
    network = read_mn(written(tmp_path, "a.mn", (
        "2 , 2,\r\n\r\nmn\r\n{\r\nw 0 1.5\r\n7 2.5 +v0_1\r\n1.5+v0_1-v1_0\r\n5 6\r\n"
        " \t\r\n3 +v1_0\r\n1e-2 -v0_1 +v0_0 -v0_1\r\nFEATURES{}\r\n}"
    )))  # fmt: skip
    found = {tuple(network.features.literals(f)): weight for f, weight in enumerate(network.weight)}
    assert found == {
        ((0, 0),): 6.01, ((0, 1),): 8.5, ((1, 0),): 3.0, ((0, 1), (1, 1)): 1.5,
    }  # fmt: skip


def test_infinite_leaves_of_a_dn(tmp_path):
    leaves = ["-inf inf", "inf -inf", "3 inf", "-inf -7"]
    cpds = "".join(f"v{v} {{\ntree {{ (v{v}_0 {pair}) }}\n}}\n" for v, pair in enumerate(leaves))
    network = read_dn(written(tmp_path, "a.dn", f"2,2,2,2\nDN {{\n{cpds}}}\n"))
    np.testing.assert_array_equal(network.trees.log_prob, [
        [-np.inf, 0], [0, -np.inf], [-np.inf, 0], [-np.inf, 0],
    ])  # fmt: skip
    write_dn(network, tmp_path / "b.dn")
    assert "-inf 0.0" in (tmp_path / "b.dn").read_text()
    assert_equal_models(read_dn(tmp_path / "b.dn"), network)


def test_a_tree_may_test_the_target_above_other_variables(tmp_path):
    tree = "(v1_1 (v0_1 -1 -2) (v2_0 -3 (v1_0 -4 99)))"
    text = f"2,2,2\nDN {{\nv0 {{ }}\nv1 {{ tree {{ {tree} }} }}\nv2 {{ }}\n}}"
    network = read_dn(written(tmp_path, "a.dn", text))
    log_odds = oracles.log_odds_matrix(network, oracles.all_states(3))[:, 1]
    expected = [
        (-1 if x0 else -2) - (-3 if x2 == 0 else -4) for x0, _, x2 in oracles.all_states(3).tolist()
    ]
    np.testing.assert_allclose(log_odds, expected, atol=1e-14)
    # Merged: v2 as the value-0 side tests it, then v0 as the value-1 side does.
    assert network.trees.split_var[1:8].tolist() == [2, 0, -1, -1, 0, -1, -1]


def test_further_trees_and_tables_become_features(tmp_path):
    table = "table {\n1.5 +v0_1 +v1_1\n4 +v1_0\n}"
    trees = "tree { (v0_0 -1 -3) }\ntree { (v1_0 (v0_0 1 2) 7) }\n"
    text = f"2,2\nDN {{\nv0 {{ {table} {trees} }}\nv1 {{ }}\n}}\n"
    network = read_dn(written(tmp_path, "a.dn", text))
    assert len(network.trees.split_var) == 2
    np.testing.assert_allclose(network.trees.log_prob[0], -np.log1p(np.exp([-2.0, 2.0])))
    assert network.features.length.tolist() == [2, 2, 2]
    assert network.weight.tolist() == [1.5, 1.0, 2.0]
    assert network.target.tolist() == [0, 0, 0]


def test_as_many_cells_as_a_table_has(tmp_path, monkeypatch):
    monkeypatch.setattr(read, "MAX_CELLS", 8)
    bare = "".join(f"v{v} {{ tree {{ (v{v}_0 0 0) }} }}\n" for v in (1, 2, 3))
    for row, fits in (("1 +v0_1 +v1_1 +v2_1", True), ("1 +v0_1 +v1_1 +v2_1 +v3_0", False)):
        text = f"2,2,2,2\nBN {{\nv0 {{ table {{\n{row}\n}} }}\n{bare}}}\n"
        path = written(tmp_path, "a.bn", text)
        if fits:
            assert load_model(path).parents(0) == (1, 2)
        else:
            with pytest.raises(InputError, match=r"a\.bn, line 3: expected a CPD that mentions v0"):
                load_model(path)


def test_deep_trees(tmp_path):
    depth = 300
    n_vars = depth + 1
    schema = ",".join(["2"] * n_vars)
    state = np.zeros((1, n_vars), np.uint8)
    state[0, depth] = 1

    chain = "".join(f"(v{v}_1 {v} " for v in range(1, n_vars)) + "0.5" + ")" * depth
    mn = read_mn(written(tmp_path, "a.mn", f"{schema}\nMN {{\ntree {{ {chain} }}\n}}\n"))
    assert mn.features.length.max() == depth
    assert mn.potential_of(state)[0] == depth

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


def test_a_schema_that_ends_with_a_comma(tmp_path):
    for schema, n_vars in (("2,", 1), ("2,2,", 2)):
        network = read_mn(written(tmp_path, "a.mn", f"{schema}\nMN {{\n0.5 +v0_1\n}}\n"))
        assert network.n_vars == n_vars


def test_network_without_features(tmp_path):
    for body, n in (("", 0), ("-0.3\n", 2), ("features {\n}\n", 0), ("tree { 2 }\n", 2)):
        network = read_mn(written(tmp_path, "a.mn", f"2,2\nMN {{\n{body}}}\n"))
        assert (network.n_vars, len(network.features), len(network.weight)) == (2, n, n)
        for suffix in (".mn", ".npz", ".csv", ".graphml"):
            save_model(network, tmp_path / f"b{suffix}")
        assert_equal_models(load_model(tmp_path / "b.mn"), network)
        assert_equal_models(load_model(tmp_path / "b.npz"), network)
