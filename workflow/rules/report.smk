"""
What the scores show: tables and figures of the paper, its claims, all in the report.

REQUIRED INPUTS:  results/{study}/scores.csv, which rule gather makes of all records; and files that
                  products read themselves: grid points, structures
OUTPUTS:          results/{study}/tables/, figures/, claims.csv, .md and .html, pages/, appendix/,
                  README.md and index.html; results/README.md
"""


# Each takes seconds: on a cluster they run where Snakemake runs.
localrules:
    gather,
    table,
    figure,
    page,
    claims,
    claims_page,
    appendix,
    study_page,
    index,


rule table:
    """Write one table of a study."""
    input:
        scores="results/{study}/scores.csv",
        traces=table_traces,
        published=shipped("published.tsv"),
        registry=shipped("datasets.tsv"),
        order=order_of(
            "{study}/tables/{name}",
            table_content,
            "mnlearn_studies.report.study_products.write_study_tables",
            suffixes=["csv", "md", "tex"],
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
        mnlearn step write {wildcards.study:q} tables --only {wildcards.name:q} --order {input.order:q} \
            &>{log:q}
        """


rule figure:
    """Draw one figure of a study."""
    input:
        scores="results/{study}/scores.csv",
        published=shipped("published.tsv"),
        structures=structures_drawn,
        order=order_of(
            "{study}/figures/{name}",
            figure_content,
            "mnlearn_studies.report.study_products.write_study_figures",
            suffixes=["pdf", "png"],
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
        caption=figure_caption,
        seed=config["seed"],
    shell:
        r"""
        mnlearn step write {wildcards.study:q} figures --only {wildcards.name:q} \
            --seed {params.seed:q} &>{log:q}
        """


rule page:
    """Show one table as a page that opens in a browser."""
    input:
        table="results/{study}/tables/{name}.md",
        order=order_of(
            "{study}/pages/{name}", nothing_more, "mnlearn_studies.report.pages.write_markdown_page"
        ),
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
        caption=table_caption,
    shell:
        r"""
        mnlearn step page {input.table:q} --out {output:q} &>{log:q}
        """


rule claims:
    """Evaluate every claim of the paper."""
    input:
        scores="results/{study}/scores.csv",
        published=shipped("published.tsv"),
        registry=shipped("datasets.tsv"),
        order=order_of(
            "{study}/claims",
            claims_content,
            "mnlearn_studies.report.study_products.write_study_claims",
            suffixes=["md", "csv"],
        ),
    output:
        markdown="results/{study}/claims.md",
        csv="results/{study}/claims.csv",
    log:
        "results/logs/{study}/claims.log",
    benchmark:
        "results/benchmarks/{study}/claims.tsv"
    wildcard_constraints:
        # The index lists the claims of other studies as they are.
        study="|".join(RUNNING),
    shell:
        r"""
        mnlearn step write {wildcards.study:q} claims &>{log:q}
        """


rule claims_page:
    """Show the claims as a page that opens in a browser."""
    input:
        claims="results/{study}/claims.md",
        order=order_of(
            "{study}/claims_page", nothing_more, "mnlearn_studies.report.pages.write_markdown_page"
        ),
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
        mnlearn step page {input.claims:q} --out {output:q} &>{log:q}
        """


rule appendix:
    """Show every point of a method's grid on every dataset as a page."""
    input:
        scores="results/{study}/scores.csv",
        traces=appendix_traces,
        order=order_of(
            "{study}/appendix/{method}",
            appendix_content,
            "mnlearn_studies.report.appendix.write_appendix",
            suffixes=["html"],
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
        mnlearn step appendix {wildcards.study:q} {wildcards.method:q} &>{log:q}
        """


rule study_page:
    """Show a whole study on one page: for a forge, and as one file for the browser."""
    input:
        unpack(page_inputs),
        scores="results/{study}/scores.csv",
        claims="results/{study}/claims.csv",
        tables=tables_shown,
        figures=figures_shown,
        order=order_of(
            "{study}/README",
            study_page_content,
            "mnlearn_studies.report.study_pages.write_study_page",
            suffixes=["md"],
        ),
    output:
        markdown="results/{study}/README.md",
        html="results/{study}/index.html",
    log:
        "results/logs/{study}/study_page.log",
    benchmark:
        "results/benchmarks/{study}/study_page.tsv"
    shell:
        r"""
        mnlearn step write {wildcards.study:q} page &>{log:q}
        """


rule index:
    """List the studies of which there are results."""
    input:
        claims=[f"results/{study}/claims.csv" for study in KEPT],
        order=order_of(
            "README", index_content, "mnlearn_studies.report.study_pages.write_index", suffixes=["md"]
        ),
    output:
        "results/README.md",
    log:
        "results/logs/index.log",
    benchmark:
        "results/benchmarks/index.tsv"
    params:
        studies=KEPT,
    shell:
        r"""
        mnlearn step index {params.studies:q} --out {output:q} &>{log:q}
        """
