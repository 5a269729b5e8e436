"""
Markov network structure learning: the tables and figures of five papers.

    snakemake -c all                              the studies of config.yaml
    snakemake -c 2 --config 'studies=[demo]'      the demonstration, without network
"""

# Advice of `snakemake --lint` that is not followed, each with the reason:
# - "Specify a conda environment or container for each rule.": every rule calls `mnlearn`, and the
#   plan imports it. So jobs run in the environment that runs Snakemake, which `environment.yml` and
#   `requirements.lock` describe; another one for jobs could hold other code than the plan digests.


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
        expand("results/{study}/claims.{suffix}", study=RUNNING, suffix=["md", "html"]),
        [products_of(study, "tables", ["csv", "md", "tex"]) for study in RUNNING],
        [products_of(study, "figures", ["pdf", "png"]) for study in RUNNING],
        [pages_of(study) for study in RUNNING],
        [appendix_of(study) for study in RUNNING],
        expand(
            "results/{study}/{file}", study=RUNNING, file=["README.md", "index.html"]
        ),
        ["results/README.md"] if KEPT else [],


include: "workflow/rules/data.smk"
include: "workflow/rules/learn.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/report.smk"
