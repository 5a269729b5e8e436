"""Render tables: CSV for programs, Markdown and LaTeX for readers."""

import csv
import io
from collections.abc import Sequence
from itertools import groupby

from mnlearn_studies.report.markdown import escape, paragraph, pipe_table
from mnlearn_studies.report.tables.table import DAGGER, Cell, Table

EMPTY_NOTE = "Nothing has been scored yet."


def to_csv(table: Table) -> str:
    """Return the table for programs: full precision, no footers, and a column `stale`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    spread = [name in table.with_stderr for name in table.columns]
    names = zip(table.columns, spread, strict=True)
    header = [each for name, more in names for each in (name, f"{name}_stderr")[: 1 + more]]
    writer.writerow([*header, "stale"])
    for row in (row for row in table.body if not row.footer):
        cells = zip(row.cells, spread, strict=True)
        line = [each for cell, more in cells for each in (cell.value, cell.stderr)[: 1 + more]]
        writer.writerow([*line, "yes" if any(cell.stale for cell in row.cells) else ""])
    return text.getvalue()


def to_markdown(table: Table) -> str:
    """Return the table for readers: the best numbers bold, numbers right-aligned, notes below."""
    heads = [" ".join(filter(None, parts)) for parts in zip(*table.header, strict=True)]
    rows = [list(map(_markdown_cell, row.cells)) for row in table.body]
    caption = [f"{paragraph(table.caption)}\n"] if table.caption else []
    notes = [f"\n{paragraph(note)}" for note in _notes(table)]
    shown = pipe_table(list(map(escape, heads)), rows, table.sides, is_aligned=True)
    return "\n".join([*caption, shown, *notes]) + "\n"


def _notes(table: Table) -> tuple[str, ...]:
    return table.notes if table.body else (EMPTY_NOTE, *table.notes)


def _markdown_cell(cell: Cell) -> str:
    text = escape(cell.text) or "–"
    text = f"**{text}**" if cell.bold else text
    return text + DAGGER if cell.stale else text


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: "\\" + character for character in "%_&#${}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
    DAGGER: r"$^\dagger$",
}


def latex_text(text: str) -> str:
    """Return `text` with the special characters of LaTeX escaped."""
    return "".join(_LATEX.get(character, character) for character in text)


def to_latex(table: Table) -> str:
    """Return a `table` environment; the document has to load the package booktabs."""
    out = [
        r"% \usepackage{booktabs} in the preamble",
        r"\begin{table}",
        r"\centering",
    ]
    if table.caption:
        out.append(rf"\caption{{{latex_text(table.caption)}}}")
    out += [rf"\begin{{tabular}}{{{table.sides}}}", r"\toprule"]
    for header in table.header[:-1]:
        out += _latex_upper_header(header)
    out += [" & ".join(latex_text(head) for head in table.header[-1]) + r" \\", r"\midrule"]
    for position, row in enumerate(table.body):
        if row.footer and position and not table.body[position - 1].footer:
            out.append(r"\midrule")
        out.append(" & ".join(_latex_cell(cell) for cell in row.cells) + r" \\")
    out += [r"\bottomrule", r"\end{tabular}"]
    if _notes(table):
        notes = r"\\".join(latex_text(note) for note in _notes(table))
        out.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {notes}}}")
    return "\n".join([*out, r"\end{table}"]) + "\n"


def _latex_upper_header(header: Sequence[str]) -> list[str]:
    """Return a row of headings over several columns, and the rules below them."""
    cells, rules = [], []
    last = 0
    for head, of_head in groupby(header):
        first, last = last + 1, last + len(list(of_head))
        text = latex_text(head)
        cells.append(rf"\multicolumn{{{last - first + 1}}}{{c}}{{{text}}}")
        if text:
            rules.append(rf"\cmidrule(lr){{{first}-{last}}}")
    return [" & ".join(cells) + r" \\", *rules]


def _latex_cell(cell: Cell) -> str:
    if not cell.text:
        return "--"
    text = latex_text(cell.text)
    # A hyphen in front of a number is a minus sign.
    if isinstance(cell.value, int | float) and text.startswith("-"):
        text = "$-$" + text[1:]
    text = rf"\textbf{{{text}}}" if cell.bold else text
    return text + _LATEX[DAGGER] if cell.stale else text
