"""Whether clauses leave a state, against all states."""

import itertools

import numpy as np
import pytest

from mnlearn.learning.lem.parts import has_state


def random_case(rng):
    """Variables of one to three values, and clauses on some of them."""
    allowed = {v: set(range(int(rng.integers(1, 4)))) for v in range(int(rng.integers(1, 5)))}
    clauses = []
    for _ in range(int(rng.integers(0, 14))):
        own = rng.choice(
            len(allowed), int(rng.integers(1, min(3, len(allowed)) + 1)), replace=False
        )
        clauses.append([(int(v), int(rng.integers(0, 3))) for v in own])
    return allowed, clauses


def test_random_clauses():
    rng = np.random.default_rng(5)
    found = []
    for _ in range(3000):
        allowed, clauses = random_case(rng)
        expected = any(
            not any(all(state[v] == value for v, value in clause) for clause in clauses)
            for state in itertools.product(*allowed.values())
        )
        assert has_state(allowed, clauses) == expected, (allowed, clauses)
        found.append(expected)
    assert 0.2 < np.mean(found) < 0.8


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ([], True),
        ([[]], False),
        # No clause has a single open literal, and no state is left.
        ([[(0, a), (1, b)] for a in (0, 1) for b in (0, 1)], False),
        ([[(0, a), (1, b)] for a in (0, 1) for b in (0, 1)][:3], True),
    ],
)
def test_two_variables(clauses, expected):
    assert has_state({0: {0, 1}, 1: {0, 1}}, clauses) is expected
