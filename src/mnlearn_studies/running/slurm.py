"""A cluster whose controller does not answer for a while."""

import sys
from typing import Any


def keep_unanswered_jobs() -> None:
    """Have Snakemake ask again how its jobs are if the controller of Slurm did not answer.

    Its plugin (2.8.0) forgets the jobs that it could not ask about, so that the run never ends. No
    answer becomes one that names no job: of such jobs it asks again.
    """
    plugin: Any = sys.modules.get("snakemake_executor_plugin_slurm")
    if (query := getattr(plugin, "query_job_status", None)) is None:
        return

    async def asked(*args: Any) -> tuple[dict[str, str], float]:
        states, seconds = await query(*args)
        return ({}, 0.0) if states is None else (states, seconds)

    plugin.query_job_status = asked
