"""Verdicts on claims, and the rules that give a verdict to counts and ratios."""

from dataclasses import dataclass

REPRODUCED = "reproduced"
MORE = "holds more strongly"
SMALLER = "holds here, smaller effect"
CONTRADICTED = "contradicted"
FASTER = "faster here"
NOISE = "within the noise"
SLIP = "the paper contradicts itself"
BEYOND = "beyond the paper"
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
    SLIP: "our number does not support the statement, nor does another place in the papers",
    BEYOND: "a comparison of ours; in brackets the verdict of the rule, which is not counted",
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
    """What our numbers say about a claim: a verdict, which is a key of LEGEND, and our number.

    difference : our number minus the published one, where both are single numbers. reason : why the
    claim cannot be checked, or how a set-up deviates. n_datasets : those behind the verdict. p :
    that of a test, without a correction.
    """

    verdict: str
    ours: str = ""
    difference: str = ""
    reason: str = ""
    n_datasets: int | None = None
    p: float | None = None


def graded(near: bool, *, more: bool = False, smaller: bool = False) -> str:
    """Return `reproduced` if our number is near, else by which of the others holds first."""
    if near:
        return REPRODUCED
    if more:
        return MORE
    return SMALLER if smaller else CONTRADICTED


def count_verdict(
    count: int, total: int, published: float | str, chance: float, *, direction: str = "more"
) -> str:
    """Return the verdict on a count of ours among `total` datasets.

    published : the published count, or a key of WORDS. chance : the expected share of the datasets
    if all methods are equally good. direction : which counts support the statement, "more", "fewer"
    or "neither".
    """
    if isinstance(published, str):
        return _word_verdict(count, total, published)
    tolerance = 0 if published in (0, total) else COUNT_TOLERANCE
    sign = {"more": 1, "fewer": -1, "neither": 0}[direction]
    return graded(
        abs(count - published) <= tolerance,
        more=sign * count > sign * published,
        smaller=sign * count > sign * chance * total,
    )


def _word_verdict(count: int, total: int, word: str) -> str:
    holds = {
        "some": count > 0,
        "often": count >= OFTEN * total,
        "most": 2 * count > total,
        "all": count == total,
        "not all": count < total,
    }[word]
    return graded(holds, smaller=word == "all" and 2 * count > total)


def ratio_verdict(ours: float, published: float) -> str:
    """Return the verdict on a ratio; a ratio of 1 means no effect."""
    sign = 1 if published > 1 else -1
    near = abs(ours / published - 1) <= RATIO_TOLERANCE
    return graded(near, more=sign * ours > sign * published, smaller=sign * ours > sign)
