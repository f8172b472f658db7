"""The trained word vectors of a run."""

import functools
import math
import pathlib

import keras
import numpy as np

from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import replacing

# Pixels of the square that each word is drawn in, instead of a point; a grey that is legible on
# light and dark pages, and that TensorBoard tints; and the limit beyond which words overlap.
CELL, SHADE, MOST_DRAWN = 40, (112, 112, 112, 255), 1000
# The code point after the last letter of Pillow's own font.
NOT_LATIN = "\u0250"


class WordProjector(keras.callbacks.Callback):
    """Writes the trained word vectors for TensorBoard's tab Projector.

    At the end of training, if the model has a layer `word_embedding`, the files `vectors.tsv`,
    `words.tsv` and `projector_config.pbtxt` are written. TensorBoard finds them when it starts, and
    shows them if the folder has an event file too, such as those of `HParams` and `Scalars`. If
    there are at most 1,000 words, all in Latin letters, they are drawn instead of points, from
    `words.png`.

    Args:
        log_dir: folder of the run.
        preprocessor: the model's preprocessor. If words have chains, they can be coloured.
        count: maximum number of words; the most frequent ones are kept.

    Raises:
        ValueError: if `count` is not positive.

    Example:
        >>> def callbacks(model):
        ...     return [keras_corefmem.callbacks.WordProjector("logs/run", model.preprocessor)]
    """

    LAYER = "word_embedding"

    def __init__(self, log_dir, preprocessor, count=10_000):
        super().__init__()
        check_sizes(count=count)
        self.folder = pathlib.Path(log_dir).expanduser()
        self.preprocessor, self.count = preprocessor, count

    def on_train_end(self, logs=None):
        names = [layer.name for layer in self.model.layers]
        if self.LAYER not in names:
            return
        table = self.model.get_layer(self.LAYER).get_weights()[0]
        # Without padding; rank 0 is an unknown word.
        words = [*map(_printable, self.preprocessor.vocabulary.words[1 : 1 + self.count])]
        columns = {"word": words, "rank": range(len(words))}
        chains = self.preprocessor.word_chains
        if chains is not None:
            columns["kind"] = ["entity" if n else "word" for n in chains[1 : 1 + len(words)]]
        rows = ["\t".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        with replacing(self.folder / "words.tsv") as partial:
            partial.write_text("\n".join(["\t".join(columns), *rows]) + "\n", "utf-8")
        with replacing(self.folder / "vectors.tsv") as partial:
            np.savetxt(partial, table[1 : 1 + len(words)], "%.6g", "\t")
        files = 'tensor_path: "vectors.tsv" metadata_path: "words.tsv"'
        if len(words) <= MOST_DRAWN and max(map(max, words)) < NOT_LATIN:
            with replacing(self.folder / "words.png") as partial:
                _draw(words).save(partial, "PNG")
            size = f"single_image_dim: {CELL} single_image_dim: {CELL}"
            files += f' sprite {{ image_path: "words.png" {size} }}'
        with replacing(self.folder / "projector_config.pbtxt") as partial:
            partial.write_text(f'embeddings {{ tensor_name: "{self.LAYER}" {files} }}\n')


def _draw(words):
    """Draws words in a square of cells, row by row."""
    from PIL import Image, ImageDraw, ImageFont

    across, font_of = math.ceil(math.sqrt(len(words))), functools.cache(ImageFont.load_default)
    picture = Image.new("RGBA", (across * CELL, across * CELL))
    for number, word in enumerate(words):
        cell = Image.new("RGBA", (CELL, CELL))
        # As large as fits the cell, but at most half as high.
        size = min(CELL / 2, CELL * (CELL - 4) / font_of(CELL).getlength(word))
        font = font_of(max(4, int(size)))
        ImageDraw.Draw(cell).text((CELL / 2, CELL / 2), word, SHADE, font, "mm")
        row, column = divmod(number, across)
        picture.paste(cell, (column * CELL, row * CELL))
    return picture


def _printable(word):
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in word)
