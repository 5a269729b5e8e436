"""
What the records of a study show: scores, tables, figures, claims and pages, by one job a study.

INPUTS:   all records of the study
OUTPUTS:  results/{study}/scores.csv, tables/, figures/, claims.md, claims.csv, README.md, index.html,
          appendix/; results/made/{study}@{digest}.json, which says that they are as they should be
"""

# Keys of config.yaml that the job needs.
CONFIG = json.dumps(
    {key: config[key] for key in ("datasets", "seed", "local", "recorded")}
)


def captions_of(study):
    """Return the captions of figures by name, in one line each."""
    figures = PLAN.studies[study].content["figures"]
    return {figure["name"]: one_line(figure["caption"]) for figure in figures}


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
            # What is there stays until it is written anew.
            scores=update(FILES["scores"][0]),
            tables=update(FILES["tables"]),
            pictures=update([f for f in FILES["figures"] if f.endswith(".pdf")]),
            figures=[
                report(
                    update(file),
                    caption="../report/figure.rst",
                    category=STUDY,
                    subcategory="Figures",
                    labels={"figure": Path(file).stem},
                )
                for file in FILES["figures"]
                if file.endswith(".png")
            ],
            claims=update(FILES["claims"]),
            readme=update(FILES["page"][0]),
            page=report(
                update(FILES["page"][1]),
                caption="../report/page.rst",
                category=STUDY,
                subcategory="Page",
                labels={"page": "tables, figures and claims"},
            ),
            appendix=[
                report(
                    update(file),
                    caption="../report/page.rst",
                    category=STUDY,
                    subcategory="Appendix",
                    labels={"every setting of": Path(file).stem},
                )
                for file in FILES["appendix"]
            ],
        log:
            f"results/logs/{STUDY}/products.log",
        benchmark:
            f"results/benchmarks/{STUDY}/products.tsv"
        localrule: True
        params:
            study=STUDY,
            captions=captions_of(STUDY),
            config=CONFIG,
        shell:
            "mnlearn step products {params.study:q} --config {params.config:q} "
            "--out {output.made:q} &>{log:q}"
