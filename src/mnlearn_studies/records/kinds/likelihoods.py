"""Log-likelihoods of networks whose partition function is not known, and what inference takes.

A network is scored with the Bethe estimate of log Z and with annealed importance sampling. A model
with exact inference has its log-likelihood in its cell; here its queries are timed.
"""

import itertools
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.annealing import Annealing
from mnlearn.inference.circuits.exact import UNKNOWN, row_evaluator
from mnlearn.inference.score import check_variables
from mnlearn.inference.settings import Inference
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.feature_tree import FeatureTree, leaf_features
from mnlearn.models.io.native import read_npz
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn.runtime.random_streams import stream, stream_seed
from mnlearn.scoring.any_model import annealed_ll, approximate_ll
from mnlearn_studies.records.files import (
    CHOSEN,
    TUNING_RECORD,
    model_path,
    read_record,
    refuse_damaged,
    score_record,
)
from mnlearn_studies.records.kind import OfModels, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

_KEYS = ("beliefs", "annealing", "queries")


def compare_likelihoods(
    model_folder: Path,
    test_path: Path,
    settings: Mapping[str, Any],
    identity: Mapping[str, Any],
    *,
    seed: int,
    out: Path,
    threads: int = 1,
) -> None:
    """Write the log-likelihoods of networks by each estimate of log Z, or the seconds of queries.

    Parameters
    ----------
    model_folder : Path
        What `learn_cell` wrote. Networks are scored in all variants.
    test_path : Path
        The test data.
    settings : Mapping
        beliefs : arguments of `Inference` for belief propagation. annealing : n_chains and n_steps.
        queries : examples, and the percentage of the variables that is queried.
    identity : Mapping
        Study, dataset, method, recipe. Dataset and method name the random streams.
    seed : int
        Seed of the study.
    out : Path
        The record to write. Networks have the scores `ll_beliefs` and `ll_annealed`, the number
        `converged_beliefs`, and the seconds of both. Other models have `milliseconds_single_query`,
        `n_circuit_edges`, `n_test` and, if they are feature trees, `treewidth_at_least`.
    threads : int
        Threads of the sampler; the result does not depend on their number.

    Raises
    ------
    InputError
        A setting is missing, or a model has no joint distribution.
    """
    for key in _KEYS:
        if key not in settings:
            raise InputError(f"settings: expected the key {key!r}.")
    learned = read_record(model_folder / TUNING_RECORD, "variants")["variants"]
    test = load_npz(test_path)
    scoring = _Scoring(test, settings, identity, seed, threads)
    with refuse_damaged(model_folder / TUNING_RECORD):
        parameters = {name: variant["parameters"] for name, variant in learned.items()}
        of_chosen = parameters[CHOSEN]
    variants = {CHOSEN: scoring.assess(read_npz(model_path(model_folder, CHOSEN)))}
    for name in (name for name in learned if name != CHOSEN and scoring.is_network):
        same = parameters[name] == of_chosen
        path = model_path(model_folder, name)
        variants[name] = variants[CHOSEN] if same else scoring.assess(read_npz(path))
    record = {
        **identity,
        "scored_by": provenance("mnlearn_studies.records.kinds.likelihoods.compare_likelihoods"),
        "settings": dict(settings),
        "seed": seed,
        "n_test": test.n_examples,
        "variants": variants,
    }
    write_json(out, record)


class _Scoring:
    """How the models of a cell are assessed, the chosen one first."""

    def __init__(
        self,
        test: Dataset,
        settings: Mapping[str, Any],
        identity: Mapping[str, Any],
        seed: int,
        threads: int,
    ) -> None:
        self._test, self._settings, self._threads = test, settings, threads
        self._names = (str(identity["dataset"]), str(identity["method"]))
        self._seed = seed
        self.is_network = False

    def assess(self, model: Model) -> dict[str, Any]:
        """Return the scores and numbers of one model."""
        check_variables(model, self._test)
        if isinstance(model, MarkovNetwork):
            self.is_network = True
            return self._approximate(model)
        numbers: dict[str, float] = {}
        if isinstance(model, FeatureTree):
            numbers["treewidth_at_least"] = _widest_leaf(model) - 1
        if not model.is_exact:
            raise InputError("expected a Markov network, a tree or a circuit.")
        circuit: ArithmeticCircuit = model.to_circuit()
        numbers["n_circuit_edges"] = circuit.n_edges
        numbers["milliseconds_single_query"] = 1000.0 * self._seconds_single(circuit)
        return {"numbers": {**numbers, "n_test": self._test.n_examples}}

    def _approximate(self, network: MarkovNetwork) -> dict[str, Any]:
        """Score a network by belief propagation and by annealed importance sampling."""
        began = time.process_time()
        run = Inference("bp", **self._settings["beliefs"])
        beliefs = approximate_ll(network, self._test, run, by_feature=True)
        between = time.process_time()
        annealed = annealed_ll(
            network,
            self._test,
            Annealing(**self._settings["annealing"]),
            stream_seed(self._seed, *self._names, "annealing"),
            threads=self._threads,
        )
        ended = time.process_time()
        return {
            "scores": {"ll_beliefs": score_record(beliefs), "ll_annealed": score_record(annealed)},
            "numbers": {
                "converged_beliefs": beliefs.converged,
                "seconds_beliefs": round(between - began, 4),
                "seconds_annealing": round(ended - between, 4),
            },
        }

    def _seconds_single(self, circuit: ArithmeticCircuit) -> float:
        """Return the mean seconds of a query, each answered by itself on one thread.

        A query asks for the probability of the evidence and the marginals of all other variables.
        """
        queries = self._settings["queries"]
        n_query = max(1, round(self._test.n_vars * queries["percentage"] / 100))
        rows = self._test.rows[self._test.row_of[: queries["examples"]]]
        # One stream for all methods, so that all answer the same queries.
        rank = stream(self._seed, self._names[0], "single queries").random(rows.shape)
        asked = np.argsort(np.argsort(rank, axis=1), axis=1) < n_query
        evidence = np.where(asked, UNKNOWN, rows).astype(np.uint8)
        evaluator = row_evaluator(circuit)
        # The first use compiles or loads the kernels and touches the memory.
        evaluator.conditionals(evidence[0])
        began = time.process_time()
        for row in evidence:
            evaluator.conditionals(row)
        return (time.process_time() - began) / len(evidence)


def _widest_leaf(tree: FeatureTree) -> int:
    """Return the most variables of one leaf feature, which are a clique of the Markov network."""
    return max(
        len({v for v, _ in itertools.chain(leaf.literals, *leaf.negated)})
        for leaf in leaf_features(tree)
    )


class Likelihoods(OfModels):
    """Scores of networks by each estimate of log Z; of other models the seconds of a query."""

    name = "likelihoods"
    files = json_of("likelihoods")
    quantities = (
        r"ll_(beliefs|annealed)|converged_beliefs$|(milli)?seconds_(beliefs|annealing|single_query)$"
        r"|n_circuit_edges$|treewidth"
    )
    roots = ("mnlearn_studies.records.kinds.likelihoods.compare_likelihoods",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the networks that are scored, and the models that are timed."""
        given, methods = (
            study.content.get("likelihoods", {"methods": []}),
            study.methods_on(dataset),
        )
        timed = given.get("timed", []) if study.is_timed(dataset) else []
        yield from ((method,) for method in (*given["methods"], *timed) if method in methods)

    def settings(self, plan: Planned, record: Record) -> Recipe:
        """Return the settings of inference, and the seed."""
        settings = plan.studies[record.study].content["likelihoods"]
        return {"settings": {key: settings[key] for key in _KEYS}, "seed": plan.seed}

    def make(self, job: Job) -> None:
        """Estimate log Z, or time queries."""
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
