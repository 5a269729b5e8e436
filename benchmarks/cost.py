"""A figure of cost against size, from the rows of the bench."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.growth import rate_of
from mnlearn.drawing.style import CYCLE, MARKERS, render, style
from mnlearn.runtime.files import write_bytes


def draw_cost(rows: Iterable[Mapping[str, Any]], path: Path) -> bool:
    """Draw seconds against size for each task that was measured at several sizes.

    Returns
    -------
    bool
        Whether there was something to draw; without it no file is written.
    """
    import matplotlib.pyplot as plt

    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if row.get("size"):
            point = int(row["size"]), float(row["seconds"])
            found.setdefault(str(row["task"]), []).append(point)
    lines = {task: sorted(points) for task, points in found.items() if len(points) > 1}
    if not lines:
        return False
    with style():
        figure, axes = plt.subplots(figsize=(4.8, 3.2), layout="constrained")
        for k, (task, points) in enumerate(lines.items()):
            look = {"marker": MARKERS[k % len(MARKERS)], "color": CYCLE[k % len(CYCLE)]}
            exponent = rate_of(points).split()[2]
            axes.loglog(*zip(*points, strict=True), label=f"{task}: {exponent}", **look)
        axes.set_xlabel("size: rows, variables, literals or features")
        axes.set_ylabel("processor seconds, one thread")
        axes.legend()
    write_bytes(path, render(figure)[1])
    plt.close(figure)
    return True
