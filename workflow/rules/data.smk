"""
Bring every dataset into one form: three splits, equal rows merged.

OUTPUTS:  results/data/{dataset}/train.npz, valid.npz, test.npz
"""


def local_entry(wildcards):
    """Return how a person's own dataset is given; empty for all others."""
    return config["local"].get(wildcards.dataset, {})


def local_files_of(wildcards):
    """Return the files of a person's own dataset."""
    entry = local_entry(wildcards)
    return [entry[split] for split in ("train", "valid", "test") if split in entry]


def partitions_asked(wildcards):
    """Return what the partitions of a dataset depend on: groups, number, seed, data."""
    study = study_of(wildcards)
    return {
        "groups": study.content["cmll"]["groups"],
        "number": study.n_partitions(wildcards.dataset),
        "seed": config["seed"],
    }


rule prepare:
    """Fetch and verify, draw or split a dataset."""
    input:
        local_files_of,
        order=lambda wildcards: PLAN.data_order(wildcards.dataset),
    output:
        train="results/data/{dataset}/train.npz",
        valid="results/data/{dataset}/valid.npz",
        test="results/data/{dataset}/test.npz",
    log:
        "results/logs/prepare/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare/{dataset}.tsv"
    params:
        local=lambda wildcards: json.dumps(local_entry(wildcards), sort_keys=True),
        seed=config["seed"],
    shell:
        r"""
        mnlearn prepare {wildcards.dataset:q} --local {params.local:q} \
            --seed {params.seed} --folder results/data &>{log:q}
        """


rule partition:
    """Draw the query groups of the conditional marginal log-likelihood, once, as a file."""
    input:
        train="results/data/{dataset}/train.npz",
        order=order_of(
            "{study}/partitions/{dataset}",
            partitions_asked,
            "inference.query_groups.partitions",
        ),
    output:
        "results/{study}/partitions/{dataset}.json",
    log:
        "results/logs/{study}/partition/{dataset}.log",
    benchmark:
        "results/benchmarks/{study}/partition/{dataset}.tsv"
    params:
        asked=partitions_asked,
    shell:
        r"""
        mnlearn partition {input.train:q} --dataset {wildcards.dataset:q} \
            --groups {params.asked[groups]} --number {params.asked[number]} \
            --seed {params.asked[seed]} --out {output:q} &>{log:q}
        """
