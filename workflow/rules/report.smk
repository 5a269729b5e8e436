"""
What the scores show: tables and figures of the paper, its claims, all in the report.

REQUIRED INPUTS:  results/{study}/scores.csv
OUTPUTS:          results/{study}/tables/, figures/, claims.md
"""


rule table:
    """Write one table of a study."""
    input:
        scores="results/{study}/scores.csv",
        published="workflow/published.tsv",
    output:
        csv="results/{study}/tables/{name}.csv",
        markdown="results/{study}/tables/{name}.md",
        latex="results/{study}/tables/{name}.tex",
    log:
        "results/logs/{study}/table/{name}.log",
    benchmark:
        "results/benchmarks/{study}/table/{name}.tsv"
    params:
        entry=lambda wildcards: product_entry(wildcards, "tables"),
        code=code_digest("tables", "pipeline"),
    shell:
        r"""
        mnlearn write {wildcards.study} tables --only {wildcards.name} &>{log:q}
        """


rule figure:
    """Draw one figure of a study."""
    input:
        scores="results/{study}/scores.csv",
        published="workflow/published.tsv",
        models=models_drawn,
    output:
        pdf="results/{study}/figures/{name}.pdf",
        png=report(
            "results/{study}/figures/{name}.png",
            caption="../report/figure.rst",
            category="{study}",
            subcategory="Figures",
            labels={"figure": "{name}"},
        ),
    log:
        "results/logs/{study}/figure/{name}.log",
    benchmark:
        "results/benchmarks/{study}/figure/{name}.tsv"
    params:
        entry=lambda wildcards: product_entry(wildcards, "figures"),
        caption=lambda wildcards: caption_of(wildcards, "figures"),
        code=code_digest("figures", "pipeline"),
    shell:
        r"""
        mnlearn write {wildcards.study} figures --only {wildcards.name} &>{log:q}
        """


rule page:
    """Show one table as a page that opens in a browser."""
    input:
        "results/{study}/tables/{name}.md",
    output:
        report(
            "results/{study}/pages/{name}.html",
            caption="../report/table.rst",
            category="{study}",
            subcategory="Tables",
            labels={"table": "{name}"},
        ),
    log:
        "results/logs/{study}/page/{name}.log",
    benchmark:
        "results/benchmarks/{study}/page/{name}.tsv"
    params:
        caption=lambda wildcards: caption_of(wildcards, "tables"),
        code=code_digest("pages"),
    shell:
        r"""
        mnlearn page {input:q} --out {output:q} &>{log:q}
        """


rule claims:
    """Evaluate every claim of the paper."""
    input:
        scores="results/{study}/scores.csv",
        published="workflow/published.tsv",
    output:
        markdown="results/{study}/claims.md",
        csv="results/{study}/claims.csv",
    log:
        "results/logs/{study}/claims.log",
    benchmark:
        "results/benchmarks/{study}/claims.tsv"
    params:
        entries=lambda wildcards: json.dumps(
            STUDIES[wildcards.study].content["claims"], sort_keys=True
        ),
        code=code_digest("claims", "pipeline"),
    shell:
        r"""
        mnlearn write {wildcards.study} claims &>{log:q}
        """


rule claims_page:
    """Show the claims as a page that opens in a browser."""
    input:
        "results/{study}/claims.md",
    output:
        report(
            "results/{study}/claims.html",
            caption="../report/claims.rst",
            category="{study}",
            subcategory="Claims",
            labels={"claims": "all"},
        ),
    log:
        "results/logs/{study}/claims_page.log",
    benchmark:
        "results/benchmarks/{study}/claims_page.tsv"
    params:
        code=code_digest("pages"),
    shell:
        r"""
        mnlearn page {input:q} --out {output:q} &>{log:q}
        """


rule appendix:
    """Show every point of a method's grid on every dataset as a page."""
    input:
        scores="results/{study}/scores.csv",
        traces=lambda wildcards: [
            f"results/{wildcards.study}/tuning/{dataset}/{wildcards.method}.csv"
            for dataset in datasets_of(wildcards.study)
        ],
    output:
        report(
            "results/{study}/appendix/{method}.html",
            caption="../report/table.rst",
            category="{study}",
            subcategory="Appendix",
            labels={"every setting of": "{method}"},
        ),
    log:
        "results/logs/{study}/appendix/{method}.log",
    benchmark:
        "results/benchmarks/{study}/appendix/{method}.tsv"
    params:
        caption="Every point of the grid, with its validation score and seconds.",
        code=code_digest("appendix"),
    shell:
        r"""
        mnlearn appendix {wildcards.study} {wildcards.method} &>{log:q}
        """
