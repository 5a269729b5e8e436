"""The page on which conclusions of the papers survive a good optimiser."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mnlearn.runtime.names import counted
from mnlearn_studies.report.claims.verdicts import GROUPS, UNKNOWN
from mnlearn_studies.report.figures.canvas import look_of, new_figure, with_minus
from mnlearn_studies.report.markdown import escape, page, pipe_table
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.pages.overview import link_study
from mnlearn_studies.study.mentions import named_methods
from mnlearn_studies.study.reading import walk

# Methods that learn as the published program or the paper's settings do, and what optimises better.
OPTIMA = {
    "gssl_reference": "gssl",
    "l1_reference": "l1",
    "dtsl_reference": "dtsl",
    "lw_tree_reference": "lw_tree",
    "lw_lr_reference": "lw_lr",
    "lem_paper": "lem",
}
FIGURE = "conclusions.png"
NOT_YET = "not computed yet"
# Datasets by method whose records are not current, by study.
Stale = Mapping[str, Collection[tuple[str, str]]]


@dataclass(frozen=True)
class Change:
    """Two methods that differ in how far, from where or how weights are learned."""

    study: str
    head: str
    before: str
    after: str


_RULE = "published rule, from 0, not scaled → optimum"
CHANGES = (
    Change("gssl", f"GSSL: {_RULE}", "gssl_reference", "gssl"),
    Change("gssl", f"L1: {_RULE}", "l1_reference", "l1"),
    Change("gssl", f"DTSL: {_RULE}", "dtsl_reference", "dtsl"),
    Change("dn2mn", f"LW, trees: {_RULE}", "lw_tree_reference", "lw_tree"),
    Change("dn2mn", f"LW, regressions: {_RULE}", "lw_lr_reference", "lw_lr"),
    Change(
        "dn2mn",
        "LW, regressions, sd 1, from 0: not scaled, published rule → scaled, ours",
        "lw_lr_zero_reference",
        "lw_lr_zero",
    ),
    Change("dn2mn", "LW, converted trees: from 0 → warm", "lw_converted", "lw_converted_warm"),
    Change("dn2mn", "LW, regressions: from 0 → warm", "lw_lr_zero", "lw_lr_warm"),
)
# What an optimiser has to do with each paper.
PAPERS = {
    "dtsl": (
        "DTSL (2010) learns trees by counts and then the weights of their features. It compares "
        "networks whose weights come from one program, so its conclusions depend on how far that "
        "program goes with each. Study `gssl` learns the weights of DTSL and L1 both ways."
    ),
    "lem": (
        "LEM (2010) has weights in closed form, so no optimiser is in it. The paper leaves "
        "settings open; here its own (method `lem_paper`) stand beside those that validation data "
        "choose."
    ),
    "gssl": (
        "GSSL (2012) generates many features and leaves the choice to weight learning, so its "
        "conclusions depend on the optimiser most."
    ),
    "dn2mn": (
        "DN2MN (2012) sets conversion in closed form against weight learning (LW). A better "
        "optimiser helps LW alone."
    ),
    "acmn": (
        "ACMN (2013) grows a circuit, and learns few weights by convex optimisation meanwhile. Its "
        "conclusions are about circuits. Its baselines GSSL and L1 come from study `gssl` at their "
        "optimum, so no claim is judged with weights that ended early."
    ),
}


def build_conclusions(
    materials: Mapping[str, Material], claims: Mapping[str, pd.DataFrame], stale: Stale
) -> str:
    """Return the page; claims : those of each study, as `read_claims` returns them."""
    pairs = {name: list(_pairs(m, claims[name], stale)) for name, m in materials.items()}
    rows = [(link_study(name), *row) for name, of_study in pairs.items() for row in of_study]
    gain_rows = [_gain_row(materials, change, stale) for change in CHANGES]
    is_drawn = any(pll != NOT_YET for _, _, pll, *_ in gain_rows)
    claim_head = ("study", "claim", "in our words", "published", "published rule", "optimum")
    gain_head = ("change", "datasets", "PLL", "largest", "CMLL", "largest")
    return page(
        "# Which conclusions survive a good optimiser?",
        "The papers compare learners whose weights were learned by programs that stop early. The "
        "same learners were run twice: with the stopping rule of the published program, from 0, "
        "without scaling and with at most 100 iterations, and by ours, until the optimum is near. "
        "The objective is strictly convex, so at the optimum itself neither the start nor scaling "
        f"would matter. † marks numbers of earlier code; “{NOT_YET}” stands where the record lacks "
        "a run.",
        *([f"![Gain of weights at the optimum]({FIGURE})"] if is_drawn else []),
        "How much test scores rise when weights are learned further (figure: PLL, one mark for "
        "each dataset): means over datasets in nats per example, and the largest change.",
        pipe_table(gain_head, gain_rows, "lrrlrl"),
        "Claims that were judged both ways: our number and verdict with each.",
        pipe_table((*claim_head, "flips"), rows, "lrlllll"),
        *(
            f"**`{name}`.** {text} {_said(name, pairs.get(name, []), materials)}".rstrip()
            for name, text in PAPERS.items()
        ),
    )


def _key(entry: Mapping[str, Any], methods: Mapping[str, str]) -> str:
    """Return what a claim compares, each method by another name and all CMLL alike."""
    said = []
    for _, options in walk(entry):
        if "quantity" in options:
            method = str(options.get("method"))
            quantity = str(options["quantity"]).removesuffix("_partition_mean")
            kept = sorted((k, str(v)) for k, v in options.items() if k not in _NAMES)
            said.append((methods.get(method, method), quantity, kept))
    names = ("id", "kind", "rule", "datasets", "published", "beyond")
    return repr([*map(entry.get, names), said])


_NAMES = {"method", "quantity", "name"}


def _pairs(material: Material, claims: pd.DataFrame, stale: Stale) -> Iterator[tuple[str, ...]]:
    """Yield the claims that are judged both ways: id, statement, numbers, and whether they flip."""
    study = material.study
    entries = [entry for entry in study.content["claims"] if not entry.get("beyond")]
    twins = {_key(e, {}): e for e in entries if not named_methods(e) & OPTIMA.keys()}
    judged = {(int(row.id), str(row.statement)): row for row in claims.itertuples()}
    for entry in entries:
        if (
            not named_methods(entry) & OPTIMA.keys()
            or (twin := twins.get(_key(entry, OPTIMA))) is None
        ):
            continue
        shown, groups = [], []
        for each in (entry, twin):
            row = judged.get((int(each["id"]), str(each["statement"])))
            if row is None or row.verdict == UNKNOWN:
                shown.append(NOT_YET)
                groups.append("")
                continue
            old = any(method in named_methods(each) for _, method in stale.get(study.name, ()))
            shown.append(escape(f"{row.ours}{'†' if old else ''}: {row.verdict}"))
            groups.append(next(name for name, of in GROUPS.items() if row.verdict in of))
        flips = "–" if "" in groups else "no" if groups[0] == groups[1] else "**yes**"
        statement, published = escape(str(twin["statement"])), escape(str(twin["published"]))
        yield str(entry["id"]), statement, published, *shown, flips


def gains(material: Material, change: Change, quantity: str) -> dict[str, float]:
    """Return by how much a score rises with a change, by dataset that has both."""
    before, after = (material.ours(m, quantity) for m in (change.before, change.after))
    both = material.in_all((before, after))
    return {d: after[d].value - before[d].value for d in both}


def _gain_row(materials: Mapping[str, Material], change: Change, stale: Stale) -> tuple[str, ...]:
    material = materials.get(change.study)
    cells, n = [], 0
    for quantity in ("pll", "cmll"):
        found = {} if material is None else gains(material, change, quantity)
        if material is None or not found:
            cells += [NOT_YET if quantity == "pll" else "–", "–"]
            continue
        n = max(n, len(found))
        largest = max(found, key=lambda d: abs(found[d]))
        old = any(m in (change.before, change.after) for _, m in stale.get(change.study, ()))
        mark = "†" if old else ""
        cells.append(f"{np.mean(list(found.values())):+.3f}{mark}")
        cells.append(f"{found[largest]:+.2f} ({escape(material.label(largest))})")
    return change.head, str(n), *cells


def _said(name: str, pairs: list[tuple[str, ...]], materials: Mapping[str, Material]) -> str:
    """Return what the numbers say of a paper, in sentences."""
    if name == "dtsl" and "gssl" in materials:
        said = (_wins(materials["gssl"], *methods) for methods in _DTSL)
        return f"DTSL has the higher test PLL than L1 on {' and '.join(said)}."
    if not pairs:
        return ""
    flipped = [row[0] for row in pairs if row[-1] == "**yes**"]
    n_same = sum(row[-1] == "no" for row in pairs)
    open_ = len(pairs) - n_same - len(flipped)
    words = f"Of {len(pairs)} claims judged both ways, {n_same} have the same verdict"
    words += f", {len(flipped)} flip" + (f" (claims {', '.join(flipped)})" if flipped else "")
    return f"{words}, and {open_} are {NOT_YET}."


_DTSL = (
    ("dtsl_reference", "l1_reference", "by the published rule"),
    ("dtsl", "l1", "at the optimum"),
)


def _wins(material: Material, first: str, second: str, head: str) -> str:
    found = gains(material, Change("gssl", head, second, first), "pll")
    count = f"{sum(x > 0 for x in found.values())} of {counted(len(found), 'dataset')}"
    return f"{count if found else f'datasets that are {NOT_YET}'} {head}"


def draw_conclusions(materials: Mapping[str, Material]) -> Figure | None:
    """Draw how far test PLL rises with each change, in per cent, one mark for each dataset."""
    drawn = []
    for change in CHANGES:
        material = materials.get(change.study)
        found = {} if material is None else gains(material, change, "pll")
        if material is not None and found:
            size = material.ours(change.after, "pll")
            drawn.append((change.head, [100 * x / abs(size[d].value) for d, x in found.items()]))
    if not drawn:
        return None
    figure, ax = new_figure("page", 0.8 + 0.3 * len(drawn))
    for row, (_, values) in enumerate(drawn):
        colour, marker = look_of(row)
        ax.scatter(values, [row] * len(values), s=14, lw=0, color=colour, marker=marker, alpha=0.8)
    reach = max(abs(x) for _, values in drawn for x in values)
    ax.set_xscale("symlog", linthresh=0.01)
    ax.set_xticks(
        [0, *(s * 10.0**k for s in (-1, 1) for k in range(-2, math.ceil(math.log10(reach)) + 1))]
    )
    ax.xaxis.set_major_formatter(with_minus)
    ax.axvline(0, color="0.5", lw=0.7)
    ax.set_yticks(range(len(drawn)), [head for head, _ in drawn])
    ax.set_ylim(len(drawn) - 0.5, -0.5)
    ax.set_xlabel("gain of test PLL, per cent")
    ax.grid(True, axis="both")
    return figure
