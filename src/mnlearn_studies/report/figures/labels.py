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
    line: NDArray[np.float64],
) -> None:
    """Write a text beside each point, away from other points and texts.

    A grey line joins a text that stands far from its point to the point. The limits of the axes
    must be final.

    points : float64, shape (n, 2), in data coordinates. obstacles : boxes in pixels that no text
    covers. line : points along a line, which texts cover only if there is no other place.
    """
    figure.draw_without_rendering()
    along, pixels = ax.transData.transform(line), ax.transData.transform(points)
    frame, taken = ax.get_window_extent(), list(obstacles)
    radius = figure.dpi * 0.025
    # Crowded points have the fewest places to choose from, so they choose first.
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    crowding = np.sort(distances, axis=1)[:, : min(4, len(points))].sum(axis=1)
    for i in np.argsort(crowding, kind="stable"):
        at, point = pixels[i], (float(points[i, 0]), float(points[i, 1]))
        probe = _write(ax, texts[i], point, (0, 0), far=False)
        size = probe.get_window_extent()
        probe.remove()

        def cost(box: Bbox, distance: float) -> float:
            covered = _overlap(box, taken, pixels, frame, radius)
            return float(distance / radius + covered + 0.6 * _inside(along, box, 1.0).sum())

        places = _places(at, np.array([size.width, size.height]) / 2, radius)
        _, centre, box = min(places, key=lambda place: cost(place[2], place[0]))
        taken.append(box)
        nearest = np.clip(at, [box.x0, box.y0], [box.x1, box.y1])
        far = bool(np.linalg.norm(nearest - at) > 2.4 * radius)
        dx, dy = ((centre - at) * (72 / figure.dpi)).tolist()
        _write(ax, texts[i], point, (dx, dy), far=far)


def _write(
    ax: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], *, far: bool
) -> Annotation:
    """Write a text at an offset in points from a point; a line joins the two if they are far."""
    arrow = {"arrowstyle": "-", "color": "#999999", "lw": 0.4, "shrinkA": 0, "shrinkB": 2}
    written = ax.annotate(
        text, point, offset, textcoords="offset points", fontsize=6, color="#333333", va="center",
        ha="center", arrowprops=arrow if far else None,
    )  # fmt: skip
    written.set_in_layout(False)
    return written


def _places(
    point: NDArray[np.float64], half: NDArray[np.float64], radius: float
) -> list[tuple[float, NDArray[np.float64], Bbox]]:
    """Return places for a text around a point: distance from the point, centre and box."""
    from matplotlib.transforms import Bbox

    places = []
    for distance in radius * np.array([1.4, 2.2, 3.2, 4.5, 6, 8, 10, 13, 16]):
        for angle in np.deg2rad(np.arange(0, 360, 15)):
            direction = np.array([np.cos(angle), np.sin(angle)])
            # The distance is that from the point to the nearest edge of the box.
            centre = (
                point
                + direction * distance
                + np.sign(np.round(direction, 6)) * half * (np.abs(direction) ** 0.5)
            )
            places.append((distance, centre, Bbox([centre - half - 1, centre + half + 1])))
    return places


def _inside(points: NDArray[np.float64], box: Bbox, margin: float) -> NDArray[np.bool_]:
    """Tell which points are in a box or at most `margin` pixels outside it."""
    low = np.array([box.x0, box.y0]) - margin
    high = np.array([box.x1, box.y1]) + margin
    return np.asarray(((points > low) & (points < high)).all(axis=1))


def _overlap(
    box: Bbox, taken: Sequence[Bbox], pixels: NDArray[np.float64], frame: Bbox, radius: float
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
