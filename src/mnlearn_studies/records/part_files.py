"""What a process leaves that did a part of the learning of a cell: a file that says so.

What it learned is in the checkpoints. The file is for the scheduler, and for the checks here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn.learning.rounds import VARIABLES
from mnlearn.learning.shares import Part
from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.files import read_record, refuse_damaged

_NAMES = ("recipe", "round", "part", "peak_memory_mib_learn")


@dataclass(frozen=True)
class PartDone:
    """A part that is done.

    round_name : see `learning.rounds`. of : the number of parts of the round. memory : peak, in
    MiB.
    """

    round_name: str
    number: int
    of: int
    memory: float


def read_parts(paths: Sequence[Path], identity: Mapping[str, Any]) -> list[PartDone]:
    """Read the files of the parts that were done for a cell; refuse those of another one.

    identity : of the cell, with its recipe.
    """
    parts = [_read(path, identity) for path in paths]
    for name in dict.fromkeys(part.round_name for part in parts):
        own = [part for part in parts if part.round_name == name]
        numbers, of = sorted(part.number for part in own), own[0].of
        if {part.of for part in own} != {of} or numbers != list(range(1, of + 1)):
            found = ", ".join(f"{part.number}/{part.of}" for part in own)
            raise InputError(f"--part: expected all {of} parts of round {name}, got {found}.")
    return parts


def n_shares(parts: Sequence[PartDone]) -> int:
    """Return the number of processes that the variables were shared out to."""
    return max((part.of for part in parts if part.round_name == VARIABLES), default=1)


def _read(path: Path, identity: Mapping[str, Any]) -> PartDone:
    record = read_record(path, *_NAMES, *identity)
    for name in identity:
        if record[name] != identity[name]:
            raise InputError(
                f"{path}: is a part of another {'search' if name == 'recipe' else name}; it has to "
                "be made again."
            )
    with refuse_damaged(path):
        part = Part.parse(record["part"])
        return PartDone(
            str(record["round"]), part.number, part.of, float(record["peak_memory_mib_learn"])
        )
