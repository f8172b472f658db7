"""Callbacks that show in TensorBoard how a model learns. They need no TensorFlow."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "questions": [
            *(
                "AnswerAfterSentence",
                "AnswerFromOneReading",
                "AnswerTable",
                "AttentionPictures",
                "EdgeAttention",
                "HeadPictures",
            ),
            *("LabelTable", "Questions", "SentencePictures", "WordPictures"),
        ],
        "run": ["HParams", "Scalars"],
        "word_projector": ["WordProjector"],
    },
)
