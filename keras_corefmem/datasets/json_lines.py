"""Data sets of your own: files of JSON lines, of which parts are held out."""

import itertools
import operator

from keras_corefmem.datasets.conversion import as_examples, iterate
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.datasets.splits import Splits, hold_out
from keras_corefmem.text.tokenizers import SENTENCE_ENDS
from keras_corefmem.utils.files import Path

# Share of the texts that is held out for validation, and again for testing.
SHARE = 0.1


def has_sentences(path: Path) -> bool:
    """Returns whether the first example of a file is a single sentence."""
    return isinstance(next(iterate(path)), Sentence)


def load(path: Path, valid: Path | None = None) -> Splits:
    """Loads a file of JSON lines, see `as_examples`.

    Questions about the same passage, or the same story as it goes on, stay in one part.

    Args:
        path: the file. A tenth of its texts is held out as `test`.
        valid: another file, to validate on; without one, another tenth is held out.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a line is broken or of another kind than the first, or there are too few
            texts.
    """
    examples = as_examples(path)
    held = [] if valid is None else as_examples(valid)
    _check_kinds([*examples, *held])
    train, test = _hold_out(examples, path)
    if valid is None:
        train, held = _hold_out(train, path)
    return Splits(train, held, test)


def _check_kinds(examples):
    first = examples[0]
    for example in examples:
        if (kind := _kind(example)) != _kind(first):
            raise ValueError(
                f"{example.source} is {kind}, but {first.source} is {_kind(first)}: give files of "
                "one kind."
            )


def _kind(example):
    if not isinstance(example, Sentence):
        return "a question"
    return f"a sentence with {'a label' if isinstance(example.answer, str) else 'tags'}"


def _hold_out(examples, path):
    if isinstance(examples[0], Sentence):
        groups = [" ".join(sentence.words) for sentence in examples]
    else:
        groups = _stories(examples)
    count = max(1, round(SHARE * len(set(groups))))
    return hold_out(examples, count, groups=groups, source=path)


def _stories(examples):
    """Returns the words of the shortest passage with whose sentences each example's begins."""
    # Rows may cut one passage into sentences in several ways.
    passages = {e.passage: (tuple(e.passage.split()), e.sentences) for e in examples}
    stories, story = {}, ()
    for passage, (words, sentences) in sorted(passages.items(), key=operator.itemgetter(1)):
        if not story or words[: len(story)] != story or not _ends(story, sentences):
            story = words
        stories[passage] = story
    return [stories[example.passage] for example in examples]


def _ends(story, sentences):
    """Returns whether a sentence ends with the words that begin a passage of some sentences."""
    lengths = itertools.accumulate(len(sentence.split()) for sentence in sentences)
    return story[-1].endswith(SENTENCE_ENDS) or len(story) in lengths
