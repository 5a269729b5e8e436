"""The page on how closely the record reproduces the papers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mnlearn.report.document.blocks import Block, Bullets, Document, Grid, Heading, Paragraph
from mnlearn.report.document.index_page import count_claims
from mnlearn.report.document.spans import Span, Text, marked, plain
from mnlearn.report.document.study_page import RECORD_NOTE
from mnlearn.report.fidelity.cells import DEVIATIONS, NEAR, Printed, Reason
from mnlearn.report.statistics import geometric_mean
from mnlearn.study.definition import Study

_DECISIONS = "../docs/decisions"
_NEARNESS = (NEAR, 0.1, 0.5)


@dataclass(frozen=True)
class Fidelity:
    """What the page is made of.

    studies : those of papers, by name. cells : see `printed_cells`. reasons : see `load_reasons`.
    results : the folder of the results.
    """

    studies: Mapping[str, Study]
    cells: Sequence[Printed]
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
                "How closely the record reproduces the five papers: every published number of "
                "their tables that has a counterpart here, every claim, and every figure. The "
                "page is computed from the scores of the studies and from the published numbers."
            )
        ),
        *_accuracy(given),
        *_sizes([cell for cell in given.cells if cell.kind == "size"]),
        *_times([cell for cell in given.cells if cell.kind == "time"]),
        *_data([cell for cell in given.cells if cell.kind == "data"]),
        *_claims(given),
        *_figures(given),
    ]
    return Document("Fidelity", tuple(blocks), RECORD_NOTE)


def _groups(cells: Sequence[Printed]) -> Iterator[tuple[tuple[str, ...], list[Printed]]]:
    """Yield the cells of each study, table and quantity, in their order."""
    keys = dict.fromkeys((cell.study, cell.table, cell.quantity) for cell in cells)
    for key in keys:
        yield key, [cell for cell in cells if (cell.study, cell.table, cell.quantity) == key]


def _grid(header: Sequence[str], rows: Sequence[Sequence[Text | str]], alignment: str) -> Grid:
    return Grid(
        tuple(map(plain, header)),
        alignment,
        tuple(tuple(plain(c) if isinstance(c, str) else c for c in row) for row in rows),
    )


def _study(name: str) -> Text:
    return (Span(name, "code", f"{name}/README.md"),)


def _accuracy(given: Fidelity) -> Iterator[Block]:
    cells = [cell for cell in given.cells if cell.kind == "accuracy"]
    yield Heading(2, "Accuracy")
    yield Paragraph(
        plain(
            "Test scores, in nats per example; higher is better. A score is reached if it is at "
            "least as high as the published one, or lower by at most 1 per cent. CMLL depends on a "
            "partition of the variables that the papers do not publish. Where CMLL was scored on "
            f"several random partitions, it is also reached if their mean and {DEVIATIONS:.0f} "
            "standard deviations cover the published value."
        )
    )
    header = ("study", "table", "score", "numbers", "as high", "within 1 %", "within the spread")
    rows = [_accuracy_row(*group) for group in _groups(cells)]
    total: list[Text | str] = ["all", "", "", *_accuracy_counts(cells)]
    yield _grid((*header, "not reached", "reached"), [*rows, total], "lllrrrrrr")
    below = [cell for cell in cells if not cell.is_reached]
    if below:
        yield Paragraph(plain("What is not reached:"))
        header = ("study", "dataset", "method", "score", "published", "ours", "random partitions")
        yield _grid((*header, "difference"), [_below_row(cell) for cell in below], "llllrrrr")
        yield Paragraph(plain("Why:"))
        yield Bullets(tuple(_why(cell, given.reasons) for cell in below))


def _accuracy_row(key: tuple[str, ...], cells: list[Printed]) -> list[Text | str]:
    study, table, quantity = key
    return [_study(study), table, quantity.upper(), *_accuracy_counts(cells)]


def _accuracy_counts(cells: Sequence[Printed]) -> list[str]:
    better = sum(cell.is_better for cell in cells)
    near = sum(not cell.is_better and cell.is_near for cell in cells)
    reached = sum(cell.is_reached for cell in cells)
    counts = (len(cells), better, near, reached - better - near, len(cells) - reached)
    return [*map(str, counts), f"{reached} of {len(cells)}"]


def _below_row(cell: Printed) -> list[Text | str]:
    spread = "–"
    if cell.mean is not None and cell.deviation is not None:
        spread = f"{cell.mean:.3f} ± {cell.deviation:.3f}"
    return [
        *(_study(cell.study), cell.label, (Span(cell.method, "code"),), cell.quantity.upper()),
        *(cell.printed, "–" if cell.ours is None else f"{cell.ours:.3f}", spread),
        "–" if cell.error is None else f"{100 * cell.error:+.1f} %",
    ]


def _why(cell: Printed, reasons: Mapping[tuple[str, str, str, str], Reason]) -> Text:
    """Return why a score is not reached, with a link to the decision record."""
    reason = reasons.get((cell.study, cell.dataset, cell.method, cell.quantity))
    what = (Span(f"{cell.study.upper()}, {cell.label}, "), Span(cell.method, "code"))
    if reason is None:
        return (*what, Span(": not computed." if cell.ours is None else ": not known."))
    link = Span(f"decision {reason.decision}", "", f"{_DECISIONS}/{reason.record}.md")
    return (*what, Span(f": {reason.text} ("), link, Span(")."))


def _sizes(cells: Sequence[Printed]) -> Iterator[Block]:
    yield Heading(2, "Sizes of models")
    yield Paragraph(
        plain(
            "Numbers of features and their mean lengths. They depend on the seed, on when weight "
            "learning stops, and on which of several equally good settings validation chooses. "
            "The last column is the geometric mean of our numbers as a share of the published ones."
        )
    )
    rows: list[list[Text | str]] = []
    for (study, table, quantity), own in _groups(cells):
        errors = [abs(cell.error) for cell in own if cell.error is not None]
        within = [str(sum(error <= most for error in errors)) for most in _NEARNESS]
        shares = [cell.ours / cell.value for cell in own if cell.ours and cell.value]
        if shares:
            name, mean = quantity.removeprefix("n_").replace("_", " "), geometric_mean(shares)
            rows.append([_study(study), table, name, str(len(errors)), *within, f"{mean:.2f}"])
    near = [f"within {100 * most:.0f} %" for most in _NEARNESS]
    yield _grid(("study", "table", "number", "numbers", *near, "ratio"), rows, "lllrrrrr")


def _times(cells: Sequence[Printed]) -> Iterator[Block]:
    yield Heading(2, "Times")
    yield Paragraph(
        plain(
            "Seconds of learning, beside the published seconds, which come from the programs and "
            "machines of 2010 to 2013. The ratio is the geometric mean of the published seconds "
            "as a multiple of ours."
        )
    )
    rows: list[list[Text | str]] = []
    for (study, table, quantity), own in _groups(cells):
        for method in dict.fromkeys(cell.method for cell in own):
            ratios = [
                cell.value / cell.ours
                for cell in own
                if cell.method == method and cell.ours and cell.value
            ]
            if ratios:
                name = quantity.removeprefix("seconds_").replace("learn", "all")
                faster = f"{np.sum(np.array(ratios) > 1)} of {len(ratios)}"
                label = (Span(method, "code"),)
                mean = f"{geometric_mean(ratios):.1f}"
                rows.append([_study(study), table, label, name, faster, mean])
    yield _grid(("study", "table", "method", "seconds of", "faster", "ratio"), rows, "llllrr")


def _data(cells: Sequence[Printed]) -> Iterator[Block]:
    yield Heading(2, "Datasets")
    equal = sum(cell.ours is not None and cell.ours == cell.value for cell in cells)
    near = sum(cell.is_near for cell in cells)
    yield Paragraph(
        plain(
            f"Of {len(cells)} published numbers of examples and variables and densities, {equal} "
            f"are equal to ours, and {near} are within 1 per cent. Each download is checked "
            "against a digest."
        )
    )


def _claims(given: Fidelity) -> Iterator[Block]:
    yield Heading(2, "Claims")
    yield Paragraph(
        plain(
            "Statements of the papers about results, by our verdict on them. The page of a study "
            "has each claim with its rule."
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
