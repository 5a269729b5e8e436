"""Pages that are written for a forge become pages of the site, without a change of their files.

A forge shows the files README.md of docs/methods, docs/decisions and results/ as they are. Here
they also get the list of their pages, for the navigation. A table of a study gets a heading. A
link to a folder leads to its README.md. A link to a lab note is text, because the site has none.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

# The pages below a page, as patterns relative to it.
BELOW = {
    "docs/decisions/README": ["[0-9]*"],
    "results/README": ["FIDELITY", "CLAIMS", "conclusions", "RECORD", "*/README"],
}
# Where sphinx-gallery writes the pages of docs/gallery.
GALLERY = "docs/generated/gallery/index.rst"
TABLE = re.compile(r"results/(\w+)/tables/(\w+)")
STUDY = re.compile(r"results/\w+/README")
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s#]+)((?:#[^()\s]*)?)\)")
METHODS = re.compile(r"\(([a-z0-9_]+)\.md\)")


def pages_below(name: str, text: str) -> list[str]:
    """Return the patterns of the pages that the page `name` lists."""
    if name == "docs/methods/README":
        return list(dict.fromkeys(METHODS.findall(text)))
    if STUDY.fullmatch(name):
        return ["claims", "tables/*"]
    return BELOW.get(name, [])


def mend_link(match: re.Match[str], folder: Path, root: Path) -> str:
    """Return a link as the site needs it."""
    words, target, anchor = match.groups()
    path = (folder / target).resolve()
    if path == root / "docs" / "README.md":
        return f"{words}({target.replace('README.md', 'index.md')}{anchor})"
    if path.is_relative_to(root / "docs" / "lab-notes"):
        return words[1:-1]
    if path == root / "docs" / "gallery":
        return f"{words}({os.path.relpath(root / GALLERY, folder)})"
    if path.is_dir():
        if (path / "README.md").exists():
            return f"{words}({target.rstrip('/')}/README.md{anchor})"
        # The site has the pages of results, not the folders of records.
        return words[1:-1]
    return match[0]


def read_page(app: Sphinx, name: str, content: list[str]) -> None:
    """Mend the links of a Markdown page, and append the list of the pages below it."""
    path = Path(app.env.doc2path(name))
    if path.suffix != ".md":
        return
    text = LINK.sub(lambda found: mend_link(found, path.parent, Path(app.srcdir)), content[0])
    if found := TABLE.fullmatch(name):
        text = f"# `{found[2]}` of study `{found[1]}`\n\n{text}"
    if below := pages_below(name, text):
        text += "\n\n```{toctree}\n:hidden:\n:glob:\n\n" + "\n".join(below) + "\n```\n"
    content[0] = text


def keep_columns(app: Sphinx, ctx: object, lines: list[str]) -> None:
    """Write the parts of a help text whose lines click keeps as they are in one block of text."""
    out: list[str] = []
    for line in lines:
        if line.startswith("| ") and (not out or not out[-1].startswith("   ")):
            out += ["::", ""]
        out.append(f"   {line[2:]}" if line.startswith("| ") else line)
    lines[:] = out


def setup(app: Sphinx) -> dict[str, bool]:
    """Read every page through `read_page`, and help texts through `keep_columns`."""
    app.connect("source-read", read_page)
    app.connect("sphinx-click-process-description", keep_columns)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
