"""Pictures as arrays."""

import io

import numpy as np
from matplotlib.image import imread


def pixels(png):
    """An array `(height, width, 3)`; fails where something touches the border of the page."""
    picture = imread(io.BytesIO(png))[..., :3]
    border = (picture[:2], picture[-2:], picture[:, :2], picture[:, -2:])
    assert all(np.all(edge == 1) for edge in border)
    return picture
