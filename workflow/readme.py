"""Write the generated tables of README.md and docs/, and the pages of results/: `make readme`.

A generated part of README.md or of a page in docs/ begins with `<!-- NAME -->` and ends with
`<!-- /NAME -->`. It comes from the record in results/, from the published numbers, from the
declarations of the learners, or from the headings of the decision records. `stubs.py` writes the
types of the Python learners.
"""

import json
import re
import runpy
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from mnlearn.methods import learner_names, load_learner
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report.document.index_page import GROUPS, build_index
from mnlearn_studies.report.document.markdown import pipe_table, render_markdown
from mnlearn_studies.report.fidelity.numbers import PublishedNumber, published_numbers
from mnlearn_studies.report.study_pages import (
    claim_page,
    fidelity_page,
    listed_studies,
    record_page,
    study_page,
)
from mnlearn_studies.study.published import load_published
from mnlearn_studies.study.samples import list_means
from mnlearn_studies.study.shipped import paper_title, studies_of_papers

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "results"

# Of each learner: study, method of the study, score, published table or None, our table.
SCORES: dict[str, list[tuple[str, str, str, int | None, str]]] = {
    "acbn": [("acmn", "acbn", "ll", 1, "ll")],
    "acmn": [("acmn", "acmn", "ll", 1, "ll")],
    "atomic": [("dtsl", "atomic", "cmll", None, "table6"), ("gssl", "atomic", "pll", None, "pll")],
    "blm": [("gssl", "blm", "cmll", 2, "cmll"), ("dtsl", "blm", "cmll", None, "table6")],
    "chow_liu": [("acmn", "chow_liu", "ll", None, "ll")],
    "della_pietra": [("lem", "dl", "ll_annealed", None, "ll")],
    "dn2mn": [
        ("dn2mn", "dn2mn_tree", "pll", 4, "table4_tree"),
        ("dn2mn", "dn2mn_tree", "cmll", 4, "table4_tree"),
        ("dn2mn", "dn2mn_lr", "pll", 4, "table4_lr"),
        ("dn2mn", "dn2mn_lr", "cmll", 4, "table4_lr"),
    ],
    "dn_bag": [("dn2mn", "dn_bag", "pll", None, "beyond")],
    "dn_lr": [("dn2mn", "dn_lr", "pll", None, "networks")],
    "dn_mixed": [("dn2mn", "dn_mixed", "pll", None, "beyond")],
    "dn_tree": [("dn2mn", "dn_tree", "pll", None, "networks")],
    "dtsl": [("gssl", "dtsl", "cmll", 2, "cmll"), ("dtsl", "dtsl", "cmll", None, "cmll")],
    "gssl": [("gssl", "gssl", "cmll", 2, "cmll")],
    "hclt": [("frontier", "hclt", "ll", None, "ll")],
    "junction_tree": [("lem", "junction_tree", "ll", None, "ll")],
    "l1": [("gssl", "l1", "cmll", 2, "cmll"), ("dtsl", "l1", "cmll", None, "table6")],
    "lem": [("lem", "lem_paper", "ll", None, "ll"), ("lem", "lem", "ll", None, "ll")],
    "ltm": [("acmn", "ltm", "ll", 1, "ll")],
    "mixture": [
        ("frontier", "mixture", "ll", None, "ll"),
        ("frontier", "acmn_mixture", "ll", None, "ll"),
    ],
    "lw": [
        ("dn2mn", "lw_tree", "pll", 4, "table4_tree"),
        ("dn2mn", "lw_tree", "cmll", 4, "table4_tree"),
        ("dn2mn", "lw_lr", "pll", 4, "table4_lr"),
        ("dn2mn", "lw_lr", "cmll", 4, "table4_lr"),
    ],
}
# Names of learners in claims, beside their titles.
ABBREVIATIONS = {"della_pietra": ("DP", "DL")}
PEERS_BY_NAME = "GSSL|SparC|KLay|scikit-learn|R, glmnet"


@cache
def recorded() -> dict[str, str]:
    """Return the papers whose study is recorded."""
    studies = studies_of_papers().items()
    return {
        name: paper_title(study)
        for name, study in studies
        if (RESULTS / name / "claims.csv").exists()
    }


def claims_table(results: str = "results") -> str:
    """Return the numbers of claims by study and verdict; settings are not counted.

    results : the folder of the results as seen from the page.
    """
    rows = []
    for study, paper in recorded().items():
        link = f"[`{study}`]({results}/{study}/claims.md)"
        rows.append([link, paper, *_verdicts(pd.read_csv(RESULTS / study / "claims.csv"))])
    return pipe_table(("study", "paper", *GROUPS), rows, "ll" + "r" * len(GROUPS))


def claims_of(learner: str) -> str | None:
    """Return the numbers of claims that name a learner, by study and verdict."""
    title = load_learner(learner).title
    rows = []
    for study in recorded():
        claims = pd.read_csv(RESULTS / study / "claims.csv")
        names = "|".join(map(re.escape, (title, *ABBREVIATIONS.get(learner, ()))))
        named = claims[claims["statement"].str.contains(rf"\b(?:{names})\b")]
        named = named[named["verdict"] != "set-up"]
        if len(named):
            link = f"[`{study}`](../../results/{study}/claims.md)"
            rows.append([link, *_verdicts(named)])
    return (
        pipe_table((f"claims that name {title}", *GROUPS), rows, "l" + "r" * len(GROUPS))
        if rows
        else None
    )


def _verdicts(claims: pd.DataFrame) -> list[str]:
    """Return the number of claims of each group of verdicts."""
    return [str(claims["verdict"].isin(names).sum()) for names in GROUPS.values()]


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
    entries = [e for e in SCORES.get(learner, []) if (RESULTS / e[0] / "scores.csv").exists()]
    if not entries:
        return "No study has it."
    rows = []
    for study, method, quantity, number, table in entries:
        scores = read_scores(RESULTS / study / "scores.csv")
        if number is None:
            n, *means = _own_mean(scores, method, quantity)
        else:
            n, *means = _both_means(study, scores, (str(number), method, quantity))
        link = f"[`{table}`](../../results/{study}/tables/{table}.md)"
        score = quantity.upper().replace("_ANNEALED", " (AIS)")
        rows.append([f"`{method}` of `{study}`", score, n, *means, link])
    head = ("method", "test score", "datasets", "ours, mean", "published, mean")
    return pipe_table((*head, "ours higher / equal / lower", "table"), rows, "llrrrll")


def _own_mean(scores: pd.DataFrame, method: str, quantity: str) -> tuple[str, ...]:
    """Return the number of datasets and our mean; for samples, the mean over folds counts."""
    chosen = scores[scores["variant"] == ""]
    found = chosen[(chosen["method"] == method) & (chosen["quantity"] == quantity)]
    ours = found.set_index("dataset")["value"]
    means = [name for name in ours.index if name in list_means(ours.index)]
    ours = ours[means] if means else ours
    return str(len(ours)), f"{ours.mean():.3f}", "–", "–"


def _both_means(study: str, scores: pd.DataFrame, place: tuple[str, str, str]) -> tuple[str, ...]:
    """Return the number of datasets, both means, and on how many datasets ours is higher.

    place : the table of the paper, the method and the score.
    """
    numbers = [
        number
        for number in published_numbers(load_published(), {study: scores})
        if (number.table, number.method, number.quantity) == place and number.ours is not None
    ]
    ours = np.mean([number.ours for number in numbers])
    published = np.mean([number.value for number in numbers])
    return str(len(numbers)), f"{ours:.3f}", f"{published:.3f}", _compared(numbers)


def _compared(numbers: Sequence[PublishedNumber]) -> str:
    """Return on how many datasets ours is higher, equal, lower, at the published decimals."""
    signs = [np.sign(round(n.ours, n.decimals) - n.value) for n in numbers if n.ours is not None]
    return " / ".join(str(signs.count(sign)) for sign in (1, 0, -1))


def title_table(folder: Path) -> str:
    """Return the numbered records or notes of a folder with their titles."""
    rows = []
    for path in sorted(folder.glob("[0-9]*.md")):
        number, _, title = path.read_text(encoding="utf-8").splitlines()[0][2:].partition(" ")
        rows.append([number, f"[{title}]({path.name})"])
    return pipe_table(("no.", "title"), rows, "ll")


def accuracy_table() -> str:
    """Return how many published scores are reached, by paper."""
    published = load_published()
    papers = studies_of_papers()
    scores = {name: read_scores(RESULTS / name / "scores.csv") for name in papers}
    numbers = [
        number for number in published_numbers(published, scores) if number.kind == "accuracy"
    ]
    rows = []
    for name in (*dict.fromkeys(number.study for number in numbers), "all"):
        own = [number for number in numbers if name in (number.study, "all")]
        counts = (len(own), sum(c.is_better for c in own), sum(c.is_reached for c in own))
        rows.append([name.upper() if name in papers else name, *map(str, counts)])
    return pipe_table(("paper", "scores", "at least as high", "reached"), rows, "lrrr")


def configuration_table() -> str:
    """Return the keys of config.yaml, with their values there and what they mean."""
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text("utf-8"))
    values = yaml.safe_load((ROOT / "config.yaml").read_text("utf-8"))
    rows = [
        [f"`{key}`", f"`{json.dumps(values[key])}`", of["description"]]
        for key, of in schema["properties"].items()
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


def result_pages() -> dict[Path, str]:
    """Return the text of the pages of results/, which a run of a study writes too."""
    kept = [path.parent.name for path in sorted(RESULTS.glob("*/claims.csv"))]
    listed = listed_studies(kept)
    pages = {RESULTS / name / "README.md": render_markdown(study_page(name)) for name in listed}
    return {
        RESULTS / "README.md": render_markdown(build_index(listed, RESULTS)),
        RESULTS / "FIDELITY.md": render_markdown(fidelity_page()),
        RESULTS / "CLAIMS.md": render_markdown(claim_page()),
        RESULTS / "RECORD.md": render_markdown(record_page(listed)),
        **pages,
    }


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
    runpy.run_path(str(Path(__file__).with_name("stubs.py")), run_name="__main__")
    for page, tables in generated().items():
        page.write_text(refreshed(page, tables), encoding="utf-8")
    for page, text in result_pages().items():
        page.write_text(text, encoding="utf-8")
