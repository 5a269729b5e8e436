"""
What rules hand to the commands, beside files. An option that may be absent is a list of words.
"""

# One folder for all studies: they share what several of them learn.
CHECKPOINTS = "results/checkpoints"


def as_json(value):
    """Return a value as JSON with sorted keys; Snakemake compares parameters as text."""
    return json.dumps(value, sort_keys=True)


def recipe_of(kind, *keys):
    """Return a function that gives the recipe of a job's record as JSON."""

    def recipe(wildcards):
        names = [getattr(wildcards, key) for key in keys or ("method",)]
        return as_json(PLAN.recipe(record_of(kind, wildcards, *names)))

    return recipe


def local_option(wildcards):
    """Return how a person's own dataset is given, as JSON."""
    return as_json(local_entry(wildcards))


def mirror_option(wildcards):
    """Return the option that names where benchmark data are fetched from, if it is given."""
    return ["--mirror", config["mirror"]] if config["mirror"] else []


def partitions_of(wildcards):
    """Return what the partitions of a dataset depend on: groups, number, seed."""
    study = study_of(wildcards)
    return {
        "groups": study.content["cmll"]["groups"],
        "number": study.n_partitions(wildcards.dataset),
        "seed": config["seed"],
    }


def learner_of(wildcards):
    """Return the learner behind a method label."""
    return study_of(wildcards).learner(wildcards.method)


def grid_of(wildcards):
    """Return the grid of a cell as JSON."""
    return as_json(study_of(wildcards).grid(wildcards.method, wildcards.dataset))


def tuning_cmll_of(wildcards):
    """Return how validation CMLL is computed if a cell is tuned by it, as JSON."""
    return as_json(study_of(wildcards).tuning_cmll(wildcards.method, wildcards.dataset))


def network_option(wildcards):
    """Return the option that names the dependency network a method builds on, if it does."""
    network = network_of(wildcards).get("network")
    return ["--network", f"{network}/chosen.npz"] if network else []


def part_options(wildcards, input):
    """Return the options that name the parts that were learned before."""
    return [word for path in input.get("parts", []) for word in ("--part", path)]


def inference_of(wildcards):
    """Return the inference settings of a cell as JSON."""
    return as_json(study_of(wildcards).inference(wildcards.dataset))


def further_inference_of(wildcards):
    """Return the other ways in which a cell's chosen model is given a CMLL, as JSON."""
    return as_json(
        study_of(wildcards).further_inference(wildcards.method, wildcards.dataset)
    )


def cmll_of(wildcards):
    """Return which models of a cell are given a CMLL."""
    return study_of(wildcards).cmll_of(wildcards.method, wildcards.dataset)


def queries_of(wildcards):
    """Return how a study queries models: examples, percentages, methods, and who samples."""
    nothing = {"examples": 1, "percentages": [], "methods": []}
    return study_of(wildcards).content.get("queries", nothing)


def examples_of(wildcards):
    """Return how many test examples a study queries."""
    return queries_of(wildcards)["examples"]


def percentages_of(wildcards):
    """Return the shares of the variables that are queried, as JSON."""
    return as_json(queries_of(wildcards)["percentages"])


def sampled_options(wildcards):
    """Return the options of how queries are answered by models other than circuits."""
    sampled = queries_of(wildcards).get("sampled")
    if not sampled:
        return []
    beliefs = ["--beliefs"] if sampled.get("beliefs") else []
    return ["--sampled", sampled["examples"], *beliefs]


def likelihoods_of(wildcards):
    """Return how log-likelihoods are computed beside the exact ones, as JSON."""
    settings = study_of(wildcards).content["likelihoods"]
    return as_json({key: settings[key] for key in ("beliefs", "annealing", "queries")})


def forms_options(wildcards):
    """Return the options for the forms of files in which a model is written and read again."""
    forms = study_of(wildcards).content["exports"][wildcards.method]
    return [word for form in forms for word in ("--form", form)]


def gather_options(wildcards, input):
    """Return the options that name what is gathered beside the cells."""
    named = {
        "--paired": input.paired,
        "--curve": input.curves,
        "--export": input.exports,
        "--time": input.times,
        "--divergence": input.divergences,
        "--likelihood": input.likelihoods,
        "--trace": input.traces,
        "--timed": study_of(wildcards).content.get("timed", []),
    }
    return [
        word
        for name, values in named.items()
        for value in values
        for word in (name, value)
    ]


def caption_of(product):
    """Return a caption in one line, since lines of their own could be directives of the report."""
    return one_line(product["caption"])


def table_caption(wildcards):
    """Return the caption of a table."""
    return caption_of(product_of(wildcards, "tables"))


def figure_caption(wildcards):
    """Return the caption of a figure."""
    return caption_of(product_of(wildcards, "figures"))
