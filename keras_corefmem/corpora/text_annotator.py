"""Annotator of texts that can be sent to other processes."""

import contextlib
import dataclasses
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import pathlib
from collections.abc import Iterator

from typing_extensions import TypedDict

import keras_corefmem
from keras_corefmem.corpora.texts import Text, describe_file
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.annotators import EXACT, annotate, load_pipeline
from keras_corefmem.text.truecase import NOVELS
from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import digest_of, load_json


class _Meta(TypedDict):
    """Fields of a pipeline's `meta.json`."""

    lang: str
    name: str
    version: str


@dataclasses.dataclass(frozen=True)
class TextAnnotator:
    """Annotates texts with coreference chains and, by a spaCy pipeline, further structure.

    It can be pickled; each process loads what it needs once.

    Args:
        annotator: `"exact"`, or the path or name of a spaCy pipeline.
        batch_size: number of texts that a pipeline takes at once.
        tokenized: whether texts are tokenized already, with spaces between tokens.
        truecaser: path of a `Truecaser`, `"novels"` for the bundled one, or `None`.

    Raises:
        ValueError: if `annotator` is not a string or path, or `batch_size` less than 1; while
            iterating, if the annotator fails, or a text, which the error names, cannot be
            annotated.

    Example:
        >>> corpora = keras_corefmem.corpora
        >>> texts = [corpora.Text("Mary left. We saw Mary.", {}, "a.txt:1")]
        >>> [annotation.chain_ids().tolist() for annotation in corpora.TextAnnotator()(texts)]
        [[1, 0, 0, 0, 0, 1, 0]]
    """

    annotator: str = EXACT
    batch_size: int = 64
    tokenized: bool = False
    truecaser: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.annotator, str | os.PathLike):
            raise ValueError(
                "annotator must be the name or path of a spaCy pipeline, which each process loads, "
                f"or {EXACT!r}; got {self.annotator!r:.80}."
            )
        check_sizes(batch_size=self.batch_size)

    def __call__(self, texts: list[Text]) -> Iterator[Annotation]:
        count = 0
        _probe(self)
        # Frees the pipeline's cache of words once the texts are annotated.
        pipeline = None if self.annotator == EXACT else load_pipeline(self.annotator)
        with pipeline.memory_zone() if pipeline else contextlib.nullcontext():
            try:
                for annotation in self._annotate(texts):
                    yield annotation
                    count += 1
            except Exception as error:
                for text in texts[count : count + self.batch_size]:
                    self._try(text)
                places = f"{texts[count].place} or behind it"
                raise ValueError(f"{places}: this does not annotate: {_said(error)}") from error

    def load(self) -> None:
        """Loads pipeline and truecaser from their files, once per process."""
        self._annotate([])

    def _annotate(self, texts):
        strings = (text.text for text in texts)
        return annotate(strings, self.annotator, self.batch_size, self.tokenized, self.truecaser)

    def _try(self, text):
        try:
            list(self._annotate([text]))
        except Exception as error:
            wrong = f"{text.place}: this text does not annotate, correct it or leave it out"
            raise ValueError(f"{wrong}: {_said(error)}") from error

    def describe(self) -> dict:
        """Returns the settings, with a hash of whatever is read from files."""
        versions = {"keras_corefmem": keras_corefmem.__version__}
        if self.annotator != EXACT:
            versions["spacy"] = importlib.metadata.version("spacy")
        bundled = {"name": NOVELS} if self.truecaser == NOVELS else None
        if self.truecaser and not bundled and not pathlib.Path(self.truecaser).is_file():
            raise FileNotFoundError(f"{self.truecaser}: no such file, pass that of a truecaser.")
        return {
            "annotator": _describe_annotator(self.annotator),
            "truecaser": bundled or (describe_file(self.truecaser) if self.truecaser else None),
            "tokenized": self.tokenized,
            "batch_size": self.batch_size,
            "versions": versions,
        }


def _said(error):
    return error if isinstance(error, ValueError) else repr(error)


@functools.lru_cache(1)
def _probe(annotator):
    """Annotates a sample, so that an error is the annotator's fault and not that of a text."""
    list(annotator._annotate([Text("Mary left .", {}, "")]))


def _describe_annotator(name):
    """Returns name and version of a pipeline, and the SHA-256 of its files."""
    if name == EXACT:
        return {"name": EXACT}
    folder = pathlib.Path(name)
    if not folder.is_dir():
        # The folder of an installed package of one pipeline.
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
        folder = pathlib.Path(spec.origin).parent if spec and spec.has_location else None
    metas = sorted(folder.rglob("meta.json")) if folder else ()
    if not metas:
        load_pipeline(name)
        raise ValueError(f"{name}: no meta.json in the folder of the pipeline.")
    meta, digest = load_json(metas[0], kind=_Meta), hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()} {digest_of(path)}\n".encode())
    return {
        "name": f"{meta['lang']}_{meta['name']}",
        "version": meta["version"],
        "sha256": digest.hexdigest(),
    }
