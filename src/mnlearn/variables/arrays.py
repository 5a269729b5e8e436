"""A schema as arrays of a native file, and the files of 1.0, which had columns in its place."""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import check_names, labels_of
from mnlearn.variables.schema import BINARY, Schema, Variable, binary_schema
from mnlearn.variables.variable import PANDAS_STATES, is_numbered

_PLAIN = (BINARY, False, None)
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def schema_arrays(schema: Schema) -> dict[str, NDArray]:
    """Return the arrays that keep a schema in a file.

    Variables of the states 0 and 1 need no more than their names, and no array if they have none.
    """
    if all((v.states, v.ordered, v.dtype) == _PLAIN and is_numbered(v.states) for v in schema):
        return {"names": np.array(schema.names, np.str_)} if schema.is_named else {}
    content = {
        "is_named": schema.is_named,
        "variables": [
            {"name": v.name, "states": v.states, "ordered": v.ordered, "dtype": v.dtype}
            for v in schema
        ],
    }
    return {"schema": np.array(json.dumps(content, default=_content_of))}


def _content_of(state: Any) -> Any:
    """Return what JSON keeps of a state of NumPy or pandas; see `_state_of`."""
    kind = type(state).__name__
    if kind == "Interval":
        return {kind: [state.left, state.right, state.closed]}
    if kind == "Period":
        return {kind: [str(state), state.freqstr]}
    if kind in PANDAS_STATES:
        return {kind: [state.isoformat()]}
    return state.item() if isinstance(state, np.generic) else str(state)


def _state_of(content: Any) -> Any:
    """Return the state that JSON keeps: a text, a number, a boolean, or one of pandas."""
    if not isinstance(content, dict):
        return content
    import pandas as pd

    [(kind, own)] = content.items()
    return getattr(pd, kind)(*map(_state_of, own)) if kind in PANDAS_STATES else None


def schema_of_arrays(
    path: Path | str, arrays: Mapping[str, NDArray], n_vars: int
) -> tuple[Schema, NDArray[np.int64] | None]:
    """Return the schema in the arrays of a file.

    Files of 1.0 have `names`, `states`, `codes`, and say by `group_of`, or by `group_start` and
    `group_column`, which columns are one variable. Then the second value is the column of the file
    for each column of the schema; else it is None.
    """
    if "schema" in arrays:
        return _read_json(path, arrays["schema"], n_vars), None
    texts = _texts(path, arrays, "names", (n_vars,))
    names = None if texts is None else check_names(texts, f"{path}, names")
    groups = _groups(path, arrays, n_vars)
    if groups:
        return schema_of_groups(names, groups, n_vars)
    kept = "states" if "states" in arrays else "codes"
    states = _texts(path, arrays, kept, (n_vars, 2))
    if states is None:
        return binary_schema(n_vars, names), None
    pairs = zip(labels_of(names, n_vars), states, strict=True)
    return Schema(tuple(Variable(n, states_of(s)) for n, s in pairs), names is not None), None


def states_of(texts: Sequence[str]) -> tuple[str | int, ...]:
    """Return the states that are written as texts: whole numbers if all of them are."""
    return tuple(map(int, texts)) if all(map(_WHOLE.fullmatch, texts)) else tuple(texts)


def schema_of_groups(
    names: Sequence[str] | None, groups: Sequence[Sequence[int]], n_columns: int
) -> tuple[Schema, NDArray[np.int64]]:
    """Return the schema of binary columns, of which some together are one variable.

    Columns `a=x` and `a=y` are the variable `a` with the states `x` and `y`. Other columns give the
    variable the name of the first one, and are themselves the states.
    """
    labels = labels_of(names, n_columns)
    grouped = {column for group in groups for column in group}
    singles = [(c,) for c in range(n_columns) if c not in grouped]
    variables: list[Variable] = []
    columns: list[int] = []
    for own in sorted([*map(tuple, groups), *singles], key=min):
        if len(own) == 1:
            variables.append(Variable(labels[own[0]]))
            columns += own
            continue
        before = {labels[c].partition("=")[0] for c in own}
        after = tuple(labels[c].partition("=")[2] for c in own)
        if len(before) == 1 and all(after):
            variables.append(Variable(before.pop(), states_of(after)))
        else:
            variables.append(Variable(labels[own[0]], tuple(labels[c] for c in own)))
        # Of two columns, the second one says all.
        columns += own[1:] if len(own) == 2 else own
    return Schema(tuple(variables), names is not None), np.array(columns, np.int64)


def _groups(path: Path | str, arrays: Mapping[str, NDArray], n_columns: int) -> list[list[int]]:
    """Return the columns of each variable of several columns in a file of 1.0."""
    try:
        if "group_of" in arrays:
            label = arrays["group_of"]
            groups = [np.flatnonzero(label == g).tolist() for g in np.unique(label[label >= 0])]
        elif "group_start" in arrays:
            column, start = arrays["group_column"].tolist(), arrays["group_start"].tolist()
            groups = [column[a:b] for a, b in itertools.pairwise(start)]
            if start != [0, *itertools.accumulate(map(len, groups))]:
                raise ValueError
        else:
            return []
        given = [c for group in groups for c in group]
        if len(set(given)) == len(given) and set(given) <= set(range(n_columns)):
            return [group for group in groups if len(group) > 1]
    except (KeyError, TypeError, ValueError, IndexError):
        pass
    raise InputError(f"{path}: is damaged: its groups of columns are not valid ones.")


def _texts(
    path: Path | str, arrays: Mapping[str, NDArray], name: str, shape: tuple[int, ...]
) -> list[Any] | None:
    if name not in arrays:
        return None
    array = arrays[name]
    if array.shape != shape or array.dtype.kind != "U":
        raise InputError(f"{path}: is damaged: its array {name!r} is missing or not a valid one.")
    return list(array.tolist())


def _read_json(path: Path | str, array: NDArray, n_vars: int) -> Schema:
    try:
        content = json.loads(str(array))
        variables = tuple(
            Variable(v["name"], tuple(map(_state_of, v["states"])), bool(v["ordered"]), v["dtype"])
            for v in content["variables"]
        )
        if len(variables) == n_vars:
            return Schema(variables, bool(content["is_named"]))
    except (ValueError, KeyError, TypeError):
        pass
    raise InputError(f"{path}: is damaged: its array 'schema' is missing or not a valid one.")
