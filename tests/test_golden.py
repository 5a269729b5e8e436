"""Golden values on the benchmark data: published feature counts, recomputed scores, Libra's."""

import numpy as np
import pandas as pd
import pytest

from mnlearn.learning.conversion import Orders, smooth_marginals, to_markov_network
from mnlearn.learning.features.generation import generate_features
from mnlearn.learning.learner import Task
from mnlearn.learning.logistic import learn_logistic_path
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.methods.chow_liu import ChowLiu
from mnlearn.models.dependency_network import tree_network
from mnlearn.models.tree_features import tree_features
from mnlearn.scoring.any_model import ll, pll
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.study.published import load_published

pytestmark = pytest.mark.slow

# dataset, least examples per child, kappa, feature mode, leaves, features, mean length, test PLL
# of the trees: recomputed from the public data with an independent program.
DTSL = """
nltcs 0 0.1 prune 767 2958 6.32 -4.9740
kdd 0 0.01 prune 2213 8585 7.61 -2.0631
plants 0 0.01 prune 3136 12291 6.69 -9.0294
baudio 0 0.001 nonzero 3550 4946 3.09 -38.6860
jester 0 0.001 nonzero 2918 4796 3.70 -52.3093
bnetflix 0 0.001 nonzero 3949 6659 3.75 -54.8531
accidents 10 0.01 prune 2781 10194 7.08 -12.1704
pumsb_star 10 0.001 prune 1339 4666 5.25 -9.9592
dna 10 0.0001 prune 838 2382 3.29 -58.5633
msweb 0 0.01 prune 3900 14810 20.00 -8.3400
book 0 0.0001 prune 3281 11720 3.59 -35.3142
tmovie 0 0.001 prune 5191 19574 4.42 -51.9067
cwebkb 0 0.0001 prune 5046 17971 3.48 -150.5855
c20ng 0 0.0001 nonzero 14321 21008 2.69 -155.6251
bbc 10 0.0001 nonzero 4158 4417 1.92 -253.5100
"""
# dataset, LL of the Chow-Liu tree on validation and on test data: recomputed likewise.
CHOW_LIU = """
nltcs -6.7185 -6.7590
msnbc -6.5400 -6.5401
kdd -2.5265 -2.2949
plants -16.5176 -16.5240
baudio -44.0798 -44.3749
jester -58.3424 -58.2265
bnetflix -60.2497 -60.2503
accidents -32.8966 -33.1881
tretail -10.9410 -10.9465
pumsb_star -30.9258 -30.8070
dna -87.7117 -87.7348
kosarek -11.7794 -11.4901
msweb -10.0196 -10.1925
book -36.7500 -37.8315
tmovie -69.4910 -64.7831
cwebkb -167.0180 -163.4712
cr52 -99.7996 -94.4346
c20ng -129.3829 -164.1167
bbc -254.2130 -261.8563
ad -17.8334 -16.8886
"""
ROWS = [line.split() for line in DTSL.strip().splitlines()]
KAPPAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
MODES = ("default", "prune", "prune-10", "prune-5", "nonzero")
SEVEN = ("accidents", "tretail", "pumsb_star", "dna", "kosarek", "bbc", "ad")


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_trees_and_features_of_dtsl(row, benchmark_split):
    name, min_examples, kappa, mode, n_leaves, n_features, mean_length, test_pll = row
    trees = learn_tree_path(benchmark_split(name, "train"), float(kappa), float(min_examples)).trees
    features = tree_features(trees, mode)
    assert trees.is_leaf.sum() == int(n_leaves)
    assert len(features) == int(n_features)
    assert abs(features.length.mean() - float(mean_length)) <= 0.0051
    score = pll(tree_network(trees), benchmark_split(name, "test")).mean
    assert abs(score - float(test_pll)) <= 0.00005 + 1e-9


def test_published_feature_counts_exact_on_fifteen_of_twenty(benchmark_split):
    """With kappa chosen on validation data and the feature mode that fits the printed count."""
    published = load_published()
    counts = published[
        (published["study"] == "gssl")
        & (published["method"] == "dtsl")
        & (published["quantity"] == "n_features_generated")
    ].set_index("dataset")["value"]
    off = {}
    for name, printed in counts.items():
        train, valid = benchmark_split(name, "train"), benchmark_split(name, "valid")
        path = learn_tree_path(train, 1.0, 10.0 if name in SEVEN else 0.0)
        trees = max(
            (path.cut(kappa) for kappa in KAPPAS),
            key=lambda t: pll(tree_network(t), valid).mean,
        )
        found = [len(tree_features(trees, mode)) for mode in MODES]
        off[name] = min(abs(n - float(printed)) / float(printed) for n in found)
    assert sum(share == 0 for share in off.values()) == 15
    assert sum(0 < share <= 0.002 for share in off.values()) == 4
    assert max(off, key=off.get) == "dna"


LIBRA_TREES = ("plants", "baudio", "bnetflix", "accidents", "dna", "jester", "nltcs")


@pytest.mark.parametrize("name", LIBRA_TREES)
def test_trees_are_those_of_libra(name, benchmark_split):
    """Libra adds half a count per value and wants 10 examples per child: equal to six digits."""
    peers = pd.read_csv(registry_path().parent / "peer_timings.tsv", sep="\t")
    row = peers[peers["command"] == f"dnlearn -i {name}.train.data -ps 10"].iloc[0]
    path = learn_tree_path(
        benchmark_split(name, "train"), float(np.exp(-10)), 10.0, pseudocount=0.5
    )
    score = pll(tree_network(path.trees), benchmark_split(name, "test")).mean
    assert abs(score - row["test_score"]) <= 1.1e-6


@pytest.mark.parametrize("name", ["nltcs", "plants", "accidents"])
def test_learned_weights_score_like_those_of_libra(name, benchmark_split):
    peers = pd.read_csv(registry_path().parent / "peer_timings.tsv", sep="\t")
    command = f"mnlearnw -m {name}-ps5.dn -i {name}.train.data -sd -1 -l1 5"
    row = peers[peers["command"] == command].iloc[0]
    train = benchmark_split(name, "train")
    path = learn_tree_path(train, float(np.exp(-5)), 10.0, pseudocount=0.5)
    features = tree_features(path.trees, "default")
    learned = fit_weights(arrange_stored(features, train), Penalty(None, 5.0))
    from mnlearn.models.markov_network import MarkovNetwork

    network = MarkovNetwork(train.n_vars, features, learned.weight)
    assert pll(network, benchmark_split(name, "test")).mean >= 1.003 * row["test_score"]


# dataset, kappa, test PLL of the trees (at least 10 examples per child), features and test PLL
# of the converted network: recomputed from the public data with an independent program. On
# MSNBC that program kept a feature whose weight is 0.
DN2MN = """
nltcs 0.1 -4.9683 12514 -4.9275
msnbc 0.1 -4.3082 149029 -4.3080
plants 0.01 -9.0357 60425 -9.1748
baudio 0.001 -38.6832 70599 -37.7660
jester 0.001 -52.3093 52307 -50.7664
bnetflix 0.001 -54.8531 76607 -53.5987
book 0.0001 -35.2848 33862 -35.1436
cr52 0.0001 -82.0130 111807 -82.6723
"""


@pytest.mark.parametrize("row", [line.split() for line in DN2MN.strip().splitlines()])
def test_converted_trees(row, benchmark_split):
    name, kappa, tree_pll, n_features, network_pll = row
    train, test = benchmark_split(name, "train"), benchmark_split(name, "test")
    network = tree_network(learn_tree_path(train, float(kappa), 10.0).trees)
    orders = Orders(np.arange(train.n_vars))
    converted = to_markov_network(network, smooth_marginals(train), orders)
    assert abs(pll(network, test).mean - float(tree_pll)) <= 0.00005 + 1e-9
    assert len(converted.features) == int(n_features)
    assert abs(pll(converted, test).mean - float(network_pll)) <= 0.00005 + 1e-9


# dataset, initial features, generated, distinct: means of an independent simulation.
GSSL = """
nltcs full 500000 113884
msnbc full 2000000 374392
plants full 1000000 673327
baudio positive 1000000 486952
jester positive 500000 360272
bnetflix positive 500000 373490
accidents full 2000000 1438698
kosarek positive 1000000 288398
c20ng positive 5000000 2947911
"""


@pytest.mark.parametrize("line", GSSL.strip().splitlines())
def test_distinct_features_of_gssl(line, benchmark_split):
    """The number varies with the seed, by a few per mille where there are many examples."""
    name, initial, n_generated, expected = line.split()
    run = generate_features(benchmark_split(name, "train"), int(n_generated), initial)
    assert len(run.distinct(int(n_generated))[0]) == pytest.approx(int(expected), rel=0.02)


# Test PLL of Libra's logistic regressions with penalty 2, intercept penalised.
LOGISTIC = {"nltcs": -4.953701, "plants": -9.331603, "baudio": -36.146962, "jester": -48.848486}


@pytest.mark.parametrize("name", LOGISTIC)
def test_logistic_regressions_have_about_libras_score(name, benchmark_split):
    """Libra prints no objective, so where it stops is not known; the scores differ a little."""
    path = learn_logistic_path(benchmark_split(name, "train"), [2.0], free_intercept=False)
    score = pll(path.network(2.0), benchmark_split(name, "test")).mean
    assert score == pytest.approx(LOGISTIC[name], rel=0.005)


@pytest.mark.parametrize("line", CHOW_LIU.strip().splitlines(), ids=lambda line: line.split()[0])
def test_chow_liu_trees(line, benchmark_split):
    name, valid_ll, test_ll = line.split()
    task = Task(benchmark_split(name, "train"), ChowLiu.grid({}))
    circuit = ChowLiu().learn(task).model
    for split, expected in (("valid", valid_ll), ("test", test_ll)):
        assert f"{ll(circuit, benchmark_split(name, split)).mean:.4f}" == expected
