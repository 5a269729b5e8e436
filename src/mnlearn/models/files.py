"""Reading and writing models, the format chosen by the suffix of the file."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.arrays import read_arrays, write_arrays
from mnlearn.data.dataset import read_only
from mnlearn.errors import InputError
from mnlearn.models.dependency_network import LEAF, DependencyNetwork, Trees
from mnlearn.models.features import FeatureSet
from mnlearn.models.graph_files import parent_counts, write_edges, write_graphml
from mnlearn.models.libra import read_dn, read_mn, write_dn, write_mn
from mnlearn.models.markov_network import MarkovNetwork

Model = MarkovNetwork | DependencyNetwork

VERSION = 1

# Fixed here and not taken from the model, so that equal models have equal bytes.
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
}
_FEATURES = ("start", "var", "value", "weight")
_TREES = ("tree_start", "split_var", "child", "log_prob", "target")


def load_model(path: Path | str) -> Model:
    """Read a model: `.npz` (native), `.mn` or `.dn` (Libra).

    Raises
    ------
    InputError
        The suffix is none of these, or the file is missing, malformed, damaged, written by a
        newer version or not a model.

    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        return _load_npz(path)
    if suffix == ".mn":
        return read_mn(path)
    if suffix == ".dn":
        return read_dn(path)
    if suffix in (".csv", ".graphml"):
        raise InputError(f"{path}: {suffix} files of models can only be written, not read.")
    raise InputError(f"{path}: expected a model file that ends in .npz, .mn or .dn.")


def load_network(path: Path | str | None) -> DependencyNetwork | None:
    """Read a dependency network; None for no file.

    Raises
    ------
    InputError
        See `load_model`; or the file holds a Markov network.

    """
    if path is None:
        return None
    network = load_model(path)
    if not isinstance(network, DependencyNetwork):
        raise InputError(f"{path}: expected a dependency network, the file holds a Markov network.")
    return network


def save_model(model: Model, path: Path | str) -> None:
    """Write a model: `.npz` (native), `.mn` or `.dn` (Libra), `.csv` or `.graphml` (its edges).

    Equal models are written to equal bytes. Only `.npz` keeps all of the model.

    Raises
    ------
    InputError
        The suffix is none of these, or not one for this kind of model, or the file cannot be
        written.

    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        _save_npz(model, path)
    elif suffix == ".csv":
        write_edges(model, path)
    elif suffix == ".graphml":
        write_graphml(model, path)
    elif suffix == ".mn":
        if not isinstance(model, MarkovNetwork):
            raise InputError(
                f"{path}: a .mn file holds a Markov network, not a dependency network."
            )
        write_mn(model, path)
    elif suffix == ".dn":
        if not isinstance(model, DependencyNetwork):
            raise InputError(
                f"{path}: a .dn file holds a dependency network, not a Markov network."
            )
        write_dn(model, path)
    else:
        check_writable(path)


def check_writable(path: Path | str) -> None:
    """Refuse a path whose suffix is not that of a form in which models are written."""
    if Path(path).suffix.lower() not in (".npz", ".mn", ".dn", ".csv", ".graphml"):
        raise InputError(
            f"{path}: expected a model file that ends in .npz, .mn, .dn, .csv or .graphml."
        )


def _save_npz(model: Model, path: Path | str) -> None:
    features = model.features
    given: dict[str, NDArray] = {
        "start": features.start,
        "var": features.var,
        "value": features.value,
        "weight": model.weight,
    }
    if isinstance(model, DependencyNetwork):
        trees = model.trees
        given |= {
            "target": model.target,
            "tree_start": trees.start,
            "split_var": trees.split_var,
            "child": trees.child,
            "log_prob": trees.log_prob,
        }
    kind = "markov_network" if isinstance(model, MarkovNetwork) else "dependency_network"
    arrays = {
        "kind": np.array(kind),
        "version": np.array(VERSION, "<i8"),
        "n_vars": np.array(model.n_vars, "<i8"),
        **{name: np.ascontiguousarray(array, _DTYPE[name]) for name, array in given.items()},
    }
    if model.names is not None:
        arrays["names"] = np.array(model.names, np.str_)
    write_arrays(path, arrays)


def _load_npz(path: Path | str) -> Model:
    arrays = read_arrays(path)
    kind = str(arrays.get("kind", "file of unnamed kind"))
    if kind not in ("markov_network", "dependency_network"):
        raise InputError(f"{path}: expected a model, this file holds a {kind}.")
    version = _whole_number(path, arrays, "version")
    if version > VERSION:
        raise InputError(
            f"{path}: has format version {version}, newer than this program reads ({VERSION})."
        )
    n_vars = _whole_number(path, arrays, "n_vars")
    names = _load_names(path, arrays, n_vars)
    is_network = kind == "dependency_network"
    for name in _FEATURES + (_TREES if is_network else ()):
        n_axes = 2 if name in ("child", "log_prob") else 1
        array = arrays.get(name)
        if array is None or array.dtype != _DTYPE[name] or array.ndim != n_axes:
            raise _damaged(path, name)
        arrays[name] = read_only(array)
    features = FeatureSet(arrays["start"], arrays["var"], arrays["value"])
    _check_features(path, features, arrays["weight"], n_vars)
    if not is_network:
        return MarkovNetwork(n_vars, features, arrays["weight"], names)
    trees = Trees(arrays["tree_start"], arrays["split_var"], arrays["child"], arrays["log_prob"])
    _check_trees(path, trees, n_vars)
    _check_targets(path, features, arrays["target"])
    return DependencyNetwork(trees, features, arrays["target"], arrays["weight"], names)


def _damaged(path: Path | str, name: str) -> InputError:
    return InputError(f"{path}: is damaged: its array {name!r} is missing or not a valid one.")


def _whole_number(path: Path | str, arrays: dict[str, NDArray], name: str) -> int:
    array = arrays.get(name)
    if array is None or array.shape != () or array.dtype.kind not in "iu" or array < 1:
        raise _damaged(path, name)
    return int(array)


def _load_names(
    path: Path | str, arrays: dict[str, NDArray], n_vars: int
) -> tuple[str, ...] | None:
    if "names" not in arrays:
        return None
    if arrays["names"].shape != (n_vars,):
        raise _damaged(path, "names")
    return tuple(str(name) for name in arrays["names"])


def _is_partition(start: NDArray, n_parts: int, total: int) -> bool:
    """Tell whether `start` cuts 0:total into `n_parts` consecutive spans."""
    return (
        len(start) == n_parts + 1
        and start[0] == 0
        and start[-1] == total
        and bool((np.diff(start) >= 0).all())
    )


def _check_features(path: Path | str, features: FeatureSet, weight: NDArray, n_vars: int) -> None:
    var, value = features.var, features.value
    if not _is_partition(features.start, len(weight), len(var)):
        raise _damaged(path, "start")
    if ((var < 0) | (var >= n_vars)).any():
        raise _damaged(path, "var")
    same_feature = np.diff(features.owner) == 0
    if (np.diff(var)[same_feature] <= 0).any():
        raise _damaged(path, "var")
    if len(value) != len(var) or (value > 1).any():
        raise _damaged(path, "value")
    if np.isnan(weight).any():
        raise _damaged(path, "weight")


def _check_targets(path: Path | str, features: FeatureSet, target: NDArray) -> None:
    if len(target) != len(features):
        raise _damaged(path, "target")
    owner = features.owner[features.var == target[features.owner]]
    if not np.array_equal(owner, np.arange(len(features))):
        raise _damaged(path, "target")


def _check_trees(path: Path | str, trees: Trees, n_vars: int) -> None:
    """Check that every node but the roots has one parent, before it and in the same tree."""
    n_nodes = len(trees.split_var)
    if not (_is_partition(trees.start, n_vars, n_nodes) and (np.diff(trees.start) > 0).all()):
        raise _damaged(path, "tree_start")
    if ((trees.split_var < LEAF) | (trees.split_var >= n_vars)).any():
        raise _damaged(path, "split_var")
    if trees.log_prob.shape != (n_nodes, 2) or np.isnan(trees.log_prob[trees.is_leaf]).any():
        raise _damaged(path, "log_prob")
    if trees.child.shape != (n_nodes, 2):
        raise _damaged(path, "child")
    inner = np.flatnonzero(~trees.is_leaf)
    child = trees.child[inner]
    others = np.setdiff1d(np.arange(n_nodes), trees.start[:-1])
    if not np.array_equal(np.sort(child, axis=None), others):
        raise _damaged(path, "child")
    same_tree = trees.target[child] == trees.target[inner][:, None]
    if not (same_tree.all() and (child > inner[:, None]).all()):
        raise _damaged(path, "child")


def describe(model: Model) -> dict[str, Any]:
    """Return what a model is: kind, variables, features by length, edges."""
    if isinstance(model, MarkovNetwork):
        counts = np.bincount(model.features.length)
        return {
            "kind": "Markov network",
            "n_vars": model.n_vars,
            "n_features": len(model.features),
            "n_nonzero": int((model.weight != 0).sum()),
            "features_by_length": {
                str(length): int(count) for length, count in enumerate(counts) if count
            },
            "n_edges": len(model.edges()),
        }
    trees = model.trees
    return {
        "kind": "dependency network",
        "n_vars": model.n_vars,
        "n_leaves": trees.n_informative_leaves,
        "deepest_leaf": int(trees.depth.max()),
        "n_features": len(model.features),
        "n_edges": len(parent_counts(model)),
    }
