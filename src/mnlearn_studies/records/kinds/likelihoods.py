"""Log-likelihoods of networks by estimates of log Z: Bethe's, and annealed importance sampling.

Of a model with exact inference, queries are timed.
"""

import itertools
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.circuits.exact import UNKNOWN
from mnlearn.inference.score import check_variables
from mnlearn.inference.settings import Annealing, Inference
from mnlearn.models.feature_tree import FeatureTree, leaf_features
from mnlearn.models.io.native import read_npz
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream, stream_seed
from mnlearn.scoring.any_model import annealed_ll, approximate_ll
from mnlearn_studies.records.files import (
    CHOSEN,
    model_path,
    read_record,
    refuse_damaged,
    score_record,
)
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.curves import seconds_single
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

_KEYS = ("beliefs", "annealing", "queries")


def compare_likelihoods(job: Job) -> dict[str, Any]:
    """Return log-likelihoods of networks by each estimate of log Z, or seconds of queries."""
    for key in _KEYS:
        if key not in job.recipe["settings"]:
            raise InputError(f"settings: expected the key {key!r}.")
    learned = read_record(job.path("models"), "variants")["variants"]
    test = load_npz(job.path("test"))
    with refuse_damaged(job.path("models")):
        parameters = {name: variant["parameters"] for name, variant in learned.items()}
        of_chosen = parameters[CHOSEN]
    model = read_npz(job.chosen())
    variants = {CHOSEN: _assess(job, model, test)}
    for name in (name for name in learned if name != CHOSEN and isinstance(model, MarkovNetwork)):
        other = model_path(job.path("models").parent, name)
        is_chosen = parameters[name] == of_chosen
        variants[name] = variants[CHOSEN] if is_chosen else _assess(job, read_npz(other), test)
    head = {"settings": job.recipe["settings"], "seed": job.recipe["seed"]}
    return {**head, "n_test": test.n_examples, "variants": variants}


def _assess(job: Job, model: Model, test: Dataset) -> dict[str, Any]:
    check_variables(model, test)
    if isinstance(model, MarkovNetwork):
        return _approximate(job, model, test)
    if not model.is_exact:
        raise InputError("expected a Markov network, a tree or a circuit.")
    circuit, settings = model.to_circuit(), job.recipe["settings"]["queries"]
    rows = test.rows[test.row_of[: settings["examples"]]]
    n_query = max(1, round(test.n_vars * settings["percentage"] / 100))
    # One stream for all methods, so that all answer the same queries: the probability of the
    # evidence and the marginals of all other variables.
    rank = stream(job.recipe["seed"], job.record.dataset, "single queries").random(rows.shape)
    asked = np.argsort(np.argsort(rank, axis=1), axis=1) < n_query
    evidence = np.where(asked, UNKNOWN, rows).astype(np.uint8)
    numbers = {
        "n_circuit_edges": circuit.n_edges,
        "milliseconds_single_query": 1000.0 * seconds_single(circuit, evidence),
        "n_test": test.n_examples,
    }
    if isinstance(model, FeatureTree):
        numbers["treewidth_at_least"] = _widest_leaf(model) - 1
    return {"numbers": numbers}


def _approximate(job: Job, network: MarkovNetwork, test: Dataset) -> dict[str, Any]:
    recipe, settings = job.recipe, job.recipe["settings"]
    seed = stream_seed(recipe["seed"], job.record.dataset, job.record.names[0], "annealing")
    began = time.process_time()
    run = Inference("bp", **settings["beliefs"])
    beliefs = approximate_ll(network, test, run, by_feature=True)
    between = time.process_time()
    annealing = Annealing(**settings["annealing"])
    annealed = annealed_ll(network, test, annealing, seed, threads=job.threads)
    ended = time.process_time()
    return {
        "scores": {"ll_beliefs": score_record(beliefs), "ll_annealed": score_record(annealed)},
        "numbers": {
            "converged_beliefs": beliefs.converged,
            "seconds_beliefs": round(between - began, 4),
            "seconds_annealing": round(ended - between, 4),
        },
    }


def _widest_leaf(tree: FeatureTree) -> int:
    """Return the most variables of one leaf feature, which are a clique of the Markov network."""
    return max(
        len({v for v, _ in itertools.chain(leaf.literals, *leaf.negated)})
        for leaf in leaf_features(tree)
    )


class Likelihoods(Kind):
    """Scores of networks by each estimate of log Z; of other models the seconds of a query."""

    name = "likelihoods"
    files = json_of("likelihoods")
    quantities = (
        r"ll_(beliefs|annealed)|converged_beliefs$|(milli)?seconds_(beliefs|annealing|single_query)$"
        r"|n_circuit_edges$|treewidth"
    )
    roots = ("mnlearn_studies.records.kinds.likelihoods.compare_likelihoods",)
    splits = ("test",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        given, methods = study.content.get("likelihoods", {}), study.methods_on(dataset)
        timed = given.get("timed", []) if study.is_timed(dataset) else []
        found = (*given.get("methods", []), *timed)
        yield from ((method,) for method in found if method in methods)

    def settings(self, plan: Planned, record: Record) -> Recipe:
        settings = plan.studies[record.study].content["likelihoods"]
        return {"settings": {key: settings[key] for key in _KEYS}, "seed": plan.seed}

    def measure(self, job: Job) -> dict[str, Any]:
        return compare_likelihoods(job)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        for variant, entry in record["variants"].items():
            for name, score in entry.get("scores", {}).items():
                yield (*head(record, variant), name, score["mean"], score["stderr"])
                if "monte_carlo_error" in score:
                    error = score["monte_carlo_error"]
                    yield (*head(record, variant), f"{name}_monte_carlo_error", error, None)
            for name, value in entry["numbers"].items():
                yield (*head(record, variant), name, float(value), None)
