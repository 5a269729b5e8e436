"""Variables of several states, their joint states, and examples of them."""

import itertools

import numpy as np

from mnlearn.data.dataset import merge_rows
from mnlearn.variables.schema import Schema, Variable

SURVEY = Schema(
    (
        Variable("light", ("off", "on")),
        Variable("size", ("small", "middle", "large")),
        Variable("country", ("here",)),
        Variable("day", (1, 2, 3, 4)),
    )
)


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


def random_states(seed, arities, n_examples=300, weighted=False):
    """A dataset in which each variable often follows the one before it."""
    rng = np.random.default_rng(seed)
    values = np.stack([rng.choice(k, n_examples, p=rng.dirichlet([3.0] * k)) for k in arities], 1)
    for v in range(1, len(arities)):
        copied = rng.random(n_examples) < 0.6
        values[copied, v] = values[copied, v - 1] * 3 % arities[v]
    schema = schema_of(*arities)
    weight = rng.uniform(0.5, 2.0, n_examples) if weighted else None
    return merge_rows(schema.rows(values), weight, schema)


def random_rows(seed, schema, n=40):
    """A dataset of independent variables."""
    rng = np.random.default_rng(seed)
    values = np.stack([rng.integers(0, k, n) for k in schema.arity], axis=1)
    return merge_rows(schema.rows(values), None, schema)
