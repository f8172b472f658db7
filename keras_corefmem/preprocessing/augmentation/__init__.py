"""Augmentation: training examples with entities renamed, or sentences in another order."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "choices": ["AugmentKinds", "augmentations"],
        "evidence": ["RemoveEvidence"],
        "longer": ["LengthenStories"],
        "renaming": ["RenameEntities"],
        "shuffling": ["ShuffleSentences"],
        "unseen": ["UnseenEntities"],
    },
)
