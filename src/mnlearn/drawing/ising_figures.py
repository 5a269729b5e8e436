"""The figures of an Ising network by name, for the folder of the command and for Python."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.drawing.ising import draw_edge_stability, draw_ising_network, draw_networks
from mnlearn.drawing.ising_measures import (
    draw_case_dropping,
    draw_centrality,
    draw_differences,
)
from mnlearn.drawing.item_groups import colour_groups, to_groups
from mnlearn.learning.ising.comparison import IsingComparison
from mnlearn.learning.ising.estimate import Estimate
from mnlearn.learning.ising.network import compare_edges, compare_strengths
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_all(found: Estimate) -> dict[str, "Figure"]:
    """Return the figures of all that was estimated, by the names of their files."""
    drawn = {name: draw(found) for name, draw in _DRAWN.items()}
    drawn["comparison"] = _draw_comparison(found)
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
        `found` is neither; there is no such figure, or what it needs was not estimated; or a
        variable has no group.

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
        return _draw_compared(found, groups, coding)
    return _draw_estimator(found, figure, groups, coding)


def _draw_estimator(
    found: Any, figure: str, groups: Mapping[str, str] | None, coding: str
) -> "Figure":
    """Draw a figure of what an estimator knows."""
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
    found: IsingComparison, groups: Mapping[str, str] | None, coding: str
) -> "Figure":
    """Draw the networks of groups; variables that were left out need no group."""
    network = next(iter(found.networks.values()))
    scale = network.scale(coding)
    if groups is None:
        return draw_networks(found.networks, None, scale)
    labels = [*network.labels, *(name for name in found.dropped if name in groups)]
    item_groups = colour_groups(to_groups(groups, labels))
    return draw_networks(found.networks, item_groups.select(labels, network.labels), scale)


def _draw_network(found: Estimate) -> "Figure":
    return draw_ising_network(found.network, found.groups, found.network.scale(found.coding))


def _draw_centrality(found: Estimate) -> "Figure":
    return draw_centrality(found.item_frame())


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


def _draw_case_dropping(found: Estimate) -> "Figure | None":
    return None if found.cases is None else draw_case_dropping(found.cases)


def _draw_comparison(found: Estimate) -> "Figure | None":
    if found.comparison is None:
        return None
    network, networks = found.network, found.comparison.networks
    kept = next(iter(networks.values())).labels
    groups = None if found.groups is None else found.groups.select(network.labels, kept)
    return draw_networks(networks, groups, network.scale(found.coding))


_DRAWN: dict[str, Callable[[Estimate], Any]] = {
    "network": _draw_network,
    "centrality": _draw_centrality,
    "stability": _draw_stability,
    "differences": _draw_differences,
    "case_drop": _draw_case_dropping,
}
