"""The native file of a model: an `.npz` archive with its kind and a format version."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import NO_TABLES, BayesianNetwork, bayesian_network
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.cpds import Tables
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.feature_tree import ARRAYS, FeatureTree
from mnlearn.models.features import FeatureSet, check_features
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io.printed import MAX_VARS
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.variables.arrays import schema_arrays, schema_of_arrays
from mnlearn.variables.schema import Schema

VERSION = 1


# Where a model has what each array of its file holds.
_FEATURES = {"start": "features.start", "var": "features.var", "value": "features.value"}
_TREES = {
    "tree_start": "trees.start",
    "split_var": "trees.split_var",
    "child": "trees.child",
    "log_prob": "trees.log_prob",
}
_TABLES = {
    "table_parent_start": "tables.parent_start",
    "table_parent": "tables.parent",
    "table_start": "tables.start",
    "table_prob": "tables.prob",
}
_CIRCUIT = {
    "is_sum": "is_sum",
    "child_start": "start",
    "circuit_child": "child",
    "parameter": "weight",
}


def as_dependency_network(model: Model, path: Path | str) -> DependencyNetwork:
    """Return the model of a file; raise InputError if it is not a dependency network."""
    if not isinstance(model, DependencyNetwork):
        raise InputError(f"{path}: expected a dependency network, the file holds {model.title}.")
    return model


def write_npz(model: Model, path: Path | str) -> None:
    """Write a model; equal models are written to equal bytes."""
    form = _FORM_OF[model.kind]
    arrays = {
        "kind": np.array(model.kind),
        "version": np.array(VERSION, "<i8"),
        "n_vars": np.array(model.n_vars, "<i8"),
        **{
            name: np.ascontiguousarray(attrgetter(place)(model))
            for name, place in form.arrays(model).items()
        },
    }
    write_arrays(path, arrays | schema_arrays(model.schema))


def read_npz(path: Path | str) -> Model:
    """Read a model."""
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
    try:
        return _FORM_OF[kind].model(_File(path, arrays, schema))
    except _DamagedError:
        raise
    except InputError as error:
        raise InputError(f"{path}: is damaged: {error}") from error


class _DamagedError(InputError):
    """An array of a file is missing or not a valid one."""

    def __init__(self, path: Path | str, name: str) -> None:
        super().__init__(f"{path}: is damaged: its array {name!r} is missing or not a valid one.")


def _whole_number(path: Path | str, arrays: dict[str, NDArray], name: str) -> int:
    array = arrays.get(name)
    if array is None or array.shape != () or array.dtype.kind not in "iu" or array < 1:
        raise _DamagedError(path, name)
    return int(array)


@dataclass(frozen=True)
class _File:
    """The arrays of a file; the constructors of models check their types and shapes."""

    path: Path | str
    arrays: dict[str, NDArray]
    schema: Schema

    def __getitem__(self, name: str) -> NDArray:
        if name not in self.arrays:
            raise _DamagedError(self.path, name)
        return self.arrays[name]

    def check(self, name: str, fits: Any) -> None:
        """Refuse an array that does not fit."""
        if not fits:
            raise _DamagedError(self.path, name)

    def check_starts(self, name: str, start: NDArray, total: int, n_parts: int) -> None:
        """Refuse starts that do not cut 0:total into consecutive spans."""
        fits = len(start) and start[0] == 0 and start[-1] == total and (np.diff(start) >= 0).all()
        self.check(name, fits and n_parts == len(start) - 1)

    def features(self) -> FeatureSet:
        """Return the features of a network or a circuit."""
        features = FeatureSet(*(self[name] for name in _FEATURES))
        check_features(features, self.schema.n_columns, least=0)
        return features

    def check_weights(self, model: Any, name: str = "weight") -> None:
        """Refuse weights that are not numbers, and targets of which features have no literal."""
        self.check(name, not np.isnan(model.weight).any())
        if getattr(model, "target", None) is not None:
            owner, var = model.features.owner, model.features.var
            has_own = owner[self.schema.variable_of[var] == model.target[owner]]
            self.check("target", np.array_equal(np.unique(has_own), np.arange(len(model.weight))))

    def trees(self) -> Trees:
        """Return trees in which every node but the roots has one parent, before it in its tree."""
        trees, schema = Trees(*(self[name] for name in _TREES)), self.schema
        start, split_var, log_prob = trees.start, trees.split_var, trees.log_prob
        self.check("tree_start", trees.n_vars == len(schema) and (np.diff(start) > 0).all())
        self.check("split_var", ((split_var >= LEAF) & (split_var < schema.n_columns)).all())
        width = max(2, int(schema.arity.max()))
        fits = log_prob.shape[1] == width and not np.isnan(log_prob[trees.is_leaf]).any()
        self.check("log_prob", fits)
        inner = np.flatnonzero(~trees.is_leaf)
        below = trees.child[inner]
        others = np.setdiff1d(np.arange(len(split_var)), start[:-1])
        self.check("child", np.array_equal(np.sort(below, axis=None), others))
        same_tree = trees.target[below] == trees.target[inner][:, None]
        self.check("child", same_tree.all() and (below > inner[:, None]).all())
        return trees


def _load_network(file: _File) -> MarkovNetwork:
    network = MarkovNetwork(file.schema, file.features(), file["weight"])
    file.check_weights(network)
    return network


def _load_dependencies(file: _File) -> DependencyNetwork:
    target, weight = file["target"], file["weight"]
    network = DependencyNetwork(file.trees(), file.features(), target, weight, file.schema)
    file.check_weights(network)
    return network


def _load_bayesian(file: _File) -> BayesianNetwork:
    trees, tables = file.trees(), NO_TABLES
    if "table_prob" in file.arrays:
        tables = Tables(*(file[name] for name in _TABLES))
        file.check("table_start", len(tables.start) == len(file.schema) + 1)
    return bayesian_network(trees, file.schema, tables)


def _load_circuit(file: _File) -> ArithmeticCircuit:
    features = target = None
    if "start" in file.arrays:
        features, target = file.features(), file.arrays.get("target")
    is_sum, start, child, weight = (file[name] for name in _CIRCUIT)
    circuit = ArithmeticCircuit(file.schema, is_sum, start, child, weight, features, target)
    file.check("is_sum", (circuit.is_sum <= 1).all())
    inner = circuit.n_leaves + np.arange(len(circuit.is_sum))
    below = np.repeat(inner, np.diff(circuit.start))
    file.check("circuit_child", ((circuit.child >= 0) & (circuit.child < below)).all())
    file.check_weights(circuit, "parameter")
    circuit.check()
    return circuit


def _arrays_of_circuit(circuit: Any) -> dict[str, str]:
    target = {} if circuit.target is None else {"target": "target"}
    return _CIRCUIT | (_FEATURES | target if circuit.features is not None else {})


def _load_feature_tree(file: _File) -> FeatureTree:
    tree = FeatureTree(file.schema, *(file[name] for name in ARRAYS))
    n_a, n_f, schema = len(tree.log_prob), tree.n_f_nodes, file.schema
    file.check("branch_start", n_f >= 1)
    file.check_starts("branch_start", tree.branch_start - 1, n_a - 1, n_f)
    file.check_starts("literal_start", tree.literal_start, len(tree.literal_var), n_f)
    file.check_starts("fixed_start", tree.fixed_start, len(tree.fixed_var), n_a)
    file.check_starts("child_start", tree.child_start, len(tree.child), n_a)
    n_branches = np.diff(tree.branch_start)
    fits = ((n_branches == 2) | tree.is_table).all() and (n_branches >= 1).all()
    file.check("branch_start", fits)
    for name, var, value in (
        ("literal", tree.literal_var, tree.literal_value),
        ("fixed", tree.fixed_var, tree.fixed_value),
    ):
        file.check(f"{name}_var", ((var >= 0) & (var < len(schema))).all())
        file.check(f"{name}_value", len(value) == len(var) and (value < schema.arity[var]).all())
    # The F-node of the A-node that each edge starts at; the root belongs to none.
    owner = np.concatenate([[-1], np.repeat(np.arange(n_f), n_branches)])
    above = np.repeat(owner, np.diff(tree.child_start))
    file.check("child", ((tree.child > above) & (tree.child < n_f)).all())
    file.check("log_prob", not np.isnan(tree.log_prob).any() and tree.log_prob[0] == 0.0)
    # Every variable is fixed on every way down, and no two children share one.
    tree.to_circuit().check()
    return tree


def _load_junction_tree(file: _File) -> JunctionTree:
    return JunctionTree(file.schema, *(file[name] for name in _CLIQUES))


def _load_hidden_tree(file: _File) -> HiddenTree:
    parent, transition, emission = (file[name] for name in _HIDDEN)
    return HiddenTree(parent, transition, emission, file.schema)


class _Form(NamedTuple):
    """A kind of model, the arrays of its file, and how a model is made of these."""

    kind: type[Model]
    arrays: Callable[[Any], Mapping[str, str]]
    model: Callable[[_File], Model]


_NETWORK = _FEATURES | {"weight": "weight"}
_CLIQUES = {name: name for name in ("clique_start", "clique_var", "parent", "log_prob")}
_HIDDEN = {name: name for name in ("parent", "transition", "emission")}
# The list of the kinds of models.
_FORMS = (
    _Form(MarkovNetwork, lambda _: _NETWORK, _load_network),
    _Form(
        DependencyNetwork, lambda _: _NETWORK | {"target": "target"} | _TREES, _load_dependencies
    ),
    _Form(
        BayesianNetwork, lambda n: _TREES | (_TABLES if len(n.tables.prob) else {}), _load_bayesian
    ),
    _Form(ArithmeticCircuit, _arrays_of_circuit, _load_circuit),
    _Form(FeatureTree, lambda _: {name: name for name in ARRAYS}, _load_feature_tree),
    _Form(JunctionTree, lambda _: _CLIQUES, _load_junction_tree),
    _Form(HiddenTree, lambda _: _HIDDEN, _load_hidden_tree),
)
_FORM_OF = {form.kind.kind: form for form in _FORMS}
KINDS = tuple(form.kind for form in _FORMS)
