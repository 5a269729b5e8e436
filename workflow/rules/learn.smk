"""
Choose hyperparameters on validation data and learn: one job per dataset and method.

REQUIRED INPUTS:  results/data/{dataset}/train.npz, valid.npz
OUTPUTS:          results/{study}/models/{dataset}/{method}/, tuning/{dataset}/{method}.{csv,json}
"""


rule tune:
    """Learn at every point of the grid; keep the best model, and the best of each variant."""
    input:
        train="results/data/{dataset}/train.npz",
        valid="results/data/{dataset}/valid.npz",
        network=network_of,
    output:
        models=directory("results/{study}/models/{dataset}/{method}"),
        trace="results/{study}/tuning/{dataset}/{method}.csv",
        record="results/{study}/tuning/{dataset}/{method}.json",
    log:
        "results/logs/{study}/tune/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/tune/{dataset}/{method}.tsv"
    threads: 1
    params:
        learner=learner_of,
        grid=grid_of,
        cmll=tuning_cmll_of,
        network=lambda wildcards, input: (
            f"--network {input.network}/chosen.npz" if input.network else ""
        ),
        seed=config["seed"],
        code=learn_code_of,
    shell:
        r"""
        mnlearn tune {params.learner} --study {wildcards.study} --label {wildcards.method} \
            --dataset {wildcards.dataset:q} --train {input.train:q} --valid {input.valid:q} \
            --grid {params.grid:q} --cmll {params.cmll:q} {params.network} --seed {params.seed} --threads {threads} \
            --checkpoints results/{wildcards.study}/checkpoints \
            --models {output.models:q} --trace {output.trace:q} \
            --record {output.record:q} &>{log:q}
        """
