"""What Snakemake hears of its jobs while the controller of Slurm does not answer."""

import asyncio
import sys
from types import SimpleNamespace

from mnlearn_studies.running.slurm import keep_unanswered_jobs


def test_no_answer_names_no_job(monkeypatch):
    answers = iter([(None, None), ({"1": "RUNNING"}, 0.5)])

    async def query(command, logger):
        return next(answers)

    plugin = SimpleNamespace(query_job_status=query)
    monkeypatch.setitem(sys.modules, "snakemake_executor_plugin_slurm", plugin)
    keep_unanswered_jobs()
    heard = [asyncio.run(plugin.query_job_status("squeue", None)) for _ in range(2)]
    assert heard == [({}, 0.0), ({"1": "RUNNING"}, 0.5)]


def test_without_the_plugin_nothing_is_changed(monkeypatch):
    monkeypatch.setitem(sys.modules, "snakemake_executor_plugin_slurm", None)
    keep_unanswered_jobs()
    assert sys.modules["snakemake_executor_plugin_slurm"] is None
