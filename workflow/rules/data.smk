"""
Bring every dataset into one form: three splits, equal rows merged.

OUTPUTS:  results/data/{dataset}/train.npz, valid.npz, test.npz
          results/{study}/partitions/{dataset}.json, the query groups
"""


# Nodes of a cluster may have no network.
localrules:
    prepare,


rule prepare:
    """Fetch and verify, draw or split a dataset."""
    input:
        local_files_of,
        order=data_order_of,
    output:
        train="results/data/{dataset}/train.npz",
        valid="results/data/{dataset}/valid.npz",
        test="results/data/{dataset}/test.npz",
    log:
        "results/logs/prepare/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare/{dataset}.tsv"
    priority: dataset_priority
    params:
        local=local_option,
        mirror=mirror_option,
        seed=config["seed"],
    shell:
        r"""
        mnlearn step prepare {wildcards.dataset:q} --local {params.local:q} \
            {params.mirror:q} --seed {params.seed:q} --folder results/data &>{log:q}
        """


rule partition:
    """Draw the query groups of the conditional marginal log-likelihood, once, as a file."""
    input:
        train="results/data/{dataset}/train.npz",
        order=order_of(
            "{study}/partitions/{dataset}",
            partitions_of,
            "mnlearn.inference.query_groups.partitions",
            suffixes=["json"],
        ),
    output:
        "results/{study}/partitions/{dataset}.json",
    log:
        "results/logs/{study}/partition/{dataset}.log",
    benchmark:
        "results/benchmarks/{study}/partition/{dataset}.tsv"
    priority: dataset_priority
    params:
        asked=partitions_of,
    shell:
        r"""
        mnlearn step partition {input.train:q} --dataset {wildcards.dataset:q} \
            --groups {params.asked[groups]:q} --number {params.asked[number]:q} \
            --seed {params.asked[seed]:q} --out {output:q} &>{log:q}
        """
