"""Conditions of Libra's text formats as literals of indicator columns, and the other way round.

`+v3_2` holds where variable 3 is in state 2, and `-v3_2` where it is in any other.
"""

import re
from collections.abc import Sequence

import numpy as np

from mnlearn.models.interactions import allowed_states
from mnlearn.variables.schema import Schema

# Bounded, because int() refuses numbers of thousands of digits.
INDEX = r"[0-9]{1,18}"
LITERAL = re.compile(rf"([+-])v({INDEX})_({INDEX})")
# States have no names in these formats: they are numbers from 0.
MAX_STATES = 254
# The code of a condition that always holds.
_ALWAYS = -1


class Conditions:
    """Reads the conditions of features; a ValueError says what is wrong with one."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._variable_of = schema.variable_of.tolist()
        self._codes: dict[str, int] = {}

    def codes(self, texts: Sequence[str]) -> list[int]:
        """Return the literals 2 * column + value of a conjunction, ascending and none twice.

        A variable of more than two states has one literal for the state that it must have, or one
        for each state that it must not have.
        """
        try:
            found = {self._codes[text] for text in texts}
        except KeyError:
            self._codes.update((text, self._code(text)) for text in texts)
            found = {self._codes[text] for text in texts}
        found.discard(_ALWAYS)
        if len({self._variable_of[code >> 1] for code in found}) < len(found):
            found = self._simplified(found)
        return sorted(found)

    def variable(self, digits: str) -> int:
        """Return the number of a variable."""
        if int(digits) >= len(self.schema):
            raise ValueError(
                f"expected a variable from v0 to v{len(self.schema) - 1}, got v{digits}"
            )
        return int(digits)

    def state(self, v: int, digits: str) -> int:
        """Return the number of a state of a variable."""
        arity = self.schema[v].arity
        if int(digits) >= arity:
            last = f"{'or' if arity == 2 else 'to'} {arity - 1}" if arity > 1 else "alone"
            raise ValueError(f"expected value 0 {last} of a variable, got {digits}")
        return int(digits)

    def _code(self, text: str) -> int:
        """Return the code of a condition."""
        match = LITERAL.fullmatch(text)
        assert match
        v = self.variable(match[2])
        state = self.state(v, match[3])
        if self.schema[v].arity == 1:
            if match[1] == "-":
                raise ValueError(f"expected a condition that can hold, v{v} has only the value 0")
            return _ALWAYS
        column, value = self.schema.literal(v, state)
        return 2 * column + (value if match[1] == "+" else 1 - value)

    def _simplified(self, codes: set[int]) -> set[int]:
        """Return the codes with one positive literal of a variable, or only negative ones."""
        out: set[int] = set()
        literals = [(code >> 1, code & 1) for code in codes]
        for v, holds in allowed_states(self.schema, literals).items():
            possible = np.flatnonzero(holds).tolist()
            if not possible and len(holds) == 2:
                raise ValueError("a feature asks one variable for both values")
            if not possible:
                raise ValueError(f"a feature asks v{v} for no value that it can have")
            own = [literal for literal in literals if self._variable_of[literal[0]] == v]
            kept = [self.schema.literal(v, possible[0])] if len(possible) == 1 else own
            out |= {2 * column + value for column, value in kept}
        return out


def condition_texts(schema: Schema) -> list[tuple[str, str]]:
    """Return for each column how a file says that it is 0, and that it is 1."""
    out = []
    for v, variable in enumerate(schema):
        if variable.n_columns == 1:
            out.append((f"+v{v}_0", f"+v{v}_1"))
        elif variable.n_columns:
            out += [(f"-v{v}_{state}", f"+v{v}_{state}") for state in range(variable.arity)]
    return out


def number_text(number: float) -> str:
    """Return the shortest text that reads back exactly, of which Libra's reader takes each.

    Libra refuses an exponent behind a number without a decimal point.
    """
    text = repr(number)
    return text if "." in text else text.replace("e", ".0e")
