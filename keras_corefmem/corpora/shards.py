"""Shards of annotated texts: which texts each holds, and how one is written."""

import itertools
import pathlib
import shutil
from collections.abc import Callable, Iterable, Iterator

from keras_corefmem.corpora.index import shard_name
from keras_corefmem.corpora.texts import Text, describe_file
from keras_corefmem.corpora.tfrecord import write_shard
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.utils.files import Path, replacing
from keras_corefmem.utils.processes import quiet


def split_texts(texts: Iterable[Text], size: int) -> Iterator[tuple[int, list[Text]]]:
    """Numbers the shards of texts from 0, `size` texts in each; the last may have fewer."""
    texts = iter(texts)
    return enumerate(iter(lambda: list(itertools.islice(texts, size)), []))


def annotate_shard(
    folder: Path,
    number: int,
    texts: list[Text],
    annotate: Callable[[list[Text]], Iterable[Annotation]],
) -> tuple[dict, bool]:
    """Writes a shard, unless it is there; returns its entry, and whether it was written now."""
    path = pathlib.Path(folder, shard_name(number))
    tokens = _count_tokens(path, texts) if path.exists() else None
    is_new = tokens is None
    if is_new:
        tokens = annotate_part(path, texts, annotate)
    return _entry(path, texts, tokens), is_new


def annotate_part(
    path: Path, texts: list[Text], annotate: Callable[[list[Text]], Iterable[Annotation]]
) -> int:
    """Writes a file of the records of texts; returns their number of tokens."""
    annotations = list(annotate(texts))
    write_shard(path, zip(annotations, (t.fields for t in texts), strict=True))
    return sum(map(len, annotations))


def join_parts(
    folder: Path, number: int, texts: list[Text], parts: list[pathlib.Path], tokens: int
) -> tuple[dict, bool]:
    """Joins files of records to a shard, as if `annotate_shard` had written it."""
    path = pathlib.Path(folder, shard_name(number))
    # A TFRecord file has no header.
    with replacing(path) as partial, partial.open("wb") as file:
        for part in parts:
            with part.open("rb") as content:
                shutil.copyfileobj(content, file)
            part.unlink()
    parts[0].parent.rmdir()
    return _entry(path, texts, tokens), True


def _entry(path, texts, tokens):
    return {**describe_file(path), "texts": len(texts), "tokens": tokens}


def _count_tokens(path, texts):
    """Number of tokens in a shard; `None` where it is broken."""
    try:
        # TensorFlow would log that there is no GPU.
        with quiet():
            from keras_corefmem.corpora import records

            known = list(records.read_shard(path))
    except ValueError:
        return None
    if [(a.text, fields) for a, fields in known] != [(t.text, t.fields) for t in texts]:
        raise ValueError(
            f"{path} holds other texts than {texts[0].place} and the following: give the input "
            "that it was written from, or choose another folder."
        )
    return sum(len(annotation) for annotation, _ in known)
