"""What is done about missing cells when a model is learned."""

from typing import TYPE_CHECKING

from mnlearn.data.dataset import Dataset
from mnlearn.data.incomplete import IncompleteData
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.learning.incomplete_circuits import Outcome
    from mnlearn.models.model import Model

# The examples are left out, or the cells are filled in, before a structure is learned.
TREATMENTS = ("drop", "impute")
# The cells are filled in to learn the structure, and summed out to learn the parameters.
EM = "em"


def treatment_of(missing: str | None, criterion: str) -> str | None:
    """Return what is done about missing cells before a structure is learned."""
    if missing not in (None, *TREATMENTS, EM):
        expected = ", ".join((*TREATMENTS, EM))
        raise InputError(f"missing: expected {expected} or None, got {missing!r}.")
    if missing == EM and criterion != "ll":
        raise InputError("expected a method that learns circuits.", where="missing em")
    return "impute" if missing == EM else missing


def refine(
    model: "Model", data: Dataset | IncompleteData, missing: str | None, threads: int = 1
) -> "Outcome | None":
    """Return what EM makes of a model if a person asks for it and cells are missing, else None."""
    if missing != EM or isinstance(data, Dataset):
        return None
    from mnlearn.learning.incomplete_circuits import run_em

    return run_em(model, data, threads=threads)
