"""Questions of a person: rows of 0, 1 and *, answered by conditional marginals."""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.exact import UNKNOWN
from mnlearn.inference.circuits.exact import marginals as circuit_marginals
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.native import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text


def read_evidence(
    path: Path, n_vars: int, names: tuple[str, ...] | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the rows, and which of their values are asked for, both (n_rows, n_vars).

    Raises
    ------
    InputError
        A line has another number of values than the model has variables, or another value
        than 0, 1 or *; or a first line of names differs from `names`, those of the model.
    """
    rows, asked = [], []
    lines = read_text(path).removeprefix("\ufeff").rstrip().splitlines()
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True), [])]
        if number == 1 and _is_header(cells):
            if names is not None and tuple(cells) != names:
                raise InputError(
                    f"{path}, line 1: the columns have other names, or another order, than the "
                    "model's."
                )
            continue
        if len(cells) != n_vars:
            raise InputError(f"{path}, line {number}: expected {n_vars} values, got {len(cells)}.")
        wrong = [cell for cell in cells if cell not in ("0", "1", "*")]
        if wrong:
            raise InputError(f"{path}, line {number}: expected 0, 1 or *, got {wrong[0]!r}.")
        asked.append([cell == "*" for cell in cells])
        rows.append([cell == "1" for cell in cells])
    if not rows:
        raise InputError(f"{path}: holds no evidence.")
    return np.array(rows, np.uint8), np.array(asked)


def _is_header(cells: list[str]) -> bool:
    """Tell whether no cell is a value or a number: then it is a line of names."""
    for cell in cells:
        if cell == "*":
            return False
        try:
            float(cell)
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
) -> NDArray[np.float64]:
    """Return P(X_v = 1 | values not asked for), float64 of the shape of `rows`.

    Values that are given keep their 0 or 1. Rows that ask for the same variables are answered
    together. In a circuit the answers are exact.

    Raises
    ------
    InputError
        A circuit gives the evidence of a row probability 0.
    """
    out = rows.astype(np.float64)
    if isinstance(model, ArithmeticCircuit):
        found_one = circuit_marginals(
            model, np.where(asked, UNKNOWN, rows).astype(np.uint8), threads
        )
        if np.isnan(found_one).any():
            impossible = int(np.flatnonzero(np.isnan(found_one).any(axis=1))[0])
            raise InputError(f"evidence, row {impossible + 1}: has probability 0.")
        return np.where(asked, found_one, out)
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


def format_answers(
    probability: NDArray[np.float64],
    rows: NDArray[np.uint8],
    asked: NDArray[np.bool_],
    names: tuple[str, ...] | None,
) -> str:
    """Return CSV text: probabilities where asked, else the given value."""
    header = io.StringIO()
    if names:
        csv.writer(header, lineterminator="\n").writerow(names)
    lines = []
    for p, row, wanted in zip(probability, rows, asked, strict=True):
        cells = [f"{pv:.6f}" if w else str(x) for pv, x, w in zip(p, row, wanted, strict=True)]
        lines.append(",".join(cells))
    return header.getvalue() + "\n".join(lines) + "\n"
