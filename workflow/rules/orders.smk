"""
What files that are no records of cells are made by: see `mnlearn_studies.plan.orders`.
"""


def order_of(place, content, *code, suffixes=()):
    """Return a function that gives the order of a file made from a study.

    place : the file below the results, without suffix; it may have wildcards.
    content : a function of the wildcards. code : roots of the digest of the code that makes it.
    suffixes : endings of the files that are made, if git keeps them.
    """

    def order(wildcards):
        made_by = {"content": content(wildcards), "code": code_digest(*code)}
        name = place.format(**dict(wildcards.items()))
        return str(PLAN.orders.write(name, made_by, suffixes))

    return order


def nothing_more(wildcards):
    """Return what a product depends on beside its inputs and its code: nothing."""
    return []


def labels_of(wildcards):
    """Return the names of a study's datasets for readers, in the order of the study."""
    labels = study_of(wildcards).labels(label_datasets(config["local"]))
    return [[dataset, label] for dataset, label in labels.items()]


def queries_content(wildcards):
    """Return what the queries of a dataset depend on."""
    return [examples_of(wildcards), config["seed"]]


def gather_content(wildcards):
    """Return what the scores of a study depend on: which records there are, and who is timed."""
    return {
        "records": gather_inputs(wildcards),
        "timed": study_of(wildcards).content.get("timed", []),
    }


def table_content(wildcards):
    """Return what a table depends on; `write` reads from it which cells are marked as stale."""
    entry = product_of(wildcards, "tables")
    return {
        "entry": entry,
        "labels": labels_of(wildcards),
        "stale": PLAN.stale_cells(wildcards.study, kinds_read(entry)),
    }


def figure_content(wildcards):
    """Return what a figure depends on; the seed is that of networks that data were drawn from."""
    return {
        "entry": product_of(wildcards, "figures"),
        "labels": labels_of(wildcards),
        "seed": config["seed"],
    }


def claims_content(wildcards):
    """Return what the claims of a study depend on."""
    return study_of(wildcards).content


def study_page_content(wildcards):
    """Return what the page of a study depends on beside its products and records."""
    study = study_of(wildcards)
    learners = dict.fromkeys(map(study.learner, study.methods))
    return {
        "study": study.content,
        "labels": labels_of(wildcards),
        "learners": {learner: summarise(learner, DOCS) for learner in learners},
        "commit": read_commit(Path("results")),
    }


def index_content(wildcards):
    """Return what the index depends on beside the claims: the studies it lists, as digests."""
    return {name: file_digest(study_path(name, *WORKFLOWS)) for name in KEPT}


def appendix_content(wildcards):
    """Return what a page of the appendix depends on."""
    return {
        "method": study_of(wildcards).content["methods"][wildcards.method],
        "labels": labels_of(wildcards),
    }
