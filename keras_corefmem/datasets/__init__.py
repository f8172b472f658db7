"""Readers of data sets, and a simulator of stories."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["gap"],
    submod_attrs={
        "annotated": ["AnnotatedExample", "annotate_examples"],
        "conversion": ["as_examples"],
        "example": ["CandidateExample", "Example", "group_by_story"],
        "passages": ["cbt", "cnn", "emory", "lambada", "novels", "wikihop"],
        "registry": ["DATASETS", "DataSet", "load", "load_published"],
        "sentences": ["Sentence", "pos", "sst"],
        "splits": ["Splits", "hold_out"],
        "stories": ["babi", "babi_mix", "simulator"],
    },
)
