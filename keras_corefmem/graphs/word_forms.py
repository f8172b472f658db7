"""Word forms of answers, learned from training examples."""

import collections
import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from keras_corefmem.text.tokenizers import lower

# Minimum length of the common prefix of two forms, as a share of the longer one.
ALIKE = 0.5
# Minimum share of an answer's passages that must have the answer or one of its forms.
MENTIONED = 0.95


def learn_word_forms(
    examples: Iterable[Any], tokenizer: Callable[[str], Iterable[str]]
) -> dict[str, str]:
    """Learns which words of passages are other forms of answers.

    A form of an answer is one of its words ("shayan" of "shayan kaksh"), or has a prefix in common
    with one that is at least half of the longer word ("gusalkhaney" and "gusalkhana"). A word is a
    form of the answer with the largest such share, or of none if two answers tie. An answer has no
    forms if it is always a word of its passage, or if more than 5% of its passages have neither it
    nor a form ("not" for "no").

    Args:
        examples: examples with `passage` and `answer`.
        tokenizer: callable from a text to its lower-cased tokens.

    Returns:
        A dictionary from each form to its answer, in lower case.

    Example:
        >>> sentences = "Mary gusalkhaney mein gayee.", "John ne doodh liya."
        >>> story = keras_corefmem.datasets.Example(sentences, "Mary kahan hai?", "gusalkhana")
        >>> tokenizer = keras_corefmem.text.get_tokenizer("words")
        >>> keras_corefmem.graphs.learn_word_forms([story], tokenizer)
        {'gusalkhaney': 'gusalkhana'}
    """
    examples, tokens = list(examples), cache(lambda text: tuple(tokenizer(text)))
    words = {word for example in examples for word in tokens(example.passage)}
    inflected = {lower(e.answer) for e in examples if lower(e.answer) not in tokens(e.passage)}
    answers = {lower(example.answer) for example in examples}
    alike = collections.defaultdict(list)
    for word in words:
        alike[word[:1]].append(word)
    likeness: dict[str, dict[str, float]] = collections.defaultdict(dict)
    parts = [(answer, part) for answer in answers for part in tokens(answer)]
    for answer, part in parts:
        for word in alike[part[:1]]:
            share = len(os.path.commonprefix([part, word])) / max(len(part), len(word))
            if share >= ALIKE:
                likeness[word][answer] = max(share, likeness[word].get(answer, 0))
    forms: dict[str, str] = {}
    for word, shares in sorted(likeness.items()):
        best = max(shares.values())
        nearest = [answer for answer, share in shares.items() if share == best]
        if len(nearest) == 1 and nearest[0] in inflected and word != nearest[0]:
            forms[word] = nearest[0]
    total, mentioned = collections.Counter[str](), collections.Counter[str]()
    for example in examples:
        answer, passage = lower(example.answer), tokens(example.passage)
        total[answer] += 1
        mentioned[answer] += any(forms.get(word, word) == answer for word in passage)
    known = {answer for answer in total if mentioned[answer] >= MENTIONED * total[answer]}
    return {form: answer for form, answer in forms.items() if answer in known}
