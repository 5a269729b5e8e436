"""Bayesian networks of variables with one state or more, and what they mean by enumeration."""

import numpy as np

from mnlearn.models.bayesian_network import bayesian_network, network_of_tables
from mnlearn.models.cpds import CpdTable, CpdTree, assemble, tables_of
from mnlearn.models.dependency_network import LEAF
from mnlearn.variables.schema import Schema, Variable


def named_schema(arity):
    """Variables whose names and states are texts with blanks."""
    pairs = (
        Variable(f"var {v}", tuple(f"s{x} of {v}" for x in range(k))) for v, k in enumerate(arity)
    )
    return Schema(tuple(pairs))


def all_values(arity):
    """The states of all variables together, uint8; the last variable changes fastest."""
    return np.indices(arity).reshape(len(arity), -1).T.astype(np.uint8)


def random_tables(rng, arity, most_parents=2, zeros=0.1):
    tables = {}
    for v, k in enumerate(arity):
        n = min(v, int(rng.integers(0, most_parents + 1)))
        parents = tuple(rng.choice(v, n, replace=False).tolist()) if n else ()
        prob = rng.dirichlet(np.ones(k), [arity[u] for u in parents])
        prob[rng.random(prob.shape) < zeros] = 0
        prob[..., 0] += 1e-3
        tables[v] = CpdTable(parents, prob / prob.sum(-1, keepdims=True))
    return tables


def joint_of_tables(tables, arity):
    """P by the states of all variables, as in `all_values`."""
    out = []
    for x in all_values(arity).tolist():
        cells = (t.prob[(*(x[u] for u in t.parents), x[v])] for v, t in tables.items())
        out.append(np.prod(list(cells)))
    return np.array(out)


def table_network(rng, arity, zeros=0.1):
    tables = random_tables(rng, arity, zeros=zeros)
    return network_of_tables(named_schema(arity), tables), joint_of_tables(tables, arity)


def random_tree(rng, schema, v, below, depth=4):
    """A tree of a variable that tests columns of variables before it, and no column twice."""
    split_var, child, value = [], [], []

    def add(columns, depth):
        node = len(split_var)
        split_var.append(LEAF)
        child.append([LEAF, LEAF])
        value.append(np.log(rng.dirichlet(np.ones(schema[v].arity))))
        if depth and columns and rng.random() < 0.8:
            split_var[node] = int(rng.choice(columns))
            u = int(schema.variable_of[split_var[node]])
            for x in (0, 1):
                rest = [c for c in columns if c != split_var[node]]
                if x:
                    rest = [c for c in rest if schema.variable_of[c] != u]
                child[node][x] = add(rest, depth - 1)
        return node

    add([c for u in range(below) for c in schema.columns(u)], depth)
    return CpdTree(np.array(split_var), np.array(child), np.array(value))


def mixed_network(rng, arity):
    """A network in which each second variable has a table, and the others have trees."""
    schema = named_schema(arity)
    trees = {v: random_tree(rng, schema, v, v) for v in range(0, len(arity), 2)}
    tables = {v: t for v, t in random_tables(rng, arity).items() if v % 2}
    return bayesian_network(assemble(schema, trees), schema, tables_of(len(arity), tables))


def joint(network):
    """P by the states of all variables, node by node down the trees and cell by cell."""
    schema, trees = network.schema, network.trees
    out = []
    for x in all_values(schema.arity):
        row, p = schema.rows(x[None])[0], 1.0
        for v in range(len(schema)):
            if v in network.tables:
                table = network.tables.table(v, schema.arity)
                p *= table.prob[(*(x[u] for u in table.parents), x[v])]
                continue
            node = trees.start[v]
            while trees.split_var[node] != LEAF:
                node = trees.child[node, row[trees.split_var[node]]]
            p *= np.exp(trees.log_prob[node, x[v]])
        out.append(p)
    return np.array(out)
