"""
Markov network structure learning: the tables and figures of five papers.

    snakemake -c all                              the studies of config.yaml
    snakemake -c 2 --config 'studies=[demo]'      the demonstration, without network
"""


configfile: "config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/inputs.smk"
include: "workflow/rules/params.smk"
include: "workflow/rules/orders.smk"
include: "workflow/rules/resources.smk"


rule all:
    default_target: True
    input:
        expand("results/{study}/claims.{suffix}", study=STUDIES, suffix=["md", "html"]),
        [products_of(study, "tables", ["csv", "md", "tex"]) for study in STUDIES],
        [products_of(study, "figures", ["pdf", "png"]) for study in STUDIES],
        [pages_of(study) for study in STUDIES],
        [appendix_of(study) for study in STUDIES],


include: "workflow/rules/data.smk"
include: "workflow/rules/learn.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/report.smk"
