"""Queries of growing size: how well, and how fast, models answer them on test examples.

Scores are in nats per query variable, seconds per query; `..._single` is of one query at a time,
`..._sampled` of the queries that all models answer.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.circuits.exact import UNKNOWN, conditionals, log_value, row_evaluator
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.score import check_variables
from mnlearn.inference.settings import Inference
from mnlearn.inference.state_columns import (
    log_state_probabilities,
    of_values,
    state_probabilities,
)
from mnlearn.inference.terms import Terms, given_by_feature, terms_of
from mnlearn.inference.variational import propagate
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.native import read_npz
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import track
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import Schema
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

# Queries that a circuit answers one at a time, to time it: enough for a mean, seconds at most.
_SINGLE = 100


def query_curve(job: Job) -> dict[str, Any]:
    """Return how well a model answers queries of growing shares of the variables.

    Of models other than circuits the recipe has `inference`; `n_sampled`, how many queries they
    answer, all if None; and `beliefs`, whether by belief propagation too.
    """
    recipe, test = job.recipe, load_npz(job.path("test"))
    model = read_npz(job.chosen())
    # A tree of any kind answers exactly, as its circuit.
    model = model.to_circuit() if model.is_exact else model
    rows, rank = _queried(model, test, job.path("queries"))
    n_sampled = recipe["n_sampled"]
    record: dict[str, Any] = {}
    if isinstance(model, ArithmeticCircuit):
        record["n_queries_single"] = min(_SINGLE, len(rows))
        answer: Callable[[_Queries], dict[str, Any]] = partial(_answer_exactly, model)
    else:
        rows, rank = rows[:n_sampled], rank[:n_sampled]
        seed = stream_seed(recipe["seed"], job.record.dataset, job.record.names[0], "queries")
        settings = Inference(**(recipe["inference"] or {}))
        record |= {"inference": settings.as_record(), "seed": seed}
        answer = _Approximation(terms_of(model), settings, seed, bool(recipe["beliefs"])).answer
    points = []
    for percentage in track(recipe["percentages"], "shares of the variables"):
        n_query = max(1, round(test.n_vars * percentage / 100))
        point = answer(_Queries(rows, rank < n_query, test.schema, n_sampled, job.threads))
        points.append({"percentage": percentage, "n_query_variables": n_query, **point})
    return {**record, "n_queries": len(rows), "points": points}


@dataclass(frozen=True)
class _Queries:
    """Queries of one size. asked : (n_rows, n_vars), the query variables of each row."""

    rows: NDArray[np.uint8]
    asked: NDArray[np.bool_]
    schema: Schema
    n_sampled: int | None
    threads: int

    @cached_property
    def values(self) -> NDArray[np.uint8]:
        """The numbers of the states of all variables."""
        return self.schema.values(self.rows)


def _queried(
    model: Model, test: Dataset, path: Path
) -> tuple[NDArray[np.uint8], NDArray[np.uint16]]:
    check_variables(model, test)
    arrays = read_arrays(path)
    rank, example = arrays.get("rank"), arrays.get("example")
    if rank is None or rank.shape[1:] != (test.n_vars,) or rank.dtype != np.uint16:
        raise InputError(f"{path}: expected queries of {test.n_vars} variables.")
    if (
        example is None
        or example.shape != rank.shape[:1]
        or example.dtype.kind not in "iu"
        or not np.isin(example, np.arange(len(test.row_of))).all()
    ):
        raise InputError(f"{path}: expected the number of the test example of each query.")
    return test.rows[test.row_of[example]], rank


def _answer_exactly(circuit: ArithmeticCircuit, queries: _Queries) -> dict[str, Any]:
    schema = queries.schema
    unknown = queries.asked[:, schema.variable_of]
    evidence = np.where(unknown, UNKNOWN, queries.rows).astype(np.uint8)
    # The first use compiles or loads the kernels.
    conditionals(circuit, evidence[:1])
    began = time.process_time()
    log_evidence, p = conditionals(circuit, evidence, queries.threads)
    seconds = time.process_time() - began
    log_joint = log_value(circuit, queries.rows, queries.threads)
    cll = (log_joint - log_evidence) / queries.asked.sum(axis=1)
    by_state = state_probabilities(p[:, :, 1], schema.start, p[:, :, 0])
    with np.errstate(divide="ignore"):
        log_own = np.log(of_values(by_state, queries.values, schema.start, otherwise=0.0))
    return {
        **_means("cll", cll, queries.n_sampled),
        **_means("cmll", _per_variable(queries, log_own), queries.n_sampled),
        "seconds_per_query": seconds / len(queries.rows),
        "seconds_single_per_query": seconds_single(circuit, evidence[:_SINGLE]),
    }


def seconds_single(circuit: ArithmeticCircuit, evidence: NDArray[np.uint8]) -> float:
    """Return the seconds per row of evidence, each evaluated by itself on one thread."""
    evaluator = row_evaluator(circuit)
    # The first use compiles or loads the kernels and touches the memory.
    evaluator.conditionals(evidence[0])
    began = time.process_time()
    for row in evidence:
        evaluator.conditionals(row)
    return (time.process_time() - began) / len(evidence)


@dataclass(frozen=True)
class _Approximation:
    """How models other than circuits answer."""

    terms: Terms
    inference: Inference
    seed: int
    with_beliefs: bool

    def answer(self, queries: _Queries) -> dict[str, Any]:
        """Answer queries by sampling and, if asked, also by belief propagation."""
        sampled = _sample(self.terms, self.inference, self.seed, queries)
        return sampled | (_believe(self.terms, queries) if self.with_beliefs else {})


def _sample(terms: Terms, inference: Inference, seed: int, queries: _Queries) -> dict[str, Any]:
    """Answer queries one by one, by a Gibbs chain each or by enumeration."""
    rows, log_own = queries.rows, np.zeros(queries.asked.shape)

    def answer(first: int, last: int) -> None:
        for i in range(first, last):
            query = np.flatnonzero(queries.asked[i])
            found = conditional_marginals(terms, rows[i : i + 1], query, inference, seed=seed)
            log_own[i, query] = found.log_own(queries.values[i : i + 1, query])[0]

    seconds = _seconds_per_query(answer, queries)
    cmll = _per_variable(queries, log_own)
    return {**_means("cmll", cmll, queries.n_sampled), "seconds_per_query": seconds}


def _believe(terms: Terms, queries: _Queries) -> dict[str, Any]:
    """Answer queries one by one by belief propagation, each feature a factor of its own."""
    given, width = given_by_feature(terms.model), np.diff(queries.schema.start)
    log_own, converged = np.zeros(queries.asked.shape), np.zeros(len(queries.rows), bool)

    def answer(first: int, last: int) -> None:
        for i in range(first, last):
            query = np.flatnonzero(queries.asked[i])
            found = propagate(given, queries.values[i : i + 1], query, Inference("bp"))
            start = np.concatenate([[0], np.cumsum(width[query])])
            # From the log-odds: 1 minus a probability could be 0.
            by_state = log_state_probabilities(found.log_odds, start)
            own = of_values(by_state, queries.values[i : i + 1, query], start)
            log_own[i, query], converged[i] = own[0], found.converged[0]

    seconds = _seconds_per_query(answer, queries)
    return {
        "cmll_beliefs": _mean(_per_variable(queries, log_own)),
        "converged_beliefs": float(converged.mean()),
        "seconds_beliefs_per_query": seconds,
    }


def _seconds_per_query(answer: Callable[[int, int], None], queries: _Queries) -> float:
    """Answer all queries, after one that compiles or loads the kernels, and return the time."""
    answer(0, 1)
    began = time.process_time()
    map_ranges(answer, len(queries.rows), queries.threads)
    return (time.process_time() - began) / len(queries.rows)


def _per_variable(queries: _Queries, log_own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of what belongs to the query variables of each row, per query variable."""
    own = np.where(queries.asked, log_own, 0.0)
    return np.asarray(own.sum(axis=1) / queries.asked.sum(axis=1))


def _means(
    name: str, values: NDArray[np.float64], n_sampled: int | None
) -> dict[str, dict[str, float]]:
    """Return the mean over all queries and, where some models answer a part, over that part."""
    if n_sampled is None:
        return {name: _mean(values)}
    return {name: _mean(values), f"{name}_sampled": _mean(values[:n_sampled])}


def _mean(values: NDArray[np.float64]) -> dict[str, float]:
    error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return {"mean": float(values.mean()), "stderr": error}


class Curves(Kind):
    """Answers of a circuit, exact, or of another study's model, by sampling."""

    name = "curves"
    files = json_of("curves")
    quantities = r".*_q\d+$"
    seconds, mib = "seconds_curve", "mib_score"
    roots = (
        "mnlearn_studies.records.kinds.curves.query_curve",
        "mnlearn_studies.records.kinds.queries.draw_queries",
    )
    splits = ("test",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        queries = study.content.get("queries", {"methods": []})
        own = [method for method in queries["methods"] if method in study.methods_on(dataset)]
        yield from ((method,) for method in [*own, *_sampled(study)["methods"]])

    def learned(self, plan: Planned, record: Record) -> list[Record]:
        return [queried_models(plan.studies[record.study], record)]

    def settings(self, plan: Planned, record: Record) -> Recipe:
        study = plan.studies[record.study]
        queries, sampled = study.content["queries"], study.content["queries"].get("sampled")
        by_sampling = _is_sampled(study, record)
        return {
            "examples": queries["examples"],
            "percentages": queries["percentages"],
            "n_sampled": sampled["examples"] if sampled else None,
            "inference": study.inference(record.dataset) if by_sampling else None,
            "beliefs": bool(sampled and sampled.get("beliefs")) if by_sampling else None,
            "seed": plan.seed,
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        return {**super().inputs(plan, record), "queries": plan.file(record.of("queries"))}

    def measure(self, job: Job) -> dict[str, Any]:
        return query_curve(job)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield scores and seconds by the share p of the variables, as `<name>_q<p>`."""
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
    nothing = {"methods": [], "study": ""}
    sampled: Mapping[str, Any] = study.content.get("queries", {}).get("sampled", nothing)
    return sampled
