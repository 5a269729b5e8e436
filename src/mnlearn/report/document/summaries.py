"""What a page of documentation says first of a learner."""

import re
from pathlib import Path

from mnlearn.methods import load_learner
from mnlearn.runtime.files import read_text


def summarise(learner: str, docs: Path) -> str:
    """Return a paragraph of Markdown on a learner, from its page in `docs` or from its class."""
    page = docs / "methods" / f"{learner}.md"
    if page.exists():
        return read_summary(page, "../../docs/methods")
    return (load_learner(learner).__doc__ or "").strip().partition("\n\n")[0]


def read_summary(page: Path, folder: str) -> str:
    """Return the first paragraph of a page in Markdown.

    Parameters
    ----------
    page : Path
        The page; its first line is its title.
    folder : str
        The folder of the page, as seen from where the paragraph is shown. Links to neighbours of
        the page are changed by it.
    """
    text = read_text(page).partition("\n")[2].strip().partition("\n\n")[0]
    return re.sub(r"\]\((?![a-z]+:|/)([^()]+)\)", rf"]({folder}/\1)", text)
