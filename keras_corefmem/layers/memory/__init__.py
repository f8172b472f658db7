"""Entity memory, episodic memory, end-to-end memory and query reduction."""

from keras_corefmem.layers.memory.end_to_end_memory import EndToEndMemory
from keras_corefmem.layers.memory.entity_memory import EntityMemory, EntityMemoryCell, EntityOutput
from keras_corefmem.layers.memory.episodic_memory import EpisodicMemory
from keras_corefmem.layers.memory.query_reduction import QueryReduction, QueryReductionCell
from keras_corefmem.layers.memory.word_memory import WordMemory

__all__ = ["EndToEndMemory", "EntityMemory", "EntityMemoryCell", "EntityOutput", "EpisodicMemory"]
__all__ += ["QueryReduction", "QueryReductionCell", "WordMemory"]
