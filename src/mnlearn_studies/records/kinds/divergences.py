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
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream_seed
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.paired import pairs
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

# Exact samples of the first circuit.
N_SAMPLES = 10_000


def log_ratios(
    first: ArithmeticCircuit, second: ArithmeticCircuit, n_samples: int, seed: int, threads: int = 1
) -> NDArray[np.float64]:
    """Return log P(x) - log Q(x) of samples x of P, in nats; their mean estimates KL(P || Q).

    Hidden variables are summed out; infinity stands for a state to which Q gives probability 0.
    """
    rows = draw(first, n_samples, seed, threads)
    log_p = log_value(first, rows, threads) - log_partition(first)
    return np.asarray(log_p - log_value(second, rows, threads) + log_partition(second))


def estimate_divergence(job: Job) -> dict[str, Any]:
    """Return an estimate of KL(first || second) in nats, its standard error, and the sizes of both.

    It is the mean of log P(x) - log Q(x) over samples of the first.
    """
    name, other = job.record.names
    first, second = job.all_chosen()
    p, q = _circuit(first), _circuit(second)
    if p.n_vars != q.n_vars:
        raise InputError(f"{second}: expected {p.n_vars} variables, got {q.n_vars}.")
    seed = stream_seed(job.recipe["seed"], job.record.dataset, name, "divergence")
    ratios = log_ratios(p, q, N_SAMPLES, seed, job.threads)
    if not np.isfinite(ratios).all():
        raise InputError(
            f"{second}: gives probability 0 to a sample of {first}, so that the divergence is "
            "infinite."
        )
    stderr = float(ratios.std(ddof=1) / np.sqrt(N_SAMPLES))
    return {
        "other": other,
        "seed": job.recipe["seed"],
        "n_samples": N_SAMPLES,
        "kl": {"mean": float(ratios.mean()), "stderr": stderr},
        "circuits": {
            label: {"n_nodes": circuit.n_nodes, "n_edges": circuit.n_edges}
            for label, circuit in ((name, p), (other, q))
        },
    }


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
    roots = ("mnlearn_studies.records.kinds.divergences.estimate_divergence",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield from pairs(study, "divergences", dataset)

    def settings(self, plan: Planned, record: Record) -> Recipe:
        return {"seed": plan.seed}

    def measure(self, job: Job) -> dict[str, Any]:
        return estimate_divergence(job)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        kl = record["kl"]
        yield (*head(record), f"kl_to_{record['other']}", kl["mean"], kl["stderr"])
        yield (*head(record), "n_nodes", record["circuits"][record["method"]]["n_nodes"], None)
