"""
Score every learned model on test data, which no rule in another file reads.

REQUIRED INPUTS:  results/data/{dataset}/test.npz, models, query groups
OUTPUTS:          results/{study}/cells/{dataset}/{method}.json, curves/{dataset}/{method}.json,
                  exports/{dataset}/{method}.json, paired/{dataset}/{first}-{second}.json,
                  divergence/{dataset}/{first}-{second}.json, scores.csv
"""


rule score:
    """Score the chosen model and its variants on the test split."""
    input:
        record="results/{study}/tuning/{dataset}/{method}.json",
        models="results/{study}/models/{dataset}/{method}",
        groups="results/{study}/partitions/{dataset}.json",
        test="results/data/{dataset}/test.npz",
    output:
        cell="results/{study}/cells/{dataset}/{method}.json",
        per_example="results/{study}/per_example/{dataset}/{method}.csv",
    log:
        "results/logs/{study}/score/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/score/{dataset}/{method}.tsv"
    threads: 1
    params:
        inference=inference_of,
        cmll_of=lambda wildcards: STUDIES[wildcards.study].cmll_of(
            wildcards.method, wildcards.dataset
        ),
        code=score_code_of,
    shell:
        r"""
        mnlearn score-cell {input.record:q} --models {input.models:q} --groups {input.groups:q} \
            --test {input.test:q} --inference {params.inference:q} --cmll-of {params.cmll_of} --threads {threads} \
            --checkpoints results/{wildcards.study}/checkpoints \
            --per-example {output.per_example:q} --cell {output.cell:q} &>{log:q}
        """


rule queries:
    """Draw, once, which variables of which test examples are queried."""
    input:
        test="results/data/{dataset}/test.npz",
    output:
        "results/{study}/queries/{dataset}.npz",
    log:
        "results/logs/{study}/queries/{dataset}.log",
    benchmark:
        "results/benchmarks/{study}/queries/{dataset}.tsv"
    params:
        examples=lambda wildcards: queries_of(wildcards.study)["examples"],
        seed=config["seed"],
        code=code_digest("query_curves"),
    shell:
        r"""
        mnlearn queries {input.test:q} --dataset {wildcards.dataset:q} \
            --examples {params.examples} --seed {params.seed} --out {output:q} &>{log:q}
        """


rule query_curve:
    """Answer the queries with a circuit exactly, with other models by sampling."""
    input:
        models=curve_models_of,
        queries="results/{study}/queries/{dataset}.npz",
        test="results/data/{dataset}/test.npz",
    output:
        "results/{study}/curves/{dataset}/{method}.json",
    log:
        "results/logs/{study}/query_curve/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/query_curve/{dataset}/{method}.tsv"
    threads: 1
    params:
        percentages=lambda wildcards: json.dumps(
            queries_of(wildcards.study)["percentages"]
        ),
        inference=lambda wildcards: json.dumps(
            STUDIES[wildcards.study].inference(wildcards.dataset), sort_keys=True
        ),
        sampled=sampled_of,
        seed=config["seed"],
        code=code_digest("query_curves"),
    shell:
        r"""
        mnlearn query-curve {input.models:q}/chosen.npz --study {wildcards.study} \
            --label {wildcards.method} --dataset {wildcards.dataset:q} --test {input.test:q} \
            --queries {input.queries:q} --percentages {params.percentages:q} \
            --inference {params.inference:q} {params.sampled} --seed {params.seed} \
            --threads {threads} --out {output:q} &>{log:q}
        """


rule check_exports:
    """Write a model in the forms of other programs, read them again, compare the scores."""
    input:
        models="results/{study}/models/{dataset}/{method}",
        test="results/data/{dataset}/test.npz",
    output:
        "results/{study}/exports/{dataset}/{method}.json",
    log:
        "results/logs/{study}/check_exports/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/check_exports/{dataset}/{method}.tsv"
    params:
        forms=lambda wildcards: [
            f"--form {form}" for form in forms_of(wildcards.study)[wildcards.method]
        ],
        code=code_digest("exports"),
    shell:
        r"""
        mnlearn check-exports {input.models:q}/chosen.npz --study {wildcards.study} \
            --label {wildcards.method} --dataset {wildcards.dataset:q} --test {input.test:q} \
            {params.forms} --out {output:q} &>{log:q}
        """


rule pair:
    """Compare two methods test example by test example."""
    input:
        first="results/{study}/per_example/{dataset}/{first}.csv",
        second="results/{study}/per_example/{dataset}/{second}.csv",
    output:
        "results/{study}/paired/{dataset}/{first}-{second}.json",
    log:
        "results/logs/{study}/pair/{dataset}/{first}-{second}.log",
    benchmark:
        "results/benchmarks/{study}/pair/{dataset}/{first}-{second}.tsv"
    params:
        code=code_digest("paired_scores"),
    shell:
        r"""
        mnlearn pair --study {wildcards.study} --dataset {wildcards.dataset:q} \
            --first {wildcards.first} {input.first:q} --second {wildcards.second} {input.second:q} \
            --out {output:q} &>{log:q}
        """


rule divergence:
    """Estimate the Kullback-Leibler divergence of a circuit from that of another method."""
    input:
        first="results/{study}/models/{dataset}/{first}",
        second="results/{study}/models/{dataset}/{second}",
    output:
        "results/{study}/divergence/{dataset}/{first}-{second}.json",
    log:
        "results/logs/{study}/divergence/{dataset}/{first}-{second}.log",
    benchmark:
        "results/benchmarks/{study}/divergence/{dataset}/{first}-{second}.tsv"
    threads: 1
    params:
        samples=10000,
        seed=config["seed"],
        code=code_digest("circuit_divergence"),
    shell:
        r"""
        mnlearn divergence --study {wildcards.study} --dataset {wildcards.dataset:q} \
            --first {wildcards.first} {input.first:q}/chosen.npz \
            --second {wildcards.second} {input.second:q}/chosen.npz \
            --samples {params.samples} --seed {params.seed} --threads {threads} \
            --out {output:q} &>{log:q}
        """


rule gather:
    """Put the numbers of all cells into one tidy table."""
    input:
        cells=cells_of,
        paired=paired_of,
        curves=curves_of,
        exports=exports_of,
        divergences=divergences_of,
    output:
        "results/{study}/scores.csv",
    log:
        "results/logs/{study}/gather.log",
    benchmark:
        "results/benchmarks/{study}/gather.tsv"
    params:
        records=lambda wildcards, input: [
            *(f"--paired {path}" for path in input.paired),
            *(f"--curve {path}" for path in input.curves),
            *(f"--export {path}" for path in input.exports),
            *(f"--divergence {path}" for path in input.divergences),
        ],
        code=code_digest("gather"),
    shell:
        r"""
        mnlearn gather {input.cells:q} {params.records} --out {output:q} &>{log:q}
        """
