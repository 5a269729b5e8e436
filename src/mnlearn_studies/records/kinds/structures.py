"""The couplings of a learned network, recorded so that figures need no models."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.models.io.native import read_npz
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.files import read_record, refuse_damaged
from mnlearn_studies.records.kind import Kind, json_of
from mnlearn_studies.records.record import Job
from mnlearn_studies.study.definition import Study


@dataclass(frozen=True)
class Structure:
    """The variables of a network by name, and its couplings by pair of variables (u, v), u < v."""

    names: tuple[str, ...]
    couplings: dict[tuple[int, int], float]


def couplings(network: MarkovNetwork) -> dict[tuple[int, int], float]:
    """Return the pairwise couplings of a network: its energy in products of -1 and 1 variables."""
    out: dict[tuple[int, int], float] = {}
    for f in range(len(network.features)):
        literals = network.features.literals(f)
        share = float(network.weight[f]) / 2 ** len(literals)
        if not np.isfinite(share):
            continue
        for a, (u, u_value) in enumerate(literals):
            for v, v_value in literals[a + 1 :]:
                out[u, v] = out.get((u, v), 0.0) + (share if u_value == v_value else -share)
    return out


def describe_structure(path: Path) -> dict[str, Any]:
    """Return the names and the couplings of the Markov network in a file."""
    network = read_npz(path)
    if not isinstance(network, MarkovNetwork):
        raise InputError(f"{path}: expected a Markov network, whose structure is drawn.")
    schema = network.schema
    names = schema.names if schema.is_named else [str(v + 1) for v in range(len(schema))]
    pairs = [[u, v, coupling] for (u, v), coupling in sorted(couplings(network).items())]
    return {"names": list(names), "couplings": pairs}


def read_structure(path: Path) -> Structure:
    """Return the structure in a record."""
    record = read_record(path, "names", "couplings")
    with refuse_damaged(path):
        strengths = {(int(u), int(v)): float(w) for u, v, w in record["couplings"]}
        return Structure(tuple(record["names"]), strengths)


class Structures(Kind):
    """The couplings of the chosen network."""

    name = "structures"
    files = json_of("structures")
    roots = ("mnlearn_studies.records.kinds.structures.describe_structure",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        drawn = [figure for figure in study.content["figures"] if figure["kind"] == "structure"]
        yield from ((each["method"],) for each in drawn if each["dataset"] == dataset)

    def measure(self, job: Job) -> dict[str, Any]:
        return describe_structure(job.chosen())
