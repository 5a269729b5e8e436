"""The values that stood for 0 and 1 in the data of a model, such as 1 and 2, as names of states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mnlearn.data.cell_texts import PLAIN, is_above, text_of
from mnlearn.data.domains import BINARY, Domain, domains_of

Codes = tuple[tuple[str, str], ...]
# What the other value is called if a column was always 1.
_OTHER = "not {}"


class CodedDomain(Domain):
    """A variable whose states are values of data: 0 and 1 are states only if they are values."""

    __slots__ = ()

    @property
    def has_values(self) -> bool:
        """Whether 0 and 1 stand for the states."""
        return self.states == BINARY

    def find_state(self, value: Any) -> int | None:
        """Return the number of the state; a number is compared with the threshold of a variable."""
        above = is_above(str(value), self.states[1]) if len(self.columns) == 1 else None
        return super().find_state(value) if above is None else int(above)


@dataclass(frozen=True)
class Coded:
    """The variables of a model, with values of its data as states; evidence is read by it."""

    n_vars: int
    names: tuple[str, ...] | None
    states: Codes

    make_domain: ClassVar[type[Domain]] = CodedDomain


def coded(model: Any, codes: Codes | None) -> Any:
    """Return what evidence for a model is read by: its variables, in the values of its data.

    codes : the values of each column, see `own_codes`; None if they are 0 and 1.
    """
    return model if codes is None else Coded(model.n_vars, model.names, codes)


def own_codes(model: Any, codes: Mapping[str, tuple[str, str]]) -> Codes | None:
    """Return the values that stand for 0 and 1 in each column of a model.

    Words for 0 and 1, such as no and yes, are not kept: evidence may have them for every model.
    Nor are the values of columns that are states of one variable, which evidence names.

    Parameters
    ----------
    model : Model
        Has the columns.
    codes : mapping of str to (str, str)
        The values by the name of a column, in the order of the columns; see `Reading.codes`.

    Returns
    -------
    tuple of (str, str), or None
        None if all values are 0 and 1.
    """
    if model.names is None and len(codes) != model.n_vars:
        return None
    labels = model.names or tuple(codes)
    several = {c for own in domains_of(model).values() if len(own.columns) > 1 for c in own.columns}
    found = [
        BINARY if v in several else _own(*codes.get(label, BINARY))
        for v, label in enumerate(labels)
    ]
    return None if all(own == BINARY for own in found) else tuple(found)


def _own(zero: str, one: str) -> tuple[str, str]:
    if (zero.lower(), one.lower()) in PLAIN:
        return BINARY
    return (zero or _OTHER.format(one)), one


def codes_by_column(model: Any, codes: Codes | None) -> dict[str, tuple[str, str]]:
    """Return values by column, as a reading of further data takes them.

    model : has the columns, which have numbers from 1 if they have no names.
    codes : see `own_codes`.
    """
    labels = model.names or [str(v + 1) for v in range(model.n_vars)]
    return {
        label: ("" if zero == _OTHER.format(one) else zero, one)
        for label, (zero, one) in zip(labels, codes or (), strict=codes is not None)
        if (zero, one) != BINARY
    }


def codes_of_threshold(names: Sequence[str], threshold: float) -> dict[str, tuple[str, str]]:
    """Return the values of columns whose numbers above a threshold were 1."""
    text = text_of(float(threshold))
    return dict.fromkeys(names, (f"<={text}", f">{text}"))


def describe_lost(model: Any, path: Path | str, codes: Codes | None) -> str | None:
    """Return what to know of a file of a model that loses the values of its data; None if none.

    Lists of edges have no values of variables.
    """
    kept = (".npz", ".ac", ".bif", ".csv", ".graphml")
    if codes is None or Path(path).suffix.lower() in kept:
        return None
    return f"{path}: {_difference(model, codes)}; .npz, .ac and .bif keep the values of the data."


def describe_values(model: Any, path: Path | str, codes: Codes | None) -> str | None:
    """Return what to know of a model in Python whose data had other values; None if nothing."""
    if codes is None:
        return None
    return (
        f"{path}: {_difference(model, codes)}; give this model 0 and 1, as read_data(model=) reads "
        "them."
    )


def _difference(model: Any, codes: Codes) -> str:
    v = next(v for v, own in enumerate(codes) if own != BINARY)
    zero, one = codes[v]
    name = repr(model.names[v]) if model.names else str(v + 1)
    return f"variables have the values 0 and 1, for {zero} and {one} in column {name} of the data"
