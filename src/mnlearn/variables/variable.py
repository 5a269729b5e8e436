"""A variable: a name and the states that it can have."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from mnlearn.runtime.errors import InputError

BINARY: tuple[Hashable, ...] = (0, 1)
# The number of a state is a byte. This byte says that a row gives a variable no state, or several.
NO_STATE = 255
# The value of the columns of a variable whose cell is missing.
MISSING = 2
# Classes of pandas whose values may be states, beside texts, numbers and booleans.
PANDAS_STATES = ("Interval", "Period", "Timedelta", "Timestamp")


@dataclass(frozen=True)
class Variable:
    """A variable and its 1 to 254 states as people wrote them: texts, numbers, booleans, intervals.

    `ordered` says whether the order of the states means something. `dtype` is the pandas dtype of
    the column that they came from, which tables of samples get.
    """

    name: str
    states: tuple[Hashable, ...] = BINARY
    ordered: bool = False
    dtype: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.states is BINARY:
            return
        where = f"variable {self.name}"
        if not 1 <= len(self.states) < NO_STATE:
            expected = f"1 to {NO_STATE - 1} states"
            raise InputError(f"{where}: expected {expected}, got {len(self.states)}.")
        seen: set[str] = set()
        for text in self.texts:
            if not text or text in seen:
                problem = f"has two states {text!r}" if text else "has a state without a text"
                raise InputError(f"{where}: {problem}.")
            seen.add(text)

    @property
    def texts(self) -> tuple[str, ...]:
        """The states as texts, all different."""
        return tuple(str(state) for state in self.states)

    @property
    def arity(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def n_columns(self) -> int:
        """Number of indicator columns: one for two states, none for a single one."""
        return {1: 0, 2: 1}.get(len(self.states), len(self.states))


def is_numbered(states: Sequence[Hashable]) -> bool:
    """Tell whether states are the whole numbers from 0; False and True only equal them."""
    return states is BINARY or all(
        s == k and not isinstance(s, bool | float) for k, s in enumerate(states)
    )


def variable_of(name: str, states: Sequence[Hashable]) -> Variable:
    """Return a variable of states that no column gave: of booleans the dtype has to say it."""
    are_booleans = all(isinstance(state, bool) for state in states)
    return Variable(name, tuple(states), dtype="bool" if are_booleans else None)
