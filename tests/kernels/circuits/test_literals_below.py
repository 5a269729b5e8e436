"""The literals below each node of a circuit, in words of 64 variables."""

import numpy as np

from mnlearn.kernels.circuits.split_costs import literals_below


def test_literals_of_more_variables_than_a_word_has():
    n_vars = 130
    rng = np.random.default_rng(0)
    n_leaves, n_inner = 2 * n_vars, 40
    children = [
        rng.choice(n_leaves + i, int(rng.integers(1, 6)), replace=False) for i in range(n_inner)
    ]
    start = np.cumsum([0, *map(len, children)])
    below = np.full((n_leaves + n_inner, 2, 3), 7, np.uint64)
    literals_below(
        start, np.concatenate(children).astype(np.int32), n_leaves, np.arange(n_vars + 1), below
    )
    expected = [{(v, x)} for v in range(n_vars) for x in range(2)]
    for own in children:
        expected.append(set().union(*(expected[c] for c in own)))
    bits = np.unpackbits(below.view(np.uint8), axis=2, bitorder="little")
    found = [{(int(v), int(x)) for x, v in zip(*np.nonzero(b), strict=True)} for b in bits]
    assert found == expected
