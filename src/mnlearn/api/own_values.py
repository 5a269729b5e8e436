"""Evidence and answers of an estimator, in the values of its data in place of 0 and 1."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from mnlearn.api.inputs import find_variable, is_frame
from mnlearn.data.cell_texts import cell_text, is_same, number_of
from mnlearn.data.coding import Codes, codes_of_threshold
from mnlearn.data.domains import BINARY
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of


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
    if cut is not None and number is not None:
        return int(number > cut)
    if cut is not None:
        # What answers call the values on either side of the threshold.
        codes = codes_of_threshold([""], cut)[""]
    if codes is None or not text:
        return value
    for k, code in enumerate(codes):
        if is_same(text, code):
            return k
    if number is not None and number_of(codes[0]) is not None:
        raise InputError(f"{where}: expected {codes[0]} or {codes[1]} as in the data, got {value}.")
    return value


def as_written(answer: Any, model: Model, codes: Codes | None, *, as_texts: bool = False) -> Any:
    """Return an answer with the values of the data in place of 0 and 1.

    Parameters
    ----------
    answer : Series, DataFrame or ndarray
        Values 0 and 1 by variable or by column, or a joint distribution, whose index has them. An
        array is returned as it is.
    model : Model
        Has the variables.
    codes : tuple of (str, str), optional
        The values of each column; None if they are 0 and 1.
    as_texts : bool
        Whether values are texts also if they are numbers.
    """
    if codes is None or isinstance(answer, np.ndarray):
        return answer
    labels = labels_of(model.names, model.n_vars)
    own = {
        label: [code if as_texts else _value_of(code) for code in pair]
        for label, pair in zip(labels, codes, strict=True)
        if pair != BINARY
    }
    if is_frame(answer):
        return answer.assign(
            **{name: [own[name][int(x)] for x in answer[name]] for name in answer if name in own}
        )
    if answer.name == "probability":
        index = answer.index
        for level, name in enumerate(index.names):
            if name in own:
                index = index.set_levels([own[name][x] for x in index.levels[level]], level=level)
        return answer.set_axis(index)
    values = [own[name][int(x)] if name in own else x for name, x in answer.items()]
    written = type(answer)(values, answer.index, name=answer.name)
    written.attrs.update(answer.attrs)
    return written


def _value_of(code: str) -> Any:
    """Return a text of a table as a number, if it is one."""
    number = number_of(code)
    if number is None:
        return code
    return int(number) if number.is_integer() else number
