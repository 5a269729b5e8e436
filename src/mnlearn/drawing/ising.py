"""The figures of an Ising network by name, for the folder of the command and for Python."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.ising_measures import (
    draw_case_dropping,
    draw_centrality,
    draw_differences,
    fitting,
)
from mnlearn.drawing.item_groups import colour_groups, to_groups
from mnlearn.drawing.networks import (
    CHARACTER,
    LINE,
    draw_edges,
    draw_nodes,
    layout,
    line_width,
    place_names,
    sign_handles,
    width_of,
)
from mnlearn.drawing.style import BLUE, DPI, GREY, style
from mnlearn.learning.ising.comparison import IsingComparison
from mnlearn.learning.ising.estimate import Estimate, ItemGroups
from mnlearn.learning.ising.network import IsingNetwork, compare_edges, compare_strengths
from mnlearn.learning.ising.stability import EdgeStability
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

# Longer names stand beside the variables, or in a list, in columns of so many.
_SHORT, _LISTED = 4, 26
# Names are wrapped at so many characters.
_WRAPPED = 40
# Inches of the legend below the networks, and of the room around a network.
_LEGEND, _MARGIN = 3.7, 0.15
# The least width and height without edges, in inches.
_SMALLEST = (1.6, 1.2)
# A network so much longer than wide is upright: names fit beside it.
_LONG = 2
# More edges are not legible in one column of names.
MAX_EDGES = 60


def draw_networks(
    networks: Mapping[str, IsingNetwork], groups: ItemGroups | None = None, scale: float = 1.0
) -> Figure:
    """Return a figure of networks over the same variables, side by side, by their titles.

    All have the same places of variables and widths of edges. Long names stand beside the
    variables, or in a list if they do not fit there.
    """
    from matplotlib.lines import Line2D

    first = next(iter(networks.values()))
    labels = first.labels
    edges = sorted({edge for network in networks.values() for edge in _edges_of(network)})
    largest = max((float(np.abs(n.weight).max()) for n in networks.values()), default=0) or 1.0
    is_short = max(map(width_of, labels)) <= _SHORT
    position = _in_inches(layout(len(labels), edges), is_short and len(networks) == 1)
    wrapped = [textwrap.fill(label, _WRAPPED) for label in labels]
    places = None if is_short else place_names(position, edges, wrapped)
    is_listed = places is None and not is_short
    shown = [str(v + 1) for v in range(len(labels))] if is_listed else wrapped
    colours = None if groups is None else groups.colours
    corners = np.concatenate([position, *(place[:2] for place in places or ())])
    low, high = corners.min(axis=0) - _MARGIN, corners.max(axis=0) + _MARGIN
    with style([*labels, *networks, *(groups.colour_of if groups else ())]):
        items = _item_handles(wrapped, groups, is_listed) if is_listed or groups else []
        unsigned = {edge for edge in edges if not first.signed[edge]}
        signs = [] if unsigned.issuperset(edges) else sign_handles()
        if unsigned:
            signs.append(Line2D([], [], color=GREY, lw=1.8, label="unordered"))
        signs += _width_handles(largest, scale) if edges else []
        size = (high - low) * (len(networks), 1)
        if not edges:
            # Two or three items have hardly any room of their own, above a line that says so.
            size = np.maximum(size, _SMALLEST)
        figure = _new_figure(size, items, signs, any(networks))
        panels = np.atleast_1d(figure.subplots(1, len(networks)))
        for ax, (title, network) in zip(panels, networks.items(), strict=True):
            ax.set_aspect("equal")
            ax.set_axis_off()
            ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
            ax.set_title(title, parse_math=False)
            weights = {edge: float(network.weight[edge]) for edge in _edges_of(network)}
            draw_edges(ax, position, weights, set(), largest, unsigned)
            draw_nodes(ax, position, shown, colours, places)
        if not edges:
            figure.supxlabel("no edges", size=7)
    return figure


def _new_figure(
    size: NDArray[np.float64], items: list[Line2D], signs: list[Line2D], has_titles: bool
) -> Figure:
    """Return a figure with room for networks of a size in inches, and with its legends."""
    from matplotlib.figure import Figure

    # Below narrow networks there is no room for a legend.
    is_narrow = size[0] < 0.7 * _LEGEND
    listed = [*items, *signs] if is_narrow else items
    columns = -(-len(listed) // _LISTED)
    lines = [line for handle in listed for line in str(handle.get_label()).split("\n")]
    column = 0.7 + CHARACTER * max(map(width_of, lines), default=0)
    width = size[0] + column * columns
    height = max(size[1], LINE * (-(-len(lines) // max(columns, 1)) + 1))
    height += (0.0 if is_narrow else 0.3) + (0.2 if has_titles else 0.0)
    width = width if is_narrow else max(width, _LEGEND)
    figure = Figure((width, height), dpi=DPI, layout="constrained")
    if signs and not is_narrow:
        figure.legend(handles=signs, loc="outside lower center", ncols=5)
    if listed:
        legend = figure.legend(handles=listed, loc="outside right center", ncols=columns)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return figure


def _edges_of(network: IsingNetwork) -> list[tuple[int, int]]:
    return [(u, v) for u, v in network.edges().tolist()]


def _in_inches(position: NDArray[np.float64], is_flat: bool) -> NDArray[np.float64]:
    """Return the positions on paper; a long network lies flat or stands upright."""
    across, along = np.ptp(position, axis=0)[:: -1 if is_flat else 1]
    if across > _LONG * along:
        position = position[:, ::-1] * ((-1, 1) if is_flat else (1, -1))
    shorter, longer = sorted((across, along))
    side = min(3.0 + 0.05 * max(len(position) - 10, 0), 4.5)
    if longer > _LONG * shorter:
        side = min(side, longer)
    return position * side / (longer or 1.0)


def _width_handles(largest: float, scale: float) -> list[Line2D]:
    """Return legend entries for the widths of three round weights."""
    from matplotlib.lines import Line2D

    # The greatest of 1, 2, 5, 10, ... that is not above the largest weight, and shares of it.
    unit = 10.0 ** np.floor(np.log10(largest * scale))
    top = max(unit * step for step in (1, 2, 5) if unit * step <= largest * scale * 1.0001)
    return [
        Line2D([], [], color=GREY, lw=line_width(value / scale, largest), label=f"{value:.3g}")
        for value in (top / 4, top / 2, top)
    ]


def _item_handles(labels: Sequence[str], groups: ItemGroups | None, numbered: bool) -> list[Line2D]:
    """Return legend entries: the groups, each followed by its variables if these have numbers."""
    from matplotlib.lines import Line2D

    def text(v: int) -> str:
        return f"{v + 1}  {labels[v]}"

    if groups is None:
        return [Line2D([], [], ls="", label=text(v)) for v in range(len(labels))]
    handles = []
    for name, colour in groups.colour_of.items():
        mark = Line2D(
            [], [], ls="", marker="o", ms=5, mfc=colour, mec="#444444", mew=0.7, label=name
        )
        handles.append(mark)
        if numbered:
            members = [v for v, group in enumerate(groups.group) if group == name]
            handles += [Line2D([], [], ls="", label=text(v)) for v in members]
    return handles


def draw_edge_stability(
    network: IsingNetwork,
    stability: EdgeStability,
    names: Sequence[str],
    scale: float = 1.0,
) -> Figure:
    """Return a figure of edges and those of half of the resamples, the strongest on top."""
    from matplotlib.figure import Figure

    shown = np.argwhere(np.triu((network.weight != 0) | (stability.share >= 0.5), 1))
    size = np.abs(network.weight[tuple(shown.T)])
    order = np.lexsort((-stability.share[tuple(shown.T)], -size))[:MAX_EDGES]
    edges = shown[order]
    u, v = edges.T
    place = np.arange(len(edges))
    labels = [f"{names[a]} – {names[b]}" for a, b in edges.tolist()]
    longest = max(map(width_of, labels), default=0)
    with style(labels):
        # Long names must leave the axes as wide as the label below them.
        width = max(4.2, 3.4 + 0.06 * longest)
        figure = Figure((width, 0.9 + 0.13 * len(edges)), dpi=DPI, layout="constrained")
        ax = figure.add_subplot()
        low, high = scale * stability.low[u, v], scale * stability.high[u, v]
        ax.hlines(place, low, high, color=GREY, lw=2, alpha=0.45)
        ax.plot(
            scale * stability.mean[u, v], place, "|", ms=5, color="black", label="bootstrap mean"
        )
        ax.plot(scale * network.weight[u, v], place, "o", ms=3, color=BLUE, label="data")
        ax.axvline(0, color=GREY, lw=0.6)
        if len(edges) < len(shown):
            ax.set_title(f"{len(edges)} of {len(shown)} edges", loc="left", color=GREY)
        elif not len(edges):
            ax.set_title("no edges", loc="left")
        ax.set_yticks(place, labels, parse_math=False)
        ax.set_ylim(len(edges) - 0.4, -0.6)
        ax.set_xlabel("edge weight, with the middle 95 % of the resamples")
        right = ax.secondary_yaxis("right")
        right.set_yticks(place, [f"{share:.2f}" for share in stability.share[u, v]])
        right.tick_params(length=0)
        right.spines["right"].set_visible(False)
        ax.set_title("share of resamples", loc="right", color=GREY)
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def draw_all(estimate: Estimate) -> dict[str, Figure]:
    """Return the figures of all that was estimated, by the names of their files."""
    drawn = {name: draw(estimate) for name, draw in _DRAWN.items()}
    if estimate.comparison is not None:
        labels, scale = estimate.network.labels, estimate.network.scale(estimate.coding)
        drawn["comparison"] = _draw_compared(estimate.comparison, estimate.groups, labels, scale)
    return {name: figure for name, figure in drawn.items() if figure is not None}


def draw_ising(
    found: Any,
    figure: str = "network",
    *,
    groups: Mapping[str, str] | None = None,
    coding: str = "0/1",
) -> Figure:
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
    comparison: IsingComparison, groups: ItemGroups | None, labels: Sequence[str], scale: float
) -> Figure:
    """Draw the networks of groups; `labels` are the variables of `groups`."""
    kept = next(iter(comparison.networks.values())).labels
    return draw_networks(comparison.networks, groups and groups.select(labels, kept), scale)


def _draw_stability(estimate: Estimate) -> Figure | None:
    if estimate.stability is None:
        return None
    network = estimate.network
    scale = network.scale(estimate.coding)
    return draw_edge_stability(network, estimate.stability, fitting(network.labels), scale)


def _draw_differences(estimate: Estimate) -> Figure | None:
    if estimate.stability is None:
        return None
    network, labels = estimate.network, fitting(estimate.network.labels)
    edges = [f"{labels[u]} – {labels[v]}" for u, v in network.edges().tolist()]
    strongest = np.argsort(-np.abs(network.weight).sum(axis=1), kind="stable")
    by_strength = [labels[v] for v in strongest]
    compared = compare_strengths(network, estimate.stability).reorder(strongest)
    return draw_differences(
        [
            ("edges", edges, compare_edges(network, estimate.stability)),
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
