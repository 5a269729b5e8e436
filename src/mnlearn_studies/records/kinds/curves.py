"""Query curves: how well a model answers queries of growing shares of the variables."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Curves(Kind):
    """Answers of a circuit, exact, or of another study's model, by sampling."""

    name = "curves"
    files = json_of("curves")
    quantities = r".*_q\d+$"
    seconds, mib = "seconds_curve", "mib_score"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods that are queried."""
        queries = study.content.get("queries", {"methods": []})
        own = [method for method in queries["methods"] if method in study.methods_on(dataset)]
        yield from ((method,) for method in [*own, *_sampled(study)["methods"]])

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the models, of this study or of another, and how they are queried."""
        study = plan.studies[record.study]
        queries, sampled = study.content["queries"], study.content["queries"].get("sampled")
        by_sampling = _is_sampled(study, record)
        return {
            "learning": recipe_digest(plan.recipe(queried_models(study, record))),
            "code": code_digest(
                "mnlearn_studies.records.query_curve.query_curve",
                "mnlearn_studies.records.query_curve.draw_queries",
            ),
            "examples": queries["examples"],
            "percentages": queries["percentages"],
            "n_sampled": sampled["examples"] if sampled else None,
            "inference": study.inference(record.dataset) if by_sampling else None,
            "beliefs": bool(sampled and sampled.get("beliefs")) if by_sampling else None,
            "seed": plan.seed,
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the models, the queries and the test data."""
        return {
            "models": plan.file(queried_models(plan.studies[record.study], record)),
            "queries": plan.file(Record("queries", record.study, record.dataset)),
            "test": plan.file(Record("data", "", record.dataset), "test"),
        }

    def make(self, job: Job) -> None:
        """Answer the queries."""
        from mnlearn_studies.records.files import CHOSEN, model_path
        from mnlearn_studies.records.query_curve import query_curve

        recipe = job.recipe
        query_curve(
            model_path(job.path("models").parent, CHOSEN),
            job.path("test"),
            job.path("queries"),
            recipe["percentages"],
            inference=recipe["inference"] or {},
            identity=job.identity,
            seed=recipe["seed"],
            out=job.out,
            n_sampled=recipe["n_sampled"],
            threads=job.threads,
            with_beliefs=bool(recipe["beliefs"]),
        )

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield scores and seconds by the share p of the variables, as `<name>_q<p>`.

        `cll` is of circuits, `seconds_single` of circuits that answer one query at a time,
        `<score>_sampled` of those queries that all models answer, `<name>_beliefs` of models that
        also answer by belief propagation, and `converged_beliefs` the share in which it converged.
        """
        for point in record["points"]:
            share = f"q{point['percentage']}"
            for name in ("cll", "cll_sampled", "cmll", "cmll_sampled", "cmll_beliefs"):
                if name in point:
                    score = point[name]
                    yield (*head(record), f"{name}_{share}", score["mean"], score["stderr"])
            for name in ("seconds", "seconds_single", "seconds_beliefs"):
                if f"{name}_per_query" in point:
                    seconds = point[f"{name}_per_query"]
                    yield (*head(record), f"{name}_{share}", seconds, None)
            if "converged_beliefs" in point:
                converged = point["converged_beliefs"]
                yield (*head(record), f"converged_beliefs_{share}", converged, None)


def queried_models(study: Study, record: Record) -> Record:
    """Return the models that a curve is of."""
    owner = _sampled(study)["study"] if _is_sampled(study, record) else record.study
    return Record("models", str(owner), record.dataset, record.names)


def _is_sampled(study: Study, record: Record) -> bool:
    return record.names[0] in _sampled(study)["methods"]


def _sampled(study: Study) -> Mapping[str, Any]:
    """Return which models of another study are queried by sampling."""
    nothing = {"methods": [], "study": ""}
    sampled: Mapping[str, Any] = study.content.get("queries", {}).get("sampled", nothing)
    return sampled


KIND = Curves()
