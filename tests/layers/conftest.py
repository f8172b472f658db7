import pytest


@pytest.fixture
def singles():
    """Layers are made in float32, as they are by default."""


@pytest.fixture
def halves():
    """Layers are made in mixed half precision, unless they have a type of their own."""
    import keras

    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    yield
    keras.config.set_dtype_policy(policy)


@pytest.fixture
def doubles():
    """Layers are made in float64."""
    # Here, since a controller of workers imports this file too.
    import keras

    if keras.backend.backend() == "jax":
        pytest.skip("JAX has no float64 by default")
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    yield
    keras.config.set_dtype_policy(policy)
