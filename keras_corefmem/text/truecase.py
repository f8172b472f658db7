"""Truecasing of text in lower case, learned by counting."""

import importlib.resources
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from keras_corefmem.text.lexicons import ABBREVIATED_TITLES, SPEECH, TITLES, given_names
from keras_corefmem.text.sentences import OPENING, sentence_starts
from keras_corefmem.text.tokenizers import PennTokenizer, lower
from keras_corefmem.utils.checks import check_listed
from keras_corefmem.utils.files import BadFileError, Path, parse_json, read_text, replacing

# After these words, or with these endings, a word that was never seen is hardly a name.
BEFORE_NOUNS = frozenset(
    "the a an this that these those my your his her its our their some any no every each".split()
)
ENDINGS = ("ed", "ing", "ly", "ness", "ment", "tion", "ions", "able", "ful", "less", "est", "ish")

# Learned from 186 novels in the public domain: the words that are in them ten times.
NOVELS = "novels"

_FORM = "truecaser JSON"
_OPENS = frozenset(("``", "`", "\u201c", "\u2018"))
_CLOSES = frozenset(("''", "'", '"', "\u201d", "\u2019"))


class Truecaser:
    """Gives words the case in which they are mostly written, and keeps their lengths.

    It knows the most frequent form of each word away from the starts of sentences and quotations.
    A word after an abbreviated title is a name ("mr. hope"). A word that was never seen is a name
    after any title ("captain browning"), if it is a given name, or if neither its ending nor the
    word before it suggests otherwise. The first words of sentences and quotations are capitalized.

    Args:
        forms: dictionary from words in lower case to their most frequent form.

    Call arguments:
        tokens: list of strings, in any case; those that are not in lower case are kept.

    Raises:
        ValueError: if a form differs from its word in more than case, or `tokens` is one string.

    Example:
        >>> truecaser = keras_corefmem.text.Truecaser.learn(["We saw Mary. We saw Mary."])
        >>> truecaser("we saw mary".split())
        ['We', 'saw', 'Mary']
    """

    def __init__(self, forms: dict[str, str]) -> None:
        for word, form in forms.items():
            if lower(form) != word:
                raise ValueError(
                    f"{form!r:.80} is no form of {word!r:.80}, which differs in case alone."
                )
        self.forms = dict(forms)

    def __call__(self, tokens: Sequence[str]) -> list[str]:
        check_listed(tokens=tokens)
        initial, cased, before = _beginnings(tokens), [], ""
        for index, token in enumerate(tokens):
            form = self._form(token, before) if token == lower(token) else token
            cased.append(_capitalize(form) if index in initial else form)
            # "mr", ".", "hope": the full stop belongs to the title.
            before = before if token == "." and before in ABBREVIATED_TITLES else token
        return cased

    def _form(self, word: str, before: str) -> str:
        form = self.forms.get(word, word)
        if form == word and word not in ("and", "or") and before.rstrip(".") in ABBREVIATED_TITLES:
            return _capitalize(word)
        if word in self.forms:
            return form
        if before in TITLES and before not in ("king", "queen", "father", "mother", "lady"):
            return _capitalize(word)
        if not word.isalpha() or not word.isascii():
            return word
        if word in given_names():
            return word.capitalize()
        is_name = len(word) > 2 and before not in BEFORE_NOUNS and not word.endswith(ENDINGS)
        return word.capitalize() if is_name else word

    @classmethod
    def learn(cls, texts: Iterable[str], least: int = 2) -> "Truecaser":
        """Counts the forms of words in cased text.

        Args:
            texts: the texts, such as paragraphs.
            least: minimum number of occurrences of a word.

        Raises:
            ValueError: if no word occurs as often, or `texts` is one string.
        """
        check_listed(texts=texts)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        penn = PennTokenizer()
        for text in texts:
            tokens = penn(text)
            starts = sentence_starts(tokens)
            for start, end in pairwise([*starts, len(tokens)]):
                _count(tokens[start:end], counts)
        forms = {
            # In a tie, the form in lower case.
            word: max(sorted(seen, reverse=True), key=seen.__getitem__)
            for word, seen in sorted(counts.items())
            if seen.total() >= least
        }
        if not forms:
            raise ValueError(f"No word is in the texts {least} times, pass more cased text.")
        return cls(forms)

    def save(self, path: Path) -> None:
        """Writes JSON, complete or not at all."""
        with replacing(path) as partial:
            content = {"forms": self.forms}
            partial.write_text(json.dumps(content, ensure_ascii=False, indent=0), "utf-8")

    @classmethod
    def load(cls, path: Path) -> "Truecaser":
        """Reads a truecaser that `save` wrote, or the bundled one, `"novels"`.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if the file has another form.
        """
        if path == NOVELS:
            words = importlib.resources.files(__package__).joinpath("novel_words.txt")
            return cls({lower(word): word for word in words.read_text("utf-8").split("\n")[:-1]})
        try:
            content = parse_json(read_text(path, _FORM), path, "pass what `save` wrote.", _FORM)
            return cls(content["forms"])
        except (AttributeError, KeyError, TypeError) as error:
            raise BadFileError(
                f"{path}: no {_FORM} ({error!r:.80}), pass what `save` wrote."
            ) from None
        except ValueError as error:
            message = str(error).removeprefix(f"{path}: ")
            raise BadFileError(f"{path}: {message}") from None


def _capitalize(word):
    """Capitalizes a word, unless that is not the same in lower case: "\u00df", the dotless "i"."""
    cased = word[0].upper() + word[1:]
    return cased if lower(cased) == lower(word) else word


def _beginnings(tokens):
    """Returns the indices of words that begin sentences and quotations of text in lower case."""
    initial, opens = set(), False
    marks = {index - 1 for index in sentence_starts(tokens, cased=False)}
    for index, token in enumerate(tokens):
        opens = not opens if token == '"' else token in _OPENS
        if opens:
            marks.add(index)
    for mark in marks:
        word = mark + 1
        while word < len(tokens) and not tokens[word][:1].isalnum():
            word += 1
        # No sentence begins after the quotation in `"Why?" he said`.
        if 0 < word < len(tokens) and tokens[word - 1] in _CLOSES:
            if SPEECH.intersection(tokens[word : word + 2]):
                continue
        initial.add(word)
    return initial


def _count(sentence, counts):
    """Counts the words that begin no sentence or quotation; skips sentences in capitals."""
    words = [token for token in sentence if token[0].isalpha()]
    if not words or sum(word.isupper() for word in words) > len(words) / 2:
        return
    begins = True
    for token in sentence:
        if token[0].isalpha():
            if not begins:
                counts[lower(token)][token] += 1
            begins = False
        elif token in OPENING:
            begins = True
