"""Answers to made-up questionnaires, for tests and for the R script that computes their values."""

import sys
from pathlib import Path

import numpy as np

# Number of people, number of items, share of pairs that depend on each other, seed.
CASES = {
    "dense": (400, 8, 0.4, 1),
    "sparse": (250, 12, 0.15, 2),
    "wide": (25, 40, 0.1, 3),
    "rare": (300, 10, 0.3, 4),
}


def answers(name):
    """Return the 0/1 answers of a case, shape (n_people, n_items).

    Each item depends on items before it. In "rare" an item never varies, one has a single yes, one
    has four, and one nearly repeats another.
    """
    n, p, share, seed = CASES[name]
    rng = np.random.default_rng(seed)
    weight = np.where(rng.random((p, p)) < share, 3 * rng.random((p, p)) - 1, 0.0)
    draw = rng.random((n, p))
    rows = np.zeros((n, p), np.uint8)
    for v in range(p):
        odds = rows[:, :v] @ weight[v, :v] - weight[v, :v].sum() / 2 - 0.3
        rows[:, v] = draw[:, v] < 1 / (1 + np.exp(-odds))
    if name == "rare":
        rows[:, 3] = 1
        rows[:, 5] = np.arange(n) == 7
        rows[:, 6] = np.isin(np.arange(n), [3, 50, 120, 121])
        rows[:, 8] = rows[:, 2] ^ (np.arange(n) % 60 == 0)
    return rows


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name in CASES:
        items = ",".join(f"item{v}" for v in range(CASES[name][1]))
        np.savetxt(folder / f"{name}.csv", answers(name), "%d", ",", header=items, comments="")
