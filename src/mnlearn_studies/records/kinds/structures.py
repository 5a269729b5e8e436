"""The couplings of a learned network, recorded so that figures need no models."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.models.io.native import read_npz
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_json
from mnlearn.runtime.provenance import provenance
from mnlearn_studies.records.kind import OfModels, json_of
from mnlearn_studies.records.record import Job
from mnlearn_studies.study.definition import Study


@dataclass(frozen=True)
class Structure:
    """The variables of a network by name, and its couplings by pair of variables (u, v), u < v."""

    names: tuple[str, ...]
    couplings: dict[tuple[int, int], float]


def couplings(network: MarkovNetwork) -> dict[tuple[int, int], float]:
    """Return the pairwise couplings of a network: its energy in products of -1 and 1 variables.

    A feature of k literals adds its weight over 2 ** k to every pair, with the sign of the
    product of the two values; unlike `MarkovNetwork.edges`, no pair of a feature drops out.
    """
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


def write_structure(model_path: Path, identity: Mapping[str, Any], out: Path) -> None:
    """Write the couplings of a Markov network as JSON.

    Parameters
    ----------
    model_path : Path
        The network.
    identity : Mapping
        Study, dataset, method and recipe (see `study.recipes`), which go into the record.
    out : Path
        File of the record.

    Raises
    ------
    InputError
        The model is not a Markov network.
    """
    network = read_npz(model_path)
    if not isinstance(network, MarkovNetwork):
        raise InputError(f"{model_path}: expected a Markov network, whose structure is drawn.")
    schema = network.schema
    names = schema.names if schema.is_named else tuple(str(v + 1) for v in range(len(schema)))
    found = couplings(network)
    record = {
        **identity,
        "made_by": provenance("mnlearn_studies.records.kinds.structures.write_structure"),
        "names": list(names),
        "couplings": [[u, v, found[u, v]] for u, v in sorted(found)],
    }
    write_json(out, record)


def read_structure(path: Path) -> Structure:
    """Return what `write_structure` wrote."""
    record = read_json(path)
    try:
        found = {(int(u), int(v)): float(w) for u, v, w in record["couplings"]}
        return Structure(tuple(record["names"]), found)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is not the record of a structure.") from error


class Structures(OfModels):
    """The couplings of the chosen network."""

    name = "structures"
    files = json_of("structures")
    roots = ("mnlearn_studies.records.kinds.structures.write_structure",)
    reads_test = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods whose structure a figure draws."""
        drawn = [figure for figure in study.content["figures"] if figure["kind"] == "structure"]
        yield from ((each["method"],) for each in drawn if each["dataset"] == dataset)

    def make(self, job: Job) -> None:
        """Write the couplings."""
        write_structure(job.chosen(), job.identity, job.out)


KIND = Structures()
