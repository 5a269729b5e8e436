"""The index of all results: the studies with their claims, and what the files are."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    FASTER,
    MORE,
    REPRODUCED,
    SMALLER,
    UNKNOWN,
)
from mnlearn_studies.report.document.blocks import (
    Block,
    Bullets,
    Document,
    Grid,
    Heading,
    Paragraph,
)
from mnlearn_studies.report.document.files import read_claims
from mnlearn_studies.report.document.spans import Span, Text, marked, plain
from mnlearn_studies.report.document.study_page import NOTE
from mnlearn_studies.study.definition import Study

# Verdicts that the index counts together.
GROUPS = {
    "supported": (REPRODUCED, MORE),
    "faster here": (FASTER,),
    "smaller effect": (SMALLER,),
    "contradicted": (CONTRADICTED,),
    "not checked": (UNKNOWN,),
}
GROUPS_SAID = (
    "Supported: our number agrees with the published one within a tolerance, or the effect is "
    "larger here. Faster here: the paper states a long time, and we need less. A claim that "
    "compares several methods or scores counts once for each comparison."
)
_FILES = (
    "`STUDY/README.md`: the page of a study, with its figures, tables and claims; `index.html` "
    "beside it is the same page in one file, which a run writes and git does not keep",
    "`STUDY/tables/`, `figures/`, `claims.md`: what the page shows, each in a file of its own",
    "`STUDY/scores.csv`: every number of a study, one a row",
    "`STUDY/cells/` and the folders beside it: the records, from which all others follow",
)


def build_index(studies: Mapping[str, Study], results: Path) -> Document:
    """Return the index.

    Parameters
    ----------
    studies : mapping of str to Study
        The studies to list.
    results : Path
        The folder of the results, which has `claims.csv` of each study.

    Raises
    ------
    InputError
        The claims of a study are missing or malformed.
    """
    header = ("study", "what", "datasets", "methods", *GROUPS)
    rows = [_row(study, results) for study in studies.values()]
    blocks: Sequence[Block] = (
        Heading(1, "Results"),
        Paragraph(
            plain(
                "One row for each study. The last columns count the claims of its paper by our "
                "verdict on them; statements about the set-up of an experiment are left out. "
                + GROUPS_SAID
            )
        ),
        Grid(tuple(map(plain, header)), "ll" + "r" * (len(header) - 2), tuple(rows)),
        Paragraph(
            marked(
                "`mnlearn study NAME` computes what is missing or stale and writes these files "
                "anew. The study `demo` is not kept here; `mnlearn demo` runs it."
            )
        ),
        Paragraph(
            marked(
                "[Fidelity](FIDELITY.md): how many of the published numbers, claims and figures "
                "are reproduced, and why others are not. [Record](RECORD.md): which commit and "
                "machine made these results, and in how many hours. [From claim to "
                "command](CLAIMS.md): how to check each claim, in how many minutes."
            )
        ),
        Heading(2, "Files"),
        Bullets(tuple(map(marked, _FILES))),
    )
    return Document("Results", tuple(blocks), NOTE)


def count_claims(folder: Path) -> dict[str, int]:
    """Return the numbers of claims about results in each of `GROUPS`.

    folder : the results of the study.
    """
    claims = [claim for claim in read_claims(folder / "claims.csv") if not claim.is_setup]
    verdicts = [claim.outcome.verdict for claim in claims]
    return {group: sum(verdict in names for verdict in verdicts) for group, names in GROUPS.items()}


def _row(study: Study, results: Path) -> tuple[Text, ...]:
    counts = count_claims(results / study.name)
    return (
        (Span(study.name, "code", f"{study.name}/README.md"),),
        plain(study.content["title"]),
        plain(str(len(study.bases))),
        plain(str(len(study.methods))),
        *(plain(str(n) if any(counts.values()) else "–") for n in counts.values()),
    )
