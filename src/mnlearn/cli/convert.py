"""The commands on files of models and data: `convert`, `info` and `impute`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnlearn.cli.examples import Reader, Treatment, count_missing
from mnlearn.cli.files import check_outputs, check_text_form, save_data
from mnlearn.cli.options import (
    FILE,
    READING_NAMES,
    json_option,
    memory_option,
    missing_option,
    print_record,
    reading_options,
    refuse_given,
    seed_option,
    threads_option,
)
from mnlearn.cli.query import evidence_path, read_question
from mnlearn.inference.settings import PARTITION_METHODS, UPPER
from mnlearn.runtime.errors import InputError, at, name_data

if TYPE_CHECKING:
    from mnlearn.models.model import Model
    from mnlearn.runtime.decompression import ExpansionLimit


# In place of a method: those of both bounds.
_BOUNDS = "bounds"
# So many variables are shown with their states.
_LISTED = 5


@click.command()
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@click.option(
    "--given",
    metavar="FILE|TEXT",
    help="IN is a circuit, OUT what is left of it given one row of evidence; see mnlearn query.",
)
@click.option(
    "--plain",
    is_flag=True,
    help="Write names and states of a model in letters, digits and _ only, as pyAgrum reads them: "
    "below_4 for <4.",
)
@reading_options
@missing_option
@seed_option
def convert(
    *,
    source: Path,
    target: Path,
    given: str | None,
    plain: bool,
    reader: Reader,
    missing: str,
    seed: int,
) -> None:
    """Convert a model or a data file; the forms are named by the suffixes.

    \b
    models  .npz  .mn  .dn  .bn  .ac  .bif  .uai   both ways;
            .xmlbif: in only; .nnf (d-DNNF), .graphml and .csv (edges): out
            only; a Markov or Bayesian network is compiled into an .ac or .nnf
    data    .npz  .data  .csv; tables of other programs (.parquet, .feather,
            .sav, .dta, .xlsx): in only
    text forms of both may be compressed (.gz, .xz, .bz2)
    """
    from mnlearn.models.io.formats import form_of_source
    from mnlearn.models.io.suffixes import READ

    given_path = None if given is None else evidence_path(given)
    check_outputs([target], source, given_path)
    if form_of_source(source) in READ and _kind(source, reader.limit) != "dataset":
        refuse_given(("seed", "limit", *READING_NAMES), f"for {source}, which is a model")
        _convert_model(source, target, given, plain)
        return
    if target.suffix.lower() != ".npz":
        check_text_form(target)
    refuse_given(["given", "plain"], f"for {source}, which holds data")
    save_data(Treatment(missing, seed).complete(reader.load(source), source), target)


def _convert_model(source: Path, target: Path, given: str | None, plain: bool) -> None:
    """Write a model in another form, compiled if that form holds circuits only."""
    from mnlearn.api.files import save_own
    from mnlearn.data.tables import some_of
    from mnlearn.inference.circuits.compilation import CircuitTooLargeError, compile_for
    from mnlearn.models.io.formats import load_model
    from mnlearn.runtime.progress import say
    from mnlearn.variables.plain import plain_names

    try:
        model = load_model(source)
        model = compile_for(model, target)
    except CircuitTooLargeError as error:
        error.where = source
        error.advice = (
            "mnlearn query, and mnlearn score with --ais or --inference bp, need no circuit"
        )
        raise
    model = model if given is None else _given(model, source, given)
    if plain:
        schema, changed = plain_names(model.schema)
        any_kind: Any = model
        model = replace(any_kind, schema=schema)
        if changed:
            say(f"{target}: has {some_of(changed)}.")
    save_own(model, target, say, of_names=True)


def _given(model: "Model", source: Path, evidence: str) -> "Model":
    """Return what is left of a circuit given one row of evidence."""
    from mnlearn.api.queries import known_of
    from mnlearn.inference.circuits.exact import condition

    if not model.is_exact:
        raise InputError("--given: expected a circuit, or a network to be compiled into an .ac.")
    question = read_question(evidence, model, source, "--given")
    known = known_of(model, question, evidence)
    with at(question.evidence.name_row(0)):
        return condition(model.to_circuit(), model.schema.known_rows(known[None])[0])


def _kind(path: Path, limit: "ExpansionLimit") -> str | None:
    """Return what a native file says it holds; None for other files."""
    import numpy as np

    from mnlearn.runtime.decompression import check_archive

    if path.suffix.lower() != ".npz":
        return None
    try:
        check_archive(path, limit)
        with np.load(path, allow_pickle=False) as archive:
            return str(archive["kind"]) if "kind" in archive else "dataset"
    except InputError:  # the archive expands beyond the limit
        raise
    except Exception:  # whatever is wrong, reading it as a model will say it
        return None


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@click.option(
    "--log-partition",
    "method",
    type=click.Choice([*PARTITION_METHODS, _BOUNDS]),
    help="Also print log Z in nats by this method: exact, the Bethe estimate, a lower bound, "
    "an upper bound, annealed importance sampling, or both bounds.",
)
@memory_option
@seed_option
@json_option
def info(model_path: Path, method: str | None, seed: int, as_json: bool) -> None:
    """Say what a model is, and how a query of all its variables is answered.

    That is the way, whether it is exact, and what tables take: cells of 8 bytes, and operations.
    """
    from mnlearn.data.tables import some_of
    from mnlearn.models.io.formats import describe, load_model
    from mnlearn.variables.variable import is_numbered

    model = load_model(model_path)
    record = describe(model)
    if model_path.is_file():
        record["bytes"] = model_path.stat().st_size
    schema = model.schema
    if schema.is_named:
        record["names"] = list(schema.names) if as_json else some_of(schema.names)
    if not all(is_numbered(variable.states) and variable.arity == 2 for variable in schema):
        listed = [f"{v.name}: {some_of(v.texts)}" for v in schema[:_LISTED]]
        more = "; ..." if len(schema) > _LISTED else ""
        texts = {v.name: v.texts for v in schema}
        record["states"] = texts if as_json else f"{'; '.join(listed)}{more}"
    record |= _cost_record(model)
    if method is None:
        refuse_given(["seed"], "without --log-partition")
    elif method != "ais":
        refuse_given(["seed"], f"with --log-partition {method}, which draws no samples")
    if method is not None:
        record |= _partition_record(model, method, seed)
    print_record(record, as_json)


def _cost_record(model: "Model") -> dict[str, Any]:
    """Return how a query is answered, and what is known of its cost."""
    from mnlearn.inference.plan import MARGINALS, plan

    found = plan(model, MARGINALS)
    costs = {"width": found.width, "cells": found.cells, "operations": found.operations}
    record = {"query": f"{found.way} ({'exact' if found.is_exact else 'estimate'})"}
    return record | {name: int(cost) for name, cost in costs.items() if cost is not None}


def _partition_record(model: "Model", method: str, seed: int) -> dict[str, Any]:
    """Return log Z, with the error of an estimate or whether an approximation converged."""
    from mnlearn.api.queries import partition_of

    if method == _BOUNDS:
        ends = (("lower", "meanfield"), ("upper", UPPER))
        return {
            f"log_partition_{end}": partition_of(model, by, {}, seed, threads=1).log_partition
            for end, by in ends
        }
    found = partition_of(model, method, {}, seed, threads=1)
    return {
        name: value
        for name, value in vars(found).items()
        if value is not None and (name != "monte_carlo_error" or value)
    }


@click.command()
@click.argument("data_path", metavar="DATA", type=FILE)
@click.option("--out", type=FILE, required=True, help="File to write, of text or .npz.")
@click.option(
    "--fill",
    type=click.Choice(["sample", "likely"]),
    default="sample",
    show_default=True,
    help="Draw the cells, which keeps the spread of the data, or take the likelier value.",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How often the network is learned.",
)
@reading_options
@threads_option
@seed_option
def impute(
    *,
    data_path: Path,
    out: Path,
    fill: str,
    iterations: int,
    reader: Reader,
    threads: int,
    seed: int,
) -> None:
    """Fill in the missing cells of DATA.

    A dependency network is learned from the completed data and draws each missing cell given the
    rest of its row; both are repeated. A cell gets one of the states of its column. Columns that
    number the rows are left out; the rows stay in their order.
    """
    from mnlearn.data.incomplete import IncompleteData
    from mnlearn.learning.imputation import Imputation
    from mnlearn.learning.imputation import impute as impute_cells
    from mnlearn.runtime.progress import say

    if out.suffix.lower() != ".npz":
        check_text_form(out)
    check_outputs([out], data_path)
    data = reader.load(data_path).data
    if isinstance(data, IncompleteData):
        filled = f"filled in missing cells of {count_missing(data)}"
        with name_data(data_path):
            data = impute_cells(data, Imputation(iterations, fill), seed=seed, threads=threads)
        say(f"{data_path}: {filled}.")
    save_data(data, out)
