"""Render tables: CSV for programs, Markdown and LaTeX for readers."""

import csv
import io
from collections.abc import Sequence

from mnlearn_studies.report.markdown import escape, paragraph
from mnlearn_studies.report.tables.table import (
    DAGGER,
    Cell,
    Table,
)

EMPTY_NOTE = "Nothing has been scored yet."


def to_csv(table: Table) -> str:
    """Return the table for programs: full precision, no footers, and a column `stale`."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header: list[str] = []
    for name in table.columns:
        header += [name, f"{name}_stderr"] if name in table.with_stderr else [name]
    writer.writerow([*header, "stale"])
    for row in table.body:
        if row.footer:
            continue
        line: list[str] = []
        for name, cell in zip(table.columns, row.cells, strict=True):
            line.append(_plain(cell.value))
            if name in table.with_stderr:
                line.append(_plain(cell.stderr))
        writer.writerow([*line, "yes" if any(cell.stale for cell in row.cells) else ""])
    return text.getvalue()


def _plain(value: float | int | str | None) -> str:
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def to_markdown(table: Table) -> str:
    """Return the table for readers: the best numbers bold, numbers right-aligned, notes below."""
    heads = [" ".join(part for part in parts if part) for parts in zip(*table.header, strict=True)]
    lines = [[escape(head) for head in heads]]
    lines += [[_markdown_cell(cell) for cell in row.cells] for row in table.body]
    widths = [max(3, *(len(line[c]) for line in lines)) for c in range(len(heads))]
    rule = [
        "-" * (width - 1) + ":" if side == "r" else "-" * width
        for side, width in zip(table.sides, widths, strict=True)
    ]
    out = [f"{paragraph(table.caption)}\n"] if table.caption else []
    for line in (lines[0], rule, *lines[1:]):
        padded = [
            text.rjust(width) if side == "r" else text.ljust(width)
            for text, side, width in zip(line, table.sides, widths, strict=True)
        ]
        out.append("| " + " | ".join(padded) + " |")
    out += [f"\n{paragraph(note)}" for note in _notes(table)]
    return "\n".join(out) + "\n"


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
    first = 0
    while first < len(header):
        last = first
        while last + 1 < len(header) and header[last + 1] == header[first]:
            last += 1
        text = latex_text(header[first])
        cells.append(rf"\multicolumn{{{last - first + 1}}}{{c}}{{{text}}}")
        if text:
            rules.append(rf"\cmidrule(lr){{{first + 1}-{last + 1}}}")
        first = last + 1
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
