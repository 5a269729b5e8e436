"""What a study's YAML file may have, as dataclasses that `reading.read` checks it against.

The options of tables, figures and claims are those of their kinds, see `report`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from mnlearn_studies.study.reading import (
    ONCE,
    Limit,
    NotNegative,
    Share,
    Whole,
    from_to,
)

_NAME = "a name of lower-case letters, digits and _"
_SAMPLE = f"{_NAME}, or a sample such as msnbc-n1000-f2"


def _pattern(words: str, pattern: str) -> Limit:
    compiled = re.compile(pattern)
    return Limit(words, lambda name: compiled.fullmatch(name) is not None)


# Names become parts of paths and words of commands.
Name = Annotated[str, _pattern(_NAME, "[a-z0-9_]+")]
# A name, or a sample of the dataset of that name.
Dataset = Annotated[str, _pattern(_SAMPLE, "[a-z0-9_]+(-n[1-9][0-9]*-f[0-9]+)?")]
# A dataset, one of its samples, or the mean over the folds of one size.
Shown = Annotated[str, _pattern(_SAMPLE, "[a-z0-9_]+(-n[1-9][0-9]*(-f[0-9]+)?)?")]
Percentage = Annotated[int, from_to(1, 100)]
NamePair = Annotated[tuple[Name, ...], Limit("a list of two names", lambda pair: len(pair) == 2)]
# Of which models CMLL is computed.
Scored = Literal["all", "chosen", "first", "none"]
# Values to try on validation data, by parameter.
Grid = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Product:
    """A table or figure of a study; each kind adds its options, which `read` leaves to it.

    name : file name without suffix. kind : which kind makes it. caption : text above it. title :
    heading on the study's page; the name if empty. datasets : those that it shows; all of the study
    if None.
    """

    leaves_others: ClassVar = True

    name: Name
    kind: str
    caption: str
    title: str = ""
    datasets: list[Shown] | None = None


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Why our numbers contradict a claim, and what in the record shows it.

    shown_by : `table NAME`, `figure NAME` or `claim ID` of the study, `STUDY: table NAME` of
    another, or `decision NUMBER`.
    """

    text: str
    shown_by: Annotated[tuple[str, ...], ONCE]


@dataclass(frozen=True, kw_only=True)
class Slip:
    """Two places of the papers that do not agree: what the claim says, and what another place."""

    here: str
    elsewhere: str


@dataclass(frozen=True, kw_only=True)
class ClaimEntry:
    """A statement of the paper; each kind adds its options, which `read` leaves to it.

    id : number of the claim; the parts of a sentence share it. kind : how it is evaluated.
    statement : the claim in our words. published : what the paper says. datasets : those that the
    statement is on; all of the study if None. note : a remark for readers. cause : why the claim is
    contradicted, where it is. slip : where the papers contradict the claim, if our numbers do.
    unjudged : why our number stands beside the published one, but cannot judge the claim. beyond :
    whether the paper says nothing of the kind, and the claim is ours.
    """

    leaves_others: ClassVar = True

    id: int
    kind: str
    statement: str
    published: float | str
    datasets: Annotated[tuple[Shown, ...], ONCE] | None = None
    note: str = ""
    cause: Cause | None = None
    slip: Slip | None = None
    unjudged: str = ""
    beyond: bool = False


@dataclass(frozen=True)
class Reproduces:
    """The paper in short, for lists of papers: last names of its authors, year, a few words."""

    authors: str
    year: Annotated[int, from_to(1900)]
    subject: str


@dataclass(frozen=True)
class Timed:
    """Samples on which methods are timed: these sizes, and the first so many folds."""

    sizes: tuple[Whole, ...]
    folds: Whole


@dataclass(frozen=True)
class Samples:
    """Training data of several sizes that are drawn from each dataset, in folds.

    The study then has the datasets BASE-nSIZE-fFOLD. Elsewhere BASE stands for all of them, and in
    tables, figures and claims BASE-nSIZE for the mean over the folds.

    sizes : numbers of training examples. folds : number of folds; a list has one number for each
    size. timed : samples on which methods are timed; all if None.
    """

    sizes: Annotated[tuple[Whole, ...], ONCE]
    folds: Whole | tuple[Whole, ...]
    timed: Timed | None = None


@dataclass(frozen=True)
class Method:
    """How the method of a row is learned.

    learner : file in src/mnlearn/methods, if the label of the row is not its name. network : row
    label of the dependency network that the method builds on. datasets, sizes : datasets and sizes
    of samples on which the method is learned; all if None. cmll : which of the method's models are
    given a CMLL; by dataset in cmll_exceptions. criterion : validation score that the last choice
    is made by. grid, exceptions : values to try on validation data, by parameter; and instead of
    these, by dataset. left_out : points of the grid that are not tried: those that have all values
    of an entry.
    """

    learner: Name | None = None
    network: Name | None = None
    datasets: tuple[Dataset, ...] | None = None
    sizes: tuple[Whole, ...] | None = None
    cmll: Scored = "all"
    cmll_exceptions: Mapping[Dataset, Scored] | None = None
    criterion: str = "pll"
    grid: Grid | None = None
    exceptions: Mapping[Dataset, Grid] | None = None
    left_out: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True)
class Beliefs:
    """Settings of belief propagation."""

    iterations: Whole | None = None
    tolerance: NotNegative | None = None
    damping: Share | None = None
    schedule: Literal["sequential", "parallel"] | None = None


@dataclass(frozen=True)
class Inference(Beliefs):
    """How conditional marginals are computed."""

    method: Literal["gibbs", "exact", "mcsat", "bp", "meanfield"] | None = None
    burn_in: int | None = None
    samples: Whole | None = None


@dataclass(frozen=True)
class Annealing:
    """Settings of annealed importance sampling."""

    n_chains: Annotated[int, from_to(2)] | None = None
    n_steps: Whole | None = None


@dataclass(frozen=True)
class Sampled:
    """Methods of another study whose models answer queries by Gibbs sampling.

    They have the settings of `cmll`, where that study is run together with this one.

    methods : row labels in that study, which are not those of methods of this one. examples : so
    many of the first queries they answer. beliefs : whether they also answer by belief propagation.
    """

    study: Name
    methods: list[Name]
    examples: Whole
    beliefs: bool = False


@dataclass(frozen=True)
class Queries:
    """Queries of growing shares of the variables, in per cent, given all others.

    examples : test examples that are queried. methods : row labels of methods, whose models answer.
    """

    examples: Whole
    percentages: list[Percentage]
    methods: list[Name]
    sampled: Sampled | None = None


@dataclass(frozen=True)
class TimedQueries:
    """Queries that are timed, on the first test examples."""

    examples: Whole
    percentage: Percentage


@dataclass(frozen=True)
class Likelihoods:
    """Networks scored with two estimates of the partition function.

    methods : row labels of methods that learn networks. timed : row labels of methods with exact
    inference, whose single queries are timed on the datasets on which methods are timed.
    """

    methods: list[Name]
    beliefs: Beliefs
    annealing: Annealing
    queries: TimedQueries
    timed: list[Name] | None = None


@dataclass(frozen=True)
class Partitions:
    """Over how many random partitions of the variables CMLL is computed.

    The first is reported, the others give a spread.
    """

    default: Whole
    exceptions: Mapping[Dataset, Whole] | None = None


@dataclass(frozen=True)
class FurtherInference:
    """Another way of inference by which chosen models of some methods are given a CMLL as well.

    examples : of the test data, the first so many; all if None.
    """

    inference: Inference
    datasets: list[Name]
    methods: list[Name]
    examples: Whole | None = None


@dataclass(frozen=True)
class Cmll:
    """How the conditional marginal log-likelihood is computed.

    groups : number of disjoint query groups in a partition of the variables. inference, exceptions
    : the settings, and by dataset those that replace some of them. tuning, tuning_exceptions :
    settings for validation CMLL, computed for many models; as for test if None. also : further ways
    of inference by name, over the first partition; the quantity `cmll_<name>`.
    """

    groups: Whole
    partitions: Partitions
    inference: Inference
    tuning: Inference | None = None
    tuning_exceptions: Mapping[Dataset, Inference] | None = None
    exceptions: Mapping[Dataset, Inference] | None = None
    also: Mapping[Name, FurtherInference] | None = None


@dataclass(frozen=True)
class Section:
    """A section of the study's page; each name stands for the figure and the table of this name."""

    title: str
    show: tuple[Name, ...]
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Content:
    """A study, one paper's experiments.

    title, paper : heading of the study in the report; citation of the paper that it reproduces.
    datasets : in the order of the paper's tables; benchmark, embedded or local. unavailable :
    datasets of the paper that are not public. Tables and figures have their rows, and the published
    numbers. With files of your own, name them under `local` in config.yaml and add them to
    `datasets`. methods : by row label. reproduces : none if it reproduces no paper: the pages on
    fidelity and claims leave it out. timed : row labels of methods whose chosen model is learned
    again alone, from nothing, to time it. Their seconds in tables are medians of several runs, of
    all these methods in turn; those of the others are of the search, once. timed_search : row
    labels among these of which the whole search is timed in the same way. paired : pairs of row
    labels whose scores are compared test example by test example. divergences : pairs of row labels
    of methods that learn circuits. The Kullback-Leibler divergence of the first from the second is
    estimated from samples of the first. records : kinds of records that no other key asks for, with
    the row labels of the methods that each is made of. tables, figures, claims : each of a kind in
    src/mnlearn_studies/report, with its options. sections : of the study's page. What they leave
    out comes last, figures before tables. listed : whether results/README.md lists the study. No
    for a study whose results git does not keep.
    """

    title: str
    paper: str
    datasets: Annotated[tuple[Dataset, ...], ONCE]
    methods: Annotated[Mapping[Name, Method], Limit("a mapping with one method or more", bool)]
    cmll: Cmll
    tables: list[Product]
    figures: list[Product]
    claims: list[ClaimEntry]
    reproduces: Reproduces | None = None
    samples: Samples | None = None
    unavailable: list[Name] | None = None
    timed: list[Name] | None = None
    timed_search: list[Name] | None = None
    paired: list[NamePair] | None = None
    divergences: list[NamePair] | None = None
    queries: Queries | None = None
    likelihoods: Likelihoods | None = None
    records: Mapping[Name, tuple[Name, ...]] | None = None
    sections: list[Section] | None = None
    listed: bool = True
