"""
What the records of a study show: scores, tables, figures, claims and pages, by one job a study.

INPUTS:   all records of the study
OUTPUTS:  results/{study}/scores.csv, tables/, figures/, claims.md, claims.csv, README.md, index.html;
          results/made/{study}@{digest}.json, which says that they are as they should be
"""

import json


def read_by(study):
    """Return the files that the products of a study are made from."""
    records = PLAN.all_records(study)
    files = [PLAN.used(record) for record in records]
    if IS_STORED:
        # Elsewhere the grid points of a cell are there or not, and are seen beside its record.
        cells = (record for record in records if record.kind == "cells")
        files += [PLAN.path(cell, "trace") for cell in cells]
    return [ancient(named(file)) for file in files]


def written_for(study):
    """Return the products of a study by name, but figures: one may have nothing to draw."""
    files = {
        kind: [f"results/{study}/{file}" for file in files]
        for kind, files in product_files(PLAN.studies[study]).items()
    }
    figures = files.pop("figures")
    if IS_STORED:
        folder = {"figures": directory(f"results/{study}/figures")}
        return {**files, **(folder if figures else {})}
    # What is there stays until it is written anew.
    return {kind: update(of_kind) for kind, of_kind in files.items()}


for STUDY in RUNNING:

    rule:
        name:
            f"products_{STUDY}"
        input:
            read_by(STUDY),
        output:
            **written_for(STUDY),
            made=MADE[STUDY],
        log:
            f"results/logs/{STUDY}/products.log",
        benchmark:
            f"results/benchmarks/{STUDY}/products.tsv"
        localrule: True
        params:
            study=STUDY,
            config=json.dumps(SETTINGS),
            jobs=JOBS,
        shell:
            "source {params.jobs:q}; mnlearn step products {params.study:q} --config {params.config:q} "
            "--out {output.made:q} &>{log:q}"
