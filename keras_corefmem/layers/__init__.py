"""Recurrent cells, memories, attention and answer heads, on TensorFlow and JAX."""

from keras_corefmem.layers import attention, core, embedding, heads, kernels, memory, rnn
from keras_corefmem.layers.attention import *  # noqa: F403
from keras_corefmem.layers.core import *  # noqa: F403
from keras_corefmem.layers.embedding import *  # noqa: F403
from keras_corefmem.layers.heads import *  # noqa: F403
from keras_corefmem.layers.kernels import *  # noqa: F403
from keras_corefmem.layers.memory import *  # noqa: F403
from keras_corefmem.layers.rnn import *  # noqa: F403
from keras_corefmem.utils.deprecation import renamed_names

__all__ = [
    *(*attention.__all__, *core.__all__, *embedding.__all__, *heads.__all__),
    *(*kernels.__all__, *memory.__all__, *rnn.__all__),
]


__getattr__ = renamed_names(__name__, hit_rate="attention_mass")
