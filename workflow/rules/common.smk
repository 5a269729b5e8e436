"""
What to run and what it depends on: studies, datasets, grids, digests of the code.
"""

import json
import os
from pathlib import Path

from snakemake.utils import validate

from mnlearn.data.sources import known_datasets, unavailable
from mnlearn.errors import InputError
from mnlearn.provenance import code_digest
from mnlearn.study import load_study, study_path

validate(config, "../schemas/config.schema.yaml")

WORKFLOW = Path(workflow.basedir) / "workflow"

# Threads of a job are those Snakemake gives it, whatever library would like to start more.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
if config["mirror"]:
    os.environ["MNLEARN_DATA_MIRROR"] = config["mirror"]


def read_studies():
    """Return the studies of the configuration by name; a fault in one ends the planning."""
    try:
        studies = {
            name: load_study(study_path(name, WORKFLOW)) for name in config["studies"]
        }
        known = known_datasets(config["local"])
        wanted = {d for study in studies.values() for d in study.datasets}
        for name in sorted(wanted | set(config["datasets"])):
            if name not in known:
                raise InputError(f"dataset {name}: expected one of {', '.join(known)}.")
    except InputError as error:
        raise WorkflowError(str(error)) from None
    return studies


STUDIES = read_studies()
LEFT_OUT = unavailable(Path("results/data"))


def datasets_of(study):
    """Return the datasets of a study that are asked for and can be had."""
    chosen = config["datasets"] or STUDIES[study].datasets
    return [d for d in chosen if d not in LEFT_OUT]


def cells_of(wildcards):
    """Return the cells of a study, dataset by dataset."""
    return [
        f"results/{wildcards.study}/cells/{dataset}/{method}.json"
        for dataset in datasets_of(wildcards.study)
        for method in STUDIES[wildcards.study].methods
    ]


def paired_of(wildcards):
    """Return the records of the pairs that a study compares example by example."""
    return [
        f"results/{wildcards.study}/paired/{dataset}/{first}-{second}.json"
        for dataset in datasets_of(wildcards.study)
        for first, second in STUDIES[wildcards.study].content.get("paired", [])
    ]


def divergences_of(wildcards):
    """Return the records of the divergences between circuits that a study asks for."""
    return [
        f"results/{wildcards.study}/divergence/{dataset}/{first}-{second}.json"
        for dataset in datasets_of(wildcards.study)
        for first, second in STUDIES[wildcards.study].content.get("divergences", [])
    ]


def queries_of(study):
    """Return how a study queries models: examples, percentages, methods, and who samples."""
    nothing = {"examples": 1, "percentages": [], "methods": []}
    return STUDIES[study].content.get("queries", nothing)


def curves_of(wildcards):
    """Return the records of the query curves of a study."""
    queries = queries_of(wildcards.study)
    sampled = queries.get("sampled", {"study": None})
    methods = list(queries["methods"])
    if sampled["study"] in STUDIES:
        methods += sampled["methods"]
    return [
        f"results/{wildcards.study}/curves/{dataset}/{method}.json"
        for dataset in datasets_of(wildcards.study)
        for method in methods
    ]


def curve_models_of(wildcards):
    """Return the models of a query curve, which may be those of another study."""
    sampled = queries_of(wildcards.study).get("sampled", {"methods": []})
    study = (
        sampled["study"] if wildcards.method in sampled["methods"] else wildcards.study
    )
    return f"results/{study}/models/{wildcards.dataset}/{wildcards.method}"


def sampled_of(wildcards):
    """Return the options of how queries are answered by models other than circuits."""
    sampled = queries_of(wildcards.study).get("sampled")
    if not sampled:
        return ""
    beliefs = " --beliefs" if sampled.get("beliefs") else ""
    return f"--sampled {sampled['examples']}{beliefs}"


def forms_of(study):
    """Return the forms in which the models of a study are written and read again, by method."""
    return STUDIES[study].content.get("exports", {})


def exports_of(wildcards):
    """Return the records of the models of a study that are written and read again."""
    return [
        f"results/{wildcards.study}/exports/{dataset}/{method}.json"
        for dataset in datasets_of(wildcards.study)
        for method in forms_of(wildcards.study)
    ]


def grid_of(wildcards):
    """Return the grid of a cell as JSON with sorted keys; parameters are compared as text."""
    grid = STUDIES[wildcards.study].grid(wildcards.method, wildcards.dataset)
    return json.dumps(grid, sort_keys=True)


def learner_of(wildcards):
    """Return the file in methods/ that learns a cell."""
    return STUDIES[wildcards.study].learner(wildcards.method)


def network_of(wildcards):
    """Return the models of the dependency network that a method builds on, if it does."""
    source = STUDIES[wildcards.study].network(wildcards.method)
    if source is None:
        return []
    return [f"results/{wildcards.study}/models/{wildcards.dataset}/{source}"]


def tuning_cmll_of(wildcards):
    """Return how validation CMLL is computed if a cell is tuned by it, as JSON."""
    settings = STUDIES[wildcards.study].tuning_cmll(wildcards.method, wildcards.dataset)
    return json.dumps(settings, sort_keys=True)


def inference_of(wildcards):
    """Return the inference settings of a cell as JSON."""
    return json.dumps(
        STUDIES[wildcards.study].inference(wildcards.dataset), sort_keys=True
    )


def learn_code_of(wildcards):
    """Return the digest of everything that learning a cell runs."""
    return code_digest(f"methods.{learner_of(wildcards)}", "cell_learning")


def score_code_of(wildcards):
    """Return the digest of everything that scoring a cell runs."""
    return code_digest(f"methods.{learner_of(wildcards)}", "cell_scoring")


def local_of(wildcards):
    """Return how a person's own dataset is given, as JSON; empty for all others."""
    return json.dumps(config["local"].get(wildcards.dataset, {}), sort_keys=True)


def local_files_of(wildcards):
    """Return the files of a person's own dataset."""
    entry = config["local"].get(wildcards.dataset, {})
    return [entry[split] for split in ("train", "valid", "test") if split in entry]


def products_of(study, kind, suffixes):
    """Return the files of a study's tables or figures."""
    return [
        f"results/{study}/{kind}/{product['name']}.{suffix}"
        for product in STUDIES[study].content[kind]
        for suffix in suffixes
    ]


def pages_of(study):
    """Return the pages of a study's tables."""
    return [
        f"results/{study}/pages/{product['name']}.html"
        for product in STUDIES[study].content["tables"]
    ]


def appendix_of(study):
    """Return the pages of a study's appendix."""
    return [
        f"results/{study}/appendix/{method}.html"
        for method in STUDIES[study].content.get("appendix", [])
    ]


def product_entry(wildcards, kind):
    """Return a table's or figure's entry in its study as JSON."""
    for product in STUDIES[wildcards.study].content[kind]:
        if product["name"] == wildcards.name:
            return json.dumps(product, sort_keys=True)
    raise WorkflowError(
        f"study {wildcards.study} has no {wildcards.name} among its {kind}."
    )


def caption_of(wildcards, kind):
    """Return the caption of a table or figure."""
    return json.loads(product_entry(wildcards, kind))["caption"]


def models_drawn(wildcards):
    """Return the model folder that a figure reads, if it draws a learned structure."""
    entry = json.loads(product_entry(wildcards, "figures"))
    if entry["kind"] != "structure":
        return []
    return [f"results/{wildcards.study}/models/{entry['dataset']}/{entry['method']}"]


METHODS = "|".join(sorted({m for s in STUDIES.values() for m in s.methods}))


wildcard_constraints:
    name=r"[a-z0-9_]+",
    study="|".join(STUDIES),
    dataset=r"[A-Za-z0-9_.-]+",
    method=METHODS,
    first=METHODS,
    second=METHODS,
    examples=r"\d+",


onstart:
    for name, reason in LEFT_OUT.items():
        print(f"left out: {reason} (`mnlearn fetch {name}` tries again)")
