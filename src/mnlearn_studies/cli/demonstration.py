"""The demonstration: it runs the study `demo` and says in words what came out."""

from mnlearn.data.dataset import load_npz
from mnlearn.runtime.progress import say
from mnlearn.scoring.any_model import ll
from mnlearn_studies.datasets.embedded import build_true_network
from mnlearn_studies.datasets.registry import load_datasets
from mnlearn_studies.plan.configuration import configuration, plan_of
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.files import CHOSEN, read_record, refuse_damaged
from mnlearn_studies.records.kinds.structures import read_structure
from mnlearn_studies.records.record import Record
from mnlearn_studies.running.run import log_of, page_of, run_study

_NAME = "demo"
# The dataset that is told of; its true network is known.
_DATASET = "grid"
_METHOD, _BASELINE = "dtsl", "atomic"


def run_demo(verbose: bool = False) -> int:
    """Run the study `demo`, say what was learned, and return an exit status."""
    status = run_study(_NAME, [], "all", None, verbose=verbose)
    if status == 0:
        for sentence in describe_demo():
            say(sentence)
    return status


def describe_demo() -> list[str]:
    """Return three sentences: what was learned, how good it is, and where to look."""
    plan = plan_of(_NAME, [])
    truth = build_true_network(_DATASET, configuration()["seed"])
    edges = set(truth.edges())
    structure = Record("structures", _NAME, _DATASET, (_METHOD,))
    found = read_structure(plan.path(structure)).couplings
    strongest = sorted(found, key=lambda edge: (-abs(found[edge]), edge))[: len(edges)]
    n_train = load_datasets()[_DATASET].n_rows("train")
    test = load_npz(plan.path(Record("data", "", _DATASET), "test"))
    best = ll(truth, test).mean
    learned, independent = (_log_likelihood(plan, method) for method in (_METHOD, _BASELINE))
    share = (learned - independent) / (best - independent)
    return [
        f"DTSL learned a Markov network from {n_train:,} samples of a known network, a 4 x 4 grid: "
        f"{len(edges & set(strongest))} of its {len(edges)} strongest interactions are edges of "
        f"the known network, which has {len(edges)}.",
        f"On new samples its log-likelihood is {learned:.3f} nats per example; the known network "
        f"has {best:.3f}, and independent variables have {independent:.3f}, so DTSL gains "
        f"{share:.0%} of what can be gained.",
        f"Open {page_of(_NAME)} in a browser to see figures, tables and what the scores "
        f"mean; the log of the run is {log_of(_NAME)}.",
    ]


def _log_likelihood(plan: Plan, method: str) -> float:
    path = plan.path(Record("cells", _NAME, _DATASET, (method,)))
    with refuse_damaged(path):
        return float(read_record(path)["variants"][CHOSEN]["scores"]["ll"]["mean"])
