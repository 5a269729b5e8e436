"""The order of a study's figures and tables on its page, and their titles."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.products import Options
from mnlearn_studies.study.definition import Study

# A title that is taken from a caption has at most so many characters.
_LONGEST = 72


@dataclass
class Section:
    """A part of a page.

    Attributes
    ----------
    title, text : str
        Its heading, and a paragraph below the heading, which may be empty.
    products : list of (str, mapping)
        Entries of the study, each with its list: "figures" or "tables".
    """

    title: str
    text: str = ""
    products: list[tuple[str, Options]] = field(default_factory=list)


def sections_of(study: Study) -> list[Section]:
    """Return the sections of a study's page.

    They are those of the key `sections`. A name there stands for the figure and the table of this
    name. What the key does not name comes last, figures before tables.

    Raises
    ------
    InputError
        A section names no table or figure.
    """
    left: dict[str, dict[str, Options]] = {
        kind: {product["name"]: product for product in study.content[kind]}
        for kind in ("figures", "tables")
    }
    out = [_section(entry, left, study.name) for entry in study.content.get("sections", [])]
    further = "Further " if out else ""
    for kind in ("figures", "tables"):
        products = [(kind, product) for product in left[kind].values()]
        out.append(Section((further + kind).capitalize(), products=products))
    return out


def _section(entry: Mapping[str, Any], left: dict[str, dict[str, Options]], study: str) -> Section:
    section = Section(entry["title"], entry.get("text", ""))
    for name in entry["show"]:
        kinds = [kind for kind in ("figures", "tables") if name in left[kind]]
        if not kinds:
            raise InputError(
                f"study {study}, sections, {entry['title']}: no {name!r} is left among the tables "
                "and figures."
            )
        section.products += [(kind, left[kind].pop(name)) for kind in kinds]
    return section


def title_of(product: Options) -> str:
    """Return the title of a table or figure: its own, else the beginning of its caption."""
    if "title" in product:
        return str(product["title"])
    caption = " ".join(product["caption"].replace("`", "").split())
    begin = re.split(r"(?<=\w)[:.;] |[.:]$", caption, maxsplit=1)[0]
    if len(begin) > _LONGEST:
        begin = begin[: _LONGEST + 1].rpartition(" ")[0].rstrip(",") + " …"
    return begin[:1].upper() + begin[1:] if begin else str(product["name"])
