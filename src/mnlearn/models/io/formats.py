"""Reading and writing models, the format chosen by the suffix of the file."""

import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.interactions import Graph, edge_weights
from mnlearn.models.io import bif, uai
from mnlearn.models.io.libra.ac import read_ac, write_ac, write_nnf
from mnlearn.models.io.libra.read import read_bn, read_dn, read_mn
from mnlearn.models.io.libra.write import write_bn, write_dn, write_mn
from mnlearn.models.io.native import read_npz, write_npz
from mnlearn.models.io.suffixes import form_of
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.atomic import is_standard
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.file_kinds import kind_of_file
from mnlearn.runtime.files import read_text, to_csv, write_bytes, write_text


def write_edges(network: Graph, path: Path | str) -> None:
    """Write the edges as CSV with the header `source,target,weight`, in order of the variables."""
    names = network.schema.names
    edges = sorted(edge_weights(network).items())
    rows = [{"source": names[u], "target": names[v], "weight": w} for (u, v), w in edges]
    text = to_csv(rows) if rows else "source,target,weight\n"
    write_text(path, text)


def write_graphml(network: Graph, path: Path | str) -> None:
    """Write the graph as GraphML: nodes V0, V1, … with a `name`, edges as in `write_edges`."""
    import networkx as nx  # takes long to import; no other format needs it

    made = nx.DiGraph() if network.is_directed else nx.Graph()
    for v, name in enumerate(network.schema.names):
        made.add_node(f"V{v}", name=name)
    for (u, v), weight in sorted(edge_weights(network).items()):
        made.add_edge(f"V{u}", f"V{v}", weight=weight)
    content = io.BytesIO()
    # nx.write_graphml would use lxml where it is installed, and write other bytes.
    nx.write_graphml_xml(made, content)
    write_bytes(path, content.getvalue())


_READERS: dict[str, Callable[[Path | str], Model]] = {
    ".npz": read_npz,
    ".mn": read_mn,
    ".dn": read_dn,
    ".bn": read_bn,
    ".ac": read_ac,
    ".bif": bif.read_bif,
    ".uai": uai.read_uai,
    **dict.fromkeys((".xmlbif", ".bifxml", ".xml"), bif.read_bif),
}
# Suffixes of the files that models can be read from.
FORMS = tuple(_READERS)
# The kind of model that a format holds, and its writer.
_WRITERS: dict[str, tuple[type[Model], Callable[[Any, Path | str], None]]] = {
    ".mn": (MarkovNetwork, write_mn),
    ".dn": (DependencyNetwork, write_dn),
    ".bn": (BayesianNetwork, write_bn),
    ".bif": (BayesianNetwork, bif.write_bif),
    ".ac": (ArithmeticCircuit, write_ac),
    ".nnf": (ArithmeticCircuit, write_nnf),
}
_UAI = ".uai"
# Networks of other programs, and what they can be converted with.
_AGRUM = "convert it to .bif, for example with pyAgrum: saveBN(loadBN(file), 'network.bif')"
_GENIE = "save it as .xdsl in GeNIe, and convert that to .bif with pyAgrum"
_FOREIGN = {
    **dict.fromkeys((".xdsl", ".dsl"), ("a network of GeNIe", _AGRUM)),
    ".net": ("a network of Hugin", _AGRUM),
    ".o3prm": ("a model of aGrUM", _AGRUM),
    **dict.fromkeys((".dne", ".neta"), ("a network of Netica", _GENIE)),
    ".dsc": ("a network of MSBN", _GENIE),
    **dict.fromkeys(
        (".rds", ".rda", ".rdata"), ("a file of R", "write.bif of bnlearn writes .bif")
    ),
}
_GRAPHS = {".csv": write_edges, ".graphml": write_graphml}
_WRITTEN = (".npz", *_WRITERS, _UAI, *_GRAPHS)


# How the texts of models begin.
_BEGINNINGS = {
    ".xmlbif": r"\s*<",
    ".ac": r"\s*\(",
    ".uai": r"(?:\s|#.*\n)*(?:MARKOV|BAYES)\b",
    ".bif": r"(?s:.*?)^\s*(?:network|variable)\b.*\{",
    **{f".{kind}": rf"(?s:.*?)^\s*{kind}\s*\{{" for kind in ("mn", "dn", "bn")},
}


def form_of_source(path: Path | str) -> str:
    """Return the suffix that names the form of a file that is read; stdin has that of its text."""
    if form_of(path) or not is_standard(path):
        return form_of(path)
    text, flags = read_text(path), re.IGNORECASE | re.MULTILINE
    return next((form for form, mark in _BEGINNINGS.items() if re.match(mark, text, flags)), "")


def load_model(path: Path | str) -> Model:
    """Read a model; the suffix names the format, before that of a compression of a text."""
    suffix = form_of_source(path)
    if suffix in _GRAPHS:
        raise InputError(f"{path}: {suffix} files of models can only be written, not read.")
    if suffix not in _READERS:
        name, advice = _FOREIGN.get(suffix) or kind_of_file(path) or (None, None)
        if name is not None:
            raise InputError(f"is {name}, which is not read.", where=path, advice=advice)
        raise InputError(f"{path}: expected a model file that ends in {_listed(FORMS)}.")
    return _READERS[suffix](path)


def save_model(model: Model, path: Path | str) -> None:
    """Write a model; the suffix names the format. Equal models are written to equal bytes.

    Only `.npz` keeps all of the model. A model that is another kind's too may be written as that:
    circuits and junction trees as networks, Bayesian networks as Markov networks.
    """
    check_writable(path)
    suffix = form_of(path)
    if suffix == ".npz":
        write_npz(model, path)
    elif suffix in _GRAPHS:
        _GRAPHS[suffix](model.graph(), path)
    elif suffix == _UAI:
        has_tables = isinstance(model, MarkovNetwork | BayesianNetwork | JunctionTree)
        made: Any = model if has_tables else _as_kind(model, MarkovNetwork, path)
        uai.write_uai(made, path)
    else:
        kind, write = _WRITERS[suffix]
        if not isinstance(model, kind):
            model = _as_kind(model, kind, path)
        write(model, path)


def _as_kind(model: Model, kind: type[Model], path: Path | str) -> Model:
    """Return the same distribution as another kind of model."""
    converted: Model
    if kind is MarkovNetwork and model.has_joint:
        converted = model.to_markov_network()
        return converted
    if kind is ArithmeticCircuit and model.is_exact:
        converted = model.to_circuit()
        return converted
    if kind is BayesianNetwork and isinstance(model, ArithmeticCircuit | JunctionTree):
        return model.to_bayesian_network()
    suffix = form_of(path)
    raise InputError(f"{path}: a {suffix} file holds {kind.title}, not {model.title}.")


def check_writable(path: Path | str) -> None:
    """Raise InputError if no format of models that can be written has the suffix of a path."""
    if str(path) == "-":
        raise InputError("-: expected the form of what is written, such as -.bif.")
    if form_of(path) not in _WRITTEN:
        raise InputError(f"{path}: expected a model file that ends in {_listed(_WRITTEN)}.")


def _listed(forms: Iterable[str]) -> str:
    *first, last = forms
    return f"{', '.join(first)} or {last}"


def describe(model: Model) -> dict[str, Any]:
    """Return the kind of a model, its sizes, and which queries it answers exactly if not all."""
    record = {"kind": model.title.split(" ", 1)[1], **model.describe()}
    if not model.is_deterministic():
        record |= {
            "exact": "log-likelihood, marginals given evidence, samples",
            "not_exact": "most probable state (hidden variables are maximised too)",
        }
    return record
