"""What to look at in TensorBoard while a reader learns. Needs no TensorFlow."""

import dataclasses
import pathlib
import time

import keras
import numpy as np

from keras_corefmem.events import EventFile
from keras_corefmem.pictures import BAD, GOOD, INK, draw_attention, draw_columns

# TensorBoard keeps ten pictures of a tag.
EPOCHS = (0, 1, 2, 4, 8, 16, 32, 64)
# Questions are asked in batches of one shape, so that XLA compiles once.
ROWS = 16


class Scalars(keras.callbacks.Callback):
    """Loss, metrics, learning rate and speed of every epoch.

    Training and validation become the runs `train` and `validation` under the tags that
    `keras.callbacks.TensorBoard` uses, `epoch_loss`, `epoch_accuracy`, `epoch_learning_rate`, so
    that both share a chart.

    Args:
        log_dir: folder of the run.
        examples: number of training examples; adds `epoch_examples_per_second`.
    """

    def __init__(self, log_dir, examples=None):
        super().__init__()
        self.train, self.validation = (
            EventFile(pathlib.Path(log_dir) / run) for run in ("train", "validation")
        )
        self.examples = examples

    def on_epoch_begin(self, epoch, logs=None):
        self.started, self.seconds = time.perf_counter(), None

    def on_test_begin(self, logs=None):
        if self.seconds is None:
            self.seconds = time.perf_counter() - self.started

    def on_epoch_end(self, epoch, logs=None):
        self.on_test_begin()
        logs = {name: float(value) for name, value in (logs or {}).items()}
        values = {k: v for k, v in logs.items() if not k.startswith("val_")}
        values["learning_rate"] = float(self.model.optimizer.learning_rate)
        if self.examples:
            values["examples_per_second"] = self.examples / self.seconds
        self.train.scalars(epoch, {f"epoch_{name}": v for name, v in values.items()})
        values = {k[4:]: v for k, v in logs.items() if k.startswith("val_")}
        if values:
            self.validation.scalars(epoch, {f"epoch_{name}": v for name, v in values.items()})


class Questions(keras.callbacks.Callback):
    """Base of the callbacks that ask a few questions again and again.

    Subclasses define `write(step)`, called at the end of the chosen epochs and of training. What it
    writes belongs to the run `validation`.

    Args:
        log_dir: folder of the run.
        examples: list of `Example`; some of them are asked.
        preprocessor: the reader's `Preprocessor`.
        inspect: function from features, as `Preprocessor.features` makes them, to logits `(batch,
            answers)` and attention over the passage `(batch, time)`.
        count: number of questions to ask, from short to long passages.
        epochs: a number n for every n-th epoch, or a collection of epochs, counted from 0.
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, count=4, epochs=EPOCHS):
        super().__init__()
        if not examples or count < 1:
            raise ValueError(f"Give at least one example to ask, got {len(examples)} and {count=}.")
        if isinstance(epochs, int) and epochs < 1:
            raise ValueError(f"epochs must be a positive number or a collection, got {epochs}.")
        self.events = EventFile(pathlib.Path(log_dir) / "validation")
        by_length = sorted(examples, key=lambda example: len(example.sentences))
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
        """Features, probabilities and attention of examples, as arrays over all of them."""
        encoded = [self.preprocessor.encode(example) for example in examples]
        longest = max(map(self.preprocessor.length, encoded))
        longest_question = max(len(example.question) for example in encoded)
        rows, multiple = -(-len(encoded) // ROWS) * ROWS, self.preprocessor.MULTIPLE
        features = self.preprocessor.collate(
            encoded, rows, -(-longest // multiple) * multiple, -(-longest_question // 8) * 8
        )
        results = [
            self.inspect({name: value[start : start + ROWS] for name, value in features.items()})
            for start in range(0, rows, ROWS)
        ]
        logits, attention = (
            np.concatenate(arrays)[: len(encoded)] for arrays in zip(*results, strict=True)
        )
        odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return features, odds / odds.sum(axis=-1, keepdims=True), attention

    def heading(self, example, probabilities):
        """What the reader answers, as coloured pieces of a line."""
        best = int(np.argmax(probabilities))
        predicted = self.preprocessor.answers[best]
        right = predicted == example.answer
        verdict = f"{'✓' if right else '✗'} {predicted} {probabilities[best]:.0%}"
        rest = "" if right else f"right: {example.answer}"
        return [(verdict, GOOD if right else BAD), (rest, INK)]


class AttentionPictures(Questions):
    """Pictures `attention/n`: the passage shaded by the reader's attention.

    Tokens of one coreference chain are underlined in one colour, in the question too where question
    and passage are one sequence; supporting facts are marked. Arguments as in `Questions`.
    """

    def write(self, step):
        features, probabilities, attention = self.ask(self.examples)
        tokenize = self.preprocessor.tokenizer
        for n, example in enumerate(self.examples):
            sentences = [tokenize(sentence) for sentence in example.sentences]
            question = tokenize(example.question)
            length = sum(map(len, sentences))
            png = draw_attention(
                sentences,
                attention[n, :length],
                features["passage_chains"][n, :length],
                question,
                features["question_chains"][n, : len(question)],
                self.heading(example, probabilities[n]),
                example.supporting_facts,
            )
            self.events.image(step, f"attention/{n + 1}", png)


class SentencePictures(Questions):
    """Pictures `attention/n`: what a model makes of every sentence, slot by slot or pass by pass.

    Arguments as in `Questions`; the attention that `inspect` gives is `(batch, sentences, columns)`
    and belongs to the last sentences of the passage.

    Args:
        column: what a column is: `"slot"`, `"pass"`.

    References: Figure 2 of [Madotto and Attardi, 2017](https://arxiv.org/abs/1707.07922); Table 5
    of [Kumar et al., ICML 2016](https://arxiv.org/abs/1506.07285).
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, column, **kwargs):
        super().__init__(log_dir, examples, preprocessor, inspect, **kwargs)
        self.column = column

    def texts(self, example, rows):
        """Strings of an example that `rows` `(count, words)` are the ids of."""
        return example.sentences[len(example.sentences) - len(rows) :]

    def write(self, step):
        features, probabilities, attention = self.ask(self.examples)
        counts = np.sum(np.any(features["sentences"], axis=-1), axis=-1)
        for n, (example, count) in enumerate(zip(self.examples, counts, strict=False)):
            dropped = len(example.sentences) - count
            png = draw_columns(
                self.texts(example, features["sentences"][n, :count]),
                attention[n, :count],
                [f"{self.column} {number}" for number in range(1, attention.shape[-1] + 1)],
                example.question,
                self.heading(example, probabilities[n]),
                [fact - dropped for fact in example.supporting_facts],
            )
            self.events.image(step, f"attention/{n + 1}", png)


class WindowPictures(SentencePictures):
    """Pictures `attention/n` as of `SentencePictures`, of windows: the words that are read."""

    def texts(self, example, rows):
        return [" ".join(self.preprocessor.vocabulary.decode(row[row > 0])) for row in rows]


class AnswerAfterSentence(Questions):
    """Pictures `answer_after_sentence/n`: the answer as the story is told.

    The reader answers the question after the first sentence, after the second, and so on. Arguments
    as in `Questions`, `count=2` by default.

    Reference: Figure 4 of [Dhingra et al., 2017](https://arxiv.org/abs/1703.02620).
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, count=2, epochs=EPOCHS):
        super().__init__(log_dir, examples, preprocessor, inspect, count, epochs)

    def distributions(self, example):
        """Probabilities `(sentences, answers)` of the answers after each sentence."""
        told = [
            dataclasses.replace(example, sentences=example.sentences[:n], supporting_facts=())
            for n in range(1, len(example.sentences) + 1)
        ]
        return self.ask(told)[1]

    def write(self, step):
        for n, example in enumerate(self.examples, 1):
            probabilities = self.distributions(example)
            png = draw_columns(
                example.sentences,
                probabilities[:, 1:],
                self.preprocessor.answers[1:],
                example.question,
                self.heading(example, probabilities[-1]),
                example.supporting_facts,
                example.answer,
            )
            self.events.image(step, f"answer_after_sentence/{n}", png)


class AnswerTable(Questions):
    """Text `answers`: a table of questions with the right and the reader's answer.

    Arguments as in `Questions`, `count=16` by default.
    """

    def __init__(self, log_dir, examples, preprocessor, inspect, count=16, epochs=EPOCHS):
        super().__init__(log_dir, examples, preprocessor, inspect, count, epochs)

    def write(self, step):
        probabilities = self.ask(self.examples)[1]
        best = probabilities.argmax(axis=-1)
        lines = ["| | question | answer | predicted | probability |", "|---|---|---|---|---:|"]
        for example, row, n in zip(self.examples, probabilities, best, strict=True):
            predicted = self.preprocessor.answers[n]
            sign = "✓" if predicted == example.answer else "✗"
            cells = sign, example.question, example.answer, predicted, f"{row[n]:.0%}"
            lines.append("|".join(["", *(cell.replace("|", "\\|") for cell in cells), ""]))
        self.events.text(step, "answers", "\n".join(lines))
