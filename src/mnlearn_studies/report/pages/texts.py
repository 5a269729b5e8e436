"""What pages say of scores and of learners, a paragraph on each."""

import re
from collections.abc import Iterable
from pathlib import Path

from mnlearn.methods import load_learner
from mnlearn.runtime.files import read_text
from mnlearn.scoring.metrics import METRICS
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.reading import walk

# A link to a neighbour of a page.
_LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|/)([^()]+)\)")

_INFERENCE = {
    "gibbs": "Gibbs sampling",
    "exact": "enumeration",
    "mcsat": "MC-SAT",
    "bp": "belief propagation",
    "meanfield": "mean field",
}


# What a page explains: its name for readers, how its quantities begin, and one paragraph of
# Markdown, where `{groups}` and `{inference}` stand for settings of a study.
_PARAGRAPHS = (
    # The likelihood first, and the scores of query groups last.
    *(
        (metric.name.upper(), (metric.name,), metric.text)
        for metric in sorted(METRICS, key=lambda metric: (metric.by_group, metric.name != "ll"))
    ),
    (
        "KL divergence",
        ("kl_to",),
        "The Kullback-Leibler divergence of one model from another is the mean, over samples of "
        "the first model, of the difference between their log-probabilities, in nats. It is 0 if "
        "the two distributions are equal.",
    ),
    (
        "Seconds",
        ("seconds", "mean_seconds"),
        "Times are processor seconds of one thread after a warm-up, which leaves out compilation. "
        "They are the median of three runs of the chosen model alone where the study times it, and "
        "those of the search otherwise. Published seconds come from other machines, so only ratios "
        "can be compared.",
    ),
    (
        "Features",
        ("n_features", "mean_length", "n_edges", "n_splits"),
        "The size of a network is its number of features (weighted conjunctions of literals) and "
        "their mean length in literals. The size of a circuit is its number of edges, on which the "
        "time of a query depends.",
    ),
)


def describe_metrics(study: Study, quantities: Iterable[str]) -> list[str]:
    """Return a paragraph of Markdown on each metric of a study.

    Scores are shown if a table or figure names them; seconds and sizes if they are among the
    `quantities` of its scores.
    """
    shown = {q for q in quantities if q.startswith(("seconds", "n_features", "n_edges"))}
    for product in (*study.content["tables"], *study.content["figures"]):
        shown |= {str(options["quantity"]) for _, options in walk(product) if "quantity" in options}
    cmll = study.content["cmll"]
    settings = {
        "groups": cmll["groups"],
        "inference": _INFERENCE[cmll["inference"].get("method", "gibbs")],
    }
    return [
        f"**{name}.** {text.format(**settings)}"
        for name, starts, text in _PARAGRAPHS
        if any(f"{q}_".startswith(f"{start}_") for q in shown for start in starts)
    ]


def summarise(learner: str, docs: Path, linked: bool = True) -> str:
    """Return a paragraph of Markdown on a learner, from its page in `docs` or from its class.

    linked : whether the pages of studies can link to `docs`. Else links in the paragraph are text.
    """
    page = docs / "methods" / f"{learner}.md"
    if not page.exists():
        return (load_learner(learner).__doc__ or "").strip().partition("\n\n")[0]
    # The first line is the title.
    text = read_text(page).partition("\n")[2].strip().partition("\n\n")[0]
    return _LINK.sub(r"[\1](../../docs/methods/\2)" if linked else r"\1", text)
