"""Questions about real text: CNN, CBT, Emory, LAMBADA, WikiHop and passages of novels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules=["cbt", "cnn", "emory", "lambada", "lambada_kinds", "novels", "wikihop"]
)
