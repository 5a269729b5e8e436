"""
Markov network structure learning: the tables and figures of five papers.

    snakemake -c all                              the studies of config.yaml
    snakemake -c 2 --config 'studies=[demo]'      the demonstration, without network

A record is a file under `results/` whose name has the digest of all that it depends on, its recipe:
`results/dtsl/cells/nltcs/l1@3fa9c2d1.json`. So a record that exists is current, and Snakemake runs
the jobs of those that do not. All inputs are `ancient`: no time of a file decides anything.
"""

# Advice of `snakemake --lint` that is not followed, each with the reason:
# - "Specify a conda environment or container for each rule.": every rule calls `mnlearn`, and the
#   plan imports it. So jobs run in the environment that runs Snakemake, which `environment.yml` and
#   `requirements.lock` describe; another one for jobs could hold other code than the plan digests.


configfile: "config.yaml"


include: "workflow/rules/common.smk"


rule all:
    default_target: True
    input:
        [MADE[study] for study in RUNNING],


include: "workflow/rules/records.smk"
include: "workflow/rules/products.smk"
