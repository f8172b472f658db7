"""Model cards: a description of a preset, its measured numbers, and code that loads it."""

import hashlib
import json
import pathlib
import re
from typing import Any

import keras
import numpy as np

from keras_corefmem.preprocessing import Preprocessor
from keras_corefmem.utils.markdown import table_cell

# For readers of cloze questions about anonymous entities.
CLOZE = {"passage": "@entity0 met @entity1 .", "question": "@placeholder met @entity1"}


def write_card(path: pathlib.Path, model: keras.Model, card: dict[str, Any], handle: str) -> None:
    """Writes the model card of a preset.

    Args:
        path: file to write.
        model: the model.
        card: facts by name, such as `dataset`, `test_accuracy` or `licence`.
        handle: handle with which `from_preset` loads the preset.
    """
    licence = str(card.get("licence", ""))
    facts = {name: value for name, value in card.items() if name != "licence"}
    parts = [
        _front_matter(model, licence),
        f"# {model.name}\n\n{_describe(model)}",
        f"## Use\n\n```python\n{_snippet(model, handle)}\n```",
        "## Facts\n\n" + _table(facts) if facts else "Nothing was measured of this model.",
        f"## Licence\n\n{licence or 'Not stated.'}",
        "## Arguments\n\n" + _table(model.config),
    ]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def with_handle(text: str, handle: str) -> str:
    """Replaces the handle in the code of a model card."""
    return re.sub(r'from_preset\(".*"\)', lambda _: _call(handle), text, count=1)


def _call(handle: str) -> str:
    return f"from_preset({json.dumps(handle, ensure_ascii=False)})"


def _front_matter(model: keras.Model, licence: str) -> str:
    task = "question-answering" if "question" in model.TEXTS else "text-classification"
    if model.preprocessor is not None and model.preprocessor.tags:
        task = "token-classification"
    # The hub identifies licences by short names.
    known = re.fullmatch(r"[a-z][a-z0-9.-]+", licence.lower())
    lines = ["library_name: keras_corefmem", f"pipeline_tag: {task}", "tags:", "- keras"]
    if licence:
        lines.append(f"license: {licence.lower() if known else 'other'}")
    return "\n".join(["---", *lines, "---"])


def _describe(model: keras.Model) -> str:
    text = f"A `{type(model).__name__}` of keras_corefmem with {model.count_params():,} weights."
    preprocessor = model.preprocessor
    if preprocessor is None:
        return text + " It reads ids: there is no preprocessor."
    strings, words = " and ".join(model.TEXTS), len(preprocessor.vocabulary.known)
    answers = "those of the text at hand" if preprocessor.local else len(preprocessor.answers) - 1
    text += f" It reads {strings}, and knows {words:,} words; answers: {answers}."
    if preprocessor.annotator:
        by = preprocessor.annotator
        text += f" Its training text was annotated by `{by}`: give `read` an `annotator` too."
    return text


def _snippet(model: keras.Model, handle: str) -> str:
    lines = ["import zoo", "", f"model = zoo.{_call(handle)}"]
    texts = _texts(model.preprocessor, model.TEXTS)
    if texts:
        quoted = ", ".join(json.dumps(text, ensure_ascii=False) for text in texts.values())
        lines.append(f"print(model.read({quoted}))")
    return "\n".join(lines)


def _texts(preprocessor: Preprocessor | None, texts: dict[str, str]) -> dict[str, str]:
    """Returns sample texts that the model can read; none without a preprocessor."""
    if preprocessor is None:
        return {}
    for each in (texts, CLOZE):
        try:
            preprocessor.encode_text(*each.values())
        except ValueError:
            continue
        return each
    return {}


def _table(facts: dict[str, Any]) -> str:
    rows = [f"| {name.replace('_', ' ')} | {_cell(name, fact)} |" for name, fact in facts.items()]
    return "\n".join(["| | |", "|---|---|", *rows])


def _cell(name: str, fact: Any) -> str:
    if isinstance(fact, dict) and "class_name" in fact:
        return f"`{fact['class_name']}`"
    if isinstance(fact, dict):
        return ", ".join(f"{key} {_cell(f'{key} {name}', value)}" for key, value in fact.items())
    if isinstance(fact, float):
        return f"{fact:.2%}" if name.endswith("accuracy") else f"{fact:.4g}"
    text = table_cell(str(fact))
    return text if len(text) <= 200 else f"{text[:200]} …"


def remember_origin(model: Any, handle: str, card: dict[str, Any], unchanged: bool) -> None:
    """Records on a model which preset it comes from, and whether it is unchanged."""
    # The card is a string, since Keras tracks dictionaries that are attributes.
    model._origin = handle, _fingerprint(model) if unchanged else "", json.dumps(card)


def known_card(model: Any) -> dict[str, Any]:
    """Returns the card of a model's preset or, if it has changed, its origin and last logs."""
    handle, fingerprint, card = getattr(model, "_origin", ("", "", "{}"))
    if fingerprint and fingerprint == _fingerprint(model):
        return json.loads(card)
    facts: dict[str, Any] = {"started_from": handle} if handle else {}
    logs = getattr(getattr(model, "history", None), "history", None) or {}
    if logs:
        numbers = {name: values[-1] for name, values in logs.items() if np.ndim(values[-1]) == 0}
        last = {name: float(value) for name, value in numbers.items()}
        facts["last_epoch"] = {"epoch": model.history.epoch[-1] + 1, **last}
    return facts


def _fingerprint(model: keras.Model) -> str:
    digest = hashlib.sha256()
    for weight in model.get_weights():
        digest.update(weight.tobytes())
    return digest.hexdigest()
