"""Places of variables in drawings of networks."""

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import pdist

from mnlearn.drawing.networks import layout


@pytest.mark.parametrize(
    ("n_vars", "edges"),
    [
        (1, []),
        (7, []),
        (2, [(0, 1)]),
        (20, [(0, 9), (3, 4), (9, 5), (5, 0), (6, 7), (10, 11), (12, 13), (15, 14)]),
        (9, [(v, (v + 1) % 9) for v in range(9)]),
    ],
)
def test_no_variable_stands_on_an_edge_of_others(n_vars, edges):
    position = layout(n_vars, edges)
    assert position.shape == (n_vars, 2)
    np.testing.assert_allclose(position.mean(axis=0), 0, atol=1e-9)
    if n_vars > 1:
        assert pdist(position).min() > 0.4
    for u, v in edges:
        along = position[v] - position[u]
        for w in set(range(n_vars)) - {u, v}:
            share = np.clip((position[w] - position[u]) @ along / (along @ along), 0, 1)
            assert np.hypot(*(position[u] + share * along - position[w])) > 0.25
    if edges:
        lengths = [np.hypot(*(position[v] - position[u])) for u, v in edges]
        assert 0.6 < min(lengths) <= max(lengths) < 1.6
    assert position.tobytes() == layout(n_vars, edges).tobytes()


def test_parts_fill_about_a_square():
    """Thirty pairs, and forty variables alone below them."""
    position = layout(100, [(2 * k, 2 * k + 1) for k in range(30)])
    width, height = np.ptp(position, axis=0)
    assert 0.6 < width / height < 1.6
    assert position[60:, 1].max() < position[:60, 1].min()


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1)],
        *([(v, (v + 1) % n) for v in range(n)] for n in (3, 4, 5, 8, 9)),
        [(0, 9), (3, 4), (9, 5), (5, 0), (6, 7), (10, 11), (12, 13), (15, 14), (0, 3), (3, 9)],
    ],
)
def test_last_bits_of_the_minimiser_do_not_move_a_variable(edges, rng, monkeypatch):
    """A ring has no direction that prevails, and the edges of a square are diagonals."""
    expected = layout(17, edges)
    placed = nx.kamada_kawai_layout

    def other(*args, **kwargs):
        return {v: at + rng.normal(0, 1e-8, 2) for v, at in placed(*args, **kwargs).items()}

    monkeypatch.setattr(nx, "kamada_kawai_layout", other)
    for _ in range(5):
        assert layout(17, edges).tobytes() == expected.tobytes()
