"""Structure learning for Markov networks over discrete variables.

    import mnlearn as mn

    model = mn.DTSL(kappa=0.01).fit(X).model_
    model.query({"sleep": "bad"})

`dir(mnlearn)` lists the learners, the models and the functions. Importing the package imports
nothing else: each name is loaded when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnlearn.api.comparison import compare as compare
    from mnlearn.api.conversion import from_dependency_network as from_dependency_network
    from mnlearn.api.files import impute as impute
    from mnlearn.api.files import load as load
    from mnlearn.api.files import read_data as read_data
    from mnlearn.api.files import save as save
    from mnlearn.api.inputs import Dataset as Dataset
    from mnlearn.api.ising import Ising as Ising
    from mnlearn.api.ising import compare_ising as compare_ising
    from mnlearn.api.learners import *  # noqa: F403
    from mnlearn.api.scores import score as score
    from mnlearn.api.search import GridSearch as GridSearch
    from mnlearn.drawing.ising import draw_ising as draw_ising
    from mnlearn.models.bayesian_network import BayesianNetwork as BayesianNetwork
    from mnlearn.models.circuit import ArithmeticCircuit as ArithmeticCircuit
    from mnlearn.models.dependency_network import DependencyNetwork as DependencyNetwork
    from mnlearn.models.feature_tree import FeatureTree as FeatureTree
    from mnlearn.models.hidden_tree import HiddenTree as HiddenTree
    from mnlearn.models.junction_tree import JunctionTree as _JunctionTree
    from mnlearn.models.markov_network import MarkovNetwork as MarkovNetwork
    from mnlearn.runtime.errors import InputError as InputError

    __version__: str
    # `JunctionTree` is the learner.
    JunctionTreeModel = _JunctionTree

# The module of each public name, and its name there if that is another. The learners are found by
# the files of `mnlearn.methods`.
_PLACES = {
    "ArithmeticCircuit": "models.circuit",
    "BayesianNetwork": "models.bayesian_network",
    "Dataset": "api.inputs",
    "DependencyNetwork": "models.dependency_network",
    "FeatureTree": "models.feature_tree",
    "GridSearch": "api.search",
    "HiddenTree": "models.hidden_tree",
    "InputError": "runtime.errors",
    "Ising": "api.ising",
    "JunctionTreeModel": "models.junction_tree:JunctionTree",
    "MarkovNetwork": "models.markov_network",
    "compare": "api.comparison",
    "compare_ising": "api.ising",
    "draw_ising": "drawing.ising",
    "from_dependency_network": "api.conversion",
    "impute": "api.files",
    "load": "api.files",
    "read_data": "api.files",
    "save": "api.files",
    "score": "api.scores",
}


if not TYPE_CHECKING:  # or type checkers would take any name for one of these

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name == "__version__":
            # Reading the metadata of a package takes 30 ms, a sixth of `mnlearn --help`.
            return import_module("importlib.metadata").version("mnlearn")
        if name == "__all__":
            return _public_names()
        place = _PLACES.get(name)
        if name.startswith("_") or (place is None and name not in _public_names()):
            # Python suggests a name like it from the module and the name.
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=import_module(__name__))
        module, _, own = (place or "api.learners").partition(":")
        found = getattr(import_module(f"mnlearn.{module}"), own or name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return _public_names()


def _public_names() -> list[str]:
    from mnlearn.methods import class_names

    return sorted({*_PLACES, *class_names(), "__version__"})
