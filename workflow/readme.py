"""Write the generated tables of README.md and docs/, and the overviews of results/: `make readme`.

With `--pages` (`make pages`) also the pages of all studies and of the record, which ask of each
record whether it is current.

A generated part of README.md or of a page in docs/ begins with `<!-- NAME -->` and ends with
`<!-- /NAME -->`. It comes from the record in results/, from the published numbers, from the
declarations of the learners, or from the headings of the decision records. `stubs.py` writes the
types of the Python learners.
"""

import dataclasses
import json
import re
import runpy
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from mnlearn.methods import learner_names, load_learner
from mnlearn_studies.datasets.sample_names import list_means
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report.all_products import overview_pages, result_pages
from mnlearn_studies.report.claims.verdicts import GROUPS
from mnlearn_studies.report.markdown import pipe_table
from mnlearn_studies.report.pages.numbers import PublishedNumber, published_numbers
from mnlearn_studies.report.pages.overview import count_groups, read_claims
from mnlearn_studies.study.definition import paper_title, studies_of_papers
from mnlearn_studies.study.published import load_published
from mnlearn_studies.study.settings import Settings

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "results"

# Of each learner: study, method of the study, score, our table.
SCORES = {
    "acbn": [("acmn", "acbn", "ll", "ll")],
    "acmn": [("acmn", "acmn", "ll", "ll")],
    "atomic": [("dtsl", "atomic", "cmll", "table6"), ("gssl", "atomic", "pll", "pll")],
    "blm": [("gssl", "blm", "cmll", "cmll"), ("dtsl", "blm", "cmll", "table6")],
    "chow_liu": [("acmn", "chow_liu", "ll", "ll")],
    "della_pietra": [("lem", "dl", "ll_annealed", "ll")],
    "dn2mn": [
        ("dn2mn", "dn2mn_tree", "pll", "table4_tree"),
        ("dn2mn", "dn2mn_tree", "cmll", "table4_tree"),
        ("dn2mn", "dn2mn_lr", "pll", "table4_lr"),
        ("dn2mn", "dn2mn_lr", "cmll", "table4_lr"),
    ],
    "dn_bag": [("dn2mn", "dn_bag", "pll", "beyond")],
    "dn_boost": [("dn2mn", "dn_boost", "pll", "beyond")],
    "dn_lr": [("dn2mn", "dn_lr", "pll", "networks")],
    "dn_mixed": [("dn2mn", "dn_mixed", "pll", "beyond")],
    "dn_tree": [("dn2mn", "dn_tree", "pll", "networks")],
    "dtsl": [("gssl", "dtsl", "cmll", "cmll"), ("dtsl", "dtsl", "cmll", "cmll")],
    "gssl": [("gssl", "gssl", "cmll", "cmll")],
    "hclt": [("frontier", "hclt", "ll", "ll")],
    "junction_tree": [("lem", "junction_tree", "ll", "ll")],
    "l1": [("gssl", "l1", "cmll", "cmll"), ("dtsl", "l1", "cmll", "table6")],
    "lem": [("lem", "lem_paper", "ll", "ll"), ("lem", "lem", "ll", "ll")],
    "ltm": [("acmn", "ltm", "ll", "ll")],
    "tree_bag": [("discrete", "tree_bag", "ll", "ll")],
    "mixture": [("frontier", "mixture", "ll", "ll"), ("frontier", "acmn_mixture", "ll", "ll")],
    "lw": [
        ("dn2mn", "lw_tree", "pll", "table4_tree"),
        ("dn2mn", "lw_tree", "cmll", "table4_tree"),
        ("dn2mn", "lw_lr", "pll", "table4_lr"),
        ("dn2mn", "lw_lr", "cmll", "table4_lr"),
    ],
}
# Names of learners in claims, beside their titles.
ABBREVIATIONS = {"della_pietra": ("DP", "DL")}
PEERS_BY_NAME = "GSSL|SparC|KLay|scikit-learn|R, glmnet|pyAgrum"


@cache
def recorded() -> dict[str, tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Return the paper, the claims and the scores of each study of a paper that is recorded."""
    return {
        name: (paper_title(study), read_claims(folder), read_scores(folder / "scores.csv"))
        for name, study in studies_of_papers().items()
        if ((folder := RESULTS / name) / "claims.csv").exists()
    }


@cache
def numbers() -> list[PublishedNumber]:
    """Return the published numbers of the papers beside ours."""
    scores = {name: scores for name, (_, _, scores) in recorded().items()}
    return published_numbers(load_published(), scores)


def claims_table(results: str = "results") -> str:
    """Return the numbers of claims by study and verdict; settings are not counted.

    results : the folder of the results as seen from the page.
    """
    rows = [
        [f"[`{study}`]({results}/{study}/claims.md)", paper, *map(str, count_groups(claims))]
        for study, (paper, claims, _) in recorded().items()
    ]
    return pipe_table(("study", "paper", *GROUPS), rows, "ll" + "r" * len(GROUPS))


def claims_of(learner: str) -> str | None:
    """Return the numbers of claims that name a learner, by study and verdict."""
    title = load_learner(learner).title
    names = "|".join(map(re.escape, (title, *ABBREVIATIONS.get(learner, ()))))
    rows = []
    for study, (_, claims, _) in recorded().items():
        named = claims[claims["statement"].str.contains(rf"\b(?:{names})\b")]
        if len(named):
            link = f"[`{study}`](../../results/{study}/claims.md)"
            rows.append([link, *map(str, count_groups(named))])
    head = (f"claims that name {title}", *GROUPS)
    return pipe_table(head, rows, "l" + "r" * len(GROUPS)) if rows else None


def cmll_table() -> str:
    """Return the test scores of study `dtsl` without caption and notes."""
    lines = (RESULTS / "dtsl" / "tables" / "cmll.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


def bench_table() -> str:
    """Return the measurements that have a peer."""
    bench = pd.read_csv(RESULTS / "bench.csv")
    bench = bench[bench["ratio"].notna()]
    columns = {
        "task": bench["task"],
        "data": bench["dataset"],
        "measured": bench["scope"],
        "seconds": bench["seconds"].map("{:.3f}".format),
        "rate": bench["rate"].fillna(""),
        # Peers from Libra are recorded by their command lines.
        "beside": bench["peer"].where(bench["peer"].str.match(PEERS_BY_NAME), "Libra 1.1.2"),
        "its seconds": bench["peer_seconds"].map("{:.2f}".format),
        "ratio": [f"{ratio:.{0 if ratio >= 9.95 else 1}f}" for ratio in bench["ratio"]],
    }
    return pipe_table(list(columns), zip(*columns.values(), strict=True), "lllrllrr")


def parameter_table(learner: str) -> str:
    """Return the hyperparameters of a learner: name, default, meaning."""
    fields = load_learner(learner).fields()
    rows = [[f"`{n}`", f"`{f.default}`", f.metadata["help"]] for n, f in fields.items()]
    return pipe_table(("parameter", "default", "meaning"), rows, "lll")


def score_table(learner: str) -> str:
    """Return the mean test scores of a learner, ours and published, over the datasets of both."""
    rows = []
    for study, method, quantity, table in SCORES.get(learner, ()):
        means = _published_means(study, method, quantity) or _own_mean(study, method, quantity)
        link = f"[`{table}`](../../results/{study}/tables/{table}.md)"
        score = quantity.upper().replace("_ANNEALED", " (AIS)")
        rows.append([f"`{method}` of `{study}`", score, *means, link])
    head = ("method", "test score", "datasets", "ours, mean", "published, mean")
    head_of_counts = "ours higher / equal / lower"
    table = pipe_table((*head, head_of_counts, "table"), rows, "llrrrll")
    return table if rows else "No study has it."


def _own_mean(study: str, method: str, quantity: str) -> list[str]:
    """Return the number of datasets and our mean; for samples, the mean over folds counts."""
    scores = read_scores(RESULTS / study / "scores.csv").set_index("dataset")
    is_shown = (scores["method"] == method) & (scores["quantity"] == quantity)
    ours = scores.loc[is_shown & (scores["variant"] == ""), "value"]
    is_mean = ours.index.isin(list_means(ours.index))
    ours = ours[is_mean] if is_mean.any() else ours
    return [str(len(ours)), f"{ours.mean():.3f}", "–", "–"]


def _published_means(study: str, method: str, quantity: str) -> list[str]:
    """Return the number of datasets, both means, and on how many datasets ours is higher.

    The paper may have no such score; the result is then empty.
    """
    place = (study, method, quantity)
    both = [n for n in numbers() if (n.study, n.method, n.quantity) == place and n.ours is not None]
    if not both:
        return []
    ours = np.mean([n.ours for n in both])
    published = np.mean([n.value for n in both])
    return [str(len(both)), f"{ours:.3f}", f"{published:.3f}", _compare(both)]


def _compare(both: Sequence[PublishedNumber]) -> str:
    """Return on how many datasets ours is higher, equal, lower, at the published decimals."""
    signs = [np.sign(round(n.ours, n.decimals) - n.value) for n in both if n.ours is not None]
    return " / ".join(str(signs.count(sign)) for sign in (1, 0, -1))


def title_table(folder: Path) -> str:
    """Return the numbered records or notes of a folder with their titles."""
    rows = []
    for path in sorted(folder.glob("[0-9]*.md")):
        number, _, title = path.read_text(encoding="utf-8").splitlines()[0][2:].partition(" ")
        rows.append([number, f"[{title}]({path.name})"])
    return pipe_table(("no.", "title"), rows, "ll")


def accuracy_table() -> str:
    """Return how many published scores are near ours on both sides, and reached, by paper."""
    scores = [number for number in numbers() if number.kind == "accuracy"]
    rows = []
    for name in (*dict.fromkeys(number.study for number in scores), "all"):
        of_paper = [number for number in scores if name in (number.study, "all")]
        counts = (sum(n.is_near for n in of_paper), sum(n.is_reached for n in of_paper))
        label = name if name == "all" else name.upper()
        rows.append([label, *map(str, (len(of_paper), *counts))])
    header = ("paper", "scores", "within 1 % on both sides", "reached or above")
    return pipe_table(header, rows, "lrrr")


def configuration_table() -> str:
    """Return the keys of config.yaml, with their values there and what they mean."""
    values = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    rows = [
        [f"`{f.name}`", f"`{json.dumps(values[f.name])}`", f.metadata["help"]]
        for f in dataclasses.fields(Settings)
    ]
    return pipe_table(("key", "value", "meaning"), rows, "lll")


def generated() -> dict[Path, dict[str, str]]:
    """Return the text of every generated part, by file and name of the part."""
    parts = {
        ROOT / "README.md": {"claims": claims_table()},
        ROOT / "config" / "README.md": {"keys": configuration_table()},
        DOCS / "article" / "article.md": {
            "accuracy": accuracy_table(),
            "claims": claims_table("../../results"),
        },
        DOCS / "results.md": {"cmll": cmll_table(), "bench": bench_table()},
        DOCS / "decisions" / "README.md": {"decisions": title_table(DOCS / "decisions")},
        DOCS / "lab-notes" / "README.md": {"notes": title_table(DOCS / "lab-notes")},
    }
    for learner in learner_names():
        tables = {"parameters": parameter_table(learner), "record": score_table(learner)}
        if (claims := claims_of(learner)) is not None:
            tables["claims"] = claims
        parts[DOCS / "methods" / f"{learner}.md"] = tables
    return parts


def refreshed(path: Path, parts: dict[str, str]) -> str:
    """Return the text of a file with its generated parts renewed."""
    if not path.exists():
        page = path.relative_to(ROOT)
        raise SystemExit(f"{page}: expected this page; copy docs/methods/atomic.md and edit it.")
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        pattern = rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)"
        found = list(re.finditer(pattern, text, re.DOTALL))
        if len(found) != 1:
            where, n = path.relative_to(ROOT), len(found)
            raise SystemExit(f"{where}: expected one pair of markers named {name}, got {n}.")
        text = f"{text[: found[0].start()]}{part}\n{text[found[0].end() :]}"
    return text


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--pages"]):
        sys.exit("usage: python workflow/readme.py [--pages]")
    runpy.run_path(str(Path(__file__).with_name("stubs.py")), run_name="__main__")
    for page, tables in generated().items():
        page.write_text(refreshed(page, tables), encoding="utf-8")
    for page, text in (result_pages() if sys.argv[1:] else overview_pages()).items():
        page.write_text(text, encoding="utf-8")
