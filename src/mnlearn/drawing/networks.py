"""Draw networks: places of variables, edges by sign and strength, names."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import BLUE, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Distances, in lengths of an edge: of variables without edges, and of parts of a network.
_APART, _GAP = 0.8, 0.9
# Below this, a sum of directions of length 1 has no direction of its own.
_EVEN = 1e-4
# Longer chains are folded.
_LONGEST_CHAIN = 12
# Inches of a character and of a line of a name beside a variable, and from the variable to it.
CHARACTER, LINE, _BESIDE = 0.062, 0.145, 0.09
# Directions from a variable to its name; the first come first where all are equally good.
_SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), *itertools.product((0.7, -0.7), repeat=2)])
# Dashes of true edges that were not learned, and of learned edges that are not true.
MISSED, EXTRA = (0, (3, 2)), (0, (1, 1.2))


def layout(n_vars: int, edges: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Return a position per variable, (n_vars, 2), such that neighbours are near each other.

    Parts do not overlap: the largest is on top, and variables without edges stand in rows below.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(n_vars))
    graph.add_edges_from(edges)
    components = sorted(map(sorted, nx.connected_components(graph)), key=lambda c: (-len(c), c[0]))
    tied = [component for component in components if len(component) > 1]
    alone = [v for component in components if len(component) == 1 for v in component]
    placed = [_place_part(graph.subgraph(part)) for part in tied]
    sizes = [np.ptp(at, axis=0) for at in placed]
    # All parts together fill about a square.
    area = sum(float(np.prod(size + _GAP)) for size in sizes) + len(alone) * _APART**2
    width = max([np.sqrt(area), *(size[0] + _GAP for size in sizes)])
    position = np.zeros((n_vars, 2))
    bottom = _GAP
    for part, at, corner in zip(tied, placed, _pack(sizes, width), strict=True):
        position[part] = at - at.min(axis=0) + corner
        bottom = min(bottom, corner[1])
    in_row = max(1, int(width / _APART))
    for k, v in enumerate(alone):
        position[v] = k % in_row * _APART, bottom - _GAP - k // in_row * _APART
    return position - position.mean(axis=0)


def _place_part(graph: nx.Graph) -> NDArray[np.float64]:
    """Return the positions of tied variables; an edge has length 1 in the mean.

    They are rounded, because the last bits of the minimiser differ among processors.
    """
    nodes = sorted(graph)
    ends = [v for v in nodes if graph.degree(v) == 1]
    if len(nodes) > _LONGEST_CHAIN and len(ends) == 2 and graph.number_of_edges() < len(nodes):
        return _fold(nx.shortest_path(graph, *ends))
    placed = nx.kamada_kawai_layout(graph, pos=nx.circular_layout(nodes))
    position = np.array([placed[v] for v in nodes])
    place = {v: k for k, v in enumerate(nodes)}
    edges = sorted((place[u], place[v]) for u, v in graph.edges)
    length = np.mean([np.hypot(*(position[v] - position[u])) for u, v in edges])
    # The sum turns -0 into 0.
    return np.round(_upright(position / length, edges), 3) + 0.0


def _fold(chain: Sequence[int]) -> NDArray[np.float64]:
    """Return the positions of a chain in rows that fill a square, in the order of the variables."""
    row, column = np.divmod(np.arange(len(chain)), round(len(chain) ** 0.5))
    column = np.where(row % 2, column.max() - column, column)
    return np.stack([column, -row], axis=1)[np.argsort(chain)].astype(np.float64)


def _pack(sizes: Sequence[NDArray[np.float64]], width: float) -> Iterator[NDArray[np.float64]]:
    """Yield the lower left corner of each box, in rows from the top that are so wide."""
    x, top, height = 0.0, 0.0, 0.0
    for size in sizes:
        if x and x + size[0] > width:
            x, top, height = 0.0, top - height, 0.0
        yield np.array([x, top - size[1]])
        x, height = x + size[0] + _GAP, max(height, size[1] + _GAP)


def _upright(
    position: NDArray[np.float64], edges: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """Return the positions, rotated so that most edges are nearly horizontal or vertical."""
    steps = np.array([position[v] - position[u] for u, v in edges]).reshape(-1, 2)
    # Four times the angle is equal for directions that differ by a right angle.
    total = np.exp(4j * np.arctan2(steps[:, 1], steps[:, 0])).sum()
    # Where no direction prevails, or where it is a diagonal, rounding errors must not choose.
    angle = 0.0 if abs(total) < _EVEN * len(steps) else float(np.angle(total))
    turn = (abs(angle) if abs(angle) > np.pi - _EVEN else angle) / 4
    cosine, sine = np.cos(turn), np.sin(turn)
    return position @ np.array([[cosine, -sine], [sine, cosine]])


def width_of(text: str) -> int:
    """Return the width of the longest line of a text, in Latin letters."""
    return max(
        sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in line)
        for line in text.split("\n")
    )


class NamePlace(NamedTuple):
    """Where a name stands beside its variable: its lower left and upper right corner, its side."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    side: NDArray[np.float64]


def place_names(
    position: NDArray[np.float64], edges: Sequence[tuple[int, int]], names: Sequence[str]
) -> list[NamePlace] | None:
    """Return places of names that meet no edge, variable or other name; None if some do not fit.

    Positions are in inches. The sides that are away from the edges are tried first.
    """
    circle = np.exp(0.25j * np.pi * np.arange(8)) * _BESIDE * 0.75
    around = (position[:, None] + np.stack([circle.real, circle.imag], axis=1)).reshape(-1, 2)
    lines = [np.linspace(position[u], position[v], 60) for u, v in edges]
    taken = np.concatenate([around, *lines])
    placed: list[NamePlace] = []
    for v, name in enumerate(names):
        size = np.array([CHARACTER * width_of(name), LINE * (name.count("\n") + 1)])
        steps = [position[a + b - v] - position[v] for a, b in edges if v in (a, b)]
        towards = np.array([step / np.linalg.norm(step) for step in steps]).reshape(-1, 2)
        # Sides at right angles to all edges, or farther from them, are equally good.
        near = np.round((towards @ _SIDES.T).max(axis=0, initial=0.0), 1)
        sides = _SIDES[np.argsort(near, kind="stable")]
        places = (_place_beside(position[v], size, side) for side in sides)
        fitting = (
            place
            for place in places
            if not ((place.low < taken) & (taken < place.high)).all(axis=1).any()
            and all(
                (other.low >= place.high).any() or (other.high <= place.low).any()
                for other in placed
            )
        )
        place = next(fitting, None)
        if place is None:
            return None
        placed.append(place)
    return placed


def _place_beside(
    at: NDArray[np.float64], size: NDArray[np.float64], side: NDArray[np.float64]
) -> NamePlace:
    centre = at + np.sign(side) * size / 2 + side * _BESIDE
    return NamePlace(centre - size / 2, centre + size / 2, side)


def draw_edges(
    ax: Axes,
    position: NDArray[np.float64],
    kept: Mapping[tuple[int, int], float],
    true_edges: set[tuple[int, int]],
    largest: float | None = None,
    unsigned: Collection[tuple[int, int]] = (),
) -> None:
    """Draw edges by the sign and size of their values; dashes mark those unlike `true_edges`."""
    if largest is None:
        largest = max((abs(value) for value in kept.values()), default=1.0)
    for edge in sorted(true_edges - set(kept)):
        _draw_edge(ax, position, edge, GREY, width=0.9, dashes=MISSED)
    for edge, value in sorted(kept.items(), key=lambda item: abs(item[1])):
        extra = bool(true_edges) and edge not in true_edges
        colour = GREY if edge in unsigned else BLUE if value > 0 else VERMILION
        width = line_width(value, largest)
        _draw_edge(ax, position, edge, colour, width=width, dashes=EXTRA if extra else "-")


def line_width(value: float, largest: float) -> float:
    """Return the width of the line of an edge, in points."""
    return 0.6 + 2.6 * abs(value) / largest


def _draw_edge(
    ax: Axes,
    position: NDArray[np.float64],
    edge: tuple[int, int],
    colour: str,
    *,
    width: float,
    dashes: Any,
) -> None:
    """Draw an edge; bend it if a straight one would run through another variable."""
    from matplotlib.patches import FancyArrowPatch

    start, end = position[edge[0]], position[edge[1]]
    others = np.delete(position, edge, axis=0)
    along = end - start
    length = float(np.linalg.norm(along))
    share = np.clip((others - start) @ along / length**2, 0, 1)
    distance = np.linalg.norm(others - start - share[:, None] * along, axis=1)
    near = len(others) > 0 and distance.min() < 0.06 * float(np.ptp(position, axis=0).max())
    ax.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(end),
            arrowstyle="-",
            connectionstyle=f"arc3,rad={0.28 if near else 0}",
            shrinkA=0,
            shrinkB=0,
            color=colour,
            lw=width,
            ls=dashes,
            capstyle="round" if dashes == "-" else "butt",
            zorder=2,
        )
    )


def draw_nodes(
    ax: Axes,
    position: NDArray[np.float64],
    names: Sequence[str],
    colours: Sequence[str] | None = None,
    places: Sequence[NamePlace] | None = None,
) -> None:
    """Draw the variables as circles, and their names in them or in places beside them."""
    size = 60 if places else 110 if max(map(width_of, names)) <= 3 else 260
    fills = colours or ["white"] * len(names)
    x, y = position.T
    ax.scatter(x, y, s=size, c=fills, edgecolors="#444444", linewidths=0.7, zorder=3)
    for v, name in enumerate(names):
        if places is None:
            colour = "white" if _is_dark(fills[v]) else "black"
            how: dict[str, Any] = {
                "ha": "center",
                "va": "center_baseline",
                "fontsize": 5.8,
                "color": colour,
            }
            at = position[v]
        else:
            low, high, side = places[v]
            alignment = ("center", "left", "right")[int(np.sign(side[0]))]
            how = {"ha": alignment, "va": "center", "fontsize": 7}
            at = np.array([position[v, 0] + side[0] * _BESIDE, (low[1] + high[1]) / 2])
        ax.text(at[0], at[1], name, zorder=4, parse_math=False, **how)


def _is_dark(colour: str) -> bool:
    """Tell whether white letters have more contrast: a relative luminance below 0.18 (WCAG 2.1)."""
    from matplotlib.colors import to_rgb

    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722)) < 0.18


def short_names(names: Sequence[str]) -> list[str]:
    """Return names that fit into a node: without their common prefix, and cut if still long."""
    common = names[0]
    for name in names:
        while not name.startswith(common):
            common = common[:-1]
    # Digits at the end of the common prefix are part of the numbers of the variables.
    prefix = common.rstrip("0123456789")
    short = [name[len(prefix) :].replace("_", ",") or name for name in names]
    return [name if len(name) <= 5 else name[:4] + "…" for name in short]


def sign_handles() -> list[Line2D]:
    """Return the legend entries for the colours of edges."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=BLUE, lw=1.8, label="positive"),
        Line2D([], [], color=VERMILION, lw=1.8, label="negative"),
    ]
