"""
The workflow, for `snakemake` in this folder; `workflow/Snakefile` says what it does.
"""


include: "workflow/Snakefile"


# The default of a file that is included is not that of the whole.
rule everything:
    default_target: True
    input:
        rules.all.input,
