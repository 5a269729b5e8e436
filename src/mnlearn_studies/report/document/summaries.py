"""What a page of documentation says first of a learner."""

import re
from pathlib import Path

from mnlearn.methods import load_learner
from mnlearn.runtime.files import read_text

# A link to a neighbour of a page.
_LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|/)([^()]+)\)")


def summarise(learner: str, docs: Path, linked: bool = True) -> str:
    """Return a paragraph of Markdown on a learner, from its page in `docs` or from its class.

    linked : whether the pages of studies can link to `docs`. Else links in the paragraph are text.
    """
    page = docs / "methods" / f"{learner}.md"
    if page.exists():
        return read_summary(page, "../../docs/methods" if linked else None)
    return (load_learner(learner).__doc__ or "").strip().partition("\n\n")[0]


def read_summary(page: Path, folder: str | None) -> str:
    """Return the first paragraph of a page in Markdown.

    Parameters
    ----------
    page : Path
        The page; its first line is its title.
    folder : str or None
        The folder of the page, as seen from where the paragraph is shown. Links to neighbours of
        the page are changed by it. Without it these links become text.
    """
    text = read_text(page).partition("\n")[2].strip().partition("\n\n")[0]
    if folder is None:
        return _LINK.sub(r"\1", text)
    return _LINK.sub(rf"[\1]({folder}/\2)", text)
