"""Division of texts into shards, and writing of annotated shards."""

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
    """Divides texts into shards of `size` texts, numbered from 0; the last may have fewer."""
    texts = iter(texts)
    return enumerate(iter(lambda: list(itertools.islice(texts, size)), []))


def annotate_shard(
    folder: Path,
    number: int,
    texts: list[Text],
    annotate: Callable[[list[Text]], Iterable[Annotation]],
) -> tuple[dict, bool]:
    """Writes a shard unless it exists; returns its entry in the index, and whether it is new."""
    path = pathlib.Path(folder, shard_name(number))
    tokens = _count_tokens(path, texts) if path.exists() else None
    is_new = tokens is None
    if is_new:
        tokens = annotate_part(path, texts, annotate)
    return _entry(path, texts, tokens), is_new


def annotate_part(
    path: Path, texts: list[Text], annotate: Callable[[list[Text]], Iterable[Annotation]]
) -> int:
    """Annotates texts and writes their records to a file; returns the number of tokens."""
    annotations = list(annotate(texts))
    write_shard(path, zip(annotations, (t.fields for t in texts), strict=True))
    return sum(map(len, annotations))


def join_parts(
    folder: Path, number: int, texts: list[Text], parts: list[pathlib.Path], tokens: int
) -> tuple[dict, bool]:
    """Joins files of records into a shard, as if `annotate_shard` had written it."""
    path = pathlib.Path(folder, shard_name(number))
    # TFRecord files have no header and can be concatenated.
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
    """Returns the number of tokens in a shard, or `None` if it is broken."""
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
