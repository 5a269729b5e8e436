"""
Score every learned model on test data, which no rule in another file reads.

REQUIRED INPUTS:  results/data/{dataset}/test.npz, models, query groups
OUTPUTS:          results/{study}/cells/{dataset}/{method}.json, tuning/{dataset}/{method}.csv,
                  per_example/{dataset}/{method}.csv, queries/{dataset}.npz,
                  curves/{dataset}/{method}.json, exports/{dataset}/{method}.json,
                  paired/{dataset}/{first}-{second}.json,
                  divergences/{dataset}/{first}-{second}.json,
                  likelihoods/{dataset}/{method}.json, scores.csv
"""


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
    priority: priority_of("cells")
    threads: 1
    resources:
        mem_mb=memory_of("cells"),
        runtime=minutes_of("cells"),
    params:
        inference=inference_of,
        further=further_inference_of,
        cmll_of=cmll_of,
        checkpoints=CHECKPOINTS,
        recipe=recipe_of("cells"),
    shell:
        r"""
        mnlearn step score-cell {input.models:q} --groups {input.groups:q} --test {input.test:q} \
            --inference {params.inference:q} --cmll-of {params.cmll_of:q} --threads {threads:q} \
            --further {params.further:q} \
            --recipe {params.recipe:q} --checkpoints {params.checkpoints:q} \
            --per-example {output.per_example:q} --trace {output.trace:q} \
            --cell {output.cell:q} &>{log:q}
        """


rule queries:
    """Draw, once, which variables of which test examples are queried."""
    input:
        test="results/data/{dataset}/test.npz",
        order=order_of(
            "{study}/queries/{dataset}",
            queries_content,
            "mnlearn_studies.records.query_curve.draw_queries",
        ),
    output:
        "results/{study}/queries/{dataset}.npz",
    log:
        "results/logs/{study}/queries/{dataset}.log",
    benchmark:
        "results/benchmarks/{study}/queries/{dataset}.tsv"
    priority: dataset_priority
    params:
        examples=examples_of,
        seed=config["seed"],
    shell:
        r"""
        mnlearn step queries {input.test:q} --dataset {wildcards.dataset:q} \
            --examples {params.examples:q} --seed {params.seed:q} --out {output:q} &>{log:q}
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
    priority: priority_of("curves")
    threads: 1
    resources:
        mem_mb=memory_of("curves"),
        runtime=minutes_of("curves"),
    params:
        percentages=percentages_of,
        inference=inference_of,
        sampled=sampled_options,
        recipe=recipe_of("curves"),
        seed=config["seed"],
    shell:
        r"""
        mnlearn step query-curve {input.models:q}/chosen.npz --study {wildcards.study:q} \
            --label {wildcards.method:q} --dataset {wildcards.dataset:q} --test {input.test:q} \
            --queries {input.queries:q} --percentages {params.percentages:q} \
            --inference {params.inference:q} {params.sampled:q} --seed {params.seed:q} \
            --recipe {params.recipe:q} --threads {threads:q} --out {output:q} &>{log:q}
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
    priority: priority_of("exports")
    resources:
        mem_mb=memory_of("exports"),
        runtime=minutes_of("exports"),
    params:
        forms=forms_options,
        recipe=recipe_of("exports"),
    shell:
        r"""
        mnlearn step check-exports {input.models:q}/chosen.npz --study {wildcards.study:q} \
            --label {wildcards.method:q} --dataset {wildcards.dataset:q} --test {input.test:q} \
            {params.forms:q} --recipe {params.recipe:q} --out {output:q} &>{log:q}
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
        mnlearn step pair --study {wildcards.study:q} --dataset {wildcards.dataset:q} \
            --first {wildcards.first:q} {input.first:q} --second {wildcards.second:q} {input.second:q} \
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
    priority: priority_of("divergences", "first", "second")
    threads: 1
    resources:
        mem_mb=memory_of("divergences", "first", "second"),
        runtime=minutes_of("divergences", "first", "second"),
    params:
        seed=config["seed"],
        recipe=recipe_of("divergences", "first", "second"),
    shell:
        r"""
        mnlearn step divergence --study {wildcards.study:q} --dataset {wildcards.dataset:q} \
            --first {wildcards.first:q} {input.first:q}/chosen.npz \
            --second {wildcards.second:q} {input.second:q}/chosen.npz \
            --seed {params.seed:q} --threads {threads:q} --recipe {params.recipe:q} \
            --out {output:q} &>{log:q}
        """


rule likelihoods:
    """Score networks with approximate partition functions; time the inference in exact models."""
    input:
        unpack(likelihoods_inputs),
    output:
        "results/{study}/likelihoods/{dataset}/{method}.json",
    log:
        "results/logs/{study}/likelihoods/{dataset}/{method}.log",
    benchmark:
        "results/benchmarks/{study}/likelihoods/{dataset}/{method}.tsv"
    priority: priority_of("likelihoods")
    threads: 1
    resources:
        mem_mb=memory_of("likelihoods"),
        runtime=minutes_of("likelihoods"),
    params:
        settings=likelihoods_of,
        recipe=recipe_of("likelihoods"),
        seed=config["seed"],
    shell:
        r"""
        mnlearn step likelihoods {input.models:q} --study {wildcards.study:q} \
            --label {wildcards.method:q} --dataset {wildcards.dataset:q} --test {input.test:q} \
            --settings {params.settings:q} --seed {params.seed:q} --threads {threads:q} \
            --recipe {params.recipe:q} --out {output:q} &>{log:q}
        """


rule gather:
    """Put the numbers of all records of a study into one tidy table."""
    input:
        unpack(gather_inputs),
        order=order_of(
            "{study}/scores", gather_content, "mnlearn_studies.records.gather.gather", suffixes=["csv"]
        ),
    output:
        "results/{study}/scores.csv",
    log:
        "results/logs/{study}/gather.log",
    benchmark:
        "results/benchmarks/{study}/gather.tsv"
    params:
        options=gather_options,
    shell:
        r"""
        mnlearn step gather {input.cells:q} {params.options:q} --out {output:q} &>{log:q}
        """
