"""Evidence as an argument of a command: a file, or a text such as asia=yes,smoke=no."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mnlearn.models.io.native import Model


class Question(NamedTuple):
    """Evidence and what is asked for; name_row : returns the name of a row, for messages."""

    rows: "NDArray[np.uint8]"
    asked: "NDArray[np.bool_]"
    name_row: Callable[[int], str]


def evidence_path(evidence: str) -> Path | None:
    """Return the file that evidence names; None if there is none, so that it is a text."""
    try:
        return Path(evidence) if evidence != "" and Path(evidence).exists() else None
    except OSError:  # a text too long for a name
        return None


def read_question(evidence: str, model: Any, option: str) -> Question:
    """Return the evidence in a file, or in the text itself where there is no file.

    Parameters
    ----------
    evidence
        What a person wrote.
    model
        Has the variables; see `mnlearn.data.coding.coded`.
    option
        Name of the option, for messages.
    """
    from mnlearn.data.domains import domains_of
    from mnlearn.inference.evidence import parse_evidence
    from mnlearn.inference.evidence_files import read_evidence

    path = evidence_path(evidence)
    if path is not None:
        found = read_evidence(path, model)
        first = found.first_line
        return Question(found.rows, found.asked, lambda row: f"{path}, line {first + row}")
    if "=" not in evidence:
        what = f"{evidence}: no such file" if evidence else f"{option}: has no text"
        name, domain = next(iter(domains_of(model).items()))
        raise InputError(
            f"{what}; expected a file of evidence, or variable=state such as "
            f"{name}={domain.states[0]}."
        )
    rows, asked = parse_evidence(evidence, model, option)
    return Question(rows, asked, lambda _row: option)


def unknown_question(model: "Model", path: Path) -> Question:
    """Return the evidence in which nothing is known, so that all variables are asked for.

    path : the file of the model, for messages.
    """
    import numpy as np

    shape = 1, model.n_vars
    return Question(np.zeros(shape, np.uint8), np.ones(shape, bool), lambda _row: str(path))
