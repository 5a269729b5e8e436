"""
Bring every dataset into one form: three splits, equal rows merged.

OUTPUTS:  results/data/{dataset}/train.npz, valid.npz, test.npz
"""


rule prepare:
    """Fetch and verify, draw or split a dataset."""
    input:
        local_files_of,
    output:
        train="results/data/{dataset}/train.npz",
        valid="results/data/{dataset}/valid.npz",
        test="results/data/{dataset}/test.npz",
    log:
        "results/logs/prepare/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare/{dataset}.tsv"
    params:
        local=local_of,
        seed=config["seed"],
        code=code_digest("data.sources"),
    shell:
        r"""
        mnlearn prepare {wildcards.dataset:q} --local {params.local:q} \
            --seed {params.seed} --folder results/data &>{log:q}
        """


rule partition:
    """Draw the query groups of the conditional marginal log-likelihood, once, as a file."""
    input:
        train="results/data/{dataset}/train.npz",
    output:
        "results/{study}/partitions/{dataset}.json",
    log:
        "results/logs/{study}/partition/{dataset}.log",
    benchmark:
        "results/benchmarks/{study}/partition/{dataset}.tsv"
    params:
        groups=lambda wildcards: STUDIES[wildcards.study].content["cmll"]["groups"],
        number=lambda wildcards: STUDIES[wildcards.study].n_partitions(
            wildcards.dataset
        ),
        seed=config["seed"],
        code=code_digest("partitions"),
    shell:
        r"""
        mnlearn partition {input.train:q} --dataset {wildcards.dataset:q} \
            --groups {params.groups} --number {params.number} --seed {params.seed} \
            --out {output:q} &>{log:q}
        """
