"""
What the records of a study show: scores, tables, figures, claims and pages, by one job a study.

INPUTS:   all records of the study
OUTPUTS:  results/{study}/scores.csv, tables/, figures/, claims.md, claims.csv, README.md, index.html;
          results/made/{study}@{digest}.json, which says that they are as they should be
"""

# Keys of config.yaml that the job needs.
CONFIG = json.dumps(
    {key: config[key] for key in ("datasets", "seed", "local", "recorded")}
)


for STUDY in RUNNING:
    FILES = {
        kind: [f"results/{STUDY}/{file}" for file in files]
        for kind, files in product_files(PLAN.studies[STUDY]).items()
    }

    rule:
        name:
            f"products_{STUDY}"
        input:
            [ancient(str(PLAN.used(record))) for record in PLAN.all_records(STUDY)],
        output:
            made=MADE[STUDY],
            # What is there stays until it is written anew. A figure may have nothing to draw.
            scores=update(FILES["scores"][0]),
            tables=update(FILES["tables"]),
            claims=update(FILES["claims"]),
            page=update(FILES["page"]),
        log:
            f"results/logs/{STUDY}/products.log",
        benchmark:
            f"results/benchmarks/{STUDY}/products.tsv"
        localrule: True
        params:
            study=STUDY,
            config=CONFIG,
        shell:
            "mnlearn step products {params.study:q} --config {params.config:q} "
            "--out {output.made:q} &>{log:q}"
