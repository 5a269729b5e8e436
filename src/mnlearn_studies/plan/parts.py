"""The jobs that share out the learning of a cell: which there are, and what they leave."""

from pathlib import Path

from mnlearn.learning.rounds import Round, list_rounds
from mnlearn.methods import load_learner
from mnlearn_studies.plan.planning import Plan, Record


class Parts:
    """The parts of the learning of the cells of a plan; n_parts : most jobs of a cell at a time.

    A search that starts from parts finds their work in the checkpoints of the study, and learns
    what it does not find. So recipes of cells do not depend on parts.
    """

    def __init__(self, plan: Plan, n_parts: int) -> None:
        self._plan = plan
        self._n_parts = n_parts

    def rounds(self, models: Record) -> list[Round]:
        """Return the rounds in which the models of a cell are learned before the search itself."""
        if self._n_parts == 1:
            return []
        study, (method,) = self._plan.studies[models.study], models.names
        learner = load_learner(study.learner(method))
        grid = learner.grid(study.grid(method, models.dataset))
        return list_rounds(learner, grid, with_network=study.network(method) is not None)

    def round_named(self, models: Record, name: str) -> Round:
        """Return a round by its name."""
        return next(each for each in self.rounds(models) if each.name == name)

    def files(self, models: Record, before: str | None = None) -> list[str]:
        """Return the files that the parts of a cell leave, of all rounds or those before one.

        There are none if the models are used as they are.
        """
        if self._plan.is_settled(models):
            return []
        folder = Path(self._plan.results, models.study, "parts", models.dataset, *models.names)
        files: list[str] = []
        for each in self.rounds(models):
            if each.name == before:
                break
            of = each.n_parts(self._n_parts)
            files += [str(folder / f"{each.name}-{k}-of-{of}.json") for k in range(1, of + 1)]
        return files
