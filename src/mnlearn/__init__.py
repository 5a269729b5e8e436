"""Structure learning for Markov networks over binary variables.

    import mnlearn as mn

    model = mn.DTSL(kappa=0.01).fit(X).model_
    model.query({"sleep": 1})

`dir(mnlearn)` lists the learners, the models and the functions. Importing the package imports
nothing else: each name is loaded when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnlearn.api.conversion import from_dependency_network as from_dependency_network
    from mnlearn.api.files import load as load
    from mnlearn.api.files import read_data as read_data
    from mnlearn.api.files import save as save
    from mnlearn.api.imputation import impute as impute
    from mnlearn.api.inputs import Dataset as Dataset
    from mnlearn.api.ising import Ising as Ising
    from mnlearn.api.ising import compare_ising as compare_ising
    from mnlearn.api.learners import *  # noqa: F403
    from mnlearn.api.models import ArithmeticCircuit as ArithmeticCircuit
    from mnlearn.api.models import BayesianNetwork as BayesianNetwork
    from mnlearn.api.models import DependencyNetwork as DependencyNetwork
    from mnlearn.api.models import FeatureTree as FeatureTree
    from mnlearn.api.models import HiddenTree as HiddenTree
    from mnlearn.api.models import JunctionTreeModel as JunctionTreeModel
    from mnlearn.api.models import MarkovNetwork as MarkovNetwork
    from mnlearn.api.scores import score as score
    from mnlearn.api.search import GridSearch as GridSearch
    from mnlearn.drawing.ising_figures import draw_ising as draw_ising
    from mnlearn.runtime.errors import InputError as InputError

    __version__: str

# The module of each public name. The learners are found by the files of `mnlearn.methods`.
_PLACES = {
    "ArithmeticCircuit": "api.models",
    "BayesianNetwork": "api.models",
    "Dataset": "api.inputs",
    "DependencyNetwork": "api.models",
    "FeatureTree": "api.models",
    "GridSearch": "api.search",
    "HiddenTree": "api.models",
    "InputError": "runtime.errors",
    "Ising": "api.ising",
    "JunctionTreeModel": "api.models",
    "MarkovNetwork": "api.models",
    "compare_ising": "api.ising",
    "draw_ising": "drawing.ising_figures",
    "from_dependency_network": "api.conversion",
    "impute": "api.imputation",
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
        found = getattr(import_module(f"mnlearn.{place or 'api.learners'}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return _public_names()


def _public_names() -> list[str]:
    from mnlearn.methods import class_names

    return sorted({*_PLACES, *class_names(), "__version__"})
