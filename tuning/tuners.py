"""The tuner of keras-tuner that runs the trials of a `Search`."""

import logging
import time
from collections.abc import Callable
from typing import Any

import grpc
import keras_tuner

from keras_corefmem.utils.files import write_json
from keras_corefmem.utils.locks import NoRoomError
from tuning import oracles
from tuning.search import ERROR, Search

Report = Callable[[dict[str, Any]], None]
OBJECTIVE = keras_tuner.Objective("val_accuracy", "max")
TUNERS = {
    "random": oracles.RandomSearch,
    "bayesian": oracles.BayesianOptimization,
    "hyperband": oracles.Hyperband,
    "grid": oracles.GridSearch,
}
# Prefix by gRPC of the error of a chief.
RAISED = "Exception calling application: "
# Seconds to wait if an oracle has no trial, before asking again.
PAUSE = 1


class TrialTuner(keras_tuner.Tuner):
    """A tuner whose trials are those of a `Search`; `report` is called with each outcome."""

    def __init__(self, search: Search, report: Report) -> None:
        self.trials_of, self.report, self.idle = search, report, False
        super().__init__(make_oracle(search), directory=search.output, project_name=search.name)

    def save(self) -> None:
        """Does nothing: the oracle saves the whole state of a tuner."""

    def pre_create_trial(self) -> None:
        # Hyperband has no trial while other processes run those that its next round depends on.
        if self.idle:
            time.sleep(PAUSE)
        self.idle = True

    def on_trial_end(self, trial: Any) -> None:
        super().on_trial_end(trial)
        self.idle = False

    def run_trial(self, trial: Any) -> dict[str, float]:
        try:
            self.trials_of.count_start(trial.trial_id)
            outcome = self.trials_of.run_trial(trial.trial_id, trial.hyperparameters.values)
        except NoRoomError as error:
            # All other trials would fail too.
            raise keras_tuner.errors.FatalError from error
        except Exception as error:
            # A worker tells its chief only that a trial failed, not why.
            path = self.trials_of.trial_folder(trial.trial_id) / ERROR
            write_json(path, f"{type(error).__name__}: {error}")
            raise
        finally:
            self.trials_of.clear_starts(trial.trial_id)
        self.report(outcome)
        return {name: outcome[f"valid_{name[4:]}"] for name in ("val_accuracy", "val_loss")}


def make_oracle(search: Search) -> keras_tuner.Oracle:
    space = keras_tuner.HyperParameters()
    search.hyper_model.declare_hyperparameters(space)
    options = {"max_trials": search.trials}
    if search.tuner == "hyperband":
        options = {"max_epochs": search.experiment({}).settings.epochs}
    return TUNERS[search.tuner](
        objective=OBJECTIVE,
        hyperparameters=space,
        # A seed of 0 would mean a random one.
        seed=search.seed + 1,
        allow_new_entries=False,
        tune_new_entries=False,
        # Failed trials are reported in the end; stopping after some would lose the others.
        max_consecutive_failed_trials=10**9,
        **options,
    )


def run_trials(search: Search, report: Report) -> None:
    """Runs this process' share of the trials of a search.

    Raises:
        NoRoomError: if a disk is full.
        ConnectionError: if the chief of the search is gone.
        ChildProcessError: if there was an error in the chief.
    """

    def report_end(trial: str) -> None:
        if outcome := search.outcome(trial):
            report(outcome)

    tuner = TrialTuner(search, report)
    if isinstance(tuner.oracle, keras_tuner.Oracle):
        tuner.oracle.take_up()
        tuner.oracle.verbose = 0
    # A chief runs no trials, and only its oracle learns of them.
    if "chief" in tuner.tuner_id:
        # The worker that sent the request reports the error.
        logging.getLogger("grpc._server").setLevel(logging.CRITICAL)
        tuner.oracle.on_end = report_end
    try:
        tuner.search()
    except keras_tuner.errors.FatalError as error:
        raise error.__cause__ or error from None
    except grpc.RpcError as error:
        cause = str(error.details())
        if error.code() != grpc.StatusCode.UNKNOWN:
            raise ConnectionError(f"The chief of the search is gone ({cause}).") from None
        raise ChildProcessError(cause.removeprefix(RAISED)) from None
