"""The list of the scores. All that computes, names or explains scores reads it.

The command line shows the list in its help, so the functions import numerical code when they run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mnlearn.inference.settings import AUTO, ITERATIVE, LIKELIHOOD_METHODS, METHODS
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    from mnlearn.data.dataset import Dataset
    from mnlearn.inference.score import Groups, Score
    from mnlearn.inference.settings import Annealing, Inference
    from mnlearn.models.model import Model


@dataclass(frozen=True)
class Request:
    """What a score reads beside the model and the data.

    groups : the query groups. inference : how marginals or the partition
    function are computed. Default: exactly. seed : seed of the samplers. threads : number of
    threads; no score depends on it.
    """

    groups: "Groups" = ()
    inference: "Inference | Annealing | None" = None
    seed: int = 0
    threads: int = 1


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A score, in nats per example unless its text says other; higher is better.

    name : its name for commands, files and arguments. help : what it is, for the help of the
    command line. Lines may follow the first one. text : one paragraph of Markdown for the pages of
    studies. The braces `{groups}` and `{inference}` stand for settings of a study. measure :
    returns the `Score` of a model on data for a `Request`. by_group : whether it reads query
    groups. methods : the methods of inference that it may use, the usual one first; empty if it
    uses none. sum_out : returns the score of data with missing cells, which exact
    inference sums out, for a model, the data and a number of threads. Missing cells are refused
    where there is no such function. in_records : whether records of studies have the score of a
    model.
    """

    name: str
    help: str
    text: str
    measure: "Callable[[Model, Dataset, Request], Score]"
    by_group: bool = False
    methods: tuple[str, ...] = ()
    sum_out: "Callable[[Model, Any, int], Score] | None" = None
    in_records: "Callable[[Model], bool]" = lambda model: True

    def sums_missing(self, inference: str | None) -> bool:
        """Tell whether missing cells are summed out, which exact inference alone does."""
        return self.sum_out is not None and inference in (None, "exact")


def _pll(model: "Model", data: "Dataset", request: Request) -> "Score":
    from mnlearn.scoring.any_model import pll

    return pll(model, data, request.threads)


def _cmll(model: "Model", data: "Dataset", request: Request) -> "Score":
    from mnlearn.inference.settings import Inference
    from mnlearn.scoring.any_model import cmll

    inference = request.inference or Inference(AUTO)
    assert isinstance(inference, Inference)
    return cmll(
        model,
        data,
        request.groups,
        inference,
        seed=request.seed,
        threads=request.threads,
    )


def _cll(model: "Model", data: "Dataset", request: Request) -> "Score":
    from mnlearn.scoring.any_model import cll

    return cll(model, data, request.groups, request.threads)


def _ll(model: "Model", data: "Dataset", request: Request) -> "Score":
    from mnlearn.inference.settings import Inference
    from mnlearn.scoring.any_model import annealed_ll, approximate_ll, ll

    inference = request.inference
    if inference is None:
        return ll(model, data, request.threads)
    if not isinstance(inference, Inference):
        return annealed_ll(model, data, inference, request.seed, threads=request.threads)
    if inference.method in ITERATIVE:
        return approximate_ll(model, data, inference)
    return ll(model, data, request.threads)


def _marginal_ll(model: "Model", data: Any, threads: int) -> "Score":
    from mnlearn.scoring.any_model import marginal_ll

    return marginal_ll(model, data, threads)


def _has_exact_likelihood(model: "Model") -> bool:
    from mnlearn.inference.plan import has_exact_likelihood

    return has_exact_likelihood(model)


METRICS = (
    Metric(
        name="pll",
        help="log-pseudo-likelihood: every variable given all others",
        text="The pseudo-log-likelihood of a test example is the sum, over the variables, of the "
        "log-probability of the variable's value given the values of all other variables. It needs "
        "no partition function, so it is exact for every model. The unit is nats per example; "
        "higher is better.",
        measure=_pll,
    ),
    Metric(
        name="cmll",
        help="conditional marginal log-likelihood: every variable given the other query groups",
        text="The conditional marginal log-likelihood measures answers to queries. The variables "
        "are divided at random into {groups} groups. Each group is queried given the values of all "
        "other variables, and CMLL is the sum of the log-probabilities that the marginals give to "
        "the true values. The marginals come from {inference}, or are exact where the model allows "
        "it. The unit is nats per example; higher is better.",
        measure=_cmll,
        by_group=True,
        methods=(AUTO, *METHODS),
    ),
    Metric(
        name="cll",
        help="conditional log-likelihood of each query group given the others (exact)",
        text="The conditional log-likelihood is the log-probability of the values of all query "
        "variables together, given the evidence. CMLL adds the log-marginals of the query "
        "variables instead. Both are divided by the number of query variables where they are "
        "called normalised.",
        measure=_cll,
        by_group=True,
        in_records=lambda model: False,
    ),
    Metric(
        name="ll",
        help="log-likelihood (exact: circuits, and networks that can be compiled into one;\n"
        "the partition function is the Bethe estimate with --inference bp, and a lower bound\n"
        "with --inference meanfield, so that ll is too high);\n"
        "missing cells are summed out, exactly",
        text="The log-likelihood of a test example is the log-probability that the model gives it. "
        "The table shows the mean over the test examples, in nats; higher is better. It needs the "
        "partition function, so it is exact only for small networks and for models with exact "
        "inference, such as circuits and trees.",
        measure=_ll,
        methods=LIKELIHOOD_METHODS,
        sum_out=_marginal_ll,
        in_records=_has_exact_likelihood,
    ),
)
METRIC_NAMES = tuple(metric.name for metric in METRICS)


def find_metric(name: str, argument: str = "metric") -> Metric:
    """Return the score of a name, in any capitals."""
    for metric in METRICS:
        if metric.name == str(name).lower():
            return metric
    raise InputError(f"expected one of {', '.join(METRIC_NAMES)}, got {name!r}.", where=argument)


def usual_metric(model: "Model") -> str:
    """Return "ll" for a kind of model whose log-likelihood is exact and cheap, else "pll"."""
    return "ll" if model.has_exact_likelihood else "pll"


def mean_score(
    name: str, data: "Dataset", request: Request | None = None
) -> "Callable[[Model], float]":
    """Return what compares the models of a grid: their mean score on validation data."""
    metric, asked = find_metric(name), request or Request()
    return lambda model: metric.measure(model, data, asked).mean
