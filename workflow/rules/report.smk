"""
What the scores show: tables and figures of the paper, its claims, all in the report.

REQUIRED INPUTS:  results/{study}/scores.csv
OUTPUTS:          results/{study}/tables/, figures/, claims.md
"""


def structures_drawn(wildcards):
    """Return the record that a figure reads, if it draws a learned structure."""
    entry = product_of(wildcards, "figures")
    if entry["kind"] != "structure":
        return []
    wanted = (entry["dataset"], (entry["method"],))
    return [
        f"results/{record.path}"
        for record in PLAN.records(wildcards.study, "structures")
        if (record.dataset, record.names) == wanted
    ]


def appendix_traces(wildcards):
    """Return the grid points of a method on all datasets."""
    return [
        f"results/{wildcards.study}/tuning/{record.dataset}/{wildcards.method}.csv"
        for record in PLAN.records(wildcards.study, "cells")
        if record.names == (wildcards.method,)
    ]


rule table:
    """Write one table of a study."""
    input:
        scores="results/{study}/scores.csv",
        published="workflow/published.tsv",
        order=order_of(
            "{study}/tables/{name}",
            lambda wildcards: {
                "entry": product_of(wildcards, "tables"),
                "stale": stale_of(wildcards.study),
            },
            "cli.study_products.write_tables",
        ),
    output:
        csv="results/{study}/tables/{name}.csv",
        markdown="results/{study}/tables/{name}.md",
        latex="results/{study}/tables/{name}.tex",
    log:
        "results/logs/{study}/table/{name}.log",
    benchmark:
        "results/benchmarks/{study}/table/{name}.tsv"
    shell:
        r"""
        mnlearn write {wildcards.study} tables --only {wildcards.name} &>{log:q}
        """


rule figure:
    """Draw one figure of a study."""
    input:
        scores="results/{study}/scores.csv",
        published="workflow/published.tsv",
        structures=structures_drawn,
        order=order_of(
            "{study}/figures/{name}",
            lambda wildcards: product_of(wildcards, "figures"),
            "cli.study_products.write_figures",
        ),
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
        caption=lambda wildcards: product_of(wildcards, "figures")["caption"],
    shell:
        r"""
        mnlearn write {wildcards.study} figures --only {wildcards.name} &>{log:q}
        """


rule page:
    """Show one table as a page that opens in a browser."""
    input:
        table="results/{study}/tables/{name}.md",
        order=order_of("{study}/pages/{name}", lambda _: [], "report.pages.write_page"),
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
        caption=lambda wildcards: product_of(wildcards, "tables")["caption"],
    shell:
        r"""
        mnlearn page {input.table:q} --out {output:q} &>{log:q}
        """


rule claims:
    """Evaluate every claim of the paper."""
    input:
        scores="results/{study}/scores.csv",
        published="workflow/published.tsv",
        order=order_of(
            "{study}/claims",
            lambda wildcards: study_of(wildcards).content,
            "cli.study_products.write_claims",
        ),
    output:
        markdown="results/{study}/claims.md",
        csv="results/{study}/claims.csv",
    log:
        "results/logs/{study}/claims.log",
    benchmark:
        "results/benchmarks/{study}/claims.tsv"
    shell:
        r"""
        mnlearn write {wildcards.study} claims &>{log:q}
        """


rule claims_page:
    """Show the claims as a page that opens in a browser."""
    input:
        claims="results/{study}/claims.md",
        order=order_of("{study}/claims_page", lambda _: [], "report.pages.write_page"),
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
    shell:
        r"""
        mnlearn page {input.claims:q} --out {output:q} &>{log:q}
        """


rule appendix:
    """Show every point of a method's grid on every dataset as a page."""
    input:
        scores="results/{study}/scores.csv",
        traces=appendix_traces,
        order=order_of(
            "{study}/appendix/{method}",
            lambda wildcards: study_of(wildcards).content["methods"][wildcards.method],
            "report.appendix.write_appendix",
        ),
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
    shell:
        r"""
        mnlearn appendix {wildcards.study} {wildcards.method} &>{log:q}
        """
