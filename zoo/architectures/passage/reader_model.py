"""The base class of the Attention-Sum and the Gated-Attention Reader."""

import keras
from keras import ops

from keras_corefmem.datasets.passages.cnn import ClozeExample, number_markers
from keras_corefmem.layers import AttentionSum, GatedAttention
from keras_corefmem.preprocessing.candidate_preprocessor import CandidatePreprocessor
from keras_corefmem.preprocessing.encoding.layout import ORDERS, PASSAGE_LEADS
from keras_corefmem.preprocessing.fitting import fit_preprocessor
from keras_corefmem.utils.deprecation import renamed_arguments
from zoo.architectures.config import ExamplesMethod, underscored
from zoo.architectures.passage.encoders import last_states, make_encoder
from zoo.architectures.passage.parts import (
    PARTS,
    attend,
    embed,
    encode_apart,
    encode_joint,
    make_inputs,
    mix_answers,
    readable_tokens,
    structure_of,
)
from zoo.architectures.passage.passage_model import PassageModel
from zoo.architectures.precision import answer_dtype
from zoo.architectures.text_model import Graph
from zoo.configs.renamed import RENAMED

# Arguments of `from_examples` that are read for only one kind of answers.
OF_SHARED_ANSWERS = {"answer_head", "language", "lemmatizer", "tagger"}
OF_LOCAL_ANSWERS = {"characters", "num_candidates"}


class ReaderModel(PassageModel):
    """A reader of recurrent layers, between which the question may gate the passage."""

    FIXED = {"gated": True}

    @classmethod
    def build_graph(cls, config):
        inputs = make_inputs(config)
        vectors = embed(inputs, config)
        masks = {name: ops.not_equal(inputs[name], 0) for name in PARTS}
        structure, order = structure_of(inputs, config.encoder), ORDERS[config.order]
        gate = GatedAttention(name="gated_attention") if config.gated else None
        # One mask for all tokens of a sequence is better for recurrences, and faster: on CPUs, XLA
        # of TensorFlow takes half a microsecond for each random number.
        drop = keras.layers.Dropout(config.dropout, noise_shape=(None, 1, None), name="dropout")
        prefixes = {"joint": ""} if config.joint else {name: f"{name}_" for name in order}
        for n in range(1, config.layers + 1):
            if n <= 2 or not config.tied:
                encoders = {
                    name: make_encoder(config, f"{prefix}encoder_{n}")
                    for name, prefix in prefixes.items()
                }
            if config.joint:
                encoder, leads = encoders["joint"], inputs.get(PASSAGE_LEADS)
                vectors = encode_joint(encoder, n, order, vectors, structure, masks, leads)
            else:
                vectors = encode_apart(encoders, vectors, structure, masks)
            if n < config.layers:
                if gate is not None:
                    question, mask = vectors["question"], masks["question"]
                    vectors["passage"] = gate(vectors["passage"], question, question_mask=mask)
                vectors["passage"] = drop(vectors["passage"])
        query = last_states(vectors["question"], masks["question"], config.encoder, config.units)
        passage = drop(vectors["passage"])
        attention = attend(passage, query, readable_tokens(inputs, masks, config.answer_head))
        if "class" in config.answer_head:
            summary = ops.einsum("bt,btd->bd", ops.cast(attention, passage.dtype), passage)
            answer = keras.layers.Dense(config.num_answers, name="answer", dtype=answer_dtype())
            classes = answer(summary)
        if config.answer_head == "classification":
            return Graph(inputs, classes, attention, states=passage)
        candidates = inputs["candidates"]
        pointed = AttentionSum(config.num_answers, name="attention_sum")(passage, query, candidates)
        if config.answer_head == "pointer_or_class":
            gate = keras.layers.Dense(1, name="answer_gate", dtype=answer_dtype())(query)
            pointed = mix_answers(gate, pointed, classes, candidates)
        return Graph(inputs, pointed, attention)

    @ExamplesMethod
    @renamed_arguments(**RENAMED)
    def from_examples(
        cls,
        examples,
        answer_head="auto",
        language="en",
        lemmatizer=None,
        tokenizer=None,
        tagger=None,
        entity_words=None,
        local_answers=None,
        characters=False,
        max_words=None,
        min_count=1,
        unknown_types=1,
        free_symbols=0,
        num_candidates=None,
        max_sources=None,
        word_vectors=None,
        **arguments,
    ):
        """Makes an untrained reader for the words, entities and answers of training examples.

        Answers are shared by all examples, or local: words or candidates of each passage.

        Args:
            examples: training examples, in any form that `keras_corefmem.datasets.as_examples`
                takes; the preprocessing is learned from them.
            answer_head: name of the answer head, or `"auto"`: a pointer sum if all answers are
                words of their passages, `"pointer_or_class"` if only answers `"unknown"` are not,
                and otherwise `"classification"`.
            language: code of the language whose lemmas link words if some answers are not words of
                their passages; `None` for no lemmas.
            lemmatizer: lemmatizer to use in any case: a spaCy pipeline, a function from a word to
                its lemma, or the code of a language.
            tokenizer: name of the tokenizer; `None` for `"spaces"` if all examples are cloze
                questions, and `"words"` otherwise.
            tagger: finds entities, such as `keras_corefmem.graphs.spacy_tagger(nlp)`; with `None`,
                they are learned from the examples, or are the markers of cloze questions.
            entity_words: the entities, as words in lower case, or a table from words to edge types
                of their own. Learned words are sorted into `"person"`, `"place"` and `"thing"` if
                `edge_types` has one of these.
            local_answers: whether answers are local; with `None`, they are for annotated examples
                and those with their own candidates, but not for cloze questions.
            max_words: number of the most frequent words that are known, besides entities and
                answers if answers are shared.
            min_count: number of times that other words must occur to be known.
            unknown_types: number of types of unknown words, see `Vocabulary`.
            free_symbols: number of free symbols. Each unknown word of a text is read as one, in the
                order of first mention, and may be the answer. The augmentation `"unseen"` trains
                them.
            characters: whether to read the characters of words, only for local answers.
            num_candidates: largest number of candidates, only for local answers; `None` for that
                of the examples.
            max_sources: largest number of edges of one type into a token; the nearest are kept.
                `None` for the least of 1, 2 and 4 that keeps 99% of the examples' edges.
            word_vectors: path of a file of pretrained vectors, of GloVe or word2vec, to start
                from; `coverage` says how many words it contains.
            **arguments: arguments of the constructor.

        Raises:
            ValueError: as for `fit_preprocessor`, or if the vectors do not have the width
                `embedding_dim`, if this is passed.
        """
        answer_head = underscored(answer_head)
        names = "joint", "order", "max_chains", "edge_types"
        shared = {k: arguments[k] for k in names if k in arguments}
        shared |= {"max_sources": max_sources, "unknown_types": unknown_types}
        shared["free_symbols"] = free_symbols
        if "order" in shared:
            shared["order"] = underscored(shared["order"])
        cloze = [isinstance(example, ClozeExample) for example in examples]
        tokenizer = tokenizer or ("spaces" if all(cloze) else "words")
        if local_answers is None:
            local_answers = not any(cloze) and all(hasattr(e, "candidates") for e in examples)
        if local_answers:
            shared |= {k: arguments[k] for k in ("word_length",) if k in arguments}
            preprocessor = CandidatePreprocessor.fit(
                examples,
                max_words=max_words,
                min_count=min_count,
                characters=characters,
                tokenizer=tokenizer,
                num_candidates=num_candidates,
                entity_words=entity_words,
                **shared,
            )
            answer_head = preprocessor.head
        else:
            if all(cloze):
                texts = (text for e in examples for text in (e.passage, e.question))
                shared["answers"] = number_markers(texts)
                entity_words = entity_words or shared["answers"]
            preprocessor, answer_head = fit_preprocessor(
                examples,
                answer_head,
                language,
                lemmatizer,
                tokenizer,
                tagger,
                entity_words=entity_words,
                max_words=max_words,
                min_count=min_count,
                **shared,
            )
        arguments["answer_head"] = answer_head
        model = cls.start(preprocessor, examples, word_vectors, **arguments)
        model.unread |= OF_SHARED_ANSWERS if local_answers else OF_LOCAL_ANSWERS
        if not model.config["joint"]:
            # Texts that are read apart have no order.
            model.unread |= {"order"}
        return model
