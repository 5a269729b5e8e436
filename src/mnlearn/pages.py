"""A table as a page that opens in a browser without a network; its columns sort on a click."""

import html
from pathlib import Path

import pandas as pd

from mnlearn.files import write_text

_STYLE = """
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.3em 0.8em; border-bottom: 1px solid #ddd; text-align: right; }
th { cursor: pointer; border-bottom: 2px solid #444; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
tbody tr:hover { background: #f3f6fa; }
"""

_SORT = """
document.querySelectorAll('th').forEach((head, column) => head.addEventListener('click', () => {
  const body = document.querySelector('tbody');
  const value = row => row.cells[column].dataset.value;
  const up = head.dataset.up !== 'true';
  head.dataset.up = up;
  [...body.rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const order = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
    return up ? order : -order;
  }).forEach(row => body.append(row));
}));
"""


def write_page(table_path: Path, path: Path, title: str) -> None:
    """Write the CSV table at `table_path` as one self-contained HTML page."""
    table = pd.read_csv(table_path, keep_default_na=False)
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in table.columns)
    rows = "\n".join(
        "<tr>" + "".join(_cell(value) for value in row) + "</tr>"
        for row in table.itertuples(index=False)
    )
    write_text(
        path,
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><p>{html.escape(title)}</p>\n<table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table>\n<script>{_SORT}</script></body></html>\n",
    )


def _cell(value: object) -> str:
    text = str(value)
    try:
        number = float(text)
        shown = text if number == int(number) else f"{number:.4f}"
    except (ValueError, OverflowError):
        shown = text
    return f'<td data-value="{html.escape(text)}">{html.escape(shown)}</td>'
