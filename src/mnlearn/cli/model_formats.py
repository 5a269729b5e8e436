"""Which formats can hold the model of each method, so that others are refused before learning."""

from pathlib import Path

from mnlearn.runtime.errors import InputError

_ANY = (".npz",)
_EDGES = (".csv", ".graphml")
_CIRCUIT = (".ac", ".nnf")
_MARKOV = (".mn", ".uai")
_BAYESIAN = (".bn", ".bif")

_NETWORK = _ANY + _MARKOV + _EDGES
_DEPENDENCIES = (*_ANY, ".dn", *_EDGES)
# A circuit is a Markov network too if its parameters are the weights of features, and a Bayesian
# network if they are those of CPDs. One with hidden variables is neither; a model of ltm has some
# on most data.
_HIDDEN = _ANY + _CIRCUIT
_FEATURES = _HIDDEN + _MARKOV + _EDGES
_CPDS = _FEATURES + _BAYESIAN

FORMATS = {
    **dict.fromkeys(("acbn", "chow_liu"), _CPDS),
    **dict.fromkeys(("acmn", "junction_tree", "lem"), _FEATURES),
    **dict.fromkeys(("hclt", "ltm", "mixture", "tree_bag"), _HIDDEN),
    **dict.fromkeys(("dn_bag", "dn_lr", "dn_mixed", "dn_tree"), _DEPENDENCIES),
    **dict.fromkeys(("atomic", "blm", "della_pietra", "dn2mn", "dtsl", "gssl"), _NETWORK),
    **dict.fromkeys(("l1", "lw"), _NETWORK),
}


def check_format(method: str, out: Path) -> None:
    """Refuse a file of a form that cannot hold the model that a method learns.

    Raises
    ------
    InputError
        Names the file, and the forms that can hold the model.
    """
    from mnlearn.models.io.formats import check_writable

    check_writable(out)
    forms = FORMATS.get(method)
    if forms is not None and out.suffix.lower() not in forms:
        expected = f"{', '.join(forms[:-1])} or {forms[-1]}"
        raise InputError(
            f"{out}: expected a file that ends in {expected}, which can hold a model of {method}."
        )
