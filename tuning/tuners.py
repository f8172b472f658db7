"""The tuners of keras-tuner, running the trials of a `Search`."""

import contextlib
import io

import keras_tuner

from tuning.spaces import declare

OBJECTIVE = keras_tuner.Objective("val_accuracy", "max")
TUNERS = {
    "random": keras_tuner.oracles.RandomSearchOracle,
    "bayesian": keras_tuner.oracles.BayesianOptimizationOracle,
    "hyperband": keras_tuner.oracles.HyperbandOracle,
    "grid": keras_tuner.oracles.GridSearchOracle,
}


class TrialTuner(keras_tuner.Tuner):
    """A tuner whose trials are those of a `Search`; `report` is called with each outcome."""

    def __init__(self, search, report):
        self.trials_of, self.report = search, report
        # It would say where it reloads from.
        with contextlib.redirect_stdout(io.StringIO()):
            super().__init__(make_oracle(search), directory=search.output, project_name=search.name)

    def run_trial(self, trial):
        outcome = self.trials_of.run_trial(trial.trial_id, trial.hyperparameters.values)
        self.report(outcome)
        return {name: outcome[f"valid_{name[4:]}"] for name in ("val_accuracy", "val_loss")}


def make_oracle(search):
    """What chooses the hyper-parameters of each trial."""
    space = keras_tuner.HyperParameters()
    declare(space, search.hyper_model.entries)
    options = {"max_trials": search.trials}
    if search.tuner == "hyperband":
        options = {"max_epochs": search.hyper_model.settings_of({}).epochs}
    return TUNERS[search.tuner](
        objective=OBJECTIVE,
        hyperparameters=space,
        # A seed of 0 would be a random one.
        seed=search.seed + 1,
        allow_new_entries=False,
        tune_new_entries=False,
        # Every trial that fails is reported; stopping at some would lose the others.
        max_consecutive_failed_trials=10**9,
        **options,
    )


def run_trials(search, report):
    """Runs what is left of a search in this process, or serves those that do.

    Of a search on several machines, the environment says which part this process has: see
    `keras_tuner`'s `KERASTUNER_TUNER_ID`.

    Args:
        search: a `Search` that has started.
        report: function called with the outcome of each trial.
    """
    tuner = TrialTuner(search, report)
    if isinstance(tuner.oracle, keras_tuner.Oracle):
        take_up(tuner.oracle, search.folder / "oracle.json")
        tuner.oracle.verbose = 0
    tuner.search()


def take_up(oracle, path):
    """Continues an earlier search: trials whose process is gone are for whoever asks first."""
    if not path.exists():
        return
    # A tuner with another id would not.
    oracle.reload()
    left = [trial.trial_id for trial in oracle.ongoing_trials.values()]
    oracle.ongoing_trials.clear()
    oracle._retry_queue += [trial for trial in left if trial not in oracle._retry_queue]
