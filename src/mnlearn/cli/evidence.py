"""Evidence as an argument of a command: a file, or a text such as asia=yes,smoke=no."""

from pathlib import Path
from typing import TYPE_CHECKING

from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.api.queries import Question
    from mnlearn.models.model import Model


def evidence_path(evidence: str) -> Path | None:
    """Return the file that evidence names; None if there is none, so that it is a text."""
    try:
        return Path(evidence) if evidence != "" and Path(evidence).exists() else None
    except OSError:  # a text too long for a name
        return None


def read_question(evidence: str | None, model: "Model", path: Path, option: str) -> "Question":
    """Return the evidence in a file, or in the text itself where there is no file.

    Parameters
    ----------
    evidence : str, optional
        What a person wrote; None if nothing is known.
    model : Model
        Has the variables.
    path : Path
        File of the model, for messages.
    option : str
        Name of the option, for messages.
    """
    from mnlearn.api.queries import Question
    from mnlearn.inference.evidence import parse_evidence, read_evidence, read_mapping
    from mnlearn.runtime.progress import say

    schema = model.schema
    if evidence is None:
        return Question(read_mapping(schema, None, str(path)), "mapping")
    file = evidence_path(evidence)
    if file is not None:
        found, note = read_evidence(file, schema)
        if note is not None:
            say(note)
        return Question(found, "table")
    if "=" not in evidence:
        what = f"{evidence}: no such file" if evidence else f"{option}: has no text"
        first = schema[0]
        raise InputError(
            f"{what}; expected a file of evidence, or variable=state such as "
            f"{first.name}={first.texts[0]}."
        )
    return Question(parse_evidence(evidence, schema, option), "mapping")
