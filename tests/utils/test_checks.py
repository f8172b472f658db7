import numpy as np
import pytest

from keras_corefmem.utils.checks import check_sizes


@pytest.mark.parametrize("size", [0, -1, 1.0, "2", None, True])
def test_what_is_no_size(size):
    with pytest.raises(ValueError, match=f"^hops must be an integer of at least 1, got {size!r}"):
        check_sizes(units=4, hops=size)


def test_sizes_have_a_bound_of_their_own():
    check_sizes(units=np.int32(1), layers=3)
    check_sizes(0, passes=0)
    with pytest.raises(ValueError, match="units must be .* at least 2 for mage_gru, got 1"):
        check_sizes(2, " for mage_gru", units=1)
