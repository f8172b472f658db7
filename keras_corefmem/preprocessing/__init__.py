"""Preprocessing of examples and raw text into batches of features, and decoding of answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "encoding.answers": ["best_answer", "best_sequences", "best_tags"],
        "augmentation": [
            *("AugmentKinds", "LengthenStories", "RemoveEvidence", "RenameEntities"),
            *("ShuffleSentences", "UnseenEntities", "augmentations"),
        ],
        "batching.batches": ["Batches", "common_lengths", "length_buckets"],
        "candidate_preprocessor": ["CandidatePreprocessor"],
        "encoding.features": ["pad"],
        "fitting": ["fit_preprocessor", "get"],
        "language_preprocessor": ["LanguagePreprocessor", "as_text"],
        "preprocessor": ["UNKNOWN_ANSWER", "Preprocessor", "count_words"],
        "reader_preprocessor": ["ReaderPreprocessor"],
        "batching.record_batches": ["stream"],
        "batching.sentence_batches": ["SentenceBatches"],
        "sentence_preprocessor": ["SentencePreprocessor"],
        "story_preprocessor": ["StoryPreprocessor"],
        "batching.tf_data": ["tensorflow_dataset"],
        "window_preprocessor": ["WindowPreprocessor"],
    },
)
