"""Queries of a person: rows of 0, 1 and *, answered by conditional marginals."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import separator_of
from mnlearn.inference.circuits.exact import UNKNOWN
from mnlearn.inference.circuits.exact import marginals as circuit_marginals
from mnlearn.inference.hidden_trees import marginals as hidden_tree_marginals
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.fields import States
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io.native import Model
from mnlearn.models.tree_models import TreeModel, circuit_of
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, split_lines


class Evidence(NamedTuple):
    """Rows of evidence in a file.

    rows : uint8, shape (n_rows, n_vars). The values; 0 where one is asked for.
    asked : bool, shape (n_rows, n_vars). Which values are asked for.
    first_line : the line of the first row, from 1.
    """

    rows: NDArray[np.uint8]
    asked: NDArray[np.bool_]
    first_line: int


def read_evidence(
    path: Path,
    n_vars: int,
    names: tuple[str, ...] | None = None,
    states: States | None = None,
) -> Evidence:
    """Read rows of evidence from a file whose cells commas, semicolons or tabs separate.

    Parameters
    ----------
    path : Path
        Each line has a value for every variable: 0, 1, or * or nothing for a query variable. The
        first line may have names.
    n_vars : int
        Number of variables of the model.
    names : tuple of str, optional
        Names of the variables of the model.
    states : tuple of (str, str), optional
        Names of the values 0 and 1 of each variable, which may stand for them.

    Raises
    ------
    InputError
        A line has another number of values than the model has variables, or another value than 0, 1
        or *; or the names in the first line differ from `names`.
    """
    rows, asked = [], []
    lines = split_lines(read_text(path).removeprefix("\ufeff").rstrip(" \r\n"))
    for number, line in enumerate(lines, start=1):
        fields = _split_fields(line, separator_of(lines[0]), f"{path}, line {number}")
        if number == 1 and _is_header(fields):
            _check_header(fields, names, f"{path}, line 1")
            continue
        if len(fields) != n_vars:
            raise InputError(f"{path}, line {number}: expected {n_vars} values, got {len(fields)}.")
        if states is not None:
            known = [dict(zip(own, "01", strict=True)) for own in states]
            fields = [own.get(field, field) for own, field in zip(known, fields, strict=True)]
        fields = [field or "*" for field in fields]
        wrong = [field for field in fields if field not in ("0", "1", "*")]
        if wrong:
            raise InputError(f"{path}, line {number}: expected 0, 1 or *, got {wrong[0]!r}.")
        asked.append([field == "*" for field in fields])
        rows.append([field == "1" for field in fields])
    if not rows:
        raise InputError(f"{path}: holds no evidence.")
    return Evidence(np.array(rows, np.uint8), np.array(asked), len(lines) - len(rows) + 1)


def _split_fields(line: str, separator: str, where: str) -> list[str]:
    reader = csv.reader([line], delimiter=separator, skipinitialspace=separator == ",", strict=True)
    try:
        return [field.strip() for field in next(reader, [])]
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV: {error}.") from error


def _check_header(fields: list[str], names: tuple[str, ...] | None, where: str) -> None:
    """Raise InputError unless a header has the names of the model, if it has any."""
    if names is None:
        return
    if len(fields) != len(names):
        raise InputError(f"{where}: expected {len(names)} names, got {len(fields)}.")
    for column, (name, other) in enumerate(zip(names, fields, strict=True), start=1):
        if name != other:
            raise InputError(
                f"{where}: expected {name!r} as column {column} as in the model, got {other!r}."
            )


def _is_header(fields: list[str]) -> bool:
    """Tell whether a line has names: no field is a value or a number."""
    for field in fields:
        if field == "*":
            return False
        try:
            float(field)
        except ValueError:
            continue
        return False
    return True


def answer(
    model: Model,
    rows: NDArray[np.uint8],
    asked: NDArray[np.bool_],
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
    name_row: Callable[[int], str] = "evidence, row {}".format,
) -> NDArray[np.float64]:
    """Return P(X_v = 1 | evidence) for the values that are asked for.

    Rows that ask for the same variables are answered together. The answers of a circuit are exact.

    Parameters
    ----------
    model : Model
        Any kind of model.
    rows, asked : ndarray, shape (n_rows, n_vars)
        See `Evidence`.
    inference : Inference
        Used for models that are no circuits.
    seed : int
        See `inference.marginals.conditional_marginals`.
    threads : int
        Number of threads; the result does not depend on it.
    name_row : callable
        Returns the name of a row, counted from 0, for messages.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_vars)
        Values of the evidence keep their 0 or 1.

    Raises
    ------
    InputError
        A circuit gives the evidence of a row probability 0.
    """
    out = rows.astype(np.float64)
    if isinstance(model, TreeModel) and not isinstance(model, HiddenTree):
        model = circuit_of(model)
    if isinstance(model, ArithmeticCircuit | HiddenTree):
        evidence = np.where(asked, UNKNOWN, rows).astype(np.uint8)
        return np.where(asked, _exact_marginals(model, evidence, threads, name_row), out)
    terms = terms_of(model)
    patterns, pattern_of = np.unique(asked, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        members = np.flatnonzero(pattern_of.ravel() == k)
        query = np.flatnonzero(pattern)
        found = conditional_marginals(
            terms, rows[members], query, inference, seed=seed, threads=threads
        )
        out[np.ix_(members, query)] = found.probability[found.row_of]
    return out


def _exact_marginals(
    model: ArithmeticCircuit | HiddenTree,
    evidence: NDArray[np.uint8],
    threads: int,
    name_row: Callable[[int], str],
) -> NDArray[np.float64]:
    """Return P(X_v = 1 | evidence); refuse evidence of probability 0."""
    if isinstance(model, HiddenTree):
        found = hidden_tree_marginals(model, evidence, threads)
    else:
        found = circuit_marginals(model, evidence, threads)
    impossible = np.flatnonzero(np.isnan(found).any(axis=1))
    if len(impossible):
        raise InputError(f"{name_row(int(impossible[0]))}: has probability 0.")
    return found


def format_answers(
    probability: NDArray[np.float64],
    rows: NDArray[np.uint8],
    asked: NDArray[np.bool_],
    names: tuple[str, ...] | None,
) -> str:
    """Return the answers as CSV text: probabilities where asked, else the value of the evidence."""
    header = io.StringIO()
    if names:
        csv.writer(header, lineterminator="\n").writerow(names)
    lines = []
    for p, row, wanted in zip(probability, rows, asked, strict=True):
        fields = [f"{pv:.6f}" if w else str(x) for pv, x, w in zip(p, row, wanted, strict=True)]
        lines.append(",".join(fields))
    return header.getvalue() + "\n".join(lines) + "\n"
