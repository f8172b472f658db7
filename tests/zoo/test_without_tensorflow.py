"""Training where JAX is all there is."""

import pytest

TRAIN = """
sys.modules.update(dict.fromkeys(("tensorflow", "tensorflow_text")))
import contextlib, io, pathlib
import zoo
from zoo import cli
with contextlib.redirect_stdout(io.StringIO()) as out:
    status = cli.main(["train", *data["options"]])
(path,) = pathlib.Path(data["models"]).glob("*/model.keras")
reading = zoo.load(path).read("Mary went to the kitchen.", "Where is Mary?")
result = [status, out.getvalue(), str(path), reading.answer]
"""


@pytest.mark.slow
def test_a_reader_is_trained_saved_and_asked_on_jax_alone(tmp_path, run_python):
    pytest.importorskip("jax")
    models, logs = tmp_path / "models", tmp_path / "logs"
    options = ["--model", "as-coref-gru", "--epochs", "1"]
    options += ["--output", str(models), "--log-dir", str(logs)]
    for setting in ("units=4", "embedding_dim=4", "batch_size=100", "buckets=1"):
        options += ["--set", setting]
    quick = {"KERAS_BACKEND": "jax", "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    data = {"options": options, "models": str(models)}
    status, out, path, answer = run_python(TRAIN, data, **quick)
    assert status == 0 and f"Keras model:  {path}" in out and "SavedModel" not in out
    # The passage mentions no other answer.
    assert "Test accuracy: " in out and answer == "kitchen"
    written = {path.name for path in logs.glob("*/*") if not path.name.startswith("events.out")}
    pictured = {"projector_config.pbtxt", "vectors.tsv", "words.png", "words.tsv"}
    assert written == {"train", "validation", "best", *pictured}
