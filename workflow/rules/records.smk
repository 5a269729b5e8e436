"""
One rule for each kind of record. What a kind is made from, and how, says its file in
`src/mnlearn_studies/records/kinds/`; the rule hands the job to `mnlearn step record`.

    rule          a record is made from
    data          files that are fetched, drawn, or given in config.yaml
    partitions    training data                         (the query groups of the CMLL)
    queries       test data                             (what is asked of models)
    parts         training and validation data, and the parts of the rounds before
    models        training and validation data, the network that a method builds on, parts
    cells         models, query groups, test data       (the only rule that scores on test data)
    times         the cell, training data               (alone on the machine)
    paired        the scores of two methods by test example
    curves, likelihoods, structures, divergences      models, and test data
"""

from dataclasses import replace


def record_of(kind, wildcards):
    """Return the record of a job, and whether its recipe is the current one."""
    study, names = getattr(wildcards, "study", ""), getattr(wildcards, "names", "")
    record = Record(
        kind.name, study, wildcards.dataset, tuple(names.split("-")) if names else ()
    )
    return record, PLAN.digest(record) == wildcards.digest


def inputs_of(kind):
    """Return a function that gives the inputs of a job by name."""

    def inputs(wildcards):
        record, is_current = record_of(kind, wildcards)
        # A record that is used as it is needs nothing. If its inputs are missing, as in a clone, and
        # another record needs them, Snakemake would make it again too.
        if not is_current or (PLAN.is_made(record) and record not in TO_MAKE):
            return {}
        return {
            name: ancient(
                named(files) if isinstance(files, str) else [*map(named, files)]
            )
            for name, files in kind.inputs(PLAN, record).items()
        }

    return inputs


def outputs_of(kind):
    """Return the files that a rule makes, by name."""
    outputs = {}
    for name, file in kind.files.items():
        # What is there stays until it is whole anew: scores by example are not kept in git, and
        # are made again beside a cell that is. A storage has all files of a record or none.
        kept = directory if is_folder(file) else str
        outputs[name] = (kept if IS_STORED else update)(named(RESULTS / file))
    return outputs


def located_all(files, names):
    """Return where a job has files of the plan, one or several, by their names."""
    if isinstance(files, str):
        return located(files, names)
    names = [names] if isinstance(names, str) else names
    return [located(file, name) for file, name in zip(files, names, strict=True)]


def job_of(kind):
    """Return a function that gives what a job is told, as JSON, with the files of Snakemake."""

    def job(wildcards, input, output):
        record, is_current = record_of(kind, wildcards)
        if not is_current:
            return ""
        whole = PLAN.job(record)
        # A record that is made again without need, as with `--forceall`, has no inputs here.
        inputs = {
            name: located_all(files, getattr(input, name, files))
            for name, files in whole.inputs.items()
        }
        outputs = {
            name: located(file, output[name]) for name, file in whole.outputs.items()
        }
        return replace(whole, inputs=inputs, outputs=outputs).to_json()

    return job


def asked_of(kind, what):
    """Return a function that gives the memory or the minutes of a job.

    A job that is tried again, as the profile of a cluster allows, asks for twice as much each time.
    """

    def asked(wildcards, attempt):
        return what(record_of(kind, wildcards)[0]) * 2 ** (attempt - 1)

    return asked


def priority_of(kind):
    """Return a function that gives the priority of a job."""

    def priority(wildcards):
        return RESOURCES.priority(record_of(kind, wildcards)[0])

    return priority


for KIND in KINDS.values():
    PLACE = next(iter(KIND.files.values())).partition(".")[0]

    rule:
        name:
            KIND.name
        input:
            unpack(inputs_of(KIND)),
        output:
            **outputs_of(KIND),
        log:
            f"results/logs/{PLACE}.log",
        benchmark:
            f"results/benchmarks/{PLACE}.tsv"
        priority: priority_of(KIND)
        localrule: KIND.is_local
        # What runs alone takes all processors, so that nothing else of this run disturbs it. On a
        # cluster their number is not known here, and `workflow.cores` would end the planning.
        threads: (workflow.resource_settings.cores or 1) if KIND.alone else 1
        resources:
            mem_mb=asked_of(KIND, RESOURCES.mib),
            runtime=asked_of(KIND, RESOURCES.minutes),
        params:
            job=job_of(KIND),
            jobs=JOBS,
        shell:
            "source {params.jobs:q}; mnlearn step record {params.job:q} --threads {threads} &>{log:q}"
