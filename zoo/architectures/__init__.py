"""Keras models of the zoo."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "passage.attention_sum_reader": ["AttentionSumReader"],
        "passage.bidaf_reader": ["BiDAFReader"],
        "passage.gated_attention_reader": ["GatedAttentionReader"],
        "sentences.character_language_model": ["CharacterLanguageModel"],
        "sentences.sentence_dynamic_memory_network": ["SentenceDynamicMemoryNetwork"],
        "stories.dynamic_memory_network": ["DynamicMemoryNetwork", "GatesFirst"],
        "stories.end_to_end_memory_network": ["EndToEndMemoryNetwork", "LinearStart"],
        "stories.ngram_classifier": ["NGramClassifier"],
        "stories.query_reduction_network": ["QueryReductionNetwork"],
        "stories.recurrent_entity_network": ["RecurrentEntityNetwork"],
        "stories.recurrent_reader": ["RecurrentReader"],
    },
)
