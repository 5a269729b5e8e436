"""Tables as LaTeX and Markdown."""

from mnlearn_studies.report.tables.formats import latex_text, to_latex, to_markdown
from mnlearn_studies.report.tables.table import Cell, Row, Table

ODD = Table(
    columns=("name", "x"),
    header=(("", "50% & more"), ("a_b", "x")),
    alignment="lr",
    body=(Row((Cell("A|B_c", "A|B_c"), Cell("-1.5", -1.5, bold=True))), Row((Cell("d"), Cell()))),
    caption="100% of A & B_c, ± 2",
)


def test_latex_is_escaped_and_balanced():
    text = to_latex(ODD)
    assert r"\caption{100\% of A \& B\_c, $\pm$ 2}" in text
    assert r"\multicolumn{1}{c}{50\% \& more}" in text
    assert r"A|B\_c & \textbf{$-$1.5} \\" in text
    assert r"d & -- \\" in text
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin") == text.count(r"\end")
    assert latex_text("\\{}#$~^<") == (
        r"\textbackslash{}\{\}\#\$\textasciitilde{}\textasciicircum{}\textless{}"
    )


def test_markdown_is_aligned_and_escaped():
    lines = to_markdown(ODD).splitlines()
    assert lines[0] == r"100% of A & B\_c, ± 2"
    assert lines[2] == r"| a\_b    | 50% & more x |"
    assert lines[3] == r"| ------- | -----------: |"
    assert lines[4] == r"| A\|B\_c |     **-1.5** |"
    assert lines[5] == r"| d       |            – |"
