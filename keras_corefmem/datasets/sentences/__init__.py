"""Labelled and tagged sentences: SST, Universal Dependencies and the Penn Treebank."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["pos", "sst"],
    submod_attrs={"sentence": ["Sentence", "hold_out_sentences"]},
)
