"""Place the labels of points without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox


def place_labels(
    figure: Figure,
    ax: Axes,
    points: NDArray[np.float64],
    texts: Sequence[str],
    *,
    obstacles: Sequence[Bbox] = (),
    line: NDArray[np.float64] | None = None,
) -> None:
    """Write a text beside each point, away from other points and texts.

    A grey line joins a text that stands far from its point to the point. The limits of the axes
    must be final.

    Parameters
    ----------
    figure, ax
        Where the points are drawn.
    points : ndarray of float64, shape (n, 2)
        In data coordinates.
    texts : sequence of str
        A text per point.
    obstacles : sequence of Bbox
        Boxes in pixels that no text covers.
    line : ndarray of float64, shape (n_steps, 2), optional
        Points in data coordinates along a line, which texts cover only if there is no other place.
    """
    figure.draw_without_rendering()
    along = ax.transData.transform(line if line is not None else np.zeros((0, 2)))
    pixels = ax.transData.transform(points)
    frame = ax.get_window_extent()
    taken = list(obstacles)
    radius = figure.dpi * 0.025
    # Crowded points have the fewest places to choose from, so they choose first.
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    crowding = np.sort(distances, axis=1)[:, : min(4, len(points))].sum(axis=1)
    for i in np.argsort(crowding, kind="stable"):
        x, y = points[i].tolist()
        probe = _write(ax, texts[i], (x, y), (0, 0), far=False)
        size = probe.get_window_extent()
        probe.remove()
        place, box = _best_place(
            pixels[i], size, pixels, taken, frame=frame, radius=radius, line=along
        )
        taken.append(box)
        nearest = np.clip(pixels[i], [box.x0, box.y0], [box.x1, box.y1])
        far = bool(np.linalg.norm(nearest - pixels[i]) > 2.4 * radius)
        dx, dy = ((place - pixels[i]) * (72 / figure.dpi)).tolist()
        _write(ax, texts[i], (x, y), (dx, dy), far=far)


def _write(
    ax: Axes,
    text: str,
    point: tuple[float, float],
    offset: tuple[float, float],
    *,
    far: bool,
) -> Annotation:
    """Write a text at an offset in points from a point; a line joins the two if they are far."""
    arrow = {"arrowstyle": "-", "color": "#999999", "lw": 0.4, "shrinkA": 0, "shrinkB": 2}
    written = ax.annotate(
        text,
        point,
        offset,
        textcoords="offset points",
        fontsize=6,
        color="#333333",
        va="center",
        ha="center",
        arrowprops=arrow if far else None,
    )
    written.set_in_layout(False)
    return written


def _best_place(
    point: NDArray[np.float64],
    size: Bbox,
    pixels: NDArray[np.float64],
    taken: Sequence[Bbox],
    *,
    frame: Bbox,
    radius: float,
    line: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Bbox]:
    """Return the centre of a text and its box: the cheapest of many places around its point."""
    from matplotlib.transforms import Bbox

    half = np.array([size.width, size.height]) / 2
    best: tuple[float, NDArray[np.float64], Bbox] | None = None
    for distance in radius * np.array([1.4, 2.2, 3.2, 4.5, 6, 8, 10, 13, 16]):
        for angle in np.deg2rad(np.arange(0, 360, 15)):
            direction = np.array([np.cos(angle), np.sin(angle)])
            # The distance is that from the point to the nearest edge of the box.
            centre = (
                point
                + direction * distance
                + np.sign(np.round(direction, 6)) * half * (np.abs(direction) ** 0.5)
            )
            box = Bbox([centre - half - 1, centre + half + 1])
            cost = distance / radius + _overlap(box, taken, pixels, frame, radius=radius)
            cost += 0.6 * _inside(line, box, 1.0).sum()
            if best is None or cost < best[0]:
                best = (cost, centre, box)
    assert best is not None
    return best[1], best[2]


def _inside(points: NDArray[np.float64], box: Bbox, margin: float) -> NDArray[np.bool_]:
    """Tell which points are in a box or at most `margin` pixels outside it."""
    low = np.array([box.x0, box.y0]) - margin
    high = np.array([box.x1, box.y1]) + margin
    return np.asarray(((points > low) & (points < high)).all(axis=1))


def _overlap(
    box: Bbox, taken: Sequence[Bbox], pixels: NDArray[np.float64], frame: Bbox, *, radius: float
) -> float:
    """Return a penalty for what a box covers: texts, points, the outside of the axes."""
    cost = 0.0
    for other in taken:
        width = min(box.x1, other.x1) - max(box.x0, other.x0)
        height = min(box.y1, other.y1) - max(box.y0, other.y0)
        if width > 0 and height > 0:
            cost += 60 + width * height / 10
    cost += 25 * _inside(pixels, box, radius).sum()
    outside = max(frame.x0 - box.x0, box.x1 - frame.x1, frame.y0 - box.y0, box.y1 - frame.y1, 0)
    return float(cost + (1000 + outside if outside else 0))
