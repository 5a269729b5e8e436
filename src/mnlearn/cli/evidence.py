"""Evidence as an argument of a command: a file, or a text such as asia=yes,smoke=no."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnlearn.cli.files import ModelFile
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


def read_question(evidence: str | None, opened: ModelFile, option: str) -> Question:
    """Return the evidence in a file, or in the text itself where there is no file.

    Parameters
    ----------
    evidence
        What a person wrote, in the values of the data of the model; None if nothing is known.
    opened
        The model.
    option
        Name of the option, for messages.
    """
    import numpy as np

    from mnlearn.data.domains import domains_of
    from mnlearn.inference.evidence import parse_evidence, read_evidence

    model = opened.coded
    if evidence is None:
        shape = 1, model.n_vars
        return Question(np.zeros(shape, np.uint8), np.ones(shape, bool), lambda _: str(opened.path))
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
