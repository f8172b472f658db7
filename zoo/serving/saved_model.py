"""Readers as SavedModels that answer raw strings."""

import functools
import pathlib
import tempfile

from zoo.serving.graph_numpy import GraphNumpy


def export(model, path, top=5):
    """Writes a reader, from text to answer, as a SavedModel.

    Tokenizing, vocabulary, coreference and padding are part of its graph, so that a program which
    imports nothing but `tensorflow` (and `tensorflow_text`, if the reader's tokenizer is
    `"unicode_script"`) gets the answers of `model.read`:

    ```python
    reader = tf.saved_model.load(path).signatures["serving_default"]
    reader(passage=tf.constant([passage]), question=tf.constant([question]))["answer"]
    ```

    The signature takes strings `passage` and `question`, both `(batch,)`, and returns `answer` and
    `probability` `(batch,)`, and `answers` and `probabilities` `(batch, top)`, best first. A model
    of single sentences takes `sentence` `(batch,)`; a tagger returns `words`, `tags` and
    `probabilities`, `(batch, words)`, empty strings and 0 behind a sentence. Where answers are
    words of the passage, fewer than `top`, the rest are empty strings. The signature `logits` takes
    the features of the model. Works on the TensorFlow and JAX backends.

    Args:
        model: a reader with a preprocessor.
        path: folder to write. An older SavedModel there is replaced, once the new one is complete.
        top: how many answers to return, at most all that the reader knows.

    Raises:
        ValueError: if the model has no preprocessor, or the path holds something else.
    """
    import tensorflow as tf

    from zoo.reading.answers import number_of_answers, preprocessor_of

    path = pathlib.Path(path).absolute()
    preprocessor = preprocessor_of(model)
    top = number_of_answers(preprocessor, top)
    if path.exists() and not (path.is_dir() and _may_replace(path)):
        raise ValueError(f"{path} is not a SavedModel: choose another path, or remove it.")
    module, signatures = _module(model, preprocessor, top)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        complete = pathlib.Path(folder, "complete")
        # The gradient of the recurrence is of no use here.
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        tf.saved_model.save(module, str(complete), signatures, options)
        if path.exists():
            path.rename(pathlib.Path(folder, "replaced"))
        complete.rename(path)


def _may_replace(folder):
    return (folder / "saved_model.pb").exists() or not any(folder.iterdir())


def _module(model, preprocessor, top):
    """A `tf.Module` that holds what the SavedModel does, and its signatures.

    They are traced once, where a `keras.export.ExportArchive` would trace each twice.
    """
    import tensorflow as tf

    from keras_corefmem.preprocessing.answers import best_sequences
    from keras_corefmem.preprocessing.passage_preprocessor import PassagePreprocessor
    from zoo.serving.passages import passage_answers, passage_features
    from zoo.serving.vocabulary import vocabulary_table

    tables = [vocabulary_table(preprocessor.vocabulary)]
    if getattr(preprocessor, "spells", False):
        tables.append(vocabulary_table(preprocessor.characters))
    logits_of = _logits_of(model)
    text_of = _answer_texts(preprocessor.answers)
    alone = model.STRINGS == ("sentence",)
    local = isinstance(preprocessor, PassagePreprocessor)
    if alone:
        features = functools.partial(_sentence_features, preprocessor, tables)
    elif local:
        features = functools.partial(passage_features, preprocessor, tables, model.features)
    else:
        features = functools.partial(_question_features, preprocessor, tables[0], model.features)

    def answer_all(*texts):
        sizes = [tf.size(text) for text in texts]
        advice = "" if alone else "as many questions as passages, and "
        advice = f"Give {advice}at least one. The numbers are"
        check = tf.debugging.Assert((sizes[0] == sizes[-1]) & (sizes[0] > 0), [advice, *sizes])
        with tf.control_dependencies([check]):
            texts = [tf.identity(text) for text in texts]
        tokens = [
            _tokens(preprocessor, text, name)
            for text, name in zip(texts, model.STRINGS, strict=True)
        ]
        logits = logits_of(features(*tokens))
        if alone and preprocessor.tags:
            return _tags(logits, tokens[0], preprocessor.answers)
        sequences, logs = best_sequences(logits, top, GraphNumpy())
        probability = tf.exp(logs)
        if local:
            known = passage_answers(preprocessor, tokens[0])
            answer = tf.gather(known, sequences[..., 0], batch_dims=1)
            probability = tf.where(answer == "", 0.0, probability)
        else:
            answer = text_of(sequences)
        return {
            "answer": answer[:, 0],
            "probability": probability[:, 0],
            "answers": answer,
            "probabilities": probability,
        }

    def serve_sentences(sentence):
        return answer_all(sentence)

    def serve_questions(passage, question):
        return answer_all(passage, question)

    strings = [tf.TensorSpec([None], tf.string, name=name) for name in model.STRINGS]
    serve = serve_sentences if alone else serve_questions
    serve = tf.function(serve, input_signature=strings, autograph=False).get_concrete_function()
    module = tf.Module()
    module.tables, module.weights = tables, serve.variables
    return module, {"serving_default": serve, "logits": logits_of}


def _checks(preprocessor, passage, question):
    """Assertions that a preprocessor refuses none of the padded ids."""
    import tensorflow as tf

    refused = preprocessor.refused(passage, question, GraphNumpy())
    return [
        tf.debugging.Assert(
            ~tf.reduce_any(bad), [f"A {name} {problem}. Its index is", tf.where(bad)[:, 0]]
        )
        for name, (problem, bad) in refused.items()
    ]


def _answer_texts(answers):
    """A function that joins the words of answers inside a graph, as `join_words` does."""
    import tensorflow as tf

    from keras_corefmem.preprocessing.answers import END, SEPARATOR

    first = ["" if answer == END else answer for answer in answers]
    later = [word and SEPARATOR + word for word in first]

    def text_of(sequences):
        rest = tf.strings.reduce_join(tf.gather(tf.constant(later), sequences[..., 1:]), axis=-1)
        return tf.strings.join([tf.gather(tf.constant(first), sequences[..., 0]), rest])

    return text_of


def _tokens(preprocessor, texts, name):
    """Tokens of texts, ragged, none of which may be empty."""
    import tensorflow as tf

    tokens = preprocessor.tokenizer.graph(texts)
    empty = tf.where(tokens.row_lengths() == 0)[:, 0]
    advice = f"Give every {name} at least one word. Empty are those with index"
    check = tf.debugging.Assert(tf.size(empty) == 0, [advice, empty])
    with tf.control_dependencies([check]):
        return tokens.with_values(tf.identity(tokens.values))


def _question_features(preprocessor, table, names, passage, question):
    """Features of the tokens of passages and questions."""
    import tensorflow as tf

    from zoo.serving.vocabulary import look_up

    vocabulary = preprocessor.vocabulary
    ids = [
        tokens.with_values(look_up(table, vocabulary, tokens.values)).to_tensor()
        for tokens in (passage, question)
    ]
    with tf.control_dependencies(_checks(preprocessor, *ids)):
        ids = [tf.identity(each) for each in ids]
    return preprocessor.features(*ids, names, GraphNumpy())


def _sentence_features(preprocessor, tables, tokens):
    """Features of the tokens of sentences, as `SentencePreprocessor.encode_words` makes them."""
    import tensorflow as tf

    from keras_corefmem.text.tokenizers import graph_lower
    from keras_corefmem.text.vocabulary import UNKNOWN

    words = tokens.values
    ids = tables[0].lookup(words)
    ids = tf.where(ids == UNKNOWN, tables[0].lookup(graph_lower(words)), ids)
    features = {"words": tokens.with_values(ids).to_tensor()}
    if preprocessor.spells:
        head, tail = preprocessor.word_parts
        length = tf.strings.length(words, "UTF8_CHAR")
        starts = tf.maximum(length - tail, 0)
        ends = tf.strings.substr(words, starts, tf.fill(tf.shape(words), tail), "UTF8_CHAR")
        cut = tf.strings.substr(words, 0, head, "UTF8_CHAR") + ends
        letters = tf.strings.unicode_split(
            tf.where(length > preprocessor.word_length, cut, words), "UTF-8"
        )
        spelt = letters.with_values(tables[1].lookup(letters.values))
        spelt = spelt.to_tensor(shape=(None, preprocessor.word_length))
        features["characters"] = tokens.with_values(spelt).to_tensor()
    return features


def _tags(logits, tokens, answers):
    """What a tagger returns, with empty strings and 0 behind each sentence."""
    import tensorflow as tf

    words = tokens.to_tensor()
    real = words != ""
    # Answer 0 stands for all that is unknown.
    logits = logits[..., 1:]
    best = tf.gather(tf.constant(answers[1:]), tf.argmax(logits, axis=-1))
    probabilities = tf.reduce_max(tf.nn.softmax(logits), axis=-1)
    return {
        "words": words,
        "tags": tf.where(real, best, ""),
        "probabilities": tf.where(real, probabilities, 0.0),
    }


def _logits_of(model):
    """The model itself as a function of its features, traced."""
    import keras
    import tensorflow as tf

    signature = {
        name: tf.TensorSpec(tensor.shape, tensor.dtype, name=name)
        for name, tensor in model.input.items()
    }
    if keras.config.backend() == "jax":
        # It converts the model and its variables.
        archive = keras.export.ExportArchive()
        options = _options_of_jax({name: tensor.shape for name, tensor in model.input.items()})
        logits = archive.track_and_add_endpoint("logits", model, [signature], jax2tf_kwargs=options)
    else:
        logits = tf.function(model, input_signature=[signature], autograph=False)
    return logits.get_concrete_function()


def _options_of_jax(inputs):
    """What `jax2tf` needs to know of inputs, shapes by name."""
    # All features of a text are equally long, but for targets.
    shapes = {
        name: tuple(str(size or length_of(name)) for size in shape[1:])
        for name, shape in inputs.items()
    }
    lengths = sorted({n for shape in shapes.values() for n in shape if not n.isdigit()})
    return {
        "polymorphic_shapes": [
            {name: f"(batch, {', '.join(sizes)})" for name, sizes in shapes.items()}
        ],
        # What JAX cannot work out: there are fewer texts than tokens.
        "polymorphic_constraints": [f"batch*{length} >= batch" for length in lengths],
        "native_serialization_platforms": ("cpu", "cuda"),
    }


def length_of(name):
    """Symbol of the length of a feature."""
    from keras_corefmem.preprocessing.attention_targets import TARGETS

    if name.startswith(TARGETS):
        return f"n_{name.removeprefix(TARGETS)}"
    return "q" if name.startswith("question") else "t"
