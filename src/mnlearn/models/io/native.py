"""The native file of a model: an `.npz` archive with its kind and a format version."""

from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.circuits.structure import topological
from mnlearn.models.bayesian_network import NO_TABLES, BayesianNetwork, bayesian_network
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.cpd_tables import Tables
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.feature_tree import ARRAYS, FeatureTree
from mnlearn.models.features import FeatureSet
from mnlearn.models.hidden_tree import HiddenTree
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


class _Array(NamedTuple):
    """An array of a file, and the attribute of the model that it holds.

    The dtypes do not depend on the machine: equal models have equal bytes.
    """

    name: str
    dtype: str
    n_axes: int
    place: str


def _list(dtypes: str, *names: str, n_axes: str = "", of: str = "") -> tuple[_Array, ...]:
    """Return arrays by their names; a name is `name=attribute` if the two differ."""
    found = []
    for k, (dtype, name) in enumerate(zip(dtypes.split(), names, strict=True)):
        name, _, attribute = name.partition("=")
        found.append(_Array(name, dtype, int(n_axes[k : k + 1] or 1), of + (attribute or name)))
    return tuple(found)


_FEATURES = _list("<i8 <i4 |u1", "start", "var", "value", of="features.")
_WEIGHT = _list("<f8", "weight")
_TARGET = _list("<i4", "target")
_TREES = _list("<i8 <i4 <i4 <f8", "tree_start=start", "split_var", "child", "log_prob",
               n_axes="1122", of="trees.")  # fmt: skip
_TABLES = _list("<i8 <i4 <i8 <f8", "table_parent_start=parent_start", "table_parent=parent",
                "table_start=start", "table_prob=prob", of="tables.")  # fmt: skip
_CIRCUIT = _list("|u1 <i8 <i4 <f8", "is_sum", "child_start=start", "circuit_child=child",
                 "parameter=weight")  # fmt: skip
_CLIQUES = _list("<i8 <i4 <i4 <f8", "clique_start", "clique_var", "parent", "log_prob")
_HIDDEN = _list("<i4 <f8 <f8", "parent", "transition", "emission", n_axes="132")
_NODES = tuple(
    _Array(name, np.dtype(dtype).newbyteorder("<").str, 1, name) for name, dtype in ARRAYS.items()
)


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
            own.name: np.ascontiguousarray(attrgetter(own.place)(model), own.dtype)
            for own in (*form.arrays, *form.more(model))
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
    form = _FORM_OF[kind]
    file = _File(path, arrays, schema)
    try:
        return form.model(file, *file.take(form.arrays))
    except _DamagedError:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


class _DamagedError(InputError):
    """An array of a file is missing or not a valid one."""

    def __init__(self, path: Path | str, name: str) -> None:
        super().__init__(f"{path}: is damaged: its array {name!r} is missing or not a valid one.")


def _whole_number(path: Path | str, arrays: dict[str, NDArray], name: str) -> int:
    array = arrays.get(name)
    if array is None or array.shape != () or array.dtype.kind not in "iu" or array < 1:
        raise _DamagedError(path, name)
    return int(array)


class _File(NamedTuple):
    """The arrays of a file."""

    path: Path | str
    arrays: dict[str, NDArray]
    schema: Schema

    def take(self, wanted: tuple[_Array, ...]) -> list[NDArray]:
        """Return arrays that have their dtypes and numbers of axes, read-only."""
        found = []
        for own in wanted:
            array = self.arrays.get(own.name)
            fits = array is not None and array.dtype == own.dtype and array.ndim == own.n_axes
            self.check(own.name, fits)
            found.append(read_only(self.arrays[own.name]))
        return found

    def check(self, name: str, fits: Any) -> None:
        """Refuse an array that does not fit."""
        if not fits:
            raise _DamagedError(self.path, name)

    def check_starts(
        self, name: str, start: NDArray, total: int, n_parts: int | None = None
    ) -> None:
        """Refuse starts that do not cut 0:total into consecutive spans."""
        fits = len(start) and start[0] == 0 and start[-1] == total and (np.diff(start) >= 0).all()
        self.check(name, fits and n_parts in (None, len(start) - 1))

    def features(self, weight: NDArray, start: NDArray, var: NDArray, value: NDArray) -> FeatureSet:
        """Return the features of a network or a circuit."""
        self.check_starts("start", start, len(var), len(weight))
        self.check("var", ((var >= 0) & (var < self.schema.n_columns)).all())
        self.check("value", len(value) == len(var) and (value <= 1).all())
        self.check("weight", not np.isnan(weight).any())
        features = FeatureSet(start, var, value)
        same_feature = np.diff(features.owner) == 0
        self.check("var", (np.diff(var)[same_feature] > 0).all())
        return features

    def targets(self, features: FeatureSet, target: NDArray) -> NDArray[np.int32]:
        """Return the targets of features, of which each has a literal of its target."""
        self.check("target", len(target) == len(features))
        owner = features.owner[self.schema.variable_of[features.var] == target[features.owner]]
        self.check("target", np.array_equal(np.unique(owner), np.arange(len(features))))
        return target

    def trees(self, start: NDArray, split_var: NDArray, child: NDArray, log_prob: NDArray) -> Trees:
        """Return trees in which every node but the roots has one parent, before it in its tree."""
        n_nodes, schema = len(split_var), self.schema
        self.check_starts("tree_start", start, n_nodes, len(schema))
        self.check("tree_start", (np.diff(start) > 0).all())
        self.check("split_var", ((split_var >= LEAF) & (split_var < schema.n_columns)).all())
        width = max(2, int(schema.arity.max()))
        is_leaf = split_var == LEAF
        fits = log_prob.shape == (n_nodes, width) and not np.isnan(log_prob[is_leaf]).any()
        self.check("log_prob", fits)
        self.check("child", child.shape == (n_nodes, 2))
        trees = Trees(start, split_var, child, log_prob)
        inner = np.flatnonzero(~is_leaf)
        below = child[inner]
        others = np.setdiff1d(np.arange(n_nodes), start[:-1])
        self.check("child", np.array_equal(np.sort(below, axis=None), others))
        same_tree = trees.target[below] == trees.target[inner][:, None]
        self.check("child", same_tree.all() and (below > inner[:, None]).all())
        return trees


def _load_network(file: _File, *arrays: NDArray) -> MarkovNetwork:
    return MarkovNetwork(file.schema, file.features(arrays[3], *arrays[:3]), arrays[3])


def _load_dependencies(file: _File, *arrays: NDArray) -> DependencyNetwork:
    weight, target = arrays[3:5]
    features = file.features(weight, *arrays[:3])
    trees = file.trees(*arrays[5:])
    return DependencyNetwork(trees, features, file.targets(features, target), weight, file.schema)


def _load_bayesian(file: _File, *arrays: NDArray) -> Model:
    trees, tables = file.trees(*arrays), NO_TABLES
    if _TABLES[-1].name in file.arrays:
        own = file.take(_TABLES)
        for k in (0, 2):
            file.check_starts(_TABLES[k].name, own[k], len(own[k + 1]), len(file.schema))
        tables = Tables(*own)
    return bayesian_network(trees, file.schema, tables)


def _more_of_bayesian(network: Any) -> tuple[_Array, ...]:
    return _TABLES if len(network.tables.prob) else ()


def _load_circuit(
    file: _File, is_sum: NDArray, start: NDArray, child: NDArray, weight: NDArray
) -> ArithmeticCircuit:
    file.check("child_start", len(is_sum))
    file.check_starts("child_start", start, len(child), len(is_sum))
    file.check("is_sum", (is_sum <= 1).all() and (np.diff(start) > 0).all())
    file.check("circuit_child", topological(start, child, 2 * file.schema.n_columns + len(weight)))
    file.check("parameter", not np.isnan(weight).any())
    features = target = None
    if "start" in file.arrays:
        features = file.features(weight, *file.take(_FEATURES))
        if "target" in file.arrays:
            target = file.targets(features, *file.take(_TARGET))
    circuit = ArithmeticCircuit(file.schema, is_sum, start, child, weight, features, target)
    circuit.check()
    return circuit


def _more_of_circuit(circuit: Any) -> tuple[_Array, ...]:
    has_features, has_target = circuit.features is not None, circuit.target is not None
    return (*(_FEATURES if has_features else ()), *(_TARGET if has_target else ()))


def _load_feature_tree(file: _File, *arrays: NDArray) -> FeatureTree:
    tree = FeatureTree(file.schema, *arrays)
    n_a, n_f, schema = len(tree.log_prob), tree.n_f_nodes, file.schema
    file.check("branch_start", n_f >= 1)
    file.check_starts("branch_start", tree.branch_start - 1, n_a - 1)
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


def _load_junction_tree(file: _File, *arrays: NDArray) -> JunctionTree:
    file.check_starts("clique_start", arrays[0], len(arrays[1]))
    return JunctionTree(file.schema, *arrays)


def _load_hidden_tree(
    file: _File, parent: NDArray, transition: NDArray, emission: NDArray
) -> HiddenTree:
    file.check("parent", len(parent) == len(file.schema))
    return HiddenTree(parent, transition, emission, file.schema)


class _Form(NamedTuple):
    """A kind of model, its arrays, those that only some have, and how a model is made of them."""

    kind: type[Model]
    arrays: tuple[_Array, ...]
    model: Callable[..., Model]
    more: Callable[[Any], tuple[_Array, ...]] = lambda _: ()


# The list of the kinds of models.
_FORMS = (
    _Form(MarkovNetwork, (*_FEATURES, *_WEIGHT), _load_network),
    _Form(DependencyNetwork, (*_FEATURES, *_WEIGHT, *_TARGET, *_TREES), _load_dependencies),
    _Form(BayesianNetwork, _TREES, _load_bayesian, _more_of_bayesian),
    _Form(ArithmeticCircuit, _CIRCUIT, _load_circuit, _more_of_circuit),
    _Form(FeatureTree, _NODES, _load_feature_tree),
    _Form(JunctionTree, _CLIQUES, _load_junction_tree),
    _Form(HiddenTree, _HIDDEN, _load_hidden_tree),
)
_FORM_OF = {form.kind.kind: form for form in _FORMS}
KINDS = tuple(form.kind for form in _FORMS)
