"""bAbI, bAbI-Mix and a simulator of such stories."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules=["babi", "babi_mix", "simulator"]
)
