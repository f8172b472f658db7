"""Questions about real text: CNN, CBT, LAMBADA, WikiHop and passages of novels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules=["cbt", "cnn", "lambada", "lambada_kinds", "novels", "wikihop"]
)
