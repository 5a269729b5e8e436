"""What claims are evaluated on: entries of a study, our scores and the published numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.claims.verdicts import UNKNOWN, Outcome
from mnlearn_studies.report.options import (
    NAMES,
    NAMES_IF_ANY,
    SOURCE,
    TEXT,
    Keys,
    Options,
    listed,
    mapping,
    needed,
    one_or_more,
)
from mnlearn_studies.report.tables.table import significant
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import Number, numbers, source

Entry = Options

# See `source_numbers`.
_SOURCE: Keys = {**SOURCE, "variants": NAMES, "without": NAMES_IF_ANY}
# Forms of one source, of one or a list of them, and of a list of them.
NUMBERS_OF = needed(mapping(_SOURCE))
NUMBERS_OF_EACH = needed(one_or_more(_SOURCE))
NUMBERS_OF_LIST = needed(listed(_SOURCE))
NUMBERS_OF_COLUMNS = needed(listed({**_SOURCE, "name": needed(TEXT)}))
A: Keys = {"a": NUMBERS_OF}
A_AND_B: Keys = {**A, "b": NUMBERS_OF}


@dataclass(frozen=True)
class Evidence:
    """What claims are evaluated on.

    Attributes
    ----------
    study : Study
        The study that states the claims.
    scores : pandas.DataFrame
        The study's own scores, see `study.published.tidy_scores`.
    published : pandas.DataFrame
        The published numbers, see `study.published.load_published`.
    """

    study: Study
    scores: pd.DataFrame
    published: pd.DataFrame


@dataclass(frozen=True)
class Kind:
    """A kind of claim.

    Attributes
    ----------
    evaluate : callable
        Returns the outcome of an entry.
    title : str
        Name of the rule.
    rule : str
        Which verdict a claim gets when, with the tolerance.
    brief : callable
        Returns the tolerance and the options of one entry in a few words.
    options : mapping of str to Form
        The options that an entry may have besides those of every claim.
    is_setup : bool
        Whether such claims are about the set-up and not about results.
    """

    evaluate: Callable[[Entry, Evidence], Outcome]
    title: str
    rule: str
    brief: Callable[[Entry], str]
    options: Keys
    is_setup: bool = False


def claim_name(entry: Entry, evidence: Evidence) -> str:
    """Return how messages name a claim."""
    return f"study {evidence.study.name}, claim {entry['id']}"


def datasets_of(entry: Entry, evidence: Evidence) -> list[str]:
    """Return the datasets of a claim: all of the study unless the claim lists them."""
    return list(entry.get("datasets", evidence.study.datasets))


def values_at(path: str, evidence: Evidence) -> list[Any] | None:
    """Return the values of the study at a dotted path, as a list; None if there are none."""
    found: Any = evidence.study.content
    for key in path.split("."):
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return list(found) if isinstance(found, list) else [found]


def published_number(entry: Entry, evidence: Evidence) -> float:
    """Return the published value of a claim; raise InputError if it is not one number."""
    value = entry["published"]
    if isinstance(value, str):
        where = claim_name(entry, evidence)
        raise InputError(f"{where}, published: expected a number, got {value!r}.")
    return float(value)


def published_positive(entry: Entry, evidence: Evidence) -> float:
    """Return the published value of a claim, which is a divisor; see `published_number`."""
    value = published_number(entry, evidence)
    if value <= 0.0:
        where = claim_name(entry, evidence)
        raise InputError(f"{where}, published: expected a number above 0, got {value:g}.")
    return value


def published_list(
    entry: Entry, evidence: Evidence, n: int, *, separator: str = ";"
) -> list[float]:
    """Return the published values of a claim, which its entry separates by semicolons.

    Parameters
    ----------
    entry : mapping
        The claim. A value may be a fraction such as 4/85.
    evidence : Evidence
        What the claim is evaluated on.
    n : int
        The number of values that the claim needs.
    separator : str
        What stands between two values, instead of a semicolon.

    Raises
    ------
    InputError
        A value is no number, or there are more or fewer than `n` values.
    """
    where = f"{claim_name(entry, evidence)}, published"
    parts = str(entry["published"]).split(separator)
    try:
        values = [_fraction(part) for part in parts]
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(f"{where}: expected numbers, {error}.") from error
    if len(values) != n:
        raise InputError(f"{where}: expected {n} numbers, got {len(values)}.")
    return values


def _fraction(text: str) -> float:
    above, _, below = text.partition("/")
    return float(above) / float(below or 1)


def numbers_at(entry: Entry, evidence: Evidence, key: str) -> dict[str, Number]:
    """Return the numbers of the source under a key of an entry, by dataset."""
    return source_numbers(entry[key], evidence, f"{claim_name(entry, evidence)}, {key}")


def sources_at(entry: Entry, evidence: Evidence, key: str) -> list[dict[str, Number]]:
    """Return the numbers of each source under a key, which has one source or a list of sources."""
    specs = entry[key]
    each = specs if isinstance(specs, list) else [specs]
    return [source_numbers(s, evidence, f"{claim_name(entry, evidence)}, {key}") for s in each]


def source_numbers(spec: Mapping[str, Any], evidence: Evidence, where: str) -> dict[str, Number]:
    """Return the numbers of a source by dataset, ours or published.

    Two keys beyond those of `study.published.source` describe numbers of several variants:

    - variants: the mean over these variants, on datasets that have all of them;
    - without: the number of the variant that validation chooses among all but these.
    """
    if "variants" in spec:
        each = [_own(spec, variant, evidence, where) for variant in spec["variants"]]
        common = [d for d in each[0] if all(d in other for other in each)]
        return {d: Number(sum(e[d].value for e in each) / len(each)) for d in common}
    if "without" in spec:
        return _chosen_without(spec, evidence, where)
    return numbers(evidence.scores, evidence.published, source(spec, where))


def _own(
    spec: Mapping[str, Any], variant: str, evidence: Evidence, where: str
) -> dict[str, Number]:
    own = source({**spec, "variant": variant}, where)
    return numbers(evidence.scores, evidence.published, own)


def _chosen_without(spec: Mapping[str, Any], evidence: Evidence, where: str) -> dict[str, Number]:
    quantity = source(spec, where).quantity
    scores = evidence.scores[evidence.scores["method"] == spec["method"]]
    left = scores[(scores["variant"] != "") & ~scores["variant"].isin(spec["without"])]
    validation = left[left["quantity"] == "validation"].dropna(subset=["value"])
    best = validation.loc[validation.groupby("dataset")["value"].idxmax()]
    values = left[left["quantity"] == quantity].set_index(["dataset", "variant"])["value"]
    keys = zip(best["dataset"], best["variant"], strict=True)
    return {d: Number(float(values[d, v])) for d, v in keys if (d, v) in values.index}


def absent_sources(spec: object, evidence: Evidence) -> list[str]:
    """Return the quantities that a claim names and that the scores lack, in the claim's order."""
    if isinstance(spec, list):
        found = [name for part in spec for name in absent_sources(part, evidence)]
        return list(dict.fromkeys(found))
    if not isinstance(spec, Mapping):
        return []
    found = absent_sources(list(spec.values()), evidence)
    if "method" in spec and "quantity" in spec and "study" not in spec:
        scores = evidence.scores
        of_method = scores["method"] == spec["method"]
        if not (of_method & (scores["quantity"] == spec["quantity"])).any():
            found = [f"{spec['quantity']} of {spec['method']}", *found]
    return list(dict.fromkeys(found))


def incomplete(ours: str, n: int, missing: Sequence[str]) -> Outcome:
    """Return the outcome of a claim for which some datasets have not been scored."""
    if not n:
        return Outcome(UNKNOWN, reason=f"none of {len(missing)} datasets is scored", n_datasets=0)
    reason = f"{n} of {n + len(missing)} datasets scored; missing: {', '.join(missing)}"
    return Outcome(UNKNOWN, ours, "", reason, n)


def signed(value: float) -> str:
    """Return a difference with its sign and three significant digits."""
    return ("-" if value < 0 else "+") + significant(abs(value))
