"""Where the numbers of a page come from: records, their code, versions, machines and seconds."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnlearn_studies.records.files import read_record
from mnlearn_studies.records.seconds import sum_seconds
from mnlearn_studies.report.document.blocks import Block, Bullets, Grid, Paragraph
from mnlearn_studies.report.document.spans import Span, Text, plain

# How many digests of a step the table shows.
_SHOWN = 2


def describe_provenance(records: Mapping[str, Sequence[Path]]) -> list[Block]:
    """Return the blocks on the records of a study.

    Parameters
    ----------
    records : mapping of str to sequence of Path
        The records of each kind; the kind `cells` has a row for each method.

    Raises
    ------
    InputError
        A record cannot be read.
    """
    loaded = {kind: [read_record(path) for path in paths] for kind, paths in records.items()}
    made = [made for own in loaded.values() for record in own for _, made in made_by(record)]
    rows = [*_cell_rows(loaded.pop("cells", [])), *_other_rows(loaded)]
    header = (
        "records",
        "number",
        "seconds of the search",
        "seconds of scoring",
        "digests of the code",
    )
    return [
        Paragraph(
            plain(
                "Every number comes from a record, a JSON file. The digest covers all code that "
                "the record depends on."
            )
        ),
        Grid(tuple(map(plain, header)), "lrrrl", tuple(rows)),
        Bullets(tuple(machine_lines(made))),
    ]


def made_by(record: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each step that made a record, such as "learned", with what the record says of it."""
    for key, value in sorted(record.items()):
        if key.endswith("_by") and isinstance(value, dict) and "machine" in value:
            yield key.removesuffix("_by"), value


def _cell_rows(cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Text, ...]]:
    """Yield a row for each method, in the order of the records."""
    for method in dict.fromkeys(str(cell.get("method")) for cell in cells):
        own = [cell for cell in cells if cell.get("method") == method]
        tuning, scoring = sum_seconds(own)
        yield (
            (Span("cells of "), Span(method, "code")),
            plain(str(len(own))),
            plain(_seconds(tuning)),
            plain(_seconds(scoring)),
            _digests(own),
        )


def _other_rows(records: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[tuple[Text, ...]]:
    """Yield a row for each other kind of which there are records."""
    for kind, own in records.items():
        if own:
            yield plain(kind), plain(str(len(own))), plain("–"), plain("–"), _digests(own)


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _digests(records: Sequence[Mapping[str, Any]]) -> Text:
    """Return the most frequent digests of each step, and how many more there are."""
    counts: dict[str, Counter[str]] = {}
    for step, made in (found for record in records for found in made_by(record)):
        # Older records call it `source`.
        digest = str(made.get("code_digest") or made.get("source"))
        counts.setdefault(step, Counter())[digest] += 1
    text: list[Span] = []
    for step, found in counts.items():
        text.append(Span(f"; {step} " if text else f"{step} "))
        frequent = sorted(found, key=lambda digest: (-found[digest], digest))
        for number, digest in enumerate(frequent[:_SHOWN]):
            text += [Span(", ")] if number else []
            text.append(Span(digest, "code"))
        if len(found) > _SHOWN:
            text.append(Span(f" and {len(found) - _SHOWN} more"))
    return tuple(text) or plain("–")


def machine_lines(made: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """Yield a line on the machines and one on the versions of the libraries."""
    machines = Counter(str(entry["machine"]) for entry in made)
    if machines:
        listed = [f"{machine} ({machines[machine]} jobs)" for machine in sorted(machines)]
        yield plain("Machines: " + "; ".join(listed) + ".")
    found: dict[str, set[str]] = {}
    for entry in made:
        versions = entry.get("versions")
        for name, version in (versions if isinstance(versions, dict) else {}).items():
            found.setdefault(str(name), set()).add(str(version))
    if found:
        listed = [f"{name} {', '.join(sorted(found[name]))}" for name in sorted(found)]
        yield plain("Versions: " + "; ".join(listed) + ".")
