"""Augmentation of training examples, such as renamed entities and shuffled sentences."""

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
