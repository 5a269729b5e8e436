"""One part of the learning of a cell, in a process of its own."""

import time
from collections.abc import Sequence
from pathlib import Path

from mnlearn.learning.rounds import Round, list_rounds
from mnlearn.learning.shares import Part
from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import peak_memory_mib
from mnlearn_studies.records.learn import CellInputs, open_search
from mnlearn_studies.records.part_files import n_shares, read_parts


def learn_part(inputs: CellInputs, round_name: str, part: Part, out: Path) -> None:
    """Do one part of the work of `learn_cell`, keep it in the checkpoints, and say so in a file.

    Parameters
    ----------
    inputs : CellInputs
        As for `learn_cell`. All parts and `learn_cell` share the checkpoint folder, in which a
        killed part resumes. The part files are those of the rounds before.
    round_name : str
        The round of which this is a part, see `learning.rounds`.
    part : Part
        Which part of it.
    out : Path
        The file to write.

    Raises
    ------
    InputError
        The learner has no such round, or not so many parts.
    """
    done = read_parts(inputs.part_paths, inputs.identity)
    learner = load_learner(inputs.learner)
    with_network = inputs.network_path is not None
    rounds = list_rounds(learner, learner.grid(inputs.values), with_network=with_network)
    round_ = _find_round(rounds, round_name, part)
    opened = open_search(inputs, part.of if round_.stage is None else n_shares(done))
    began = time.process_time()
    opened.search.run_part(round_, part)
    record = {
        **inputs.identity,
        **opened.context,
        "round": round_name,
        "part": str(part),
        "seconds": round(time.process_time() - began, 4),
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
