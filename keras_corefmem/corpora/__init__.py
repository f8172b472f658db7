"""Annotation and storage of any amount of text: texts, shards, records and Beam."""

import lazy_loader

# TensorFlow, spaCy and Beam are only imported where they are used.
__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["beam"],
    submod_attrs={
        "index": ["verify_folder"],
        "questions": ["changed_parts", "read_questions", "write_questions"],
        "records": ["read_shard", "read_shards", "record_dataset"],
        "text_annotator": ["TextAnnotator"],
        "tfrecord": ["write_shard"],
        "texts": ["Text", "TextReader"],
        "writing": ["Progress", "annotate_files"],
    },
)
