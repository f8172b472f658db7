"""What a result says of a training run: the one format of studies and of searches."""

import dataclasses
import importlib.metadata
import platform

import keras_corefmem

PACKAGES = ("keras", "tensorflow", "jax", "numpy")


def describe_training(model, settings, batches, progress):
    """What a result says of how a model was trained, and how it does on the validation part.

    Args:
        model: the trained model.
        settings: its `zoo.training.Settings`.
        batches: `Batches` by part.
        progress: what `zoo.training.fitting.fit` returned.
    """
    import keras

    best = progress.history[progress.best_epoch]
    return {
        "settings": dataclasses.asdict(settings),
        "head": model.config.get("head", "classification"),
        "parameters": model.count_params(),
        "questions": {part: batches[part].count for part in batches},
        "epochs": len(progress.history),
        "best_epoch": progress.best_epoch + 1,
        "valid_accuracy": best["val_accuracy"],
        "valid_loss": best["val_loss"],
        **{name: round(seconds, 1) for name, seconds in progress.seconds.items()},
        "backend": keras.backend.backend(),
        "package": keras_corefmem.__version__,
        "versions": versions(),
        "python": platform.python_version(),
    }


def describe_test(model, batches, examples):
    """What a result says of every question of the test part.

    Args:
        model: the trained model.
        batches: `Batches` of the test part.
        examples: what they were made of.
    """
    from zoo.training.fitting import evaluate

    test = evaluate(model, batches)
    return {
        "test_accuracy": test["accuracy"],
        "test_wrong": test["wrong"],
        **describe_kinds(examples, test["wrong"]),
        **describe_heads(model, examples),
    }


def describe_vectors(path, model):
    """What a result says of pretrained vectors: their file, and how many words it has."""
    return {"word_vectors": {"file": path.name, "coverage": str(model.coverage)}} if path else {}


def describe_kinds(examples, wrong):
    """What a result says of kinds of questions, and of what baselines make of them."""
    from keras_corefmem.datasets.passages.lambada_kinds import count_kinds, guess_all

    if not any(getattr(example, "kinds", ()) for example in examples):
        return {}
    guessed = guess_all(examples)
    return {
        "test_kinds": count_kinds(examples, wrong),
        "baselines": {
            name: {"wrong": len(missed), "kinds": count_kinds(examples, missed)}
            for name, missed in guessed.items()
        },
    }


def describe_heads(model, examples):
    """What a result says of heads of self-attention, see `measure_attention_mass`."""
    from zoo.experiments.attention_mass import measure_attention_mass

    if model.config.get("self_attention", "none") == "none":
        return {}
    return {"attention_mass": measure_attention_mass(model, examples)}


def versions(packages=PACKAGES):
    """Versions of the packages that numbers depend on, where installed."""
    installed = {d.name.lower(): d.version for d in importlib.metadata.distributions()}
    return {name: installed[name] for name in packages if name in installed}
