"""Has commands do little, in this process: what they do otherwise is the same."""

import concurrent.futures
import dataclasses
import importlib

import zoo
from keras_corefmem.datasets import simulator
from tuning.tuners import run_trials
from zoo.architectures.listing import list_arguments
from zoo.architectures.trainer import TextTrainer
from zoo.configs import configuration
from zoo.experiments import data, plan
from zoo.training import Settings, merge_settings

SETTINGS = {"epochs": 1, "batch_size": 32, "buckets": 1}
SIZES = {"units": 6, "edge_units": 1, "layers": 1, "embedding_dim": 6, "min_count": 1}
STORIES = {"train": 40, "valid": 8, "test": 8}
# The repository has no results of this seed.
SEED = 9
load, settings_of = simulator.load, Settings.of


class AtOnce(concurrent.futures.Executor):
    """Does the work of processes in this one, at once."""

    def __init__(self, *args):
        pass

    def submit(self, function, /, *args):
        future = concurrent.futures.Future()
        try:
            future.set_result(function(*args))
        except Exception as error:
            future.set_exception(error)
        return future


def small_settings(model, *place, **changes):
    """Settings of small models for one epoch, whatever is asked for."""
    small = {**SETTINGS, "train_size": 5} if changes.get("train_size") else {**SETTINGS}
    known = list_arguments(configuration(model).class_name)
    small["arguments"] = {name: size for name, size in SIZES.items() if name in known}
    return settings_of(model, *place, **merge_settings(changes, small))


def plan_one(*args):
    """The last of the runs of a study, which is none that the repository has the result of."""
    return [dataclasses.replace(plan(*args)[-1], seed=SEED)]


def do_little(monkeypatch):
    """Makes data and models small, runs few and processes none."""
    monkeypatch.setattr(simulator, "load", lambda *args, **sizes: load(*args, **sizes | STORIES))
    monkeypatch.setattr(Settings, "of", small_settings)
    monkeypatch.setitem(TextTrainer.compile.__kwdefaults__, "jit_compile", False)
    monkeypatch.setattr(zoo.experiments, "plan", plan_one)
    # In its package a function has the name of this module.
    module = importlib.import_module("zoo.experiments.reproduce")
    monkeypatch.setattr(module, "_load", data.load)
    monkeypatch.setattr(module, "Workers", AtOnce)
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", AtOnce)
    monkeypatch.setattr("tuning.running.search_with", lambda _, *args: run_trials(*args))
