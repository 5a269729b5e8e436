"""Which variables of several states a file takes apart into variables of two values."""

from pathlib import Path
from typing import Any

from mnlearn.data.cell_texts import some_of
from mnlearn.data.domains import domains_of


def describe_split(model: Any, path: Path | str) -> str | None:
    """Return what to know of a `.uai` file in which a variable of several states is taken apart.

    A model that gives a state with none or several of the columns `drug=alcohol`,
    `drug=nicotine`, ... a positive probability cannot be written with a variable `drug`. None if
    there is no such variable, or the file has another form.
    """
    if Path(path).suffix.lower() != ".uai":
        return None
    named = {name: domain for name, domain in domains_of(model).items() if len(domain.columns) > 1}
    kept = {frozenset(group) for group in _groups_of(model)} if named else set()
    for domain in named.values():
        if frozenset(domain.columns) not in kept:
            columns = some_of([model.names[c] for c in domain.columns])
            return (
                f"{path}: has a variable of two values for each of the columns {columns}, because "
                "the model does not exclude that none or several of them are 1."
            )
    return None


def _groups_of(model: Any) -> tuple[tuple[int, ...], ...]:
    """Return the groups of columns of which exactly one is 1 in every possible state."""
    groups: tuple[tuple[int, ...], ...] = model.schema.several
    return groups
