"""Every relative link and anchor of the Markdown files leads somewhere."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def markdown_files():
    """Return the Markdown files of the project, by their paths in it."""
    places = ("*.md", "docs/**/*.md", "results/**/*.md")
    found = [path for place in places for path in ROOT.glob(place)]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


@cache
def anchors(path):
    """Return the anchors that GitHub gives to the headings of a file."""
    text = CODE.sub("", path.read_text(encoding="utf-8"))
    found = {}
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        n = found.get(anchor, 0)
        found[anchor] = n + 1
    return {f"{name}-{k}" if k else name for name, n in found.items() for k in range(n)}


def faults(name):
    """Yield what is wrong with the links of a file."""
    source = ROOT / name
    text = CODE.sub("", source.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = unquote(link).partition("#")
        path = (source.parent / target).resolve() if target else source
        if not path.exists():
            yield f"{name}: the link {link} leads nowhere"
        elif not path.is_relative_to(ROOT):
            yield f"{name}: the link {link} leaves the project"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield f"{name}: {target or name} has no heading #{anchor}"


def test_links_lead_somewhere():
    assert [fault for name in markdown_files() for fault in faults(name)] == []
