"""Tables made of invented scores, and what is in them."""

import csv
import io

import pandas as pd

from mnlearn_studies.report import tables
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.tables.formats import to_csv
from mnlearn_studies.report.tables.table import mark_stale
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import tidy_scores

LABELS = {"nltcs": "NLTCS", "msnbc": "MSNBC", "msweb": "MSWeb"}


def scores_of(rows, study="s"):
    """Scores from (dataset, method, variant, quantity, value[, stderr])."""
    columns = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
    padded = [(study, *row, *[None] * (6 - len(row))) for row in rows]
    return pd.DataFrame(padded, columns=columns)


def make(kind, scores, printed, stale=frozenset(), **options):
    product = {"name": "t", "kind": kind, "caption": "A caption.", **options}
    content = {"datasets": list(LABELS), "tables": [product], "title": "T"}
    return tables.make_table(
        Material.of(Study("s", content), scores, printed, LABELS), product, stale
    )


def made_by(kind, scores, printed, stale=frozenset(), labels=LABELS, **options):
    """Return the table of a kind that one study has."""
    material = Material("s", tidy_scores(scores), printed, labels)
    entry = kind(name="t", kind=kind.kind_name, caption="")
    return mark_stale(entry.tabulate(material, **options), stale)


def texts(table):
    return [[cell.text for cell in row.cells] for row in table.body]


def bold(table):
    return [[cell.bold for cell in row.cells] for row in table.body]


def parsed(table):
    return list(csv.DictReader(io.StringIO(to_csv(table))))


COMPARE = {
    "columns": [
        {"name": "a", "method": "a", "quantity": "cmll", "rank": "r", "stderr": True},
        {"name": "b", "method": "b", "quantity": "cmll", "rank": "r"},
        {"name": "printed", "study": "gssl", "table": 2, "method": "dtsl", "quantity": "cmll"},
        {"name": "d", "minus": ["a", "printed"]},
    ],
    "mean": ["a", "b"],
    "tests": [["a", "b"]],
}
COMPARE_SCORES = [
    ("nltcs", "a", "", "cmll", -5.2094, 0.0123),
    ("nltcs", "b", "", "cmll", -5.3, 0.01),
    ("msnbc", "a", "", "cmll", -5.7001, 0.01),
    ("msnbc", "b", "", "cmll", -5.7004, 0.01),
    ("msweb", "a", "", "cmll", -9.0, 0.01),
]
