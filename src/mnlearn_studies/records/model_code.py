"""The code of each kind of model, which counts for the records of learners that make such models.

Functions that score any model could call the code of every kind. A learner makes models of one or
two kinds, so an edit of another kind cannot move a number of its records.
"""

from mnlearn.runtime.code_digest import Optional

# The module of a kind of model, and the modules and packages that serve this kind alone.
MODEL_CODE: Optional = (
    (
        "mnlearn.models.circuit",
        (
            "mnlearn.models.circuit.",
            "mnlearn.models.circuit_building.",
            "mnlearn.inference.circuits.",
            "mnlearn.kernels.circuits.",
        ),
    ),
    (
        "mnlearn.models.hidden_tree",
        (
            "mnlearn.models.hidden_tree.",
            "mnlearn.inference.hidden_trees.",
        ),
    ),
    (
        "mnlearn.models.feature_tree",
        ("mnlearn.models.feature_tree.",),
    ),
    (
        "mnlearn.models.junction_tree",
        ("mnlearn.models.junction_tree.",),
    ),
)
