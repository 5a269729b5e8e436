"""What a table that shows our seconds says of their spread."""

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from mnlearn_studies.study.published import Number, Source, is_time, numbers
from mnlearn_studies.study.reading import walk

# The quantity of a table of a study's own kind, whose columns are not in the study.
_OF_KINDS = {"lem.times": "seconds_learn"}


def time_notes(scores: pd.DataFrame, product: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a note on the spread of the seconds that a table shows, if they were repeated."""
    shown = (number for source in _sources(scores, product) for number in _repeated(scores, source))
    spreads = [(n.high - n.low) / n.value for n in shown if n.low and n.high and n.value > 0]
    if not spreads:
        return ()
    note = (
        "Seconds of learning are medians of runs that were made in turn in one job; the slowest "
        f"and the fastest run differ by up to {100 * max(spreads):.0f} per cent of the median, "
        f"and by {100 * sum(spreads) / len(spreads):.0f} per cent in the mean."
    )
    return (note,)


def _repeated(scores: pd.DataFrame, source: Source) -> Iterator[Number]:
    found = numbers(scores, scores.iloc[:0], source)
    yield from (number for number in found.values() if number.low is not None)


def _sources(scores: pd.DataFrame, product: Mapping[str, Any]) -> Iterator[Source]:
    """Yield the sources of our times in a table."""
    if quantity := _OF_KINDS.get(product["kind"]):
        yield from (Source(str(method), quantity) for method in scores["method"].unique())
    for _, options in walk(product):
        quantity, method = options.get("quantity"), options.get("method")
        if "study" in options or not isinstance(quantity, str) or not isinstance(method, str):
            continue
        if is_time(quantity):
            yield Source(method, quantity, options.get("variant", ""))
