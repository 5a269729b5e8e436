"""The figures of an Ising network by name, for the folder of the command and for Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.drawing.ising import draw_edge_stability, draw_networks
from mnlearn.drawing.ising_measures import (
    draw_case_dropping,
    draw_centrality,
    draw_differences,
)
from mnlearn.drawing.item_groups import colour_groups, to_groups
from mnlearn.learning.ising.comparison import IsingComparison
from mnlearn.learning.ising.estimate import Estimate, ItemGroups
from mnlearn.learning.ising.network import compare_edges, compare_strengths
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_all(found: Estimate) -> dict[str, "Figure"]:
    """Return the figures of all that was estimated, by the names of their files."""
    drawn = {name: draw(found) for name, draw in _DRAWN.items()}
    if found.comparison is not None:
        labels, scale = found.network.labels, found.network.scale(found.coding)
        drawn["comparison"] = _draw_compared(found.comparison, found.groups, labels, scale)
    return {name: figure for name, figure in drawn.items() if figure is not None}


def draw_ising(
    found: Any,
    figure: str = "network",
    *,
    groups: Mapping[str, str] | None = None,
    coding: str = "0/1",
) -> "Figure":
    """Draw the Ising network of a questionnaire, or the networks of groups that were compared.

    Parameters
    ----------
    found : Ising or IsingComparison
        A fitted estimator, or what `compare_ising` returned, whose networks are drawn side by side.
    figure : {"network", "centrality", "stability", "differences", "case_drop"}
        What is drawn of an estimator. `stability` and `differences` need its `bootstrap()`,
        `case_drop` needs its `drop_cases()`. A comparison has `network` only.
    groups : mapping of str to str, optional
        The group of each variable, which has a colour; `centrality` then shows bridge strength too.
    coding : {"0/1", "-1/1"}
        Values of the variables that the weights are for.

    Returns
    -------
    matplotlib.figure.Figure
        Its `savefig` writes a file.

    Raises
    ------
    InputError
        `found` is neither, or lacks what the figure needs; or a variable has no group.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [1, 1]] * 40 + [[0, 1], [1, 0]] * 5
    >>> figure = mn.draw_ising(mn.Ising().fit(X), "centrality")
    >>> [axes.get_title() for axes in figure.axes[:2]]
    ['strength', 'expected influence']
    """
    if isinstance(found, IsingComparison):
        if figure != "network":
            raise InputError(f"figure: expected network for a comparison, got {figure!r}.")
        network = next(iter(found.networks.values()))
        # Variables that were left out need no group.
        labels = [*network.labels, *(name for name in found.dropped if name in (groups or ()))]
        item_groups = None if groups is None else colour_groups(to_groups(groups, labels))
        return _draw_compared(found, item_groups, labels, network.scale(coding))
    estimate = getattr(found, "estimate_", None)
    if not isinstance(estimate, Estimate):
        raise InputError(
            f"found: expected a fitted Ising or an IsingComparison, got {type(found).__name__}."
        )
    if figure not in _DRAWN:
        raise InputError(f"figure: expected one of {', '.join(_DRAWN)}, got {figure!r}.")
    shown = None if groups is None else colour_groups(to_groups(groups, estimate.network.labels))
    drawn = _DRAWN[figure](replace(estimate, coding=coding, groups=shown))
    if drawn is None:
        needed = "drop_cases" if figure == "case_drop" else "bootstrap"
        raise InputError(f"figure {figure!r}: call {needed}() first.")
    return drawn


def _draw_compared(
    found: IsingComparison, groups: ItemGroups | None, labels: Sequence[str], scale: float
) -> "Figure":
    """Draw the networks of groups; `labels` are the variables of `groups`."""
    kept = next(iter(found.networks.values())).labels
    return draw_networks(found.networks, groups and groups.select(labels, kept), scale)


def _draw_stability(found: Estimate) -> "Figure | None":
    if found.stability is None:
        return None
    network = found.network
    scale = network.scale(found.coding)
    return draw_edge_stability(network, found.stability, network.labels, scale)


def _draw_differences(found: Estimate) -> "Figure | None":
    if found.stability is None:
        return None
    network, labels = found.network, found.network.labels
    edges = [f"{labels[u]} – {labels[v]}" for u, v in network.edges().tolist()]
    strongest = np.argsort(-np.abs(network.weight).sum(axis=1), kind="stable")
    by_strength = [labels[v] for v in strongest]
    compared = compare_strengths(network, found.stability).reorder(strongest)
    return draw_differences(
        [
            ("edges", edges, compare_edges(network, found.stability)),
            ("strength", by_strength, compared),
        ]
    )


_DRAWN: dict[str, Callable[[Estimate], Any]] = {
    "network": lambda e: draw_networks({"": e.network}, e.groups, e.network.scale(e.coding)),
    "centrality": lambda e: draw_centrality(e.item_frame()),
    "stability": _draw_stability,
    "differences": _draw_differences,
    "case_drop": lambda e: e.cases and draw_case_dropping(e.cases),
}
