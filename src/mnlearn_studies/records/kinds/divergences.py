"""The Kullback-Leibler divergence of the circuit of one method from that of another."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.paired import pairs
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


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
        first, second = (recipe_digest(plan.recipe(models)) for models in _models(record))
        code = code_digest("mnlearn_studies.records.divergence.estimate_divergence")
        return {"first": first, "second": second, "code": code, "seed": plan.seed}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return both models."""
        first, second = (plan.file(models) for models in _models(record))
        return {"first": first, "second": second}

    def make(self, job: Job) -> None:
        """Estimate the divergence."""
        from mnlearn_studies.records.divergence import estimate_divergence
        from mnlearn_studies.records.files import CHOSEN, model_path

        first, second = (
            (name, model_path(job.path(key).parent, CHOSEN))
            for name, key in zip(job.record.names, ("first", "second"), strict=True)
        )
        seed = job.recipe["seed"]
        estimate_divergence(
            job.pair_identity, first, second, seed=seed, out=job.out, threads=job.threads
        )

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield `kl_to_<other>` with its standard error, and the nodes of the first circuit."""
        kl = record["kl"]
        yield (*head(record), f"kl_to_{record['other']}", kl["mean"], kl["stderr"])
        yield (*head(record), "n_nodes", record["circuits"][record["method"]]["n_nodes"], None)


def _models(record: Record) -> list[Record]:
    return [Record("models", record.study, record.dataset, (name,)) for name in record.names]


KIND = Divergences()
