"""The processor seconds that the cells of a study took."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mnlearn_studies.records.files import CHOSEN


def sum_seconds(cells: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Return the processor seconds of the search and of scoring that cells say they took."""
    search = sum(float(cell.get("seconds_tuning", 0)) for cell in cells)
    return search, sum(sum(map(_seconds_of_scores, _scored(cell))) for cell in cells)


def _scored(cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    variants = cell.get("variants", {})
    chosen = variants.get(CHOSEN, {}).get("parameters")
    for name, variant in variants.items():
        # A variant that is the chosen model has the scores of the latter.
        if name == CHOSEN or variant.get("parameters") != chosen:
            yield variant


def _seconds_of_scores(variant: Mapping[str, Any]) -> float:
    """Return the seconds of scoring a model: by each partition, and by other ways of inference."""
    n_partitions = len(variant.get("scores", {}).get("cmll", {}).get("partitions", ()))
    # Those in its record are of one partition.
    seconds = float(variant.get("seconds_inference", 0)) * max(1, n_partitions)
    further = (value for name, value in variant.items() if name.startswith("seconds_inference_"))
    return seconds + sum(map(float, further))
