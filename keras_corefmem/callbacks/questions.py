"""A few questions, asked again and again while a reader learns."""

import dataclasses
import pathlib

import keras
import numpy as np

from keras_corefmem.callbacks.events import EventFile
from keras_corefmem.preprocessing.answers import best_answer
from keras_corefmem.visualization.head_pictures import draw_heads
from keras_corefmem.visualization.inspection import (
    ask,
    head_views,
    heading,
    known_answers,
    sentence_views,
    token_views,
    word_views,
)
from keras_corefmem.visualization.pictures import WIDE, draw_attention, draw_columns

# TensorBoard keeps ten pictures of a tag.
EPOCHS = (0, 1, 2, 4, 8, 16, 32, 64)


class Questions(keras.callbacks.Callback):
    """Base of the callbacks that ask a few questions again and again.

    Subclasses define `write(step)`, called at the end of the chosen epochs and of training. What it
    writes belongs to the run `validation`.

    Args:
        log_dir: folder of the run.
        examples: list of `Example` or `Sentence`; some of them are asked.
        preprocessor: the model's preprocessor.
        inspect: function from features, as `Preprocessor.features` makes them, to logits `(batch,
            answers)` and attention over the passage `(batch, time)`, or `None` in its place.
        count: number of questions to ask, from short to long texts.
        epochs: a number n for every n-th epoch, or a collection of epochs, counted from 0.
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, count=4, epochs=EPOCHS):
        super().__init__()
        if not examples or count < 1:
            raise ValueError(f"Give at least one example to ask, got {len(examples)} and {count=}.")
        if isinstance(epochs, int) and epochs < 1:
            raise ValueError(f"epochs must be a positive number or a collection, got {epochs}.")
        self.events = EventFile(pathlib.Path(log_dir) / "validation")
        by_length = sorted(examples, key=lambda e: preprocessor.length(preprocessor.encode(e)))
        count = min(count, len(examples))
        self.examples = [
            by_length[(2 * n + 1) * len(examples) // (2 * count)] for n in range(count)
        ]
        self.preprocessor, self.inspect, self.epochs = preprocessor, inspect, epochs
        self.epoch = self.last_written = None

    def on_epoch_end(self, epoch, logs=None):
        self.epoch = epoch
        every = self.epochs
        if epoch % every == 0 if isinstance(every, int) else epoch in every:
            self._write_once(epoch)

    def on_train_end(self, logs=None):
        self._write_once(self.epoch)

    def _write_once(self, epoch):
        if epoch != self.last_written:
            self.write(epoch)
            self.last_written = epoch

    def ask(self, examples):
        """Features, logits and attention of examples, see `visualization.inspection`."""
        return ask(examples, self.preprocessor, self.inspect)

    def pictures(self, step, tag, pngs):
        """Writes pictures under the tags `questions/tag/1`, `questions/tag/2`, …"""
        for n, png in enumerate(pngs, 1):
            # TensorBoard opens with the first two groups of tags, which so are accuracy and loss.
            self.events.image(step, f"questions/{tag}/{n}", png)


class AttentionPictures(Questions):
    """Pictures `questions/attention/n`: the passage shaded by the reader's attention.

    Tokens of one coreference chain are underlined in one colour, in the question too where question
    and passage are one sequence; supporting facts are marked. Arguments as in `Questions`.
    """

    def write(self, step):
        views = token_views(self.examples, self.preprocessor, self.inspect)
        self.pictures(step, "attention", (draw_attention(**view) for view in views))


class HeadPictures(Questions):
    """Pictures `questions/heads/n`: what each supervised head attends to, beside its targets.

    Rows of a heat map are the tokens of a passage, columns what they attend to. Arguments as in
    `Questions`, `count=2` by default.

    Args:
        look: in place of `inspect`, a function from features to the attention of heads `(batch,
            time, time)` by signal: `model.look`.
    """

    def __init__(self, log_dir, examples, preprocessor, look, count=2, epochs=EPOCHS):
        super().__init__(log_dir, examples, preprocessor, look, count, epochs)

    def write(self, step):
        views = head_views(self.examples, self.preprocessor, self.inspect)
        self.pictures(step, "heads", (draw_heads(**view) for view in views))


class SentencePictures(Questions):
    """Pictures `questions/attention/n`: what slots or passes of a model make of sentences.

    Every sentence is a row and every slot or pass a column, the darker the further it opens; the
    question stands above. Arguments as in `Questions`; the attention that `inspect` gives is
    `(batch, sentences, columns)` and belongs to the last sentences of the passage.

    Args:
        columns: function to the names of the columns, called for every picture, since what a slot
            stands for changes: `model.columns`.

    References: Figure 2 of [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922), with rows
    and columns exchanged; Table 5 of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, columns, **kwargs):
        super().__init__(log_dir, examples, preprocessor, inspect, **kwargs)
        self.columns = columns

    def write(self, step):
        views = sentence_views(self.examples, self.preprocessor, self.inspect, self.columns())
        self.pictures(step, "attention", (draw_columns(**view) for view in views))


class WordPictures(Questions):
    """Pictures `questions/attention/n`: what passes of a model of sentences make of words.

    Every word is a row and every pass a column; of a tagger, a column is a word that the last pass
    looks at. Arguments as in `Questions`.

    Reference: Figures 4 and 5 of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).
    """

    def write(self, step):
        views = word_views(self.examples, self.preprocessor, self.inspect)
        self.pictures(step, "attention", (draw_columns(**view) for view in views))


class AnswerAfterSentence(Questions):
    """Pictures `questions/answer_after_sentence/n`: the answer as the story is told.

    The reader answers the question after the first sentence, after the second, and so on. Made for
    answers that are classes. Arguments as in `Questions`, `count=2` by default.

    Reference: Figure 4 of [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620).
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, count=2, epochs=EPOCHS):
        super().__init__(log_dir, examples, preprocessor, inspect, count, epochs)

    def distributions(self, example):
        """Logits `(sentences, answers)`, and the probabilities of answers, after each sentence."""
        told = [
            dataclasses.replace(example, sentences=example.sentences[:n], supporting_facts=())
            for n in range(1, len(example.sentences) + 1)
        ]
        logits = self.ask(told)[1]
        odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return logits, odds / odds.sum(axis=-1, keepdims=True)

    def write(self, step):
        self.pictures(step, "answer_after_sentence", map(self.draw, self.examples))

    def draw(self, example):
        """The picture of one example."""
        logits, probabilities = self.distributions(example)
        answers = self.preprocessor.answers
        return draw_columns(
            example.sentences,
            probabilities[:, 1:],
            answers[1:],
            example.question,
            heading(example, logits[-1], answers),
            example.supporting_facts,
            right=example.answer,
            top=WIDE,
        )


class AnswerTable(Questions):
    """Text `answers`: a table of questions with the right and the reader's answer.

    Arguments as in `Questions`, `count=16` by default.
    """

    # Heading of the column of `text`.
    ASKED = "question"

    def __init__(self, log_dir, examples, preprocessor, inspect, count=16, epochs=EPOCHS):
        super().__init__(log_dir, examples, preprocessor, inspect, count, epochs)

    def write(self, step):
        lines = [f"| | {self.ASKED} | answer | predicted | probability |", "|---|---|---|---|---:|"]
        for example, logits in zip(self.examples, self.ask(self.examples)[1], strict=True):
            predicted, probability = best_answer(logits, known_answers(example, self.preprocessor))
            sign = "✓" if predicted == example.answer else "✗"
            cells = sign, self.text(example), example.answer, predicted, f"{probability:.0%}"
            lines.append("|".join(["", *(cell.replace("|", "\\|") for cell in cells), ""]))
        self.events.text(step, "answers", "\n".join(lines))

    def text(self, example):
        """What stands for an example in the table."""
        return example.question


class LabelTable(AnswerTable):
    """The same of single sentences: text `answers`, a table of sentences and their labels."""

    ASKED = "sentence"

    def text(self, example):
        return " ".join(example.words)
