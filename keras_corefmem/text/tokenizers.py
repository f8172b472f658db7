"""Tokenizers that give the same tokens in Python and inside a TensorFlow graph."""

import functools
from collections.abc import Iterable, Iterator
from typing import Any

import regex

from keras_corefmem.text.lexicons import ABBREVIATED_TITLES

# Tokens that end a sentence, unless its end is known otherwise.
SENTENCE_ENDS = (".", "?", "!")

# Characters of which every word has one, and punctuation none.
_IN_WORD = r"\p{L}\p{N}"
_IN_WORDS = regex.compile(f"[{_IN_WORD}]")
_CODE_POINTS = 0x110000
_WORD = r"[\p{L}\p{M}\p{Nd}_]"
_SPACE = "\t-\r\x1c-\x1f\x85\\p{Z}"
# Patterns that Python and RE2 read alike: clitics after the apostrophe, and whole clitics.
CLITICS = "[sSmMdD]|[rR][eE]|[vV][eE]|[lL][lL]"
CLITIC = f"[nN]'[tT]|'(?:{CLITICS})"
# Letters, with their marks.
_L = r"\p{L}\p{M}"


def has_letters(token: str) -> bool:
    """Returns whether a token has a letter or a number, and so is not punctuation."""
    return _IN_WORDS.search(token) is not None


def graph_has_letters(tokens: Any) -> Any:
    """Returns whether tokens have letters, see `has_letters`, in a TensorFlow graph."""
    import tensorflow as tf

    return tf.strings.regex_full_match(tokens, f"(?s).*[{_spelled_out(_IN_WORD)}].*")


def spans(text: str, tokens: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each token, a substring of the text behind the one before."""
    end = 0
    for token in tokens:
        start = text.index(token, end)
        end = start + len(token)
        yield start, end


def token_pattern(word: str, other: str = f"[^{_SPACE}]") -> str:
    """Returns the pattern of one token: words joined by `'` and `-`, or any other character."""
    return f"{word}+(?:['-]{word}+)*|{other}"


@functools.cache
def _spelled_out(characters: str) -> str:
    """Returns a character class as ranges, since `tf.strings` has another version of Unicode."""
    runs = regex.finditer(f"[{characters}]+", "".join(map(chr, range(_CODE_POINTS))))
    return "".join(rf"\x{{{run.start():x}}}-\x{{{run.end() - 1:x}}}" for run in runs)


@functools.cache
def _graph_pattern() -> str:
    """Returns the pattern of one token, a group, for `tf.strings`."""
    return f"({token_pattern(f'[{_spelled_out(_WORD[1:-1])}]')})"


def _clitic_at_end(letters: str) -> str:
    """Returns the pattern of a letter, and of a clitic behind it that ends its token."""
    return f"([{letters}])({CLITIC}) "


_CLITIC = _clitic_at_end(_L)


def _graph_spaced(texts):
    """Puts a space after every token, and none elsewhere."""
    import tensorflow as tf

    return tf.strings.regex_replace(texts, f"{_graph_pattern()}|[{_SPACE}]+", r"\1 ")


@functools.cache
def _lower_case_pairs():
    """Returns the code points that have a lower case, ascending, and their lower cases."""
    lowered = ((point, ord(lower(chr(point)))) for point in range(_CODE_POINTS))
    return tuple(zip(*((upper, low) for upper, low in lowered if upper != low), strict=True))


def lower(text: str) -> str:
    """Lower-cases every code point on its own, by Unicode's simple case mapping."""
    # These two letters alone depend on their context or become two code points.
    return text.replace("Σ", "σ").replace("İ", "i").lower()


def graph_lower(texts: Any) -> Any:
    """Lower-cases UTF-8 `(batch,)` as `lower` does, in a TensorFlow graph, whatever the locale."""
    import tensorflow as tf

    upper_case, lower_case = (tf.constant(points, "int32") for points in _lower_case_pairs())
    points = tf.strings.unicode_decode(texts, "UTF-8")
    index = tf.minimum(tf.searchsorted(upper_case, points.values), tf.size(upper_case) - 1)
    has_lower_case = tf.gather(upper_case, index) == points.values
    values = tf.where(has_lower_case, tf.gather(lower_case, index), points.values)
    return tf.strings.unicode_encode(points.with_values(values), "UTF-8")


def _graph_spaces(texts):
    """Replaces every run of spaces by a single one."""
    import tensorflow as tf

    return tf.strings.regex_replace(texts, f"[{_SPACE}]+", " ")


class Tokenizer:
    """Base class of tokenizers, which give the same tokens in Python and in a graph.

    Attributes:
        name: name of the tokenizer.
        keeps_characters: whether tokens are substrings of the text, apart from case.
    """

    name: str = ""
    keeps_characters = True

    def __call__(self, text: str) -> list[str]:
        """Splits one text into tokens."""
        raise NotImplementedError(f"{type(self).__name__} must implement __call__.")

    def cased(self, text: str) -> list[str]:
        """Splits one text into the same tokens, in the case in which they are written."""
        places = spans(lower(text), map(lower, self(text)))
        return [text[start:end] for start, end in places]

    def graph(self, texts: Any) -> Any:
        """Splits a batch of texts with TensorFlow operations."""
        return self.graph_cased(graph_lower(texts))

    def graph_cased(self, texts: Any) -> Any:
        """Splits as `graph` does, in the case in which tokens are written."""
        raise NotImplementedError(f"{type(self).__name__} must implement graph_cased.")


class WordTokenizer(Tokenizer):
    """Lower-cased words and single punctuation marks.

    A run of letters, marks, digits and underscores is a word; a single `'` or `-` joins two of them
    (`don't`, `well-known`). Every other character except spaces is a token by itself. Only `graph`
    needs TensorFlow.

    Example:
        >>> keras_corefmem.text.WordTokenizer()("Don't move, Mary!")
        ["don't", 'move', ',', 'mary', '!']
    """

    name = "words"
    _pattern = regex.compile(token_pattern(_WORD))

    def __call__(self, text: str) -> list[str]:
        return self._pattern.findall(lower(text))

    def graph_cased(self, texts: Any) -> Any:
        import tensorflow as tf

        return tf.strings.split(_graph_spaced(texts))


class PennTokenizer(WordTokenizer):
    """Cased words and punctuation marks, with separate clitics: `Do`, `n't`; `Mary`, `'s`.

    These are the tokens of treebanks, close enough for models that are trained on them. Tokens
    that are joined by spaces are split into the same ones again, except for a word with two clitics
    in a row (`I'd've`). Only `graph` needs TensorFlow.

    Example:
        >>> keras_corefmem.text.PennTokenizer()("Don't move, Mary!")
        ['Do', "n't", 'move', ',', 'Mary', '!']
    """

    name = "penn"
    _pattern = regex.compile(
        f"(?<![^{_SPACE}])'(?:{CLITICS})(?![^{_SPACE}])|{token_pattern(_WORD)}"
    )

    def __call__(self, text: str) -> list[str]:
        spaced = "".join(f"{token} " for token in self._pattern.findall(text))
        return regex.sub(_CLITIC, r"\1 \2 ", spaced).split(" ")[:-1]

    def graph(self, texts: Any) -> Any:
        return self.graph_cased(texts)

    def graph_cased(self, texts: Any) -> Any:
        import tensorflow as tf

        # Two spaces, so that neighbouring clitics do not compete for one.
        spread = tf.strings.regex_replace(texts, f"[{_SPACE}]+", "  ")
        alone = f"(?:^| )('(?:{CLITICS}))(?: |$)|{_graph_pattern()}| "
        spaced = tf.strings.regex_replace(spread, alone, r"\1\2 ")
        clitics = _clitic_at_end(_spelled_out(_L))
        return tf.strings.split(tf.strings.regex_replace(spaced, clitics, r"\1 \2 "))


class LowerPennTokenizer(PennTokenizer):
    """The tokens of `PennTokenizer`, lower-cased: `do`, `n't`; `mary`, `'s`."""

    name = "penn_lower"

    def __call__(self, text: str) -> list[str]:
        return super().__call__(lower(text))

    def graph(self, texts: Any) -> Any:
        return self.graph_cased(graph_lower(texts))


class UnicodeScriptTokenizer(Tokenizer):
    """Lower-cased runs of one script, from `tensorflow_text`.

    A token ends at a space and wherever the script changes; digits and punctuation share one
    script of their own. Use it for text that mixes scripts; it needs `tensorflow-text`.

    Example:
        >>> keras_corefmem.text.UnicodeScriptTokenizer()("Mary's ДА")
        ['mary', "'", 's', 'да']
    """

    name = "unicode_script"

    def __call__(self, text: str) -> list[str]:
        return [token.decode() for token in self._compiled([text]).values.numpy()]

    def graph_cased(self, texts: Any) -> Any:
        import tensorflow as tf
        import tensorflow_text

        # Without this split, punctuation on both sides of a space becomes one token.
        words = tf.strings.split(_graph_spaces(texts))
        return tensorflow_text.UnicodeScriptTokenizer().tokenize(words).merge_dims(1, 2)

    @functools.cached_property
    def _compiled(self):
        # Compiled, since it has many small operations.
        import tensorflow as tf

        return tf.function(self.graph, input_signature=[tf.TensorSpec([None], tf.string)])


class SpaceTokenizer(Tokenizer):
    """Lower-cased tokens between spaces.

    Use it for text that is tokenized already, such as that of CNN and Daily Mail, where
    `@entity12`, `'s` and `p.m.` are tokens. Only `graph` needs TensorFlow.

    Example:
        >>> keras_corefmem.text.SpaceTokenizer()("@entity12 left at 5 p.m.")
        ['@entity12', 'left', 'at', '5', 'p.m.']
    """

    name = "spaces"
    _pattern = regex.compile(f"[^{_SPACE}]+")

    def __call__(self, text: str) -> list[str]:
        return self._pattern.findall(lower(text))

    def graph_cased(self, texts: Any) -> Any:
        import tensorflow as tf

        return tf.strings.split(_graph_spaces(texts))


# Words whose leading apostrophe is not a quotation mark.
ELISIONS = "em tis twas twere twill twould til till cause bout cept gainst neath mid pon ere im ad"
# Stand-ins for full stops and apostrophes that belong to a word.
_STOP, _APOSTROPHE = "\ue000", "\u2019"


def _any_case(words: Iterable[str]) -> str:
    return "|".join("".join(f"[{c}{c.upper()}]" for c in word) for word in sorted(words))


@functools.cache
def _prose_passes(letters: str) -> tuple[tuple[str, str], ...]:
    """Returns patterns and replacements to apply in turn, which Python and RE2 read alike."""
    titles, contracted = _any_case(ABBREVIATED_TITLES), f"{_any_case(ELISIONS.split())}|{CLITICS}"
    before, other = r"([ (\[“‘])", f"([^{letters}0-9])"
    word = f"[{letters}]+(?:['-][{letters}]+)*"
    return (
        # Two spaces, so that the patterns of neighbours do not compete for one.
        (f"^[{_SPACE}]*|[{_SPACE}]+|[{_SPACE}]*$", "  "),
        ("[_\xad]", ""),
        ("-[lL][rR][bB]-", "("),
        ("-[rR][rR][bB]-", ")"),
        ("``|«", "“"),
        ("''|»", "”"),
        (f"[{_APOSTROPHE}´]", "'"),
        ("`", "‘"),
        ("[–—―]", "--"),
        ("[‐‑]", "-"),
        ("…", "..."),
        (f'{before}"', r"\1“"),
        (f'-"([{letters}0-9])', r"-“\1"),
        ('"', "”"),
        (f"([ (\\[“‘-])'({contracted}|[0-9][0-9]s?){other}", rf"\1{_APOSTROPHE}\2\3"),
        (f"{before}'([^ ])", r"\1‘\2"),
        (f"-'([{letters}0-9])", r"-‘\1"),
        (f"([{letters}])([nN]'[tT]){other}", r"\1 \2\3"),
        (f"([^ ])'({CLITICS}){other}", rf"\1 {_APOSTROPHE}\2\3"),
        (f"([^{letters}0-9.])({titles}|[A-HJ-Z])\\. ", rf"\1\2{_STOP} "),
        (f"{_STOP} *$", ". "),
        (r"\.(?: *\.)+", "..."),
        ("--+", "--"),
        (
            rf"(\.\.\.|--|[{letters}]+{_STOP}|(?:[{letters}]\.){{2,}}|[0-9]+(?:[.,:][0-9]+)*"
            rf"[{letters}]*|{_APOSTROPHE}[{letters}0-9]+|{word}|[^ ])| +",
            r"\1 ",
        ),
        ("“", "``"),
        ("”", "''"),
        ("‘", "`"),
        (_APOSTROPHE, "'"),
        (r"\(", "-LRB-"),
        (r"\)", "-RRB-"),
        (_STOP, "."),
        (" +", " "),
    )


class ProseTokenizer(Tokenizer):
    """Lower-cased tokens of the Penn Treebank, as in LAMBADA and `corefmem passages`.

    Quotation marks become `` and '', dashes --, brackets -lrb- and -rrb-; `n't`, `'s` and the like
    are tokens of their own; titles, initials and hyphens stay with their word. Text that consists
    of such tokens already is split at its spaces. Only `graph` needs TensorFlow.

    Example:
        >>> keras_corefmem.text.ProseTokenizer()("“Mr. Hall,” she said, “can't!”")
        ['``', 'mr.', 'hall', ',', "''", 'she', 'said', ',', '``', 'ca', "n't", '!', "''"]
    """

    name = "prose"
    keeps_characters = False

    def __call__(self, text: str) -> list[str]:
        return list(map(lower, self.cased(text)))

    def cased(self, text: str) -> list[str]:
        for pattern, replacement in _prose_passes(_L):
            text = regex.sub(pattern, replacement, text)
        return list(filter(None, text.split(" ")))

    def graph(self, texts: Any) -> Any:
        tokens = self.graph_cased(texts)
        return tokens.with_values(graph_lower(tokens.values))

    def graph_cased(self, texts: Any) -> Any:
        import tensorflow as tf

        for pattern, replacement in _prose_passes(_spelled_out(_L)):
            texts = tf.strings.regex_replace(texts, pattern, replacement)
        return tf.strings.split(texts)


_KINDS = (
    *(WordTokenizer, PennTokenizer, LowerPennTokenizer),
    *(ProseTokenizer, SpaceTokenizer, UnicodeScriptTokenizer),
)
_TOKENIZERS: dict[str, type[Tokenizer]] = {kind.name: kind for kind in _KINDS}


def get_tokenizer(name: str) -> Tokenizer:
    """Returns a tokenizer by name.

    Args:
        name: `"words"`, `"penn"`, `"penn_lower"`, `"prose"`, `"unicode_script"` or `"spaces"`, also
            with hyphens.

    Returns:
        A callable from a string to its tokens, with a method `graph`.

    Raises:
        ValueError: If no tokenizer has this name.

    Example:
        >>> keras_corefmem.text.get_tokenizer("penn_lower")("Mary's milk")
        ['mary', "'s", 'milk']
    """
    underscored = str(name).replace("-", "_")
    if underscored not in _TOKENIZERS:
        raise ValueError(f"Unknown tokenizer {name!r}: choose one of {sorted(_TOKENIZERS)}.")
    return _TOKENIZERS[underscored]()


def as_tokenizer(tokenizer: Any) -> Any:
    """Returns a tokenizer by name, or any other callable as it is."""
    return get_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
