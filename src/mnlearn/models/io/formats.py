"""Reading and writing models, the format chosen by the suffix of the file."""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.suffixes import BY_SUFFIX, FORMS, READ, WRITTEN, form_of
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.atomic import is_standard
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.file_kinds import kind_of_file
from mnlearn.runtime.files import read_text

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


def form_of_source(path: Path | str) -> str:
    """Return the suffix that names the form of a file that is read; stdin has that of its text."""
    if form_of(path) or not is_standard(path):
        return form_of(path)
    text, flags = read_text(path), re.IGNORECASE | re.MULTILINE
    # Patterns of the first words alone are those of later forms.
    named = (form for form in reversed(FORMS) if form.begins)
    return next((form.suffix for form in named if re.match(form.begins, text, flags)), "")


def _function(name: str) -> Callable[..., Any]:
    """Return the reader or the writer that a form names."""
    module, _, function = name.rpartition(".")
    found: Callable[..., Any] = getattr(import_module(f"mnlearn.models.io.{module}"), function)
    return found


def load_model(path: Path | str) -> Model:
    """Read a model; the suffix names the format, before that of a compression of a text."""
    suffix = form_of_source(path)
    if suffix in WRITTEN and suffix not in READ:
        raise InputError(f"{path}: {suffix} files of models can only be written, not read.")
    if suffix not in READ:
        name, advice = _FOREIGN.get(suffix) or kind_of_file(path) or (None, None)
        if name is not None:
            raise InputError(f"is {name}, which is not read.", where=path, advice=advice)
        raise InputError(f"{path}: expected a model file that ends in {_listed(READ)}.")
    model: Model = _function(BY_SUFFIX[suffix].read)(path)
    return model


def save_model(model: Model, path: Path | str) -> None:
    """Write a model, or the other kind that it is too; the suffix names the format.

    Equal models are written to equal bytes; only `.npz` keeps all of a model.
    """
    check_writable(path)
    form = BY_SUFFIX[form_of(path)]
    made: Any = model.graph() if form.is_graph else model
    if not form.is_graph and not isinstance(model, form.holds):
        made = _as_kind(model, form.holds[0], path)
    _function(form.write)(made, path)


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
    if form_of(path) not in WRITTEN:
        raise InputError(f"{path}: expected a model file that ends in {_listed(WRITTEN)}.")


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
