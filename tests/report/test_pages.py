"""Pages for the browser: tables and text are shown, HTML in them has no effect."""

from mnlearn_studies.report.pages import write_markdown_page


def test_html_of_captions_and_claims_has_no_effect(tmp_path):
    text = (
        "# <script>alert(1)</script>\n\n<script>alert(2)</script>\n\n"
        "| a | b |\n|---|---|\n| **1** | x <img src=y onerror=alert(3)> |\n\n"
        "<div>\n\n*word* `code <b>` 1 < 2 & 3\n"
    )
    (tmp_path / "a.md").write_text(text)
    write_markdown_page(tmp_path / "a.md", tmp_path / "a.html")
    body = (tmp_path / "a.html").read_text().partition("<body>")[2].rpartition("<script>")[0]
    assert "<script" not in body
    assert "<img" not in body
    assert "<div" not in body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in body
    assert "<strong>1</strong>" in body
    assert "<em>word</em> <code>code &lt;b&gt;</code> 1 &lt; 2 &amp; 3" in body
