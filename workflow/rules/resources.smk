"""
What jobs ask for: memory in MB, minutes, and which are started first (see `mnlearn_studies.plan.resources`).

Rules without these are short: they have the profile's default resources.
"""


def job_of(kind, keys):
    """Return a function that gives the record of a job."""

    def job(wildcards):
        return record_of(kind, wildcards, *(getattr(wildcards, key) for key in keys))

    return job


def memory_of(kind, *keys):
    """Return a function that gives the memory of a job that makes a record."""
    job = job_of(kind, keys)

    def memory(wildcards):
        return RESOURCES.mib(job(wildcards))

    return memory


def minutes_of(kind, *keys):
    """Return a function that gives the time limit of a job that makes a record."""
    job = job_of(kind, keys)

    def minutes(wildcards):
        return RESOURCES.minutes(job(wildcards))

    return minutes


def priority_of(kind, *keys):
    """Return a function that gives the priority of a job that makes a record."""
    job = job_of(kind, keys)

    def priority(wildcards):
        return RESOURCES.priority(job(wildcards))

    return priority


def memory_of_part(wildcards):
    """Return the memory of a part of the learning of a cell."""
    record = record_of("models", wildcards)
    return RESOURCES.part_mib(record, PARTS.round_named(record, wildcards.round))


def minutes_of_part(wildcards):
    """Return the time limit of a part of the learning of a cell."""
    record = record_of("models", wildcards)
    each = PARTS.round_named(record, wildcards.round)
    return RESOURCES.part_minutes(record, each, int(wildcards.of))


def dataset_priority(wildcards):
    """Return the priority of a job that all records of a dataset wait for."""
    return RESOURCES.dataset_priority(wildcards.dataset)
