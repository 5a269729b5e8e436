"""Hyperparameters: how a learner declares one, and how a value given as text is read."""

import dataclasses
import types
import typing
from collections.abc import Iterable
from typing import Any

from mnlearn.runtime.errors import InputError


def parameter(
    default: Any,
    help_text: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    choices: Iterable[str] | None = None,
) -> Any:
    """Declare a hyperparameter as a dataclass field."""
    allowed = None if choices is None else tuple(choices)
    text = help_text if allowed is None else f"{help_text}: {', '.join(allowed)}"
    metadata = {"help": text, "low": low, "high": high, "above": above, "choices": allowed}
    return dataclasses.field(default=default, metadata=metadata)


def public_name(field: dataclasses.Field) -> str:
    """Return the name of a hyperparameter; a field named by a keyword ends in an underscore."""
    return field.name.rstrip("_")


def check_value(field: dataclasses.Field, value: Any) -> None:
    """Refuse a value outside of what a hyperparameter was declared to take."""
    name, rule = public_name(field), field.metadata
    if value is None:
        return
    if rule["choices"] is not None and value not in rule["choices"]:
        expected = ", ".join(rule["choices"])
        raise InputError(f"expected one of {expected}, got {value!r}.", where=f"parameter {name}")
    if rule["above"] is not None and not rule["above"] < value < float("inf"):
        raise InputError(
            f"expected a number above {rule['above']:g}, got {value:g}.", where=f"parameter {name}"
        )
    if rule["low"] is not None and not rule["low"] <= value <= rule["high"]:
        raise InputError(
            f"expected {rule['low']:g} to {rule['high']:g}, got {value:g}.",
            where=f"parameter {name}",
        )


def convert(name: str, value: Any, kind: Any) -> Any:
    """Return a value, perhaps text from a command line, as the annotated type."""
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if value is None or (isinstance(value, str) and value.lower() in ("none", "null")):
        if type(None) in options:
            return None
        raise InputError(f"expected a value, got {value}.", where=f"parameter {name}")
    wanted = next(option for option in options if option is not type(None))
    if wanted is bool:
        return _truth(name, value)
    if isinstance(value, bool) or (wanted is str and not isinstance(value, str)):
        raise InputError(f"expected {wanted.__name__}, got {value!r}.", where=f"parameter {name}")
    try:
        converted = wanted(value)
    except (TypeError, ValueError, OverflowError) as error:
        article = {"int": "a whole number", "float": "a number"}.get(wanted.__name__, "text")
        raise InputError(
            f"expected {article}, got {value!r}.", where=f"parameter {name}"
        ) from error
    if wanted is int and float(value) != converted:
        raise InputError(f"expected a whole number, got {value!r}.", where=f"parameter {name}")
    return converted


def _truth(name: str, value: Any) -> bool:
    """Return true or false, perhaps given as text."""
    known = {"true": True, "false": False}
    if str(value).lower() not in known:
        raise InputError(f"expected true or false, got {value!r}.", where=f"parameter {name}")
    return known[str(value).lower()]
