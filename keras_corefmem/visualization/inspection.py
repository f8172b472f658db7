"""What a model answers and where it looks, ready to be drawn or printed."""

import operator

import numpy as np

from keras_corefmem.datasets.annotated import AnnotatedExample
from keras_corefmem.preprocessing.answers import answers_of, best_answer, best_tags
from keras_corefmem.preprocessing.passage_preprocessor import tokens_of
from keras_corefmem.preprocessing.preprocessor import UNKNOWN_ANSWER
from keras_corefmem.visualization.pictures import BAD, GOOD, INK

# Questions are asked in batches of one shape, so that XLA compiles once.
ROWS = 16


def batch(examples, preprocessor):
    """Encoded examples, and their features in full batches of `ROWS`."""
    encoded = [preprocessor.encode(example) for example in examples]
    longest = max(map(preprocessor.length, encoded))
    longest_question = max(len(example.question) for example in encoded)
    rows, multiple = -(-len(encoded) // ROWS) * ROWS, preprocessor.MULTIPLE
    features = preprocessor.collate(
        encoded, rows, -(-longest // multiple) * multiple, -(-longest_question // 8) * 8
    )
    parts = [
        {name: value[start : start + ROWS] for name, value in features.items()}
        for start in range(0, rows, ROWS)
    ]
    return encoded, features, parts


def ask(examples, preprocessor, inspect):
    """Asks a model.

    Args:
        examples: list of `Example`.
        preprocessor: the model's preprocessor.
        inspect: function from features to logits `(batch, answers)` and attention `(batch, …)`, or
            `None` for the attention of a model that has none.

    Returns:
        Features, logits and attention (or `None`), as arrays over all examples.
    """
    encoded, features, parts = batch(examples, preprocessor)
    results = [inspect(part) for part in parts]
    logits, attention = (
        None if parts[0] is None else np.concatenate(parts)[: len(encoded)]
        for parts in zip(*results, strict=True)
    )
    return features, logits, attention


def known_answers(example, preprocessor):
    """The answers by number to an example."""
    return answers_of(preprocessor.encode(example), preprocessor)


def heading(example, logits, answers):
    """What a model answers, as coloured pieces of a line.

    Args:
        example: the `Example`; where its answer is `UNKNOWN_ANSWER`, nothing is right or wrong.
        logits: the model's logits.
        answers: the answers.
    """
    best, probability = best_answer(logits, answers)
    verdict = f"{best} {probability:.0%}"
    if example.answer == UNKNOWN_ANSWER:
        return [(verdict, INK)]
    if best == example.answer:
        return [(f"✓ {verdict}", GOOD)]
    return [(f"✗ {verdict}", BAD), (f"right: {example.answer}", INK)]


def token_views(examples, preprocessor, inspect):
    """The arguments of `draw_attention` for each example: passage, attention, chains, answer.

    Arguments as in `ask`; the attention is `(batch, time)`.
    """
    features, logits, attention = ask(examples, preprocessor, inspect)
    for n, example in enumerate(examples):
        annotated = isinstance(example, AnnotatedExample)
        tokenize = operator.methodcaller("split", " ") if annotated else preprocessor.tokenizer
        sentences = [tokenize(sentence) for sentence in example.sentences]
        question = tokenize(example.question)
        length = sum(map(len, sentences))
        # Apart, the two number their chains on their own.
        shared = features["question_chains"][n, : len(question)] * preprocessor.joint
        yield {
            "sentences": sentences,
            "attention": attention[n, :length],
            "chains": features["passage_chains"][n, :length],
            "question": question,
            "question_chains": shared,
            "heading": heading(example, logits[n], known_answers(example, preprocessor)),
            "supporting_facts": example.supporting_facts,
        }


def head_views(examples, preprocessor, look):
    """The arguments of `draw_heads` for each example: its words, and what each head attends to.

    Args:
        examples: list of `Example`.
        preprocessor: a `PassagePreprocessor`.
        look: function from features to a dictionary of attention `(batch, time, time)` by signal.
    """
    encoded, _, parts = batch(examples, preprocessor)
    shown = [look(part) for part in parts]
    for n, (example, row) in enumerate(zip(examples, encoded, strict=True)):
        words, heads = tokens_of(example, example.passage, preprocessor.tokenizer), []
        for signal in shown[0]:
            targets = np.zeros((len(words), len(words)), bool)
            for target in row.targets.get(signal, ()):
                targets[tuple(target - 1)] = True
            attention = shown[n // ROWS][signal][n % ROWS, : len(words), : len(words)]
            heads.append((signal, attention, targets))
        yield {"words": words, "heads": heads}


def sentence_views(examples, preprocessor, inspect, columns):
    """The arguments of `draw_columns` for each example: sentences, what is made of them, answer.

    A row beyond the sentences is the fact that ends the reading.

    Args:
        examples: list of `Example`.
        preprocessor: a preprocessor with the feature `sentences`.
        inspect: as in `ask`; the attention is `(batch, sentences, columns)`.
        columns: names of the columns.
    """
    features, logits, attention = ask(examples, preprocessor, inspect)
    for n, example in enumerate(examples):
        rows = features["sentences"][n]
        rows = rows[np.any(rows, axis=-1)]
        sentences, facts = sentences_read(example, rows, preprocessor)
        end = attention[n, features["sentences"].shape[1] :]
        yield {
            "sentences": [*sentences, *["(end of passes)"] * len(end)],
            "values": np.concatenate([attention[n, : len(rows)], end]),
            "columns": columns,
            "question": example.question,
            "heading": heading(example, logits[n], known_answers(example, preprocessor)),
            "supporting_facts": facts,
        }


def word_views(sentences, preprocessor, inspect):
    """The arguments of `draw_columns` for each sentence: words, passes over them, label.

    Of a tagger, a row is a word with its tag, and a column a word that its last pass looks at.

    Args:
        sentences: list of `Sentence`.
        preprocessor: a `SentencePreprocessor`.
        inspect: as in `ask`; the attention is `(batch, words, passes)`, for tags `(batch, words,
            facts, passes)`, or `None`.
    """
    _, logits, attention = ask(sentences, preprocessor, inspect)
    for n, sentence in enumerate(sentences):
        words, answers = list(sentence.words), preprocessor.answers
        values = np.zeros((len(words), 0)) if attention is None else attention[n, : len(words)]
        columns = [f"pass {k}" for k in range(1, values.shape[-1] + 1)]
        if preprocessor.tags:
            tags, _ = best_tags(logits[n, : len(words)], answers)
            said = tags_heading(sentence, tags)
            if columns:
                values, columns = values[:, : len(words), -1], words
            words = [f"{word} {tag}" for word, tag in zip(words, tags, strict=True)]
        else:
            said = heading(sentence, logits[n], answers)
        yield {
            "sentences": words,
            "values": values,
            "columns": columns,
            "question": " ".join(sentence.words),
            "heading": said,
        }


def tags_heading(sentence, tags):
    """How many tags are right, as coloured pieces of a line; nothing where they are unknown."""
    if UNKNOWN_ANSWER in sentence.answer:
        return []
    pairs = zip(sentence.words, tags, sentence.answer, strict=True)
    wrong = [f"{word} {tag}, right: {right}" for word, tag, right in pairs if tag != right]
    count = len(tags)
    return [
        (f"{count - len(wrong)} of {count} tags right", BAD if wrong else GOOD),
        *((text, INK) for text in wrong),
    ]


def sentences_read(example, rows, preprocessor):
    """The text of each row that a model reads, and which rows are supporting facts.

    Args:
        example: an `Example`.
        rows: its token ids `(sentences, words)`, padded with 0.
        preprocessor: what made them.

    Returns:
        The last sentences of the passage where they are what is read, otherwise the words of the
        rows and no facts.
    """
    encode, width = preprocessor.vocabulary.encode, rows.shape[1]
    dropped = len(example.sentences) - len(rows)
    sentences = example.sentences[max(dropped, 0) :]
    read = [row[row != 0] for row in rows]
    ids = [preprocessor.without_ends(encode(preprocessor.tokenizer(s)))[:width] for s in sentences]
    ids = [row[row != 0] for row in ids]
    if len(ids) == len(read) and all(map(np.array_equal, ids, read)):
        return sentences, [fact - dropped for fact in example.supporting_facts if fact > dropped]
    return [" ".join(preprocessor.vocabulary.decode(row)) for row in read], []
