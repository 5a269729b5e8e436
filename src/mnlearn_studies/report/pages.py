"""Tables and claims as HTML pages that need no network; columns sort on a click."""

import html
from pathlib import Path

import markdown

from mnlearn.runtime.files import read_text, write_text

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; padding: 0 2em; color: #222;
       max-width: 80em; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: 1.2em 0; }
th, td { padding: 0.3em 0.9em; border-bottom: 1px solid #ddd; vertical-align: top; }
td[style*="right"] { white-space: nowrap; }
.numbers td + td { text-align: right; }
th { cursor: pointer; border-bottom: 2px solid #444; vertical-align: bottom; }
th:hover { background: #e8eef5; }
tbody tr:hover { background: #f3f6fa; }
"""

_SORT = """
const key = cell => {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/,/g, ''));
  return isNaN(number) ? text : number;
};
document.querySelectorAll('table').forEach(table => {
  table.querySelectorAll('th').forEach((head, column) => head.addEventListener('click', () => {
    const up = head.dataset.up !== 'true';
    head.dataset.up = up;
    [...table.tBodies[0].rows].sort((a, b) => {
      const [x, y] = [key(a.cells[column]), key(b.cells[column])];
      const order = typeof x === 'number' && typeof y === 'number'
        ? x - y : String(x).localeCompare(String(y));
      return up ? order : -order;
    }).forEach(row => table.tBodies[0].append(row));
  }));
});
"""


def write_markdown_page(markdown_path: Path, path: Path) -> None:
    """Write a Markdown file as one self-contained HTML page."""
    converter = markdown.Markdown(extensions=["tables"])
    # Captions and claims are text of a study: HTML in them is shown and has no effect.
    converter.preprocessors.deregister("html_block")
    converter.inlinePatterns.deregister("html")
    body = converter.convert(read_text(markdown_path))
    write_text(path, html_page(markdown_path.stem, body))


def html_page(title: str, body: str, script: str = "") -> str:
    """Return a self-contained HTML page whose tables sort on a click.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        HTML.
    script : str
        JavaScript that is added to the page.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n<script>{_SORT}{script}</script></body></html>\n"
    )
