"""Suffixes of the files that can hold models of each kind."""

from pathlib import Path

from mnlearn.runtime.decompression import COMPRESSED

_ANY = (".npz",)
_EDGES = (".csv", ".graphml")
_CIRCUIT = (".ac", ".nnf")
_MARKOV = (".mn", ".uai")

NETWORK = _ANY + _MARKOV + _EDGES
DEPENDENCY_NETWORK = (*_ANY, ".dn", *_EDGES)
# A circuit with hidden variables, as most of LTM have, is neither a Markov nor a Bayesian network.
HIDDEN = _ANY + _CIRCUIT
# A circuit is a Markov network too if its parameters are the weights of features, and a Bayesian
# network if they are those of CPDs.
CIRCUIT_OF_FEATURES = HIDDEN + _MARKOV + _EDGES
CIRCUIT_OF_CPDS = (*CIRCUIT_OF_FEATURES, ".bn", ".bif")


def form_of(path: Path | str) -> str:
    """Return the suffix that names the form of a file, before that of a compression."""
    *_, before, last = ["", "", *(suffix.lower() for suffix in Path(path).suffixes)]
    return before if last in COMPRESSED and before != ".npz" else last
