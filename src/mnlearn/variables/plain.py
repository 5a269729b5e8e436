"""Names and states for programs that read letters, digits and `_` only."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace

from mnlearn.variables.schema import Schema, Variable

_PLAIN = re.compile(r"[0-9A-Za-z_]+")
# Intervals keep their bounds in words.
_WORDS = (("<=", "to_"), (">=", "from_"), ("<", "below_"), (">", "above_"), ("+", "_plus"))


def plain_names(schema: Schema) -> tuple[Schema, list[str]]:
    """Return a schema whose names and states are plain, and what has become of each other text."""
    names = _plain_all(schema.names)
    variables: list[Variable] = []
    changed: list[str] = []
    for variable, name in zip(schema, names, strict=True):
        states = list(variable.states)
        for k, (old, new) in enumerate(
            zip(variable.texts, _plain_all(variable.texts), strict=True)
        ):
            if new != old:
                states[k] = new
                changed.append(f"{new} for {old!r} of {variable.name!r}")
        if name != variable.name:
            changed.append(f"{name} for {variable.name!r}")
        variables.append(replace(variable, name=name, states=tuple(states), dtype=None))
    return Schema(tuple(variables), schema.is_named), changed


def _plain_all(texts: Iterable[str]) -> list[str]:
    """Return plain texts, all different; those that are plain stay as they are."""
    texts = list(texts)
    taken = {text for text in texts if _plain(text) == text}
    plain: list[str] = []
    for text in texts:
        stem = new = _plain(text)
        number = 1
        while new != text and new in taken:
            number += 1
            new = f"{stem}_{number}"
        taken.add(new)
        plain.append(new)
    return plain


def _plain(text: str) -> str:
    """Return a text in letters without accents, digits and `_`."""
    if _PLAIN.fullmatch(text):
        return text
    text = re.sub(r"^-(?=[0-9])", "minus_", text)
    for sign, word in _WORDS:
        text = text.replace(sign, word)
    letters = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return "_".join(_PLAIN.findall(bare)).strip("_") or "_"
