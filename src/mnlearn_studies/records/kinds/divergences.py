"""Kullback-Leibler divergence between the distributions of two circuits, by exact samples.

Lowd & Rooshenas 2013, Section 4.2, compares ACBN with ACMN by it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.exact import draw, log_partition, log_value
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.native import read_npz
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn.runtime.random_streams import stream_seed
from mnlearn_studies.records.files import CHOSEN, model_path
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.paired import pairs
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study

# Exact samples of the first circuit.
N_SAMPLES = 10_000


def log_ratios(
    first: ArithmeticCircuit,
    second: ArithmeticCircuit,
    n_samples: int,
    seed: int,
    *,
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return log P(x) - log Q(x) of independent samples x of P.

    Parameters
    ----------
    first, second : ArithmeticCircuit
        Circuits of P and Q over the same variables; hidden variables are summed out.
    n_samples : int
        Samples of P to draw.
    seed : int
        The samples depend on the seed and on P alone.
    threads : int
        Threads to use; the result does not depend on their number.

    Returns
    -------
    float64, shape (n_samples,), nats
        The mean is an unbiased estimate of KL(P || Q). Infinity stands for a state to which Q
        gives probability 0.
    """
    rows = draw(first, n_samples, seed, threads)
    log_p = log_value(first, rows, threads) - log_partition(first)
    return np.asarray(log_p - log_value(second, rows, threads) + log_partition(second))


def estimate_divergence(
    identity: Mapping[str, Any],
    first: tuple[str, Path],
    second: tuple[str, Path],
    *,
    seed: int,
    out: Path,
    threads: int = 1,
    n_samples: int = N_SAMPLES,
) -> None:
    """Write an estimate of KL(first || second) with its standard error as JSON.

    Parameters
    ----------
    identity : Mapping
        Study, dataset and recipe (see `study.recipes`), which go into the record.
    first, second : tuple of str and Path
        Name of the method and file of its circuit. The record has the sizes of both circuits.
    seed : int
        Seed of the study. The samples depend on it, on the data set and on the first method.
    out : Path
        File of the record.
    threads : int
        Threads to use; the result does not depend on their number.
    n_samples : int
        Exact samples of the first circuit to draw.

    Raises
    ------
    InputError
        A model is not a circuit; the circuits have different numbers of variables; or the second
        circuit gives probability 0 to a sample of the first, so that the divergence is infinite.

    Notes
    -----
    KL(P || Q) = E_P[log P(x) - log Q(x)] in nats, estimated by the mean over samples of P. The
    standard error is the sample standard deviation over the square root of `n_samples`.
    """
    p, q = _circuit(first[1]), _circuit(second[1])
    if p.n_vars != q.n_vars:
        raise InputError(f"{second[1]}: expected {p.n_vars} variables, got {q.n_vars}.")
    stream = stream_seed(seed, identity["dataset"], first[0], "divergence")
    ratios = log_ratios(p, q, n_samples, stream, threads=threads)
    if not np.isfinite(ratios).all():
        raise InputError(
            f"{second[1]}: gives probability 0 to a sample of {first[1]}, so that the divergence "
            "is infinite."
        )
    stderr = float(ratios.std(ddof=1) / np.sqrt(n_samples))
    record = {
        **identity,
        "method": first[0],
        "other": second[0],
        "scored_by": provenance("mnlearn_studies.records.kinds.divergences.estimate_divergence"),
        "seed": seed,
        "n_samples": n_samples,
        "kl": {"mean": float(ratios.mean()), "stderr": stderr},
        "circuits": {first[0]: _size(p), second[0]: _size(q)},
    }
    write_json(out, record)


def _size(circuit: ArithmeticCircuit) -> dict[str, int]:
    return {"n_nodes": circuit.n_nodes, "n_edges": circuit.n_edges}


def _circuit(path: Path) -> ArithmeticCircuit:
    model = read_npz(path)
    if not isinstance(model, ArithmeticCircuit):
        raise InputError(f"{path}: expected a circuit.")
    return model


class Divergences(Kind):
    """An estimate from exact samples of the first circuit."""

    name = "divergences"
    files = json_of("divergences")
    quantities = r"kl_to_|n_nodes$"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the pairs of the study."""
        yield from pairs(study, "divergences", dataset)

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return both models, the seed and the code."""
        first, second = (
            recipe_digest(plan.recipe(models)) for models in self.learned(plan, record)
        )
        code = code_digest("mnlearn_studies.records.kinds.divergences.estimate_divergence")
        return {"first": first, "second": second, "code": code, "seed": plan.seed}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return both models."""
        return {"models": [plan.file(models) for models in self.learned(plan, record)]}

    def make(self, job: Job) -> None:
        """Estimate the divergence."""
        files = (model_path(path.parent, CHOSEN) for path in job.paths("models"))
        first, second = zip(job.record.names, files, strict=True)
        seed = job.recipe["seed"]
        estimate_divergence(
            job.pair_identity, first, second, seed=seed, out=job.out, threads=job.threads
        )

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield `kl_to_<other>` with its standard error, and the nodes of the first circuit."""
        kl = record["kl"]
        yield (*head(record), f"kl_to_{record['other']}", kl["mean"], kl["stderr"])
        yield (*head(record), "n_nodes", record["circuits"][record["method"]]["n_nodes"], None)


KIND = Divergences()
