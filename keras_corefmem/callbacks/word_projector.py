"""The trained word vectors of a run."""

import functools
import math
import pathlib

import keras
import numpy as np

from keras_corefmem.utils.checks import check_sizes
from keras_corefmem.utils.files import replacing

# Pixels of the square that each word is drawn in, instead of a point; a grey that is seen on light
# and dark pages, and that TensorBoard tints; and the most words: more would hide each other.
CELL, SHADE, MOST_DRAWN = 40, (112, 112, 112, 255), 1000
# Behind the last letter that Pillow's own font has.
NOT_LATIN = "\u0250"


class WordProjector(keras.callbacks.Callback):
    """The trained word vectors, in TensorBoard's tab Projector.

    They are written at the end of training, where the model has a layer `word_embedding`, as
    `vectors.tsv`, `words.tsv` and `projector_config.pbtxt`. TensorBoard shows them if the folder
    holds an event file too, as `HParams` and `Scalars` write one, and finds them when it starts.
    Up to 1,000 words, all in Latin letters, are drawn instead of points, from `words.png`.

    Args:
        log_dir: folder of the run.
        preprocessor: the model's preprocessor. The words that it links, if any, can be coloured.
        count: largest number of words; the most frequent ones are kept.

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
        self.folder, self.preprocessor, self.count = pathlib.Path(log_dir), preprocessor, count

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
        # As large as fits, short words no larger than others.
        size = min(CELL / 2, CELL * (CELL - 4) / font_of(CELL).getlength(word))
        font = font_of(max(4, int(size)))
        ImageDraw.Draw(cell).text((CELL / 2, CELL / 2), word, SHADE, font, "mm")
        row, column = divmod(number, across)
        picture.paste(cell, (column * CELL, row * CELL))
    return picture


def _printable(word):
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in word)
