"""How tests run a tiny model quickest."""

import keras

# On TensorFlow XLA takes longer to compile than a test lasts; on JAX nothing is slower than no XLA.
JIT = keras.backend.backend() == "jax"
