"""
What rules read: files of datasets, models and records.

A rule whose record is settled gets no input, so that Snakemake leaves the record as it is.
"""


def data(wildcards, *splits):
    """Return files of a job's dataset by split."""
    return {split: f"results/data/{wildcards.dataset}/{split}.npz" for split in splits}


def models(wildcards, method, study=None):
    """Return the folder of the models of a cell."""
    return f"results/{study or wildcards.study}/models/{wildcards.dataset}/{method}"


def network_of(wildcards):
    """Return the input that is the dependency network a method builds on, if it does."""
    base = study_of(wildcards).network(wildcards.method)
    return {} if base is None else {"network": models(wildcards, base)}


def local_entry(wildcards):
    """Return how a person's own dataset, or the base of a sample, is given; else nothing."""
    return config["local"].get(base_of(wildcards.dataset), {})


def local_files_of(wildcards):
    """Return the files of a person's own dataset."""
    entry = local_entry(wildcards)
    return [entry[split] for split in ("train", "valid", "test") if split in entry]


def data_order_of(wildcards):
    """Return the order of the splits of a dataset."""
    return PLAN.data_order(wildcards.dataset)


def tune_inputs(wildcards):
    """Return what learning a cell reads."""
    record = record_of("models", wildcards)
    return PLAN.unless_settled(
        record,
        parts=PARTS.files(record),
        **data(wildcards, "train", "valid"),
        **network_of(wildcards),
    )


def part_inputs(wildcards):
    """Return what a part of the learning of a cell reads."""
    record = record_of("models", wildcards)
    return PLAN.unless_settled(
        record,
        parts=PARTS.files(record, before=wildcards.round),
        **data(wildcards, "train", "valid"),
        **network_of(wildcards),
    )


def time_inputs(wildcards):
    """Return what timing a cell's chosen model reads."""
    cell = (
        f"results/{wildcards.study}/cells/{wildcards.dataset}/{wildcards.method}.json"
    )
    return PLAN.unless_settled(
        record_of("times", wildcards),
        cell=cell,
        **data(wildcards, "train"),
        **network_of(wildcards),
    )


def structure_inputs(wildcards):
    """Return what the couplings of a model are read from."""
    return PLAN.unless_settled(
        record_of("structures", wildcards), models=models(wildcards, wildcards.method)
    )


def score_inputs(wildcards):
    """Return what scoring a cell reads."""
    return PLAN.unless_settled(
        record_of("cells", wildcards),
        models=models(wildcards, wildcards.method),
        groups=f"results/{wildcards.study}/partitions/{wildcards.dataset}.json",
        **data(wildcards, "test"),
    )


def curve_inputs(wildcards):
    """Return what a query curve is of; the models may be those of another study."""
    curve = record_of("curves", wildcards)
    return PLAN.unless_settled(
        curve,
        models=models(wildcards, wildcards.method, PLAN.owner(curve)),
        queries=f"results/{wildcards.study}/queries/{wildcards.dataset}.npz",
        **data(wildcards, "test"),
    )


def export_inputs(wildcards):
    """Return what the check of other forms of files reads."""
    return PLAN.unless_settled(
        record_of("exports", wildcards),
        models=models(wildcards, wildcards.method),
        **data(wildcards, "test"),
    )


def pair_inputs(wildcards):
    """Return the scores by test example that a pair compares."""
    folder = f"results/{wildcards.study}/per_example/{wildcards.dataset}"
    return PLAN.unless_settled(
        record_of("paired", wildcards, wildcards.first, wildcards.second),
        first=f"{folder}/{wildcards.first}.csv",
        second=f"{folder}/{wildcards.second}.csv",
    )


def likelihoods_inputs(wildcards):
    """Return what log-likelihoods with approximate partition functions are computed from."""
    return PLAN.unless_settled(
        record_of("likelihoods", wildcards),
        models=models(wildcards, wildcards.method),
        **data(wildcards, "test"),
    )


def divergence_inputs(wildcards):
    """Return the circuits whose divergence is estimated."""
    return PLAN.unless_settled(
        record_of("divergences", wildcards, wildcards.first, wildcards.second),
        first=models(wildcards, wildcards.first),
        second=models(wildcards, wildcards.second),
    )


def records_of(wildcards, kind):
    """Return the records of a kind that there are or that are asked for, as files."""
    return [f"results/{record.path}" for record in PLAN.records(wildcards.study, kind)]


def traces_of(wildcards, methods=None):
    """Return the grid points of all cells of a study, or of some methods, as files."""
    return [
        f"results/{wildcards.study}/tuning/{record.dataset}/{record.names[0]}.csv"
        for record in PLAN.records(wildcards.study, "cells")
        if methods is None or record.names[0] in methods
    ]


def gather_inputs(wildcards):
    """Return every record of a study that has numbers for its scores."""
    kinds = [kind for kind in KINDS if kind != "structures"]
    return {
        **{kind: records_of(wildcards, kind) for kind in kinds},
        "traces": traces_of(wildcards),
    }


def page_inputs(wildcards):
    """Return every record of a study, whose code and machine its page tells."""
    return {kind: records_of(wildcards, kind) for kind in KINDS}


def tables_shown(wildcards):
    """Return the tables that the page of a study shows."""
    return products_of(wildcards.study, "tables", ["md"])


def figures_shown(wildcards):
    """Return the figures that the page of a study shows."""
    return products_of(wildcards.study, "figures", ["png"])


def table_traces(wildcards):
    """Return the grid points of the methods of which a table shows some."""
    entries = product_of(wildcards, "tables").get("traces", [])
    return traces_of(wildcards, [entry["method"] for entry in entries])


def appendix_traces(wildcards):
    """Return the grid points of a method on all datasets."""
    return traces_of(wildcards, [wildcards.method])


def structures_drawn(wildcards):
    """Return the record that a figure reads, if it draws a learned structure."""
    entry = product_of(wildcards, "figures")
    if entry["kind"] != "structure":
        return []
    wanted = (entry["dataset"], (entry["method"],))
    return [
        f"results/{record.path}"
        for record in PLAN.records(wildcards.study, "structures")
        if (record.dataset, record.names) == wanted
    ]
