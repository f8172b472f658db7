"""Inside a SavedModel: the features of passages that hold their own answers."""

from keras_corefmem.preprocessing.attention_targets import sentence_numbers, target_name
from keras_corefmem.text.tokenizers import SENTENCE_ENDS
from zoo.serving.graph_numpy import GraphNumpy


def passage_features(preprocessor, tables, names, passage, question):
    """Features of tokens, as `PassagePreprocessor.collate` makes them for text without annotation.

    Args:
        preprocessor: a `PassagePreprocessor`.
        tables: tables that look up words and, where words are spelt, characters.
        names: names of the features.
        passage: ragged string tensor `(batch, time)`.
        question: the same.

    Returns:
        Dictionary of features.
    """
    import tensorflow as tf

    from zoo.serving.vocabulary import look_up

    xp, vocabulary = GraphNumpy(), preprocessor.vocabulary
    parts = {"passage": passage, "question": question}
    result = {
        name: tokens.with_values(look_up(tables[0], vocabulary, tokens.values)).to_tensor()
        for name, tokens in parts.items()
    }
    entities = {name: xp.take(preprocessor.entities, ids) for name, ids in result.items()}
    result |= preprocessor.links(entities, names, xp)
    numbers = candidate_numbers(preprocessor, passage.to_tensor())
    result["candidates"] = numbers
    if preprocessor.spans:
        one_hot = tf.one_hot(numbers, len(preprocessor.answers), on_value=True, off_value=False)
        result["candidates"] = one_hot & (numbers > 0)[..., None]
    if "passage_asked" in names:
        same = result["passage"][:, :, None] == result["question"][:, None]
        asked = 2 - tf.cast(tf.reduce_any(same, axis=-1), "int32")
        result["passage_asked"] = tf.where(result["passage"] == 0, 0, asked)
    if "passage_sentences" in names:
        words = passage.to_tensor()
        ends = tf.reduce_any(words[..., None] == tf.constant(SENTENCE_ENDS), axis=-1)
        result["passage_sentences"] = tf.where(words == "", 0, sentence_numbers(ends, xp))
    batch, time = tf.unstack(tf.shape(result["passage"]))
    for signal, room in preprocessor.signals.items():
        # Text as it is says nothing of its structure, and no answer depends on it.
        result[target_name(signal)] = tf.zeros([batch, room * time, 2], "int32")
    if preprocessor.spells:
        for name, tokens in parts.items():
            letters = tf.strings.unicode_split(tokens.values, "UTF-8")
            spelt = letters.with_values(tables[1].lookup(letters.values))
            width = preprocessor.word_length
            spelt = spelt[:, :width].to_tensor(shape=(None, width))
            result[f"{name}_characters"] = tokens.with_values(spelt).to_tensor()
    return {name: result[name] for name in names}


def candidate_numbers(preprocessor, words):
    """Number of the candidate that each word is, in the order of their first occurrence.

    Args:
        preprocessor: a `PassagePreprocessor`.
        words: string tensor `(batch, time)`, padded with empty strings.

    Returns:
        int32 `(batch, time)`, 0 for punctuation.
    """
    import tensorflow as tf

    from keras_corefmem.datasets.passages.candidates import WORD
    from keras_corefmem.graphs import chain_ids

    # Words are told apart by their hashes; vocabularies lack too many of them.
    hashes = 1 + tf.strings.to_hash_bucket_fast(words, 2**62)
    is_word = tf.strings.regex_full_match(words, f".*{WORD}.*")
    entities, most = tf.where(is_word, hashes, 0), len(preprocessor.answers) - 1
    return tf.cast(chain_ids(entities, most, GraphNumpy(), singletons=True), "int32")


def passage_answers(preprocessor, passage):
    """Text of each answer by number.

    Args:
        preprocessor: a `PassagePreprocessor`.
        passage: ragged string tensor `(batch, time)`.

    Returns:
        Strings `(batch, answers)`, empty where a passage has fewer.
    """
    import tensorflow as tf

    words = passage.to_tensor()
    numbers = candidate_numbers(preprocessor, words)
    mentions = numbers[:, None] == tf.range(len(preprocessor.answers))[:, None]
    mentions &= numbers[:, None] > 0
    first = tf.gather(words, tf.argmax(mentions, axis=-1), batch_dims=1)
    return tf.where(tf.reduce_any(mentions, axis=-1), first, "")
