"""Reading and writing models, the format chosen by the suffix of the file."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.errors import InputError
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.graph_files import parent_counts, write_edges, write_graphml
from mnlearn.models.libra import read_ac, read_dn, read_mn, write_ac, write_dn, write_mn
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.native import Model, read_npz, write_npz

__all__ = [
    "FORMS",
    "Model",
    "check_writable",
    "describe",
    "load_model",
    "load_network",
    "save_model",
]

_READERS: dict[str, Callable[[Path | str], Model]] = {
    ".npz": read_npz,
    ".mn": read_mn,
    ".dn": read_dn,
    ".ac": read_ac,
}
# Suffixes of the files that models can be read from.
FORMS = tuple(_READERS)
_GRAPHS = (".csv", ".graphml")


def load_model(path: Path | str) -> Model:
    """Read a model: `.npz` (native), `.mn`, `.dn` or `.ac` (Libra).

    Raises
    ------
    InputError
        The suffix is none of these, or the file is missing, malformed, damaged, written by a
        newer version or not a model.

    """
    suffix = Path(path).suffix.lower()
    if suffix in _GRAPHS:
        raise InputError(f"{path}: {suffix} files of models can only be written, not read.")
    if suffix not in _READERS:
        raise InputError(f"{path}: expected a model file that ends in {_listed(FORMS)}.")
    return _READERS[suffix](path)


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
        raise InputError(
            f"{path}: expected a dependency network, the file holds {_article(network)}."
        )
    return network


def save_model(model: Model, path: Path | str) -> None:
    """Write a model: `.npz` (native), `.mn`, `.dn` or `.ac` (Libra), `.csv` or `.graphml` (edges).

    Equal models are written to equal bytes. Only `.npz` keeps all of the model. A circuit whose
    parameters are weights of features may also be written as its Markov network.

    Raises
    ------
    InputError
        The suffix is none of these, or not one for this kind of model, or the file cannot be
        written.

    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        write_npz(model, path)
        return
    if isinstance(model, ArithmeticCircuit):
        if suffix == ".ac":
            write_ac(model, path)
            return
        check_writable(path)
        model = model.network()
    if suffix == ".csv":
        write_edges(model, path)
    elif suffix == ".graphml":
        write_graphml(model, path)
    elif suffix == ".mn":
        if not isinstance(model, MarkovNetwork):
            raise InputError(f"{path}: a .mn file holds a Markov network, not {_article(model)}.")
        write_mn(model, path)
    elif suffix == ".dn":
        if not isinstance(model, DependencyNetwork):
            raise InputError(
                f"{path}: a .dn file holds a dependency network, not {_article(model)}."
            )
        write_dn(model, path)
    elif suffix == ".ac":
        raise InputError(f"{path}: a .ac file holds a circuit, not {_article(model)}.")
    else:
        check_writable(path)


def check_writable(path: Path | str) -> None:
    """Refuse a path whose suffix is not that of a form in which models are written."""
    forms = (*FORMS, *_GRAPHS)
    if Path(path).suffix.lower() not in forms:
        raise InputError(f"{path}: expected a model file that ends in {_listed(forms)}.")


def _listed(forms: Iterable[str]) -> str:
    *first, last = forms
    return f"{', '.join(first)} or {last}"


def _article(model: Model) -> str:
    if isinstance(model, ArithmeticCircuit):
        return "an arithmetic circuit"
    return f"a {_KINDS[type(model)]}"


_KINDS = {MarkovNetwork: "Markov network", DependencyNetwork: "dependency network"}


def describe(model: Model) -> dict[str, Any]:
    """Return what a model is: kind, variables, features by length, edges."""
    if isinstance(model, ArithmeticCircuit):
        return {
            "kind": "arithmetic circuit",
            "n_vars": model.n_vars,
            "n_nodes": model.n_nodes,
            "n_edges": model.n_edges,
            "n_parameters": len(model.weight),
        }
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
