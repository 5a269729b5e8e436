"""The second half of a cell: score the learned models on test data, which nothing else reads."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.score import Groups, Score, Scorer
from mnlearn.inference.settings import Inference
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.io.native import read_npz
from mnlearn.runtime.files import read_json, read_text, write_csv, write_json, write_text
from mnlearn.runtime.progress import say
from mnlearn.runtime.provenance import peak_memory_mib, provenance
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.study.cells.files import CHOSEN, TRACE, TUNING_RECORD, file_digest, model_path


def score_cell(
    model_folder: Path,
    test_path: Path,
    groups_path: Path,
    settings: Mapping[str, Any],
    checkpoint_folder: Path | None,
    per_example_path: Path,
    trace_path: Path,
    cell_path: Path,
    threads: int = 1,
    cmll_of: str = "all",
    recipe: Mapping[str, Any] | None = None,
) -> None:
    """Score every variant of a learned cell on the test data and write the cell.

    model_folder : what `learn_cell` wrote; its grid points are copied to `trace_path`, beside the
        cell that rests on them.
    settings : arguments of `Inference`. The first partition of `groups_path` gives the CMLL that
        is reported; the others give its spread, for the chosen variant only.
    cmll_of : which models are given a CMLL: "all" variants, the "chosen" one, or "none".
    recipe : what the cell depends on (see `study.recipes`). The record has it beside
        `learned_from`, what its models depend on.
    """
    record, groups = read_json(model_folder / TUNING_RECORD), read_json(groups_path)
    test = load_npz(test_path)
    inference = Inference(**settings)
    scorer = load_learner(record["learner"]).scorer
    scored_by = provenance(
        learner_root(record["learner"]),
        "study.cells.score.score_cell",
        "inference.query_groups.partitions",
    )
    kept = Checkpoints(
        checkpoint_folder, code=scored_by["code_digest"], test=file_digest(test_path)
    )
    cell = {
        **record,
        "learned_from": record["recipe"],
        "recipe": dict(recipe or {}),
        "inference": dict(settings),
        "n_test": test.n_examples,
        "n_vars": test.n_vars,
        "scored_by": scored_by,
    }
    seed = stream_seed(record["seed"], record["dataset"], record["method"], "gibbs")
    same_as_chosen = _variant_of_chosen(record)
    for variant in record["variants"]:
        if variant == same_as_chosen:
            continue
        path = model_path(model_folder, variant)
        asked = _partitions_of(variant, groups, cmll_of)
        key = {"model": file_digest(path), "groups": asked, "settings": settings, "seed": seed}
        scored = kept.record(
            key, partial(_scored, scorer, path, test, asked, inference, seed, threads)
        )
        rows = scored.pop("per_row")
        if variant == CHOSEN:
            per_example = [np.array(values)[test.row_of].tolist() for values in rows.values()]
            write_csv(
                per_example_path,
                (dict(zip(rows, row, strict=True)) for row in zip(*per_example, strict=True)),
            )
        cell["variants"][variant].update(scored)
        say(f"{record['dataset']} {record['method']} {variant or 'chosen'}: scored")
    if same_as_chosen is not None:
        chosen = cell["variants"][CHOSEN]
        scores = {name: score for name, score in chosen["scores"].items() if name != "cmll"}
        if cmll_of == "all":
            of_chosen = chosen["scores"]["cmll"]
            scores["cmll"] = {**of_chosen, "partitions": of_chosen["partitions"][:1]}
        cell["variants"][same_as_chosen]["scores"] = scores
        cell["variants"][same_as_chosen]["seconds_inference"] = chosen["seconds_inference"]
    write_text(trace_path, read_text(model_folder / TRACE))
    cell["peak_memory_mib_score"] = peak_memory_mib()
    write_json(cell_path, cell)


def _partitions_of(variant: str, groups: Sequence[Groups], cmll_of: str) -> Sequence[Groups]:
    if variant == CHOSEN:
        return [] if cmll_of == "none" else groups
    return groups[:1] if cmll_of == "all" else []


def _variant_of_chosen(record: Mapping[str, Any]) -> str | None:
    chosen = record["variants"][CHOSEN]["parameters"]
    for name, variant in record["variants"].items():
        if name != CHOSEN and variant["parameters"] == chosen:
            return str(name)
    return None


def _scored(
    scorer: Scorer,
    path: Path,
    test: Dataset,
    groups: Sequence[Groups],
    inference: Inference,
    seed: int,
    threads: int,
) -> dict[str, Any]:
    """Return every score of one model, its inference time and the scores of each row."""
    model = read_npz(path)
    pll_score = scorer.pll(model, test, threads)
    scores: dict[str, Any] = {"pll": _summary(pll_score)}
    per_row = {"pll": pll_score.per_row.tolist()}
    seconds = 0.0
    if groups:
        began = time.perf_counter()
        by_partition = [
            scorer.cmll(model, test, g, inference, seed=seed, threads=threads) for g in groups
        ]
        seconds = (time.perf_counter() - began) / len(groups)
        means = [score.mean for score in by_partition]
        scores["cmll"] = {**_summary(by_partition[0]), "partitions": means}
        per_row["cmll"] = by_partition[0].per_row.tolist()
    if scorer.has_exact_likelihood(model):
        ll_score = scorer.ll(model, test, threads)
        scores["ll"] = _summary(ll_score)
        per_row["ll"] = ll_score.per_row.tolist()
    return {
        "scores": scores,
        "seconds_inference": round(seconds, 4),
        "per_row": per_row,
    }


def _summary(score: Score) -> dict[str, float]:
    summary = {"mean": score.mean, "stderr": score.standard_error}
    if score.monte_carlo_error:
        summary["monte_carlo_error"] = score.monte_carlo_error
    return summary
