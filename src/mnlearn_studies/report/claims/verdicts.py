"""Verdicts on claims, and the rules that give a verdict to counts and ratios."""

from dataclasses import dataclass

REPRODUCED = "reproduced"
MORE = "holds more strongly"
SMALLER = "holds here, smaller effect"
CONTRADICTED = "contradicted"
FASTER = "faster here"
NOISE = "within the noise"
SETUP = "set-up"
UNKNOWN = "cannot be checked"

LEGEND = {
    REPRODUCED: "our number agrees with the published one within the tolerance of the rule",
    MORE: "our number differs from the published one in the direction of the statement",
    SMALLER: "the statement is true here, but with a smaller effect than published",
    CONTRADICTED: "our number is outside the tolerance and does not support the statement",
    FASTER: "the paper reports a long time, and we need less",
    NOISE: (
        "the times of repeated runs are so far apart that another verdict could be the true one"
    ),
    SETUP: ("a setting, not a result; `deviates` tells that this study or the data depart from it"),
    UNKNOWN: "a method, a score or a measurement is missing",
}

# Number of datasets by which a count may differ; 0 where the paper says all or none.
COUNT_TOLERANCE = 1
# Share of the published value by which a ratio or a time may differ.
RATIO_TOLERANCE = 0.1
# The smallest share of the datasets that `often` means.
OFTEN = 1 / 3

WORDS = {
    "some": "at least one",
    "often": "at least a third",
    "most": "more than half",
    "all": "every one",
    "not all": "not every one",
}


@dataclass(frozen=True)
class Outcome:
    """What our numbers say about a claim.

    Attributes
    ----------
    verdict : str
        A key of LEGEND.
    ours : str
        Our number; empty if there is none.
    difference : str
        Our number minus the published one, where both are single numbers.
    reason : str
        Why the claim cannot be checked, or how a set-up deviates.
    n_datasets : int or None
        Number of datasets behind the verdict.
    """

    verdict: str
    ours: str = ""
    difference: str = ""
    reason: str = ""
    n_datasets: int | None = None


def count_verdict(
    count: int, total: int, published: float | str, chance: float, *, direction: str = "more"
) -> str:
    """Return the verdict on a count.

    Parameters
    ----------
    count : int
        Our number of datasets.
    total : int
        Number of datasets that were examined.
    published : float or str
        The published count, or a key of WORDS.
    chance : float
        The expected share of the datasets if all methods are equally good.
    direction : {"more", "fewer", "neither"}
        Which counts support the statement.
    """
    if isinstance(published, str):
        return _word_verdict(count, total, published)
    tolerance = 0 if published in (0, total) else COUNT_TOLERANCE
    if abs(count - published) <= tolerance:
        return REPRODUCED
    if direction == "neither":
        return CONTRADICTED
    sign = -1 if direction == "fewer" else 1
    if sign * count > sign * published:
        return MORE
    return SMALLER if sign * count > sign * chance * total else CONTRADICTED


def _word_verdict(count: int, total: int, word: str) -> str:
    holds = {
        "some": count > 0,
        "often": count >= OFTEN * total,
        "most": 2 * count > total,
        "all": count == total,
        "not all": count < total,
    }[word]
    if not holds and word == "all" and 2 * count > total:
        return SMALLER
    return REPRODUCED if holds else CONTRADICTED


def ratio_verdict(ours: float, published: float) -> str:
    """Return the verdict on a ratio; a ratio of 1 means no effect."""
    sign = 1 if published > 1 else -1
    if abs(ours / published - 1) <= RATIO_TOLERANCE:
        return REPRODUCED
    if sign * ours > sign * published:
        return MORE
    return SMALLER if sign * ours > sign else CONTRADICTED
