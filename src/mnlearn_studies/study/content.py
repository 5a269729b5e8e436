"""What a study's YAML file may have, as dataclasses that `reading.read` checks it against."""

import re
from dataclasses import dataclass
from typing import Annotated

from mnlearn_studies.study.reading import Limit

_NAME = re.compile(r"[a-z0-9_]+")
_SHOWN = re.compile(r"[a-z0-9_]+(-n[1-9][0-9]*(-f[0-9]+)?)?")

# Names become parts of paths and words of commands.
Name = Annotated[
    str,
    Limit("a name of lower-case letters, digits and _", lambda name: bool(_NAME.fullmatch(name))),
]
# A dataset, one of its samples, or the mean over the folds of one size.
Shown = Annotated[
    str,
    Limit(
        "a name of lower-case letters, digits and _, or a sample such as msnbc-n1000-f2",
        lambda name: bool(_SHOWN.fullmatch(name)),
    ),
]


@dataclass(frozen=True, kw_only=True)
class Product:
    """A table or figure of a study; each kind adds its options.

    Attributes
    ----------
    name : str
        File name without suffix.
    kind : str
        Which kind makes it.
    caption : str
        Text above it.
    title : str
        Heading on the study's page; the beginning of the caption if empty.
    datasets : tuple of str or None
        Datasets that it shows; all of the study if None.
    """

    name: Name
    kind: str
    caption: str
    title: str = ""
    datasets: list[Shown] | None = None


@dataclass(frozen=True, kw_only=True)
class ClaimEntry:
    """A statement of the paper; each kind adds its options.

    Attributes
    ----------
    id : int
        Number of the claim; the parts of a sentence share it.
    kind : str
        How it is evaluated.
    statement : str
        The claim in our words.
    published : float or str
        What the paper says.
    datasets : tuple of str or None
        Datasets that the statement is on; all of the study if None.
    note : str
        A remark for readers.
    """

    id: int
    kind: str
    statement: str
    published: float | str
    datasets: tuple[Shown, ...] | None = None
    note: str = ""
