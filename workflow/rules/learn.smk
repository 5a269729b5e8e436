"""
Choose hyperparameters on validation data and learn: one job per dataset and method, and before it
the jobs that share out its work if `parts` of config.yaml says so.

REQUIRED INPUTS:  results/data/{dataset}/train.npz, valid.npz
OUTPUTS:          results/{study}/models/{dataset}/{method}/, with the grid points and the record
                  results/{study}/parts/{dataset}/{method}/ (while it is needed)
                  results/{study}/times/{dataset}/{method}.json
                  results/{study}/structures/{dataset}/{method}.json
"""


rule tune_part:
    """Do a part of the work of learning, and keep it in the checkpoints."""
    input:
        unpack(part_inputs),
    output:
        temp("results/{study}/parts/{dataset}/{method}/{round}-{number}-of-{of}.json"),
    log:
        "results/logs/{study}/tune_part/{dataset}/{method}-{round}-{number}-of-{of}.log",
    benchmark:
        "results/benchmarks/{study}/tune_part/{dataset}/{method}-{round}-{number}-of-{of}.tsv"
    priority: priority_of("models")
    threads: 1
    resources:
        mem_mb=memory_of_part,
        runtime=minutes_of_part,
    params:
        learner=learner_of,
        grid=grid_of,
        cmll=tuning_cmll_of,
        network=network_option,
        parts=part_options,
        checkpoints=CHECKPOINTS,
        recipe=recipe_of("models"),
        seed=config["seed"],
    shell:
        r"""
        mnlearn step tune-part {params.learner:q} --study {wildcards.study:q} \
            --label {wildcards.method:q} --dataset {wildcards.dataset:q} --train {input.train:q} \
            --valid {input.valid:q} --grid {params.grid:q} --cmll {params.cmll:q} \
            {params.network:q} {params.parts:q} --seed {params.seed:q} --threads {threads:q} \
            --recipe {params.recipe:q} --round {wildcards.round:q} \
            --own {wildcards.number:q}/{wildcards.of:q} --checkpoints {params.checkpoints:q} \
            --out {output:q} &>{log:q}
        """


rule tune:
    """Learn at every point of the grid; keep the best model, and the best of each variant."""
    input:
        unpack(tune_inputs),
    output:
        models=directory("results/{study}/models/{dataset}/{method}"),
    log:
        "results/logs/{study}/tune/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/tune/{dataset}/{method}.tsv"
    priority: priority_of("models")
    threads: 1
    resources:
        mem_mb=memory_of("models"),
        runtime=minutes_of("models"),
    params:
        learner=learner_of,
        grid=grid_of,
        cmll=tuning_cmll_of,
        network=network_option,
        parts=part_options,
        checkpoints=CHECKPOINTS,
        recipe=recipe_of("models"),
        seed=config["seed"],
    shell:
        r"""
        mnlearn step tune {params.learner:q} --study {wildcards.study:q} --label {wildcards.method:q} \
            --dataset {wildcards.dataset:q} --train {input.train:q} --valid {input.valid:q} \
            --grid {params.grid:q} --cmll {params.cmll:q} {params.network:q} {params.parts:q} \
            --seed {params.seed:q} --threads {threads:q} --recipe {params.recipe:q} \
            --checkpoints {params.checkpoints:q} --models {output.models:q} &>{log:q}
        """


rule time_cell:
    """Learn the chosen model of a cell alone, from nothing, and time each part."""
    input:
        unpack(time_inputs),
    output:
        "results/{study}/times/{dataset}/{method}.json",
    log:
        "results/logs/{study}/time_cell/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/time_cell/{dataset}/{method}.tsv"
    priority: -1
    # Takes all processors, of which learning uses one, so that nothing else of this run disturbs it.
    # On a cluster their number is not known here.
    threads: workflow.resource_settings.cores or 1
    resources:
        mem_mb=memory_of("times"),
        runtime=minutes_of("times"),
    params:
        network=network_option,
        recipe=recipe_of("times"),
    shell:
        r"""
        mnlearn step time-cell {input.cell:q} --train {input.train:q} {params.network:q} \
            --threads 1 --recipe {params.recipe:q} --out {output:q} &>{log:q}
        """


rule structure:
    """Write the couplings of a network, which a figure draws."""
    input:
        unpack(structure_inputs),
    output:
        "results/{study}/structures/{dataset}/{method}.json",
    log:
        "results/logs/{study}/structure/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/structure/{dataset}/{method}.tsv"
    priority: priority_of("structures")
    resources:
        mem_mb=memory_of("structures"),
        runtime=minutes_of("structures"),
    params:
        recipe=recipe_of("structures"),
    shell:
        r"""
        mnlearn step structure {input.models:q}/chosen.npz --study {wildcards.study:q} \
            --label {wildcards.method:q} --dataset {wildcards.dataset:q} \
            --recipe {params.recipe:q} --out {output:q} &>{log:q}
        """
