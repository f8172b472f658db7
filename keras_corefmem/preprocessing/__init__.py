"""Examples and raw text to ids, edges and features, these to batches, and logits to answers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "answers": ["best_answer", "best_sequences", "best_tags"],
        "arrays": ["pad"],
        "batches": ["Batches", "length_buckets"],
        "candidate_preprocessor": ["CandidatePreprocessor", "EncodedCandidates"],
        "fitting": ["count_words", "fit_preprocessor"],
        "loading": ["get"],
        "preprocessor": ["UNKNOWN_ANSWER", "Bucketing", "Preprocessor"],
        "reader_preprocessor": ["Encoded", "ReaderPreprocessor"],
        "record_batches": ["stream"],
        "sentence_batches": ["SentenceBatches"],
        "sentence_preprocessor": ["EncodedSentence", "SentencePreprocessor"],
        "story_preprocessor": ["EncodedStory", "StoryPreprocessor"],
        "tensorflow_dataset": ["tensorflow_dataset"],
        "window_preprocessor": ["WindowPreprocessor"],
    },
)
