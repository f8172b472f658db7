"""Words that name entities, learned from training examples or found by a tagger."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from math import hypot, log2
from typing import Any

# Minimum share of its occurrences that neighbours predict for a word to count as predicted.
PREDICTED = 0.9
# Minimum number of passages expected to lack a word by chance, if their absence is to be evidence;
# maximum share of it that may be observed; its minimum share of questions for a predicted word.
EVIDENCE, TOLERANCE, RARE = 3.0, 0.05, 0.2
# Minimum divergence, as a share of the entropy of patterns, of a word that selects its pattern.
SELECTIVE = 0.1
# Cosine to the first word of a class above which another word belongs to it.
SIMILAR = 0.7
ENTITY_TYPES = "person", "place", "thing"
# Words that precede places.
PLACING, ARTICLES = frozenset(("in", "to", "at", "from", "into")), frozenset(("the", "a", "an"))


def learn_entity_words(
    examples: Iterable[Any], tokenizer: Callable[[str], Iterable[str]]
) -> frozenset[str]:
    """Learns from training examples which words are entities.

    Only counts are used, neither word lists nor spelling, so renaming every word renames the
    result. The words of the passages are classified in four steps.

    1. *Choices.* Function words and punctuation are predictable from their two neighbours ("went
       _ the"), or always occur together with a predictable word; other words have alternatives in
       their place ("Mary _ to"). Only the latter, the choices, are candidates, except in step 2.
    2. *Linked words.* A word of a question or answer is an entity if it is practically always in
       the passage too. By chance, a word that is in a share `p` of the sentences is missing from
       a passage of `n` sentences with probability `(1 - p) ** n`. If chance predicts enough such
       passages, the test also applies to predictable words ("pink" in "pink rectangle"), and to
       the questions with each answer separately ("Is Mary in the garden?" "yes").
    3. *Arguments.* A predicate selects the pattern of function words of its sentence ("got the _
       there", "went back to the _"), whereas an argument does not: a word is an entity if its
       patterns are distributed like those of all sentences, by their Kullback-Leibler divergence.
    4. *Classes.* A choice becomes an entity if it mostly occurs between the same function words
       as an entity, or before or after the same function word. The latter does not apply to words
       of questions, which step 2 has already rejected.

    If there is no entity at all, all choices are returned: a superfluous edge harms a reader less
    than a missing one. The method is made for stories with few kinds of sentences, like those of
    bAbI; for free text, a tagger works better (`tagged_entity_words`).

    Args:
        examples: examples with `sentences`, `question` and `answer`.
        tokenizer: callable from a text to its lower-cased tokens.

    Returns:
        The entity words.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 300)
        >>> tokenizer = keras_corefmem.text.get_tokenizer("words")
        >>> words = keras_corefmem.graphs.learn_entity_words(examples, tokenizer)
        >>> [word in words for word in ("mary", "kitchen", "the")]
        [True, True, False]
    """
    examples, tokens = list(examples), cache(lambda text: tuple(tokenizer(text)))
    sentences: Counter[tuple[str, ...]] = Counter()
    previous: tuple[str, ...] = ()
    for example in examples:
        passage = tuple(example.sentences)
        # Sentences that a story repeats from the previous question count once.
        known = len(previous) if passage[: len(previous)] == previous else 0
        sentences.update(tokens(sentence) for sentence in passage[known:])
        previous = passage
    choices = _choices(sentences)
    linked = _linked(examples, tokens, sentences, choices)
    chosen = linked | _arguments(sentences, choices)
    questions = {word for example in examples for word in tokens(example.question)}
    return frozenset(_extend(chosen, questions - linked, sentences, choices) or choices)


def entity_types(
    examples: Iterable[Any], words: Iterable[str], tokenizer: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Classifies entity words of English stories as persons, places or things.

    A person is always written with a capital letter. A place answers questions that begin with
    "where", or mostly follows a preposition of place. All other words are things.

    Args:
        examples: examples with `sentences`, `question` and `answer`.
        words: the entity words, in lower case, see `learn_entity_words`.
        tokenizer: callable from a text to its lower-cased tokens.

    Returns:
        A dictionary from each word to `"person"`, `"place"` or `"thing"`: edge types of a reader.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(2, 50)
        >>> tokenizer = keras_corefmem.text.get_tokenizer("words")
        >>> keras_corefmem.graphs.entity_types(examples, ["mary", "garden", "milk"], tokenizer)
        {'garden': 'place', 'mary': 'person', 'milk': 'thing'}
    """
    examples, total = list(examples), Counter[str]()
    small, placed = set(), Counter[str]()
    places: set[str] = set()
    texts = dict.fromkeys(text for e in examples for text in (*e.sentences, e.question))
    for text in texts:
        small |= set(re.findall(r"\b[a-z]\w*", text))
        tokens = list(tokenizer(text))
        total.update(tokens)
        # "in the kitchen", "in bed".
        before = zip(["", "", *tokens], ["", *tokens], tokens, strict=False)
        placed.update(w for a, b, w in before if b in PLACING or b in ARTICLES and a in PLACING)
    for example in examples:
        if next(iter(tokenizer(example.question)), "") == "where":
            places |= set(tokenizer(example.answer))

    def kind_of(word: str) -> str:
        if word in total and word not in small:
            return "person"
        return "place" if word in places or 2 * placed[word] > total[word] else "thing"

    return {word: kind_of(word) for word in sorted(words)}


def entity_classes(
    examples: Iterable[Any], words: Iterable[str], tokenizer: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Groups entity words into classes by the neighbours that they occur between.

    From the most frequent word on, each joins the first class whose first word has similar counts
    of left and right neighbours, with a cosine above 0.7; otherwise it starts a class. As
    neighbours, all entity words count as one symbol. Only counts are used, so the method works for
    any language.

    Args:
        examples: examples with `sentences`.
        words: the entity words, in lower case, see `learn_entity_words`.
        tokenizer: callable from a text to its lower-cased tokens.

    Returns:
        A dictionary from each word to the first, most frequent word of its class.

    Example:
        >>> examples = keras_corefmem.datasets.simulator.simulate(1, 50)
        >>> tokenizer = keras_corefmem.text.get_tokenizer("words")
        >>> words = ["mary", "john", "garden", "kitchen"]
        >>> classes = keras_corefmem.graphs.entity_classes(examples, words, tokenizer)
        >>> classes["mary"] == classes["john"], classes["mary"] == classes["garden"]
        (True, False)
    """
    counts: dict[str, Counter] = {word: Counter() for word in words}
    sentences = Counter(text for example in examples for text in example.sentences)
    for text, count in sentences.items():
        tokens = ["", *tokenizer(text), ""]
        seen = ["*" if token in counts else token for token in tokens]
        for left, token, right in zip(seen, tokens[1:], seen[2:], strict=False):
            if token in counts:
                counts[token][left, right] += count
    classes: dict[str, str] = {}
    for word in sorted(counts, key=lambda word: (-counts[word].total(), word)):
        firsts = dict.fromkeys(classes.values())
        alike = (first for first in firsts if _cosine(counts[first], counts[word]) > SIMILAR)
        classes[word] = next(alike, word)
    return classes


def _cosine(first, second):
    norms = hypot(*first.values()) * hypot(*second.values())
    return sum(n * second[key] for key, n in first.items()) / norms if norms else 0.0


def tagged_entity_words(
    examples: Iterable[Any],
    tagger: Callable[[str], Iterable[tuple[str, str]]],
    tokenizer: Callable[[str], Iterable[str]],
) -> frozenset[str]:
    """Collects the words that a part-of-speech tagger labels as nouns.

    Args:
        examples: examples with `sentences`, `question` and `answer`.
        tagger: callable from a text to `(word, part of speech)` pairs, such as
            `spacy_tagger(nlp)`; nouns are `NOUN`, `PROPN` and all tags that begin with `NN`.
        tokenizer: callable from a text to its lower-cased tokens.

    Returns:
        The nouns of the passages and questions, as tokens.

    Example:
        >>> def tagger(text):
        ...     return [(word, "NOUN" if word == "milk" else "X") for word in text.split()]
        >>> story = keras_corefmem.datasets.Example(("he got milk",), "where is milk", "hall")
        >>> sorted(keras_corefmem.graphs.tagged_entity_words([story], tagger, str.split))
        ['milk']
    """
    texts = {text for example in examples for text in (*example.sentences, example.question)}
    return frozenset(
        token
        for text in sorted(texts)
        for word, tag in tagger(text)
        if tag in ("NOUN", "PROPN") or tag.startswith("NN")
        for token in tokenizer(word)
    )


def spacy_tagger(nlp: Any) -> Callable[[str], list[tuple[str, str]]]:
    """Wraps a spaCy pipeline as a tagger.

    Args:
        nlp: a loaded pipeline. Tokens without `pos_` use `tag_`, up to the `"__"` that separates
            the tag from features (`"NNP__Number=Sing"`).

    Returns:
        Callable from a text to its `(word, part of speech)` pairs.

    Example:
        >>> import spacy
        >>> keras_corefmem.graphs.spacy_tagger(spacy.blank("en"))("Mary left")
        [('Mary', ''), ('left', '')]
    """

    def tagger(text: str) -> list[tuple[str, str]]:
        return [(token.text, token.pos_ or token.tag_.split("__")[0]) for token in nlp(text)]

    return tagger


def _neighbours(sentences):
    """Yields each word between its neighbours, which are "" beyond the sentence, and a count."""
    for sentence, count in sentences.items():
        padded = ("", *sentence, "")
        for left, word, right in zip(padded, padded[1:], padded[2:], strict=False):
            yield left, word, right, count


def _choices(sentences):
    contexts, total, hits, spread = defaultdict(Counter), Counter(), Counter(), defaultdict(set)
    for left, word, right, count in _neighbours(sentences):
        contexts[left, right][word] += count
    for words in contexts.values():
        others = words.total() - 1
        for word, count in words.items():
            # Each occurrence is predicted from all the others.
            total[word] += count * (others > 0)
            hits[word] += count * (count - 1) / max(others, 1)
    predicted = {word for word in total if 0 < PREDICTED * total[word] <= hits[word]}
    for number, sentence in enumerate(sentences):
        for word in sentence:
            spread[word].add(number)
    # "to" and "of" of "is to the left of" always occur together.
    fixed = {frozenset(spread[word]) for word in predicted}
    return {word for word in total.keys() - predicted if frozenset(spread[word]) not in fixed}


def _linked(examples, tokens, sentences, choices):
    rate = Counter()
    for sentence, count in sentences.items():
        rate.update(dict.fromkeys(sentence, count / sentences.total()))
    total, absent, expected = Counter(), Counter(), Counter()
    for example in examples:
        passage = {word for sentence in example.sentences for word in tokens(sentence)}
        for word in {*tokens(example.question), *tokens(example.answer)} & rate.keys():
            chance = max(1 - rate[word], 0) ** len(example.sentences)
            for group in ((word, None), (word, example.answer)):
                total[group] += 1
                absent[group] += word not in passage
                expected[group] += chance
    return {
        word
        for (word, answer), chance in expected.items()
        if absent[word, answer] <= TOLERANCE * chance
        and (chance >= EVIDENCE or answer is None)
        # A predictable word may still be part of a name ("pink" in "pink rectangle").
        and (word in choices or chance >= max(EVIDENCE, RARE * total[word, None]))
    }


def _arguments(sentences, choices):
    overall, patterns = Counter(), defaultdict(Counter)
    for sentence, count in sentences.items():
        pattern = tuple("" if word in choices else word for word in sentence)
        overall[pattern] += count
        for word in choices.intersection(sentence):
            patterns[word][pattern] += count

    def bits(counts, reference):
        """Sum of p log2(p / q)."""
        size = counts.total()
        return sum(n / size * log2(n / size / reference(key)) for key, n in counts.items())

    entropy = -bits(overall, lambda pattern: 1.0)
    return {
        word
        for word, counts in patterns.items()
        if bits(counts, lambda pattern: overall[pattern] / overall.total()) < SELECTIVE * entropy
    }


def _extend(chosen, doubtful, sentences, choices):
    places, total = defaultdict(Counter), Counter()
    for left, word, right, count in _neighbours(sentences):
        total[word] += count
        if left not in choices and right not in choices:
            places[word][left, right] += count
    chosen = set(chosen)
    while True:
        taken = {place for word in chosen for place in places[word]}
        before, after = ({place[side] for place in taken} - {""} for side in (0, 1))
        beside = {
            (left, right)
            for left, right in set().union(*places.values())
            if (left, right) in taken or left in before or right in after
        }
        open_places = {word: taken if word in doubtful else beside for word in choices - chosen}
        new = {
            word
            for word, fitting in open_places.items()
            if 2 * sum(n for place, n in places[word].items() if place in fitting) > total[word]
        }
        if not new:
            return chosen
        chosen |= new
