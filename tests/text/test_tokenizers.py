import itertools
import random
import subprocess
import sys

import pytest

from keras_corefmem.text import get_tokenizer, prose
from keras_corefmem.text.tokenizers import graph_lower, lower
from tests.support.tiers import standing_for

SPACES = " \t\n\v\f\r\x1c\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u3000\u200b\ufeff"
JOINERS = "'-_’‘‐.,?!\"`\0\u0301\u094d\u200d\ufe0f"
LETTERS = "aZ09 ßİIıΑΣςDžﬁÅÅẞꟐ𐕰𞤀जि漢か한ก٣²Ⅷªع\u0558\U00031350🏽👩"
CLITICS = ["'s", " 'd 've's \u2003'll\n", "x's 's-'s 'sé 's\x85'S 'm'", "'re. 're 's"]
NAMES = ["words", "penn", "penn_lower", "prose", "unicode_script", "spaces"]
OWN = [name for name in NAMES if name != "unicode_script"]
own_tokenizers = pytest.mark.parametrize("tokenizer", standing_for(NAMES, OWN), indirect=True)


@pytest.fixture(params=NAMES)
def tokenizer(request):
    pytest.importorskip("tensorflow")
    if request.param == "unicode_script":
        pytest.importorskip("tensorflow_text")
    return get_tokenizer(request.param)


def any_character(rng):
    """Draws a code point: the tricky ones often, all others sometimes, surrogates never."""
    pool = rng.choice((SPACES, JOINERS, LETTERS, LETTERS, None))
    if pool:
        return rng.choice(pool)
    return chr(rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000))))


def any_texts(count, seed):
    rng = random.Random(seed)
    return ["".join(any_character(rng) for _ in range(rng.randrange(40))) for _ in range(count)]


def in_graph(tokenizer, texts):
    tokens = tokenizer.graph(texts)
    return [[token.decode() for token in row] for row in tokens.to_list()]


def every_character():
    return [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("words", "Don't! \tno\t1", ["don't", "!", "no", "1"]),
        ("words", "well-known -- 'tis", ["well-known", "-", "-", "'", "tis"]),
        ("words", "rock'n'roll'", ["rock'n'roll", "'"]),
        ("words", "a--b", ["a", "-", "-", "b"]),
        ("words", "3.5 x_1", ["3", ".", "5", "x_1"]),
        ("words", "Mary2 got it", ["mary2", "got", "it"]),
        ("words", "जिसने «ДА»", ["जिसने", "«", "да", "»"]),
        ("words", "cafe\u0301", ["cafe\u0301"]),
        ("words", "İI ΑΣ", ["ii", "ασ"]),
        ("words", "a\u3000b\x85c\vd", ["a", "b", "c", "d"]),
        ("words", " \t ", []),
        ("words", "", []),
        ("penn", "Don't!", ["Do", "n't", "!"]),
        ("penn", "Mary's dogs' CAN'T", ["Mary", "'s", "dogs", "'", "CA", "N'T"]),
        ("penn", "I'd've said we'll", ["I'd", "'ve", "said", "we", "'ll"]),
        ("penn", "well-known 'd 'S 've", ["well-known", "'d", "'S", "'ve"]),
        ("penn", "'em 'd, ('s)", ["'", "em", "'", "d", ",", "(", "'", "s", ")"]),
        ("penn", "José's Zoë'D cafe\u0301's, он's", "José 's Zoë 'D cafe\u0301 's , он 's".split()),
        ("penn", "1990's _'s é's İ", ["1990's", "_'s", "é", "'s", "İ"]),
        ("penn_lower", "ÀN'T ΑΣ'LL", ["à", "n't", "ασ", "'ll"]),
        ("penn", "", []),
        ("prose", " \x85\v", []),
        ("unicode_script", "Mary's ДА漢字", ["mary", "'", "s", "да", "漢字"]),
        pytest.param(
            "unicode_script",
            "He left. 'Why?' 3.5",
            ["he", "left", ".", "'", "why", "?'", "3.5"],
            marks=pytest.mark.thorough,
        ),
        ("spaces", "( @entity7 ) -- @entity12 's", ["(", "@entity7", ")", "--", "@entity12", "'s"]),
        ("spaces", "@Placeholder\tdid n't\u3000GO .", ["@placeholder", "did", "n't", "go", "."]),
        ("spaces", "5 p.m. well-known, ДА!", ["5", "p.m.", "well-known,", "да!"]),
        ("spaces", " \n\x85\v", []),
        ("spaces", "", []),
    ],
)
def test_tokens(name, text, tokens):
    if name == "unicode_script":
        pytest.importorskip("tensorflow_text")
    assert get_tokenizer(name)(text) == tokens


def test_python_and_graph_agree_on_any_text(tokenizer):
    texts = [*any_texts(600, seed=0), *CLITICS]
    assert in_graph(tokenizer, texts) == [tokenizer(text) for text in texts]


@own_tokenizers
def test_python_and_graph_agree_inside_a_function(tokenizer):
    import tensorflow as tf

    signature = [tf.TensorSpec([None], tf.string)]
    compiled = tf.function(tokenizer.graph, input_signature=signature)
    texts = any_texts(300, seed=300)
    tokens = [[token.decode() for token in row] for row in compiled(texts).to_list()]
    assert tokens == [tokenizer(text) for text in texts]
    assert in_graph(tokenizer, tf.constant([], tf.string)) == []
    assert in_graph(tokenizer, ["", " "]) == [[], []]


@own_tokenizers
def test_joined_sentences_have_the_tokens_of_each(tokenizer):
    # An initial with a full stop at the very end is told from one inside by what follows.
    sentences = [f"{text} end" for text in any_texts(300, seed=1)]
    apart = [token for sentence in sentences for token in tokenizer(sentence)]
    assert tokenizer(" ".join(sentences)) == apart


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("“Mr. Hall,” he said, “don't!”", "`` mr. hall , '' he said , `` do n't ! ''"),
        ("'Tis J. R. Smith's (U.S.A.) — I.", "'tis j. r. smith 's -lrb- u.s.a. -rrb- -- i ."),
        ("'It's o'clock, boys' 'em . . .", "` it 's o'clock , boys ' 'em ..."),
        ('1920\'s "--"Why?" in Rome.', "1920 's `` -- `` why ? '' in rome ."),
    ],
)
def test_tokens_of_prose(text, tokens):
    assert get_tokenizer("prose")(text) == tokens.split()


def test_tokens_of_prose_stay_as_they_are():
    prose = get_tokenizer("prose")
    text = "`` 'tis mr. hall -lrb- he said -rrb- , '' -- u.s. ca n't 's ... `"
    assert prose(text) == text.split()


@pytest.mark.parametrize("name", ["penn", "penn_lower"])
def test_tokens_of_treebanks_stay_as_they_are(name):
    tokenizer, texts = get_tokenizer(name), any_texts(300, seed=2)
    for text in (*texts, "Mary's dogs' don't; 's 'd 've, (it's) 'tis\u2028'll"):
        tokens = tokenizer(text)
        assert tokenizer(" ".join(tokens)) == tokens


def test_tokens_in_their_case():
    for name, tokens in (
        ("prose", ["Mr.", "Hall", "is", "n't", "İn", "."]),
        ("penn_lower", ["Mr", ".", "Hall", "is", "n't", "İn", "."]),
        ("spaces", ["Mr.", "Hall", "isn't", "İn."]),
    ):
        tokenizer = get_tokenizer(name)
        assert tokenizer.cased("Mr. Hall isn't İn.") == tokens
        assert tokenizer("Mr. Hall isn't İn.") == list(map(lower, tokens))


def test_prose_is_cut_as_passages_of_novels_are(real_data):
    tokenizer, same, count = get_tokenizer("prose"), 0, 0
    text = sorted(real_data("novels/litbank").glob("*.txt"))[3].read_text("utf-8")
    sentences = (s for _, paragraph in prose.paragraphs(text) for s in prose.sentences(paragraph))
    for _, sentence in itertools.islice(sentences, 1001):
        tokens = prose.tokenize(sentence)
        same += tokenizer.cased(sentence) == tokens == tokenizer.cased(" ".join(tokens))
        count += 1
    assert count > 1000 and same >= 0.998 * count


# Random texts have them all, now and then.
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["words", "spaces"])
def test_python_and_graph_agree_on_every_character(name):
    pytest.importorskip("tensorflow")
    tokenizer, characters = get_tokenizer(name), every_character()
    texts = [" ".join(characters[i : i + 4096]) for i in range(0, len(characters), 4096)]
    assert in_graph(tokenizer, texts) == [tokenizer(text) for text in texts]


@pytest.mark.thorough
def test_lower_case_agrees_on_every_character():
    pytest.importorskip("tensorflow")
    characters = every_character()
    lowered = [lower(c) for c in characters]
    assert all(len(c) == 1 for c in lowered)
    assert [c.decode() for c in graph_lower(characters).numpy()] == lowered


def test_lower_case_is_python_s_but_for_two_letters():
    different = [c for c in every_character() if lower(c) != c.lower()]
    assert different == ["İ"]
    assert lower("ΟΔΟΣ") == "οδοσ" != "ΟΔΟΣ".lower()


def test_spaces_are_python_s():
    # Annotators split joined tokens at them.
    spaces = [c for c in every_character() if c.isspace()]
    assert {"\x1c", "\x1f", "\x85", "\u3000"} < set(spaces)
    for name in OWN:
        tokenizer = get_tokenizer(name)
        assert tokenizer("".join(f"{c}a" for c in spaces)) == ["a"] * len(spaces)
    assert get_tokenizer("spaces")("".join(set(every_character()) - set(spaces)))[1:] == []


def test_unknown_name():
    with pytest.raises(ValueError, match=r"'bytes'.*spaces.*unicode_script.*words"):
        get_tokenizer("bytes")


def test_text_imports_without_tensorflow():
    code = "import sys, keras_corefmem.text; print({'keras', 'tensorflow'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "set()", result.stderr
