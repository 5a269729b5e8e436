"""Write Markov networks, dependency networks and Bayesian networks in Libra's text formats."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_text


def write_mn(network: MarkovNetwork, path: Path | str) -> None:
    """Write a Markov network as bare features; weights read back exactly."""
    _check_numbers(network.weight, path)
    lines = _feature_lines(network.features, network.weight)
    write_text(path, f"{_schema_line(network.n_vars)}MN {{\n{''.join(lines)}}}\n")


def write_dn(network: DependencyNetwork, path: Path | str) -> None:
    """Write a dependency network: for each CPD its tree, unless it says nothing, and its features.

    Every leaf becomes a test of the target, so the tree holds both log-probabilities of the leaf.
    The log-probabilities of inner nodes are not written.
    """
    _check_numbers(network.weight, path)
    _check_numbers(network.trees.log_prob[network.trees.is_leaf], path)
    lines = _feature_lines(network.features, network.weight)
    own: list[list[str]] = [[] for _ in range(network.n_vars)]
    for target, line in zip(network.target.tolist(), lines, strict=True):
        own[target].append(line)
    parts = [_schema_line(network.n_vars), "DN {\n"]
    for v in range(network.n_vars):
        parts.append(f"v{v} {{\n")
        if not _is_flat(network.trees, v):
            parts += _tree_parts(network.trees, v)
        if own[v]:
            parts += ["features {\n", *own[v], "}\n\n"]
        parts.append("}\n")
    parts.append("}\n")
    write_text(path, "".join(parts))


def write_bn(network: BayesianNetwork, path: Path | str) -> None:
    """Write a Bayesian network: for each CPD its tree, as `write_dn` does."""
    _check_numbers(network.trees.log_prob[network.trees.is_leaf], path)
    parts = [_schema_line(network.n_vars), "BN {\n"]
    for v in range(network.n_vars):
        parts += [f"v{v} {{\n", *_tree_parts(network.trees, v), "}\n"]
    parts.append("}\n")
    write_text(path, "".join(parts))


def _check_numbers(values: NDArray[np.float64], path: Path | str) -> None:
    if np.isnan(values).any():
        raise InputError(f"{path}: the model has a weight that is not a number.")


def _schema_line(n_vars: int) -> str:
    return ",".join(["2"] * n_vars) + "\n"


def _feature_lines(features: FeatureSet, weight: NDArray[np.float64]) -> list[str]:
    """Return the line of each feature; repr is the shortest form that reads back exactly."""
    pairs = zip(features.var.tolist(), features.value.tolist(), strict=True)
    literals = [f" +v{var}_{value}" for var, value in pairs]
    start = features.start.tolist()
    return [
        f"{w!r}{''.join(literals[start[f] : start[f + 1]])}\n"
        for f, w in enumerate(weight.tolist())
    ]


def _is_flat(trees: Trees, v: int) -> bool:
    """Tell whether tree `v` is a single leaf of log-odds 0."""
    root = trees.start[v]
    return bool(trees.is_leaf[root] and trees.log_prob[root, 0] == trees.log_prob[root, 1])


def _tree_parts(trees: Trees, v: int) -> list[str]:
    """Return tree `v` in Libra's layout, in pieces."""
    begin, end = int(trees.start[v]), int(trees.start[v + 1])
    split_var = trees.split_var[begin:end].tolist()
    child = (trees.child[begin:end] - begin).tolist()
    log_prob = trees.log_prob[begin:end].tolist()
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
            parts.append(f"(v{v}_0 {log_prob[node][0]!r} {log_prob[node][1]!r})")
            continue
        parts.append(f"(v{split_var[node]}_0")
        zero, one = child[node]
        agenda += [(closing, 0), (one, depth + 1), (zero, depth + 1)]
    parts.append("\n}\n\n")
    return parts
