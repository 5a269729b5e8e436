"""Log-likelihoods with approximate partition functions, and seconds of exact inference."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.cells import models_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study

_SETTINGS = ("beliefs", "annealing", "queries")


class Likelihoods(Kind):
    """Scores of networks by each estimate of log Z; of other models the seconds of a query."""

    name = "likelihoods"
    files = json_of("likelihoods")
    quantities = r"ll_|converged_beliefs$|milliseconds_|n_circuit_edges$|treewidth"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the networks that are scored, and the models that are timed."""
        given, methods = (
            study.content.get("likelihoods", {"methods": []}),
            study.methods_on(dataset),
        )
        timed = given.get("timed", []) if study.is_timed(dataset) else []
        yield from ((method,) for method in (*given["methods"], *timed) if method in methods)

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the models, the settings of inference, the seed and the code."""
        settings = plan.studies[record.study].content["likelihoods"]
        return {
            "learning": recipe_digest(plan.recipe(models_of(record))),
            "code": code_digest("mnlearn_studies.records.likelihoods.compare_likelihoods"),
            "settings": {key: settings[key] for key in _SETTINGS},
            "seed": plan.seed,
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the models and the test data."""
        return {
            "models": plan.file(models_of(record)),
            "test": plan.file(Record("data", "", record.dataset), "test"),
        }

    def make(self, job: Job) -> None:
        """Estimate log Z, or time queries."""
        from mnlearn_studies.records.likelihoods import compare_likelihoods

        recipe = job.recipe
        compare_likelihoods(
            job.path("models").parent,
            job.path("test"),
            recipe["settings"],
            job.identity,
            seed=recipe["seed"],
            out=job.out,
            threads=job.threads,
        )

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the scores and the numbers of each variant."""
        for variant, entry in record["variants"].items():
            for name, score in entry.get("scores", {}).items():
                yield (*head(record, variant), name, score["mean"], score["stderr"])
                if "monte_carlo_error" in score:
                    error = score["monte_carlo_error"]
                    yield (*head(record, variant), f"{name}_monte_carlo_error", error, None)
            for name, value in entry["numbers"].items():
                yield (*head(record, variant), name, float(value), None)


KIND = Likelihoods()
