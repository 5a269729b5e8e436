"""The groups of the items of a questionnaire, and their colours."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnlearn.data.text_lines import tidy_lines
from mnlearn.data.text_tables import rows_of
from mnlearn.learning.ising.estimate import ItemGroups
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, split_lines

# Light colours of the seventh group and the next ones.
_FURTHER = ("#F0E442", "#BBBBBB", "#A6D96A", "#CAB2D6", "#DDCC77", "#88CCEE")


def read_item_groups(
    path: Path, labels: Iterable[str], leave_out: Collection[str] = ()
) -> ItemGroups:
    """Read the groups of items, and others to leave out, from a CSV file."""
    from matplotlib.colors import is_color_like

    labels = list(labels)
    group: dict[str, str] = {}
    colour_of: dict[str, str] = {}
    for where, item, name, colour in _read_rows(path):
        if item in leave_out and item not in labels:
            continue
        if item not in labels:
            raise InputError(f"{where}: the data have no item {item!r}.")
        if item in group:
            raise InputError(f"{where}: item {item!r} is named twice.")
        if colour and not is_color_like(colour):
            raise InputError(f"{where}: expected a colour such as #56B4E9, got {colour!r}.")
        if colour and colour_of.get(name, colour) not in ("", colour):
            raise InputError(f"{where}: group {name!r} has two colours.")
        group[item] = name
        colour_of[name] = colour or colour_of.get(name, "")
    missing = [item for item in labels if item not in group]
    if missing:
        raise InputError(
            f"{path}: expected a group for each item, lacks {', '.join(missing)}; give each a "
            "line, or take --leave-out for those that are no items."
        )
    return colour_groups([group[item] for item in labels], colour_of)


def colour_groups(group: Sequence[str], colour_of: Mapping[str, str] | None = None) -> ItemGroups:
    """Return groups with colours; groups to which `colour_of` gives none get one."""
    from mnlearn.drawing.style import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

    given = dict.fromkeys(group, "") if colour_of is None else colour_of
    # The light colours come first: numbers are written on them.
    cycle = (SKY, ORANGE, GREEN, PURPLE, VERMILION, BLUE, *_FURTHER)
    chosen = {
        name: colour or cycle[k % len(cycle)] for k, (name, colour) in enumerate(given.items())
    }
    return ItemGroups(tuple(group), chosen)


def _read_rows(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the place of each row for messages, its item, its group, and its colour or ""."""
    rows = list(rows_of(tidy_lines(split_lines(read_text(path)), str(path), "groups"), str(path)))
    spelled = {"color": "colour"}
    header = [spelled.get(name.lower(), name.lower()) for name in rows[0][1]]
    named = sorted(name for name in header if name)
    if named not in (["group", "item"], ["colour", "group", "item"]):
        expected = "expected the columns item, group and perhaps colour."
        raise InputError(f"{path}, line {rows[0][0]}: {expected}")
    # Rows may have names, whose column R's write.table does not name.
    if len(rows) > 2 and len(rows[1][1]) == len(header) + 1:
        header = ["", *header]
    for number, row in rows[1:]:
        where = f"{path}, line {number}"
        if not any(row):
            continue
        if len(row) != len(header):
            raise InputError(f"{where}: expected {len(header)} values, got {len(row)}.")
        cells = dict(zip(header, row, strict=True))
        if not cells["group"]:
            raise InputError(f"{where}: item {cells['item']!r} has no group.")
        yield where, cells["item"], cells["group"], cells.get("colour", "")


def to_groups(groups: Any, labels: Sequence[str]) -> list[str]:
    """Return the group of each variable from a mapping of names."""
    if not hasattr(groups, "items"):
        raise InputError(
            f"groups: expected a mapping of variables to groups, got {type(groups).__name__}."
        )
    group_of = dict(groups.items())
    for name, group in group_of.items():
        if name not in labels:
            raise InputError(f"groups: there is no variable {name!r}.")
        if not isinstance(group, str):
            raise InputError(f"groups, {name!r}: expected the name of a group, got {group!r}.")
    for label in labels:
        if label not in group_of:
            raise InputError(f"groups: expected a group for each variable, lacks {label!r}.")
    return [group_of[label] for label in labels]
