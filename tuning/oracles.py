"""The oracles of keras-tuner, which choose the hyper-parameters of trials, safe to interrupt."""

import itertools
import math
import pathlib
from typing import Any

import keras_tuner
from typing_extensions import TypedDict

from keras_corefmem.utils.files import load_json, naming_damage, write_json
from keras_corefmem.utils.names import in_natural_order
from tuning.search import ERROR, REMEDY

# Number of repeated configurations drawn before a space counts as exhausted.
COLLISIONS = 1000


class _Known(TypedDict):
    start_order: list[str]


class Lasting(keras_tuner.Oracle):
    """An oracle whose files stay complete and consistent even if its process dies.

    `on_end` is called with the number of each trial that ends.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._max_collisions = COLLISIONS
        self.on_end = lambda number: None

    def end_trial(self, trial: Any) -> None:
        super().end_trial(trial)
        self.on_end(trial.trial_id)

    def save(self) -> None:
        write_json(self._get_oracle_fname(), self.get_state())

    def _save_trial(self, trial):
        write_json(
            pathlib.Path(self._get_trial_dir(trial.trial_id), "trial.json"), trial.get_state()
        )

    def take_up(self) -> None:
        """Continues an earlier search; trials that are not complete run again."""
        path = pathlib.Path(self._get_oracle_fname())
        if not path.exists():
            return
        known = load_json(path, remedy=REMEDY, kind=_Known)["start_order"]
        for each in path.parent.glob("trial_*/trial.json"):
            # A trial that was saved but is not yet in the oracle's file is drawn again.
            if each.parent.name.removeprefix("trial_") not in known:
                each.unlink()
                continue
            # Loaded one by one, so that an error names the file.
            with naming_damage(each, REMEDY):
                keras_tuner.engine.trial.Trial.load(str(each))
        with naming_damage(path, REMEDY):
            self.reload()
        unfinished = (n for n, trial in self.trials.items() if trial.status != "COMPLETED")
        again = in_natural_order(unfinished)
        for number in again:
            pathlib.Path(self._get_trial_dir(number), ERROR).unlink(missing_ok=True)
            self.trials[number].status, self.trials[number].message = "RUNNING", None
            self._save_trial(self.trials[number])
            self._run_times.pop(number, None)
        self.end_order[:] = [number for number in self.end_order if number not in again]
        # The last item of the queue is taken first.
        self._retry_queue = again[::-1]
        self.save()


class RandomSearch(Lasting, keras_tuner.oracles.RandomSearchOracle):
    """Draws configurations at random."""


class BayesianOptimization(Lasting, keras_tuner.oracles.BayesianOptimizationOracle):
    """Chooses configurations by the predictions of a Gaussian process."""


class Hyperband(Lasting, keras_tuner.oracles.HyperbandOracle):
    """Hyperband whose brackets are smaller if a space has too few configurations for them."""

    def _random_trial(self, trial_id, bracket):
        trial = super()._random_trial(trial_id, bracket)
        if trial["status"] == "RUNNING":
            return trial
        bracket["drawn"] = len(bracket["rounds"][0])
        return self.populate_space(trial_id)

    def _get_size(self, bracket_num, round_num):
        size = super()._get_size(bracket_num, round_num)
        for bracket in self._brackets:
            if bracket["bracket_num"] == bracket_num and "drawn" in bracket:
                return min(size, math.ceil(bracket["drawn"] / self.factor**round_num))
        return size


class GridSearch(Lasting):
    """Tries all configurations of a space, varying the last hyper-parameter fastest."""

    def populate_space(self, trial_id: str) -> dict[str, Any]:
        entries = self.hyperparameters.space
        # On a logarithmic scale, keras-tuner returns integers as floats.
        grid = itertools.product(*(map(type(entry.default), entry.values) for entry in entries))
        values = next(itertools.islice(grid, len(self.start_order), None), None)
        if values is None:
            return {"status": "STOPPED"}
        names = (entry.name for entry in entries)
        return {"status": "RUNNING", "values": dict(zip(names, values, strict=True))}
