"""Evidence for an estimator, in the values that its data had when they were read as 0 and 1."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from mnlearn.api.inputs import find_variable, is_frame
from mnlearn.data.cell_texts import cell_text, is_same, number_of
from mnlearn.runtime.errors import InputError


def as_read(
    estimator: Any, evidence: Any, codes: Mapping[str, tuple[str, str]], argument: str = "evidence"
) -> Any:
    """Return evidence with 0 and 1 in place of the values of the data.

    Parameters
    ----------
    estimator : estimator
        It was fitted; `binarize` cuts numbers of evidence as it cut those of the data.
    evidence : mapping, DataFrame or anything else
        Values by variable; other forms, such as arrays, are returned as they are.
    codes : mapping of str to (str, str)
        The values of each column that were read as 0 and 1, where they are others.
    argument : str
        What messages call the evidence.

    Raises
    ------
    InputError
        A number is none of the two numbers that the column had.
    """
    found = getattr(estimator, "feature_names_in_", None)
    names = None if found is None else [str(name) for name in found]
    cut = estimator.binarize

    def read(given: Any, value: Any) -> Any:
        name = given
        if names is not None:
            # Whoever answers refuses what is no column, or finds a variable of several columns.
            with suppress(InputError):
                name = names[find_variable(given, names, len(names), argument)]
        return _as_code(value, codes.get(name), cut, f"{argument}, variable {name!r}")

    if isinstance(evidence, Mapping):
        return {given: read(given, value) for given, value in evidence.items()}
    if is_frame(evidence):
        read_columns = {name: [read(name, x) for x in evidence[name]] for name in evidence}
        return type(evidence)(read_columns, index=evidence.index)
    return evidence


def _as_code(value: Any, codes: tuple[str, str] | None, cut: float | None, where: str) -> Any:
    text = value if isinstance(value, str) else cell_text(value)
    number = number_of(text)
    if cut is not None:
        return value if number is None else int(number > cut)
    if codes is None or not text:
        return value
    for k, code in enumerate(codes):
        if is_same(text, code):
            return k
    if number is not None and number_of(codes[0]) is not None:
        raise InputError(f"{where}: expected {codes[0]} or {codes[1]} as in the data, got {value}.")
    return value
