"""The page on how closely the record reproduces the papers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mnlearn_studies.report.document.blocks import (
    Block,
    Bullets,
    Document,
    Grid,
    Heading,
    Paragraph,
)
from mnlearn_studies.report.document.index_page import GROUPS_SAID, count_claims
from mnlearn_studies.report.document.spans import Span, Text, marked, plain
from mnlearn_studies.report.document.study_page import RECORD_NOTE
from mnlearn_studies.report.fidelity.numbers import DEVIATIONS, NEAR, PublishedNumber, Reason
from mnlearn_studies.report.statistics import geometric_mean
from mnlearn_studies.study.definition import Study

_DECISIONS = "../docs/decisions"
_NEARNESS = (NEAR, 0.1, 0.5)
# What seconds are of.
_STEPS = {
    "seconds_structure": "structure",
    "seconds_weights": "weights",
    "seconds_learn": "all",
    "seconds_learn_and_files": "all, and files",
    "seconds_tuning_and_files": "the search, and files",
}


@dataclass(frozen=True)
class Fidelity:
    """What the page is made of.

    studies : those of papers, by name. numbers : see `published_numbers`.
    reasons : see `load_reasons`. results : the folder of the results.
    """

    studies: Mapping[str, Study]
    numbers: Sequence[PublishedNumber]
    reasons: Mapping[tuple[str, str, str, str], Reason]
    results: Path


def build_fidelity(given: Fidelity) -> Document:
    """Return the page.

    Raises
    ------
    InputError
        The claims of a study are malformed.
    """
    blocks: list[Block] = [
        Heading(1, "Fidelity"),
        Paragraph(
            plain(
                "How closely the record reproduces the five papers: the published scores, sizes "
                "of models, times and numbers of the datasets, every claim, and every figure. "
                "Other numbers, such as settings and speed-ups, stand beside ours on the pages of "
                "the studies. The page is computed from the scores of the studies and from the "
                "published numbers."
            )
        ),
        *_accuracy(given),
        *_sizes([number for number in given.numbers if number.kind == "size"]),
        *_times([number for number in given.numbers if number.kind == "time"]),
        *_data([number for number in given.numbers if number.kind == "data"]),
        *_claims(given),
        *_figures(given),
    ]
    return Document("Fidelity", tuple(blocks), RECORD_NOTE)


def _groups(
    numbers: Sequence[PublishedNumber],
) -> Iterator[tuple[tuple[str, ...], list[PublishedNumber]]]:
    """Yield the numbers of each study, table and quantity, in their order."""
    groups: dict[tuple[str, ...], list[PublishedNumber]] = {}
    for number in numbers:
        groups.setdefault((number.study, number.table, number.quantity), []).append(number)
    yield from groups.items()


def _grid(header: Sequence[str], rows: Sequence[Sequence[Text | str]], alignment: str) -> Grid:
    return Grid(
        tuple(map(plain, header)),
        alignment,
        tuple(tuple(plain(c) if isinstance(c, str) else c for c in row) for row in rows),
    )


def _study(name: str) -> Text:
    return (Span(name, "code", f"{name}/README.md"),)


def _accuracy(given: Fidelity) -> Iterator[Block]:
    numbers = [number for number in given.numbers if number.kind == "accuracy"]
    yield Heading(2, "Accuracy")
    yield Paragraph(
        plain(
            "Test scores, in nats per example; higher is better. A score is reached if it is at "
            "least as high as the published one, or lower by at most 1 per cent. CMLL depends on a "
            "partition of the variables that the papers do not publish. Where CMLL was scored on "
            "several random partitions, it is also reached if the published value is at most their "
            f"mean plus {DEVIATIONS:.0f} standard deviations."
        )
    )
    header = ("study", "table", "score", "numbers", "as high", "within 1 %", "within the spread")
    rows = [_accuracy_row(*group) for group in _groups(numbers)]
    total: list[Text | str] = ["all", "", "", *_accuracy_counts(numbers)]
    yield _grid((*header, "not reached", "reached"), [*rows, total], "lllrrrrrr")
    below = [number for number in numbers if not number.is_reached]
    if below:
        yield Paragraph(plain("What is not reached:"))
        header = ("study", "dataset", "method", "score", "published", "ours", "random partitions")
        yield _grid((*header, "difference"), [_below_row(number) for number in below], "llllrrrr")
        yield Paragraph(plain("Why:"))
        yield Bullets(tuple(_why(number, given.reasons) for number in below))


def _accuracy_row(key: tuple[str, ...], numbers: list[PublishedNumber]) -> list[Text | str]:
    study, table, quantity = key
    return [_study(study), table, quantity.upper(), *_accuracy_counts(numbers)]


def _accuracy_counts(numbers: Sequence[PublishedNumber]) -> list[str]:
    better = sum(number.is_better for number in numbers)
    near = sum(not number.is_better and number.is_near for number in numbers)
    reached = sum(number.is_reached for number in numbers)
    counts = (len(numbers), better, near, reached - better - near, len(numbers) - reached)
    return [*map(str, counts), f"{reached} of {len(numbers)}"]


def _below_row(number: PublishedNumber) -> list[Text | str]:
    spread = "–"
    if number.mean is not None and number.deviation is not None:
        spread = f"{number.mean:.3f} ± {number.deviation:.3f}"
    return [
        *(
            _study(number.study),
            number.label,
            (Span(number.method, "code"),),
            number.quantity.upper(),
        ),
        *(number.printed, "–" if number.ours is None else f"{number.ours:.3f}", spread),
        "–" if number.error is None else f"{100 * number.error:+.1f} %",
    ]


def _why(number: PublishedNumber, reasons: Mapping[tuple[str, str, str, str], Reason]) -> Text:
    """Return why a score is not reached, with a link to the decision record."""
    reason = reasons.get((number.study, number.dataset, number.method, number.quantity))
    what = (Span(f"{number.study.upper()}, {number.label}, "), Span(number.method, "code"))
    if reason is None:
        return (*what, Span(": not computed." if number.ours is None else ": not known."))
    link = Span(f"decision {reason.decision}", "", f"{_DECISIONS}/{reason.record}.md")
    return (*what, Span(f": {reason.text} ("), link, Span(")."))


def _sizes(numbers: Sequence[PublishedNumber]) -> Iterator[Block]:
    yield Heading(2, "Sizes of models")
    yield Paragraph(
        plain(
            "Numbers of features and their mean lengths. They depend on the seed, on when weight "
            "learning stops, and on which of several equally good settings validation chooses. "
            "The last column is the geometric mean of our numbers as a share of the published ones."
        )
    )
    rows: list[list[Text | str]] = []
    for (study, table, quantity), own in _groups(numbers):
        errors = [abs(number.error) for number in own if number.error is not None]
        within = [str(sum(error <= most for error in errors)) for most in _NEARNESS]
        shares = [number.ours / number.value for number in own if number.ours and number.value]
        if shares:
            name, mean = quantity.removeprefix("n_").replace("_", " "), geometric_mean(shares)
            rows.append([_study(study), table, name, str(len(errors)), *within, f"{mean:.2f}"])
    near = [f"within {100 * most:.0f} %" for most in _NEARNESS]
    yield _grid(("study", "table", "number", "numbers", *near, "ratio"), rows, "lllrrrrr")


def _times(numbers: Sequence[PublishedNumber]) -> Iterator[Block]:
    yield Heading(2, "Times")
    yield Paragraph(
        plain(
            "Seconds of learning, beside the published seconds, which come from the programs and "
            "machines of 2010 to 2013. The ratio is the geometric mean of the published seconds "
            "as a multiple of ours."
        )
    )
    rows: list[list[Text | str]] = []
    for (study, table, quantity), own in _groups(numbers):
        for method in dict.fromkeys(number.method for number in own):
            ratios = [
                number.value / number.ours
                for number in own
                if number.method == method and number.ours and number.value
            ]
            if ratios:
                faster = f"{np.sum(np.array(ratios) > 1)} of {len(ratios)}"
                label = (Span(method, "code"),)
                mean = f"{geometric_mean(ratios):.1f}"
                rows.append([_study(study), table, label, _STEPS[quantity], faster, mean])
    yield _grid(("study", "table", "method", "seconds of", "faster", "ratio"), rows, "llllrr")


def _data(numbers: Sequence[PublishedNumber]) -> Iterator[Block]:
    yield Heading(2, "Datasets")
    equal = sum(number.ours is not None and number.ours == number.value for number in numbers)
    near = sum(number.is_near for number in numbers)
    yield Paragraph(
        plain(
            f"Of {len(numbers)} published numbers of examples and variables and densities, {equal} "
            f"are equal to ours, and {near} are within 1 per cent. Each download is checked "
            "against a digest."
        )
    )


def _claims(given: Fidelity) -> Iterator[Block]:
    yield Heading(2, "Claims")
    yield Paragraph(
        plain(
            "Statements of the papers about results, by our verdict on them. The page of a study "
            "has each claim with its rule. " + GROUPS_SAID
        )
    )
    counts = {name: count_claims(given.results / name) for name in given.studies}
    groups = next(iter(counts.values())).keys()
    rows: list[list[Text | str]] = [
        [_study(name), *map(str, found.values())] for name, found in counts.items()
    ]
    rows.append(["all", *(str(sum(found[group] for found in counts.values())) for group in groups)])
    yield _grid(("study", *groups), rows, "l" + "r" * len(groups))


def _figures(given: Fidelity) -> Iterator[Block]:
    yield Heading(2, "Figures")
    yield Paragraph(
        plain(
            "Each figure of results of the papers in its own form, and what else we draw of the "
            "same study. Figure 1 of DTSL, of ACMN and of LEM is an example and shows no results."
        )
    )
    rows: list[list[Text | str]] = []
    for name, study in given.studies.items():
        printed: list[Span] = []
        other: list[Span] = []
        for figure in study.content["figures"]:
            title = str(figure["title"])
            own = printed if title.startswith("Figure") else other
            href = f"{name}/figures/{figure['name']}.png"
            is_drawn = (given.results / href).exists()
            own.append(Span(title, "", href) if is_drawn else Span(f"{title} (not drawn)"))
        rows.append([_study(name), _joined(printed), _joined(other)])
    yield _grid(("study", "as in the paper", "ours"), rows, "lll")
    yield Paragraph(
        marked(
            "Beyond the papers: the study [`frontier`](frontier/README.md) compares tractable "
            "models on the 20 datasets with the best published ones."
        )
    )


def _joined(spans: Sequence[Span]) -> Text:
    """Return spans with semicolons between them."""
    out: list[Span] = []
    for span in spans:
        out += [Span("; "), span] if out else [span]
    return tuple(out) or plain("–")
