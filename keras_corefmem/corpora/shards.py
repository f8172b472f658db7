"""Shards of annotated texts: which texts each holds, and how one is written."""

import itertools
import pathlib
from collections.abc import Callable, Iterable, Iterator

from keras_corefmem.corpora.index import shard_name
from keras_corefmem.corpora.texts import Text, describe_file
from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.utils.files import Path


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
    from keras_corefmem.corpora import records

    path = pathlib.Path(folder, shard_name(number))
    tokens = _count_tokens(path, texts) if path.exists() else None
    is_new = tokens is None
    if is_new:
        annotations = list(annotate(texts))
        records.write_shard(path, zip(annotations, (t.fields for t in texts), strict=True))
        tokens = sum(map(len, annotations))
    return {**describe_file(path), "texts": len(texts), "tokens": tokens}, is_new


def _count_tokens(path, texts):
    """Number of tokens in a shard; `None` where it is broken."""
    from keras_corefmem.corpora import records

    try:
        known = list(records.read_shard(path))
    except ValueError:
        return None
    if [(a.text, fields) for a, fields in known] != [(t.text, t.fields) for t in texts]:
        raise ValueError(
            f"{path} holds other texts than {texts[0].place} and the following: give the input "
            "that it was written from, or choose another folder."
        )
    return sum(len(annotation) for annotation, _ in known)
