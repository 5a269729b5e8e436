"""Write Markov networks, dependency networks and Bayesian networks in Libra's text formats."""

import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.features import FeatureSet
from mnlearn.models.io.libra.parse import condition_texts, number_text
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_text
from mnlearn.variables.schema import Schema


def write_mn(network: MarkovNetwork, path: Path | str) -> None:
    """Write a Markov network as bare features; weights read back exactly."""
    _check_numbers(network.weight, path)
    lines = _feature_lines(network.schema, network.features, network.weight)
    write_text(path, f"{_schema_line(network.schema)}MN {{\n{''.join(lines)}}}\n")


def write_dn(network: DependencyNetwork, path: Path | str) -> None:
    """Write a dependency network: for each CPD its tree, unless it says nothing, and its features.

    Every leaf becomes tests of the target. The log-probabilities of inner nodes are not written.
    """
    _check_numbers(network.weight, path)
    _check_numbers(network.trees.log_prob[network.trees.is_leaf], path)
    lines = _feature_lines(network.schema, network.features, network.weight)
    own: list[list[str]] = [[] for _ in range(network.n_vars)]
    for target, line in zip(network.target.tolist(), lines, strict=True):
        own[target].append(line)
    parts = [_schema_line(network.schema), "DN {\n"]
    is_flat = network.trees.is_flat(network.schema)
    for v in range(network.n_vars):
        parts.append(f"v{v} {{\n")
        if not is_flat[v]:
            parts += _tree_parts(network.trees, v, network.schema)
        if own[v]:
            parts += ["features {\n", *own[v], "}\n\n"]
        parts.append("}\n")
    parts.append("}\n")
    write_text(path, "".join(parts))


def write_bn(network: BayesianNetwork, path: Path | str) -> None:
    """Write a Bayesian network: for each CPD its table, or its tree as `write_dn` does."""
    _check_numbers(network.trees.log_prob[network.trees.is_leaf], path)
    parts = [_schema_line(network.schema), "BN {\n"]
    for v in range(network.n_vars):
        own = (
            _table_lines(network, v)
            if v in network.tables
            else _tree_parts(network.trees, v, network.schema)
        )
        parts += [f"v{v} {{\n", *own, "}\n"]
    parts.append("}\n")
    write_text(path, "".join(parts))


def _check_numbers(values: NDArray[np.float64], path: Path | str) -> None:
    if np.isnan(values).any():
        raise InputError(f"{path}: the model has a weight that is not a number.")


def _schema_line(schema: Schema) -> str:
    return ",".join(map(str, schema.arity.tolist())) + "\n"


def _feature_lines(schema: Schema, features: FeatureSet, weight: NDArray[np.float64]) -> list[str]:
    """Return the line of each feature."""
    text = condition_texts(schema)
    pairs = zip(features.var.tolist(), features.value.tolist(), strict=True)
    literals = [f" {text[column][value]}" for column, value in pairs]
    start = features.start.tolist()
    return [
        f"{number_text(w)}{''.join(literals[start[f] : start[f + 1]])}\n"
        for f, w in enumerate(weight.tolist())
    ]


def _table_lines(network: BayesianNetwork, v: int) -> list[str]:
    """Return the table of a variable in Libra's layout, a line for each cell, from the last one."""
    parents, prob = network.table(v)
    with np.errstate(divide="ignore"):
        cells = np.log(prob.reshape(-1, prob.shape[-1]))[::-1, ::-1].tolist()
    states = itertools.product(*(range(n - 1, -1, -1) for n in prob.shape[:-1]))
    lines = ["table {\n"]
    for given, own in zip(states, cells, strict=True):
        rest = "".join(f" +v{u}_{state}" for u, state in zip(parents, given, strict=True))
        last = len(own) - 1
        lines += [f"{number_text(w)} +v{v}_{last - k}{rest}\n" for k, w in enumerate(own)]
    return [*lines, "}\n\n"]


def _tree_parts(trees: Trees, v: int, schema: Schema) -> list[str]:
    """Return tree `v` in Libra's layout, in pieces."""
    begin, end = int(trees.start[v]), int(trees.start[v + 1])
    split_var = trees.split_var[begin:end].tolist()
    child = (trees.child[begin:end] - begin).tolist()
    log_prob = trees.log_prob[begin:end, : schema[v].arity].tolist()
    parts = ["tree {"]
    closing = -1
    agenda = [(0, 0)]
    while agenda:
        node, depth = agenda.pop()
        if node == closing:
            parts.append(")")
            continue
        parts.append("\n" + "    " * depth)
        if split_var[node] == LEAF:
            parts.append(_leaf_text(v, list(map(number_text, log_prob[node]))))
            continue
        u = int(schema.variable_of[split_var[node]])
        state = split_var[node] - int(schema.start[u])
        # The subtree of the state that is tested comes first: state 0 of two, value 1 of a column.
        first = 0 if schema[u].arity == 2 else 1
        parts.append(f"(v{u}_{state}")
        own = child[node]
        agenda += [(closing, 0), (own[1 - first], depth + 1), (own[first], depth + 1)]
    parts.append("\n}\n\n")
    return parts


def _leaf_text(v: int, numbers: list[str]) -> str:
    """Return the tests of the target that hold its log-probabilities, the last state by itself."""
    tests = "".join(f"(v{v}_{state} {number} " for state, number in enumerate(numbers[:-1]))
    return f"{tests}{numbers[-1]}{')' * (len(numbers) - 1)}"
