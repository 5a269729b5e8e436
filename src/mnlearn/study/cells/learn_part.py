"""One part of the learning of a cell, in a process of its own."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mnlearn.learning.rounds import Round, list_rounds
from mnlearn.learning.shares import Part
from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import peak_memory_mib
from mnlearn.study.cells.learn import open_search
from mnlearn.study.cells.part_files import n_shares, read_parts


def learn_part(
    name: str,
    identity: Mapping[str, Any],
    train_path: Path,
    valid_path: Path,
    *,
    values: Mapping[str, Any],
    cmll_settings: Mapping[str, Any],
    checkpoint_folder: Path,
    round_name: str,
    part: Part,
    out: Path,
    threads: int = 1,
    network_path: Path | None = None,
    part_paths: Sequence[Path] = (),
) -> None:
    """Do one part of the work of `learn_cell`, keep it in the checkpoints, and say so in a file.

    Parameters
    ----------
    name, identity, train_path, valid_path, values, cmll_settings, threads, network_path
        As in `learn_cell`.
    checkpoint_folder : Path
        Folder of finished steps, which all parts and `learn_cell` share. A killed part resumes
        there.
    round_name : str
        The round of which this is a part, see `learning.rounds`.
    part : Part
        Which part of it.
    out : Path
        The file to write.
    part_paths : sequence of Path
        The files of the rounds before.

    Raises
    ------
    InputError
        The learner has no such round, or not so many parts.
    """
    done = read_parts(part_paths, identity)
    grid = load_learner(name).grid(values)
    rounds = list_rounds(load_learner(name), grid, with_network=network_path is not None)
    round_ = _find_round(rounds, round_name, part)
    opened = open_search(
        name, identity, train_path, valid_path, values=values, cmll_settings=cmll_settings,
        checkpoint_folder=checkpoint_folder, threads=threads, network_path=network_path,
        n_parts=part.of if round_.stage is None else n_shares(done),
    )  # fmt: skip
    began = time.perf_counter()
    opened.search.run_part(round_, part)
    record = {
        **identity,
        **opened.context,
        "round": round_name,
        "part": str(part),
        "seconds": round(time.perf_counter() - began, 4),
        "peak_memory_mib_learn": peak_memory_mib(),
    }
    write_json(out, record)


def _find_round(rounds: Sequence[Round], name: str, part: Part) -> Round:
    """Return a round by its name, if it has such a part."""
    known = {each.name: each for each in rounds}
    if name not in known:
        expected = f"expected one of {', '.join(known)}" if known else "the grid has no parts"
        raise InputError(f"round {name}: {expected}.")
    found = known[name]
    if found.n_parts(part.of) < part.of:
        raise InputError(f"part {part}: expected at most {found.n_units} parts.")
    return found
