"""Figures of kind `scatter`: one method against another, a point per dataset."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import LogLocator, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from mnlearn.drawing.style import BLUE, GREY, SHADE
from mnlearn_studies.report.figures.canvas import FigureEntry, new_figure
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource, paired


@dataclass(frozen=True, kw_only=True)
class Scatter(FigureEntry):
    """One method against another, a point per dataset.

    Log-likelihoods have their sign reversed. The shaded side is where y is better.

    x, y : what is compared; their heads name the axes. per_variable : whether to divide by the
    number of variables.
    """

    kind_name = "scatter"
    x: NamedSource
    y: NamedSource
    per_variable: bool = True

    def draw(self, material: Material) -> Figure | None:
        x, y = material.numbers(self.x), material.numbers(self.y)
        points, shown = [], []
        for dataset, a, b in paired(x, y, material.datasets, as_printed=False):
            divisor = material.n_vars(dataset) if self.per_variable else 1
            if divisor:
                points.append((-a / divisor, -b / divisor))
                shown.append(dataset)
        if not points:
            return None
        differences = [np.sign(a - b) for _, a, b in paired(x, y, shown)]
        better = (differences.count(1), differences.count(-1))
        return self._draw_points(np.array(points), [material.label(d) for d in shown], better)

    def _draw_points(
        self, points: NDArray[np.float64], texts: Sequence[str], better: tuple[int, int]
    ) -> Figure:
        figure, ax = new_figure("column", 3.3)
        heads = [source.head or source.method for source in (self.x, self.y)]
        low, high = float(points.min()), float(points.max())
        margin = max((high / low) ** 0.09, 1.12)
        low, high = low / margin, high * margin
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(lambda v, _: f"{v:g}")
            axis.set_minor_locator(NullLocator())
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
        ax.set_aspect("equal")
        ax.fill_between([low, high], [low, low], [low, high], color=SHADE, lw=0, zorder=0)
        ax.plot([low, high], [low, high], color=GREY, lw=0.7, zorder=1)
        ax.scatter(points[:, 0], points[:, 1], s=13, color=BLUE, lw=0.4, ec="white", zorder=3)
        quantity = self.y.quantity.upper() + " per variable" * self.per_variable
        ax.set_xlabel(f"−{quantity}, {heads[0]}")
        ax.set_ylabel(f"−{quantity}, {heads[1]}")
        corners = [
            ax.text(0.03, 0.97, f"{heads[0]} better on {better[0]}", va="top", ha="left"),
            ax.text(0.97, 0.03, f"{heads[1]} better on {better[1]}", va="bottom", ha="right"),
        ]
        for corner in corners:
            corner.set(transform=ax.transAxes, color=GREY, fontsize=6.5, style="italic")
        figure.draw_without_rendering()
        steps = np.linspace(0, 1, 200)[:, None]
        line = low * (high / low) ** steps
        boxes = [corner.get_window_extent() for corner in corners]
        _place_labels(figure, ax, points, texts, obstacles=boxes, line=np.hstack([line, line]))
        return figure


def _place_labels(
    figure: Figure,
    ax: Axes,
    points: NDArray[np.float64],
    texts: Sequence[str],
    *,
    obstacles: Sequence[Bbox] = (),
    line: NDArray[np.float64],
) -> None:
    """Write a text beside each point, away from other points, texts, and the boxes of `obstacles`.

    A grey line joins a text that stands far from its point to the point. The limits of the axes
    must be final.
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
