"""The native file of a model: an `.npz` archive with its kind and a format version."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.circuits.structure import topological
from mnlearn.models.bayesian_network import NO_TABLES, BayesianNetwork, bayesian_network
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.cpd_tables import Tables
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.features import FeatureSet
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io import feature_trees, hidden_trees, junction_trees
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_arrays, read_only, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.variables.arrays import schema_arrays, schema_of_arrays
from mnlearn.variables.schema import Schema

VERSION = 1
# A file of a few bytes can declare more variables than fit in memory.
MAX_VARS = 1_000_000

# The dtypes of the file, which do not depend on the machine: equal models have equal bytes.
_DTYPE = {
    "start": "<i8",
    "var": "<i4",
    "value": "|u1",
    "weight": "<f8",
    "target": "<i4",
    "tree_start": "<i8",
    "split_var": "<i4",
    "child": "<i4",
    "log_prob": "<f8",
    "is_sum": "|u1",
    "child_start": "<i8",
    "circuit_child": "<i4",
    "parameter": "<f8",
    "table_parent_start": "<i8",
    "table_parent": "<i4",
    "table_start": "<i8",
    "table_prob": "<f8",
}
_FEATURES = ("start", "var", "value", "weight")
_TREES = ("tree_start", "split_var", "child", "log_prob")
_TABLES = ("table_parent_start", "table_parent", "table_start", "table_prob")
_CIRCUIT = ("is_sum", "child_start", "circuit_child", "parameter")


def as_dependency_network(model: Model, path: Path | str) -> DependencyNetwork:
    """Return the model of a file; raise InputError if it is not a dependency network."""
    if not isinstance(model, DependencyNetwork):
        raise InputError(f"{path}: expected a dependency network, the file holds {model.title}.")
    return model


def write_npz(model: Model, path: Path | str) -> None:
    """Write a model; equal models are written to equal bytes."""
    arrays = {
        "kind": np.array(model.kind),
        "version": np.array(VERSION, "<i8"),
        "n_vars": np.array(model.n_vars, "<i8"),
        **{
            name: np.ascontiguousarray(array, _DTYPE.get(name, array.dtype))
            for name, array in _FORM_OF[model.kind].arrays(model).items()
        },
    }
    write_arrays(path, arrays | schema_arrays(model.schema))


def read_npz(path: Path | str) -> Model:
    """Read a model.

    Raises
    ------
    InputError
        The file is missing or damaged, holds no model, or has a newer format version.
    """
    arrays = read_arrays(path)
    kind = str(arrays.get("kind", "file of unnamed kind"))
    if kind not in _FORM_OF:
        raise InputError(f"{path}: expected a model, this file holds a {kind}.")
    version = _whole_number(path, arrays, "version")
    if version > VERSION:
        raise InputError(
            f"{path}: has format version {version}, newer than this program reads ({VERSION})."
        )
    n_vars = _whole_number(path, arrays, "n_vars")
    if n_vars > MAX_VARS:
        raise InputError(f"{path}: expected at most {MAX_VARS} variables, it declares {n_vars}.")
    schema, _ = schema_of_arrays(path, arrays, n_vars)
    return _FORM_OF[kind].model(path, arrays, schema)


def _load_network(path: Path | str, arrays: dict[str, NDArray], schema: Schema) -> MarkovNetwork:
    _check_arrays(path, arrays, _FEATURES)
    features = _load_features(path, arrays, arrays["weight"], schema.n_columns)
    return MarkovNetwork(schema, features, arrays["weight"])


def _load_dependencies(
    path: Path | str, arrays: dict[str, NDArray], schema: Schema
) -> DependencyNetwork:
    _check_arrays(path, arrays, _FEATURES)
    features = _load_features(path, arrays, arrays["weight"], schema.n_columns)
    trees = _load_trees(path, arrays, schema)
    target = _load_targets(path, arrays, features, schema)
    return DependencyNetwork(trees, features, target, arrays["weight"], schema)


def _load_bayesian(path: Path | str, arrays: dict[str, NDArray], schema: Schema) -> BayesianNetwork:
    trees, tables = _load_trees(path, arrays, schema), NO_TABLES
    if _TABLES[-1] in arrays:
        _check_arrays(path, arrays, _TABLES)
        for start, values in (_TABLES[:2], _TABLES[2:]):
            if not _is_partition(arrays[start], len(schema), len(arrays[values])):
                raise _damaged(path, start)
        tables = Tables(*(arrays[name] for name in _TABLES))
    try:
        return bayesian_network(trees, schema, tables)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _load_trees(path: Path | str, arrays: dict[str, NDArray], schema: Schema) -> Trees:
    _check_arrays(path, arrays, _TREES)
    start, split_var, child, log_prob = (arrays[name] for name in _TREES)
    n_nodes = len(split_var)
    if not (_is_partition(start, len(schema), n_nodes) and (np.diff(start) > 0).all()):
        raise _damaged(path, "tree_start")
    if ((split_var < LEAF) | (split_var >= schema.n_columns)).any():
        raise _damaged(path, "split_var")
    width = max(2, int(schema.arity.max()))
    if log_prob.shape != (n_nodes, width) or np.isnan(log_prob[split_var == LEAF]).any():
        raise _damaged(path, "log_prob")
    if child.shape != (n_nodes, 2):
        raise _damaged(path, "child")
    trees = Trees(start, split_var, child, log_prob)
    _check_children(path, trees)
    return trees


def _load_circuit(
    path: Path | str, arrays: dict[str, NDArray], schema: Schema
) -> ArithmeticCircuit:
    _check_arrays(path, arrays, _CIRCUIT)
    is_sum, start, child = arrays["is_sum"], arrays["child_start"], arrays["circuit_child"]
    weight = arrays["parameter"]
    if not (len(is_sum) and _is_partition(start, len(is_sum), len(child))):
        raise _damaged(path, "child_start")
    if (is_sum > 1).any() or (np.diff(start) == 0).any():
        raise _damaged(path, "is_sum")
    if not topological(start, child, 2 * schema.n_columns + len(weight)):
        raise _damaged(path, "circuit_child")
    if np.isnan(weight).any():
        raise _damaged(path, "parameter")
    features = target = None
    if "start" in arrays:
        _check_arrays(path, arrays, _FEATURES[:3])
        features = _load_features(path, arrays, weight, schema.n_columns)
        if "target" in arrays:
            target = _load_targets(path, arrays, features, schema)
    circuit = ArithmeticCircuit(schema, is_sum, start, child, weight, features, target)
    try:
        circuit.check()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return circuit


def _check_arrays(path: Path | str, arrays: dict[str, NDArray], names: tuple[str, ...]) -> None:
    """Check that arrays exist with their dtypes and numbers of axes, and make them read-only."""
    for name in names:
        n_axes = 2 if name in ("child", "log_prob") else 1
        array = arrays.get(name)
        if array is None or array.dtype != _DTYPE[name] or array.ndim != n_axes:
            raise _damaged(path, name)
        arrays[name] = read_only(array)


def _damaged(path: Path | str, name: str) -> InputError:
    return InputError(f"{path}: is damaged: its array {name!r} is missing or not a valid one.")


def _whole_number(path: Path | str, arrays: dict[str, NDArray], name: str) -> int:
    array = arrays.get(name)
    if array is None or array.shape != () or array.dtype.kind not in "iu" or array < 1:
        raise _damaged(path, name)
    return int(array)


def _is_partition(start: NDArray, n_parts: int, total: int) -> bool:
    """Tell whether `start` cuts 0:total into `n_parts` consecutive spans."""
    return (
        len(start) == n_parts + 1
        and start[0] == 0
        and start[-1] == total
        and bool((np.diff(start) >= 0).all())
    )


def _load_features(
    path: Path | str, arrays: dict[str, NDArray], weight: NDArray, n_columns: int
) -> FeatureSet:
    start, var, value = arrays["start"], arrays["var"], arrays["value"]
    if not _is_partition(start, len(weight), len(var)):
        raise _damaged(path, "start")
    if ((var < 0) | (var >= n_columns)).any():
        raise _damaged(path, "var")
    if len(value) != len(var) or (value > 1).any():
        raise _damaged(path, "value")
    if np.isnan(weight).any():
        raise _damaged(path, "weight")
    features = FeatureSet(start, var, value)
    same_feature = np.diff(features.owner) == 0
    if (np.diff(var)[same_feature] <= 0).any():
        raise _damaged(path, "var")
    return features


def _load_targets(
    path: Path | str, arrays: dict[str, NDArray], features: FeatureSet, schema: Schema
) -> NDArray[np.int32]:
    _check_arrays(path, arrays, ("target",))
    target = arrays["target"]
    if len(target) != len(features):
        raise _damaged(path, "target")
    owner = features.owner[schema.variable_of[features.var] == target[features.owner]]
    if not np.array_equal(np.unique(owner), np.arange(len(features))):
        raise _damaged(path, "target")
    return target


def _check_children(path: Path | str, trees: Trees) -> None:
    """Check that every node but the roots has one parent, before it and in the same tree."""
    inner = np.flatnonzero(~trees.is_leaf)
    child = trees.child[inner]
    others = np.setdiff1d(np.arange(len(trees.split_var)), trees.start[:-1])
    if not np.array_equal(np.sort(child, axis=None), others):
        raise _damaged(path, "child")
    same_tree = trees.target[child] == trees.target[inner][:, None]
    if not (same_tree.all() and (child > inner[:, None]).all()):
        raise _damaged(path, "child")


def _feature_arrays(features: FeatureSet) -> dict[str, NDArray]:
    return {"start": features.start, "var": features.var, "value": features.value}


def _tree_arrays(trees: Trees) -> dict[str, NDArray]:
    return {
        "tree_start": trees.start,
        "split_var": trees.split_var,
        "child": trees.child,
        "log_prob": trees.log_prob,
    }


def _bayesian_arrays(network: BayesianNetwork) -> dict[str, NDArray]:
    tables = network.tables
    own = (tables.parent_start, tables.parent, tables.start, tables.prob)
    return _tree_arrays(network.trees) | (
        dict(zip(_TABLES, own, strict=True)) if len(tables.prob) else {}
    )


def _circuit_arrays(circuit: ArithmeticCircuit) -> dict[str, NDArray]:
    arrays: dict[str, NDArray] = {
        "is_sum": circuit.is_sum,
        "child_start": circuit.start,
        "circuit_child": circuit.child,
        "parameter": circuit.weight,
    }
    if circuit.features is not None:
        arrays |= _feature_arrays(circuit.features)
    if circuit.target is not None:
        arrays["target"] = circuit.target
    return arrays


def _network_arrays(network: MarkovNetwork) -> dict[str, NDArray]:
    return {**_feature_arrays(network.features), "weight": network.weight}


def _dependency_arrays(network: DependencyNetwork) -> dict[str, NDArray]:
    return {
        **_feature_arrays(network.features),
        "weight": network.weight,
        "target": network.target,
        **_tree_arrays(network.trees),
    }


class _Form(NamedTuple):
    """A kind of model, its arrays, and how a model is made of the arrays of a file."""

    kind: type[Model]
    arrays: Callable[[Any], dict[str, NDArray]]
    model: Callable[[Path | str, dict[str, NDArray], Schema], Model]


# The list of the kinds of models.
_FORMS = (
    _Form(MarkovNetwork, _network_arrays, _load_network),
    _Form(DependencyNetwork, _dependency_arrays, _load_dependencies),
    _Form(BayesianNetwork, _bayesian_arrays, _load_bayesian),
    _Form(ArithmeticCircuit, _circuit_arrays, _load_circuit),
    _Form(FeatureTree, feature_trees.arrays_of_tree, feature_trees.tree_of_arrays),
    _Form(JunctionTree, junction_trees.arrays_of_tree, junction_trees.tree_of_arrays),
    _Form(HiddenTree, hidden_trees.arrays_of_tree, hidden_trees.tree_of_arrays),
)
_FORM_OF = {form.kind.kind: form for form in _FORMS}
KINDS = tuple(form.kind for form in _FORMS)
