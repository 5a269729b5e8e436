"""The page on how closely the record reproduces the papers: numbers, claims and figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from mnlearn_studies.datasets.prepare import label_datasets
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report.claims.verdicts import GROUPS
from mnlearn_studies.report.markdown import bullets, escape, page, pipe_table
from mnlearn_studies.report.pages.numbers import (
    FAR,
    NEAR,
    PublishedNumber,
    Reasons,
    list_below,
    load_reasons,
    published_numbers,
)
from mnlearn_studies.report.pages.overview import (
    GROUPS_SAID,
    count_groups,
    link_study,
    read_claims,
)
from mnlearn_studies.report.statistics import geometric_mean
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import load_published

_NEARNESS = (NEAR, 0.1, 0.5)
_NEAR, _FAR = f"{100 * NEAR:g} %", f"{100 * FAR:g} %"
# What seconds are of.
_STEPS = {
    "seconds_structure": "structure",
    "seconds_weights": "weights",
    "seconds_learn": "all",
    "seconds_learn_and_files": "all, and files",
    "seconds_tuning_and_files": "the search, and files",
}
_Numbers = Sequence[PublishedNumber]


def build_fidelity_page(studies: Mapping[str, Study], results: Path) -> str:
    """Return the page on the studies of papers, which have run."""
    scores = {name: read_scores(results / name / "scores.csv") for name in studies}
    of_kind: dict[str, list[PublishedNumber]] = {}
    for number in published_numbers(load_published(), scores):
        of_kind.setdefault(number.kind, []).append(number)
    return page(
        "# Fidelity",
        "How closely the record reproduces the five papers: the published scores, sizes of models, "
        "times and numbers of the datasets, every claim, and every figure. Other numbers, such as "
        "settings and speed-ups, stand beside ours on the pages of the studies. The page is "
        "computed from the scores of the studies and from the published numbers.",
        *_accuracy(of_kind.get("accuracy", []), load_reasons()),
        *_below(studies, scores),
        *_sizes(of_kind.get("size", [])),
        *_times(of_kind.get("time", [])),
        *_data(of_kind.get("data", [])),
        *_claims(studies, results),
        *_figures(studies, results),
    )


def _groups(numbers: _Numbers) -> dict[tuple[str, str, str], list[PublishedNumber]]:
    groups: dict[tuple[str, str, str], list[PublishedNumber]] = {}
    for number in numbers:
        groups.setdefault((number.study, number.table, number.quantity), []).append(number)
    return groups


def _accuracy(numbers: _Numbers, reasons: Reasons) -> Iterator[str]:
    yield "## Accuracy"
    near, reached = sum(n.is_near for n in numbers), sum(n.is_reached for n in numbers)
    yield (
        f"**Of {len(numbers)} published test scores, {near} are within {_NEAR} of ours on both "
        f"sides, and {reached} are reached or exceeded.** The first count asks whether we have the "
        "same learner, the second whether ours is at least as good. A baseline that is much better "
        "than published is no better a reproduction than one that is worse, and it makes another "
        "method's win harder."
    )
    yield (
        "Scores are in nats per example; higher is better. A score is reached if it is at least "
        f"as high as the published one, or lower by at most {_NEAR}. CMLL depends on a partition "
        "of the variables that the papers do not publish. Where CMLL was scored on n random "
        "partitions, it is also reached if the published value is within the 95 % prediction "
        "interval of one more partition, or below it: at most mean + t(n-1, 0.975) · s · "
        "sqrt(1 + 1/n), where s is the standard deviation. A wide interval is weak evidence: "
        "such a score is not shown to differ, and not shown to agree."
    )
    header = ("study", "table", "score", "numbers", f"within {_NEAR}", "higher", "in the interval")
    rows = [
        (link_study(study), table, quantity.upper(), *_count_reached(of_group))
        for (study, table, quantity), of_group in _groups(numbers).items()
    ]
    rows.append(("all", "", "", *_count_reached(numbers)))
    yield pipe_table((*header, "not reached", "reached or above"), rows, "lllrrrrrr")
    far = [number for number in numbers if number.needs_reason]
    sides = (
        (f"Not reached, or more than {_FAR} lower:", [n for n in far if not n.is_better]),
        (f"More than {_FAR} higher:", [n for n in far if n.is_better]),
    )
    for said, of_side in sides:
        if of_side:
            yield said
            header = ("study", "dataset", "method", "score", "published", "ours", "partitions")
            yield pipe_table((*header, "difference"), map(_far_row, of_side), "llllrrrr")
            yield "Why:"
            yield bullets(_explain(number, reasons) for number in of_side)


def _below(studies: Mapping[str, Study], scores: Mapping[str, pd.DataFrame]) -> Iterator[str]:
    labels = label_datasets({})
    rows = [
        (link_study(name), f"`{method}`", quantity.upper().replace("_", " "),
         escape(", ".join(study.labels(labels).get(d, d) for d in datasets)))
        for name, study in studies.items()
        for method, quantity, datasets in list_below(study, scores[name])
    ]  # fmt: skip
    yield "## Below independent variables"
    yield (
        "Methods that score below independent variables (`atomic`), so that a comparison with them "
        "is too easy. Studies without `atomic` are not in the list."
    )
    yield pipe_table(("study", "method", "score", "datasets"), rows, "llll") if rows else "None."


def _count_reached(numbers: _Numbers) -> list[str]:
    near = sum(number.is_near for number in numbers)
    higher = sum(number.is_better and not number.is_near for number in numbers)
    reached = sum(number.is_reached for number in numbers)
    counts = (len(numbers), near, higher, reached - higher - near, len(numbers) - reached)
    return [*map(str, counts), f"{reached} of {len(numbers)}"]


def _far_row(number: PublishedNumber) -> tuple[str, ...]:
    spread = "–"
    if number.mean is not None and number.deviation is not None:
        spread = f"{number.mean:.3f} ± {number.deviation:.3f} ({number.n_partitions})"
    return (
        *(link_study(number.study), escape(number.label), f"`{number.method}`"),
        *(number.quantity.upper(), number.printed),
        *("–" if number.ours is None else f"{number.ours:.3f}", spread),
        "–" if number.error is None else f"{100 * number.error:+.1f} %",
    )


def _explain(number: PublishedNumber, reasons: Reasons) -> str:
    """Return why a score is far from the published one, with a link to the decision record."""
    reason = reasons.get((number.study, number.dataset, number.method, number.quantity))
    score = f"{number.study.upper()}, {escape(number.label)}, `{number.method}`"
    if reason is None:
        return f"{score}: not computed." if number.ours is None else f"{score}: not known."
    link = f"[decision {reason.record.partition('-')[0]}](../docs/decisions/{reason.record}.md)"
    return f"{score}: {escape(reason.text)} ({link})."


def _sizes(numbers: _Numbers) -> Iterator[str]:
    yield "## Sizes of models"
    yield (
        "Numbers of features and their mean lengths. They depend on the seed, on when weight "
        "learning stops, and on which of several equally good settings validation chooses. The "
        "last column is the geometric mean of our numbers as a share of the published ones."
    )
    rows = []
    for (study, table, quantity), of_group in _groups(numbers).items():
        errors = [abs(number.error) for number in of_group if number.error is not None]
        within = [str(sum(error <= most for error in errors)) for most in _NEARNESS]
        shares = [number.ours / number.value for number in of_group if number.ours and number.value]
        if shares:
            name, mean = quantity.removeprefix("n_").replace("_", " "), geometric_mean(shares)
            rows.append((link_study(study), table, name, str(len(errors)), *within, f"{mean:.2f}"))
    near = [f"within {100 * most:.0f} %" for most in _NEARNESS]
    yield pipe_table(("study", "table", "number", "numbers", *near, "ratio"), rows, "lllrrrrr")


def _times(numbers: _Numbers) -> Iterator[str]:
    yield "## Times"
    yield (
        "Seconds of learning, beside the published seconds, which come from the programs and "
        "machines of 2010 to 2013. The ratio is the geometric mean of the published seconds as a "
        "multiple of ours."
    )
    rows = []
    for (study, table, quantity), of_group in _groups(numbers).items():
        ratios: dict[str, list[float]] = {}
        for number in of_group:
            if number.ours and number.value:
                ratios.setdefault(number.method, []).append(number.value / number.ours)
        for method, of_method in ratios.items():
            faster = f"{sum(ratio > 1 for ratio in of_method)} of {len(of_method)}"
            cells = (link_study(study), table, f"`{method}`", _STEPS[quantity], faster)
            rows.append((*cells, f"{geometric_mean(of_method):.1f}"))
    yield pipe_table(("study", "table", "method", "seconds of", "faster", "ratio"), rows, "llllrr")


def _data(numbers: _Numbers) -> Iterator[str]:
    yield "## Datasets"
    equal = sum(number.ours is not None and number.ours == number.value for number in numbers)
    near = sum(number.is_near for number in numbers)
    yield (
        f"Of {len(numbers)} published numbers of examples and variables and densities, {equal} are "
        f"equal to ours, and {near} are within 1 per cent. Each download is checked against a "
        "digest."
    )


def _claims(names: Iterable[str], results: Path) -> Iterator[str]:
    yield "## Claims"
    yield (
        "Statements of the papers about results, by our verdict on them. The page of a study has "
        f"each claim with its rule. {GROUPS_SAID}"
    )
    counts = {name: count_groups(read_claims(results / name)) for name in names}
    rows = [(link_study(name), *map(str, of_study)) for name, of_study in counts.items()]
    rows.append(("all", *(str(sum(column)) for column in zip(*counts.values(), strict=True))))
    yield pipe_table(("study", *GROUPS), rows, "l" + "r" * len(GROUPS))


def _figures(studies: Mapping[str, Study], results: Path) -> Iterator[str]:
    yield "## Figures"
    yield (
        "Each figure of results of the papers in its own form, and what else we draw of the same "
        "study. Figure 1 of DTSL, of ACMN and of LEM is an example and shows no results."
    )
    rows = []
    for name, study in studies.items():
        printed: list[str] = []
        ours: list[str] = []
        for figure in study.content["figures"]:
            title = str(figure["title"])
            href = f"{name}/figures/{figure['name']}.png"
            is_drawn = (results / href).exists()
            shown = f"[{escape(title)}]({href})" if is_drawn else f"{escape(title)} (not drawn)"
            (printed if title.startswith("Figure") else ours).append(shown)
        rows.append((link_study(name), "; ".join(printed) or "–", "; ".join(ours) or "–"))
    yield pipe_table(("study", "as in the paper", "ours"), rows, "lll")
    yield (
        "Beyond the papers: the study [`frontier`](frontier/README.md) compares tractable models "
        "on the 20 datasets with the best published ones."
    )
