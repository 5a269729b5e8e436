"""What a bench collects: figures beside a peer's, and the least time of several runs."""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import pandas as pd

from mnlearn_studies.datasets.registry import registry_path

REPEATS = 3
# The peers of `peer_timings.tsv`.
RECORDED = "process, recorded"
# The dataset of rows that are measured on data that are drawn.
SYNTHETIC = "synthetic"


@dataclass(frozen=True)
class Figure:
    """One measurement.

    scope : whether `seconds` are of a whole process, or of the task in this process.
    peer_scope : the same of the peer's, and whether they are recorded or were measured in turn
    with ours.
    ratio : the peer's seconds (or our rate by its) over ours. size : what the seconds grow with.
    """

    task: str
    dataset: str
    seconds: float
    rate: str = ""
    _: KW_ONLY
    scope: str = "in-process"
    peer: str = ""
    peer_scope: str = ""
    peer_seconds: float | None = None
    ratio: float | None = None
    note: str = ""
    size: int | None = None


class Bench:
    """Collects figures, and calls `show` with the line of each figure as soon as it is measured."""

    def __init__(self, show: Callable[[str], None] = lambda line: None) -> None:
        self.show = show
        path = registry_path().parent / "peer_timings.tsv"
        self.peers = pd.read_csv(path, sep="\t")
        self.figures: list[Figure] = []

    def add(self, figure: Figure) -> None:
        """Keep a figure, and show it."""
        self.figures.append(figure)
        ratio = f"{figure.ratio:8.1f}x" if figure.ratio is not None else " " * 9
        self.show(
            f"{figure.task:<28} {figure.dataset:<11} {figure.seconds:9.4f} s {ratio}  "
            f"{figure.rate}{'  ' if figure.note else ''}{figure.note}"
        )

    def peer(self, dataset: str, pattern: str) -> Any:
        """Return the peer timing of a dataset whose whole command fits a pattern, or None."""
        of_dataset = self.peers[self.peers["dataset"] == dataset]
        found = of_dataset[of_dataset["command"].str.fullmatch(pattern)]
        return None if found.empty else found.iloc[0]


def measure_seconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the fewest processor seconds of several runs of some work."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def compare_seconds(peer: Any, seconds: float) -> dict[str, Any]:
    """Return what a figure says of a peer's run, by its name; nothing without a peer."""
    if peer is None:
        return {}
    theirs = float(peer["user_seconds"])
    return {
        "peer": str(peer["command"]),
        "peer_scope": RECORDED,
        "peer_seconds": theirs,
        "ratio": theirs / seconds,
    }


def describe_score(score: float, peer: Any) -> str:
    """Return our test score and, if there is one, the peer's."""
    if peer is None:
        return f"test PLL {score:.4f}"
    theirs = float(peer["test_score"])
    return f"test PLL {score:.4f}, Libra {theirs:.4f} ({100 * (score / theirs - 1):+.2f} % loss)"
