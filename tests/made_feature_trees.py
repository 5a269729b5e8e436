"""Feature trees that several tests use, and the data they are learned from."""

import itertools

import numpy as np

import lem_oracle
from made_states import schema_of
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree


def random_values(rng, n):
    """Values of dependent variables with 2 to 4 values each, and the numbers of these."""
    arity = rng.integers(2, 5, int(rng.integers(2, 7))).tolist()
    values = np.stack([rng.integers(0, r, n) for r in arity], axis=1)
    for v in range(1, len(arity)):
        kind = rng.random()
        if kind < 0.6:
            copied = rng.random(n) < 0.8
            values[copied, v] = values[copied, rng.integers(0, v)] % arity[v]
        elif kind < 0.75 and v > 1:
            values[:, v] = (values[:, v - 1] + values[:, v - 2]) % arity[v]
        elif kind < 0.9:
            values[:, v] = np.minimum(values[:, v], values[:, 0] % arity[v])
    binary = np.flatnonzero(np.array(arity) == 2)
    if len(binary) > 1 and rng.random() < 0.3:
        one, other = rng.choice(binary, 2, replace=False)
        values[:, one] = values[:, other] ^ rng.integers(0, 2)
    return values, arity


def random_settings(rng):
    search = str(rng.choice(["greedy", "exhaustive"], p=[0.8, 0.2]))
    return {
        "delta": float(rng.choice([0.01, 0.05, 0.1])),
        "subset_size": int(rng.integers(2, 4)),
        "max_feature_length": int(rng.integers(1, 3 if search == "exhaustive" else 4)),
        "search": search,
        "side_score": str(rng.choice(["joint", "sum"])),
        "small_side": str(rng.choice(["one-block", "singletons", "inadmissible"])),
        "min_rows": int(rng.choice([0, 5, 10, 30])),
        "pseudocount": float(rng.choice([0.1, 1.0])),
        "bias_correction": bool(rng.random() < 0.3),
        "table_below": int(rng.choice([1, 3, 5])),
        "similar": float(rng.choice([0.0, 0.0, 0.2])),
        "balance": bool(rng.random() < 0.8),
        "literals": str(rng.choice(["positive", "both"])),
    }


def learned_twice(seed):
    """A tree, the same one by its definition, and all states as values; settings from the seed."""
    rng = np.random.default_rng(seed)
    values, arity = random_values(rng, int(rng.integers(5, 120)))
    schema = schema_of(*arity)
    settings = random_settings(rng)
    data = merge_rows(schema.rows(values), schema=schema)
    tree = learn_feature_tree(data, LemSettings(**settings))
    nodes = lem_oracle.learn_tree(values, arity, lem_oracle.Settings(**settings))
    return tree, nodes, np.array(list(itertools.product(*map(range, arity))))
