"""Folders of annotated texts, written without other processes."""

from keras_corefmem.corpora.index import prepare_folder, write_index
from keras_corefmem.corpora.shards import annotate_shard, split_texts
from keras_corefmem.corpora.text_annotator import TextAnnotator


def write_folder(folder, texts, size, annotate=None, plan=None):
    """Writes a folder of shards; returns its index and the names of the new shards."""
    plan = {"inputs": [], "shard_size": size} if plan is None else plan
    if (index := prepare_folder(folder, plan)) is not None:
        return index, []
    annotate = annotate or TextAnnotator()
    done = [annotate_shard(folder, *job, annotate) for job in split_texts(texts, size)]
    index = write_index(folder, plan, [shard for shard, _ in reversed(done)])
    return index, [shard["name"] for shard, is_new in done if is_new]


def contents(folder):
    """Bytes of the files of a folder by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
