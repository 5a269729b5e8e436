"""
Score every learned model on test data, which no rule in another file reads.

REQUIRED INPUTS:  results/data/{dataset}/test.npz, models, query groups
OUTPUTS:          results/{study}/cells/{dataset}/{method}.json, tuning/{dataset}/{method}.csv,
                  curves/{dataset}/{method}.json, exports/{dataset}/{method}.json,
                  paired/{dataset}/{first}-{second}.json,
                  divergences/{dataset}/{first}-{second}.json, scores.csv
"""


def score_inputs(wildcards):
    """Return what scoring a cell reads."""
    return PLAN.unless_settled(
        record_of("cells", wildcards),
        models=models(wildcards, wildcards.method),
        groups=f"results/{wildcards.study}/partitions/{wildcards.dataset}.json",
        **data(wildcards, "test"),
    )


def curve_inputs(wildcards):
    """Return what a query curve is of; the models may be those of another study."""
    curve = record_of("curves", wildcards)
    return PLAN.unless_settled(
        curve,
        models=models(wildcards, wildcards.method, PLAN.owner(curve)),
        queries=f"results/{wildcards.study}/queries/{wildcards.dataset}.npz",
        **data(wildcards, "test"),
    )


def export_inputs(wildcards):
    """Return what the check of other forms of files reads."""
    return PLAN.unless_settled(
        record_of("exports", wildcards),
        models=models(wildcards, wildcards.method),
        **data(wildcards, "test"),
    )


def pair_inputs(wildcards):
    """Return the scores by test example that a pair compares."""
    folder = f"results/{wildcards.study}/per_example/{wildcards.dataset}"
    return PLAN.unless_settled(
        record_of("paired", wildcards, wildcards.first, wildcards.second),
        first=f"{folder}/{wildcards.first}.csv",
        second=f"{folder}/{wildcards.second}.csv",
    )


def divergence_inputs(wildcards):
    """Return the circuits whose divergence is estimated."""
    return PLAN.unless_settled(
        record_of("divergences", wildcards, wildcards.first, wildcards.second),
        first=models(wildcards, wildcards.first),
        second=models(wildcards, wildcards.second),
    )


def sampled_of(wildcards):
    """Return the options of how queries are answered by models other than circuits."""
    sampled = queries_of(wildcards.study).get("sampled")
    if not sampled:
        return ""
    beliefs = " --beliefs" if sampled.get("beliefs") else ""
    return f"--sampled {sampled['examples']}{beliefs}"


def forms_of(wildcards):
    """Return the options for the forms of files in which a model is written and read again."""
    forms = study_of(wildcards).content["exports"][wildcards.method]
    return [f"--form {form}" for form in forms]


def traces_of(wildcards):
    """Return the grid points of all cells of a study."""
    return [
        f"results/{wildcards.study}/tuning/{record.dataset}/{record.names[0]}.csv"
        for record in PLAN.records(wildcards.study, "cells")
    ]


def gathered(wildcards, input):
    """Return the options that name what is gathered beside the cells."""
    return [
        *(f"--paired {path}" for path in input.paired),
        *(f"--curve {path}" for path in input.curves),
        *(f"--export {path}" for path in input.exports),
        *(f"--time {path}" for path in input.times),
        *(f"--divergence {path}" for path in input.divergences),
        *(f"--trace {path}" for path in input.traces),
        *(
            f"--timed {method}"
            for method in study_of(wildcards).content.get("timed", [])
        ),
    ]


rule score:
    """Score the chosen model and its variants on the test split."""
    input:
        unpack(score_inputs),
    output:
        cell="results/{study}/cells/{dataset}/{method}.json",
        trace="results/{study}/tuning/{dataset}/{method}.csv",
        per_example="results/{study}/per_example/{dataset}/{method}.csv",
    log:
        "results/logs/{study}/score/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/score/{dataset}/{method}.tsv"
    threads: 1
    params:
        inference=inference_of,
        cmll_of=lambda wildcards: study_of(wildcards).cmll_of(
            wildcards.method, wildcards.dataset
        ),
        recipe=recipe_of("cells"),
    shell:
        r"""
        mnlearn score-cell {input.models:q} --groups {input.groups:q} --test {input.test:q} \
            --inference {params.inference:q} --cmll-of {params.cmll_of} --threads {threads} \
            --recipe {params.recipe:q} --checkpoints results/{wildcards.study}/checkpoints \
            --per-example {output.per_example:q} --trace {output.trace:q} \
            --cell {output.cell:q} &>{log:q}
        """


rule queries:
    """Draw, once, which variables of which test examples are queried."""
    input:
        test="results/data/{dataset}/test.npz",
        order=order_of(
            "{study}/queries/{dataset}",
            lambda wildcards: [
                queries_of(wildcards.study)["examples"],
                config["seed"],
            ],
            "study.cells.query_curve.draw_queries",
        ),
    output:
        "results/{study}/queries/{dataset}.npz",
    log:
        "results/logs/{study}/queries/{dataset}.log",
    benchmark:
        "results/benchmarks/{study}/queries/{dataset}.tsv"
    params:
        examples=lambda wildcards: queries_of(wildcards.study)["examples"],
        seed=config["seed"],
    shell:
        r"""
        mnlearn queries {input.test:q} --dataset {wildcards.dataset:q} \
            --examples {params.examples} --seed {params.seed} --out {output:q} &>{log:q}
        """


rule query_curve:
    """Answer the queries with a circuit exactly, with other models by sampling."""
    input:
        unpack(curve_inputs),
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
        inference=inference_of,
        sampled=sampled_of,
        recipe=recipe_of("curves"),
        seed=config["seed"],
    shell:
        r"""
        mnlearn query-curve {input.models:q}/chosen.npz --study {wildcards.study} \
            --label {wildcards.method} --dataset {wildcards.dataset:q} --test {input.test:q} \
            --queries {input.queries:q} --percentages {params.percentages:q} \
            --inference {params.inference:q} {params.sampled} --seed {params.seed} \
            --recipe {params.recipe:q} --threads {threads} --out {output:q} &>{log:q}
        """


rule check_exports:
    """Write a model in the forms of other programs, read them again, compare the scores."""
    input:
        unpack(export_inputs),
    output:
        "results/{study}/exports/{dataset}/{method}.json",
    log:
        "results/logs/{study}/check_exports/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/check_exports/{dataset}/{method}.tsv"
    params:
        forms=forms_of,
        recipe=recipe_of("exports"),
    shell:
        r"""
        mnlearn check-exports {input.models:q}/chosen.npz --study {wildcards.study} \
            --label {wildcards.method} --dataset {wildcards.dataset:q} --test {input.test:q} \
            {params.forms} --recipe {params.recipe:q} --out {output:q} &>{log:q}
        """


rule pair:
    """Compare two methods test example by test example."""
    input:
        unpack(pair_inputs),
    output:
        "results/{study}/paired/{dataset}/{first}-{second}.json",
    log:
        "results/logs/{study}/pair/{dataset}/{first}-{second}.log",
    benchmark:
        "results/benchmarks/{study}/pair/{dataset}/{first}-{second}.tsv"
    params:
        recipe=recipe_of("paired", "first", "second"),
    shell:
        r"""
        mnlearn pair --study {wildcards.study} --dataset {wildcards.dataset:q} \
            --first {wildcards.first} {input.first:q} --second {wildcards.second} {input.second:q} \
            --recipe {params.recipe:q} --out {output:q} &>{log:q}
        """


rule divergence:
    """Estimate the Kullback-Leibler divergence of a circuit from that of another method."""
    input:
        unpack(divergence_inputs),
    output:
        "results/{study}/divergences/{dataset}/{first}-{second}.json",
    log:
        "results/logs/{study}/divergence/{dataset}/{first}-{second}.log",
    benchmark:
        "results/benchmarks/{study}/divergence/{dataset}/{first}-{second}.tsv"
    threads: 1
    params:
        seed=config["seed"],
        recipe=recipe_of("divergences", "first", "second"),
    shell:
        r"""
        mnlearn divergence --study {wildcards.study} --dataset {wildcards.dataset:q} \
            --first {wildcards.first} {input.first:q}/chosen.npz \
            --second {wildcards.second} {input.second:q}/chosen.npz \
            --seed {params.seed} --threads {threads} --recipe {params.recipe:q} \
            --out {output:q} &>{log:q}
        """


rule gather:
    """Put the numbers of all records of a study into one tidy table."""
    input:
        cells=lambda wildcards: files(wildcards.study, "cells"),
        paired=lambda wildcards: files(wildcards.study, "paired"),
        curves=lambda wildcards: files(wildcards.study, "curves"),
        exports=lambda wildcards: files(wildcards.study, "exports"),
        times=lambda wildcards: files(wildcards.study, "times"),
        divergences=lambda wildcards: files(wildcards.study, "divergences"),
        traces=traces_of,
        order=order_of(
            "{study}/scores",
            lambda wildcards: [files(wildcards.study, kind) for kind in KINDS],
            "study.gather.gather",
        ),
    output:
        "results/{study}/scores.csv",
    log:
        "results/logs/{study}/gather.log",
    benchmark:
        "results/benchmarks/{study}/gather.tsv"
    params:
        options=gathered,
    shell:
        r"""
        mnlearn gather {input.cells:q} {params.options} --out {output:q} &>{log:q}
        """
