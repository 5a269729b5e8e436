"""Random junction trees, and what they mean by enumeration."""

import itertools

import numpy as np

from made_states import schema_of
from mnlearn.models.junction_tree import NO_PARENT, JunctionTree


def random_junction_tree(seed):
    """A tree of random cliques with random tables; odd seeds have variables of several states."""
    rng = np.random.default_rng(seed)
    schema = schema_of(*((3, 2, 4, 2, 1) if seed % 2 else (2,) * 8))
    order = rng.permutation(len(schema)).tolist()
    members, parent = [], []
    while order:
        new = [order.pop() for _ in range(min(len(order), int(rng.integers(1, 3))))]
        above = int(rng.integers(-1, len(members))) if members else NO_PARENT
        old = rng.permutation(members[above])[:2].tolist() if above >= 0 else []
        members.append(tuple(sorted([*new, *old])))
        parent.append(above if old else NO_PARENT)
    return junction_tree(schema, members, parent, rng)


def junction_tree(schema, members, parent, rng):
    """A tree of given cliques with random tables."""
    tables = []
    for own, above in zip(members, parent, strict=True):
        shape = tuple(schema.arity[list(own)].tolist())
        common = members[above] if above >= 0 else ()
        new = tuple(k for k, v in enumerate(own) if v not in common)
        cells = rng.random(shape) + 0.05
        tables.append(np.log(cells / cells.sum(axis=new, keepdims=True)).ravel())
    return JunctionTree(
        schema,
        np.cumsum([0, *map(len, members)]),
        np.concatenate([np.array(own) for own in members]),
        np.array(parent),
        np.concatenate(tables),
    )


def probabilities(tree):
    """P of all joint states, the last variable changing fastest."""
    states = np.array(list(itertools.product(*map(range, tree.schema.arity.tolist()))))
    p = np.ones(len(states))
    for c in range(tree.n_cliques):
        table = np.exp(tree.table(c))
        p *= [table[tuple(x[list(tree.clique(c))])] for x in states]
    return p
