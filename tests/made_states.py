"""Variables of several states, their joint states, and examples of them."""

import itertools

import numpy as np

from mnlearn.data.dataset import merge_rows
from mnlearn.variables.schema import Schema, Variable


def schema_of(*arity):
    """The variables V0, V1, ... with the states 0, 1, ... each."""
    return Schema(tuple(Variable(f"V{v}", tuple(range(k))) for v, k in enumerate(arity)))


def every_row(schema):
    """A row for each joint state of the variables, the last one changing fastest."""
    values = list(itertools.product(*map(range, schema.arity)))
    return schema.rows(np.array(values, np.uint8))


def examples_of(schema, n, seed, weighted=False):
    """Examples in which each variable follows from the two before it, with noise."""
    rng = np.random.default_rng(seed)
    arity = schema.arity
    values = np.stack([rng.integers(0, k, n) for k in arity], axis=1)
    for v in range(1, len(schema)):
        copied = rng.random(n) < 0.7
        values[copied, v] = (values[copied, v - 1] + values[copied, max(v - 2, 0)]) % arity[v]
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    return merge_rows(schema.rows(values.astype(np.uint8)), weight, schema)
