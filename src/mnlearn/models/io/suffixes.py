"""The list of the forms of model files. All that reads, writes or names such files reads it.

Readers and writers are named by their module here, and imported when they are used.
"""

from dataclasses import dataclass
from pathlib import Path

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.decompression import COMPRESSED


@dataclass(frozen=True)
class Form:
    """A form of model files.

    read, write : functions of this folder, `module.function`, or empty. holds : kinds of models
    that are written as they are. begins : pattern of a text by which stdin is known. is_numbered :
    whether numbers stand for names and states. is_graph : whether it holds edges only.
    """

    suffix: str
    read: str = ""
    write: str = ""
    holds: tuple[type[Model], ...] = (Model,)
    begins: str = ""
    is_numbered: bool = False
    is_graph: bool = False


def _libra(kind: str, holds: type[Model]) -> Form:
    begins = rf"(?s:.*?)^\s*{kind}\s*\{{"
    read, write = f"libra.read.read_{kind}", f"libra.write.write_{kind}"
    return Form(f".{kind}", read, write, (holds,), begins, is_numbered=True)


_OF_BIF = r"(?s:.*?)^\s*(?:network|variable)\b.*\{"
_OF_UAI = r"(?:\s|#.*\n)*(?:MARKOV|BAYES)\b"
_TABLES = (MarkovNetwork, BayesianNetwork, JunctionTree)
_EDGES = (MarkovNetwork, DependencyNetwork)
FORMS = (
    Form(".npz", "native.read_npz", "native.write_npz"),
    _libra("mn", MarkovNetwork),
    _libra("dn", DependencyNetwork),
    _libra("bn", BayesianNetwork),
    Form(".bif", "bif.read_bif", "bif.write_bif", (BayesianNetwork,), _OF_BIF),
    Form(".ac", "libra.ac.read_ac", "libra.ac.write_ac", (ArithmeticCircuit,), r"\s*\("),
    Form(".nnf", "", "libra.ac.write_nnf", (ArithmeticCircuit,), is_numbered=True),
    Form(".uai", "uai.read_uai", "uai.write_uai", _TABLES, _OF_UAI, is_numbered=True),
    Form(".xmlbif", "bif.read_bif", begins=r"\s*<"),
    Form(".bifxml", "bif.read_bif"),
    Form(".xml", "bif.read_bif"),
    Form(".csv", "", "graphs.write_edges", _EDGES, is_graph=True),
    Form(".graphml", "", "graphs.write_graphml", _EDGES, is_graph=True),
)
BY_SUFFIX = {form.suffix: form for form in FORMS}
# Suffixes of the files that models can be read from, and written to.
READ = tuple(form.suffix for form in FORMS if form.read)
WRITTEN = tuple(form.suffix for form in FORMS if form.write)


def _of(*kinds: type[Model]) -> tuple[str, ...]:
    """Return the suffixes for models that are of some kinds at once."""
    written = (form for form in FORMS if form.write)
    return tuple(form.suffix for form in written if any(issubclass(k, form.holds) for k in kinds))


# What the models of a learner can be written to.
NETWORK = _of(MarkovNetwork)
DEPENDENCY_NETWORK = _of(DependencyNetwork)
# A circuit with hidden variables, as most of LTM have, is neither a Markov nor a Bayesian network.
HIDDEN = _of(ArithmeticCircuit)
# A circuit is a Markov network too if its parameters are the weights of features, and a Bayesian
# network if they are those of CPDs.
CIRCUIT_OF_FEATURES = _of(ArithmeticCircuit, MarkovNetwork)
CIRCUIT_OF_CPDS = _of(ArithmeticCircuit, MarkovNetwork, BayesianNetwork)


def form_of(path: Path | str) -> str:
    """Return the suffix that names the form of a file, before that of a compression."""
    *_, before, last = ["", "", *(suffix.lower() for suffix in Path(path).suffixes)]
    return before if last in COMPRESSED and before != ".npz" else last
