import re

import pytest

from keras_corefmem.text.lexicons import TITLES
from keras_corefmem.text.tokenizers import lower
from keras_corefmem.text.truecase import Truecaser

TEXTS = [
    "Then came Mary Ann. They saw Mary in London, and I will go. We will mark it, Mark.",
    "MARY WENT HOME. But Mary and Mark will stay in London. So I will not mark it.",
    '"Where is it?" he said to Mark. "Where are you?"',
]


COMMON = "they saw and i will go . stay ? you said , he in the '' `` \"".split()


@pytest.fixture
def truecaser():
    return Truecaser({word: word for word in COMMON} | {"mary": "Mary", "i": "I"})


def test_counts_leave_out_beginnings_and_loud_sentences():
    truecaser = Truecaser.learn(TEXTS)
    assert truecaser.forms["mary"] == "Mary" and truecaser.forms["i"] == "I"
    assert truecaser.forms["will"] == "will"
    # "mark" is twice a verb, three times a name.
    assert truecaser.forms["mark"] == "Mark"
    # Only at the beginning of sentences and quotations.
    assert "where" not in truecaser.forms and "went" not in truecaser.forms


@pytest.mark.parametrize(
    "text",
    [
        "They saw Mary and I will go . Will Mary stay ?",
        # Quotations begin with a capital.
        "`` Will you ? '' he said . He saw `` Mary '' .",
        '" Will you , " said Mary , " Will you ? "',
        # A given name, an invented one; behind an article or with an ending, no name.
        "They saw Peter and Sparhawk in the sparhawk sparhawking",
        "They saw mr. Will , 3 é",
        "",
    ],
)
def test_words_get_their_case_back_and_cased_ones_stay(truecaser, text):
    assert truecaser(text.lower().split()) == truecaser(text.split()) == text.split()
    assert truecaser(["They", "saw", "IBM", "MARY"]) == ["They", "saw", "IBM", "MARY"]


def test_titles_are_followed_by_names(truecaser):
    # However the full stop is split; no letter may become two.
    text = "they saw mr hope , mr. Hope , mr . hope and mr . \ufb01sher ."
    expected = "They saw mr Hope , mr. Hope , mr . Hope and mr . \ufb01sher ."
    assert truecaser(text.split()) == expected.split()
    assert list(map(len, truecaser(["mr", "\u00dfen", "\u0149a"]))) == [2, 3, 2]
    # Words after other titles are names if they are not known.
    known = Truecaser({word: word for word in "saw and my captain uncle said so".split()})
    text = "Saw mr. and mrs. Hope and my uncle said so and my captain Browning said so"
    assert known(text.lower().split()) == text.split()


def test_it_is_saved_whole(truecaser, tmp_path):
    path = tmp_path / "folder" / "truecaser.json"
    truecaser.save(path)
    assert Truecaser.load(path).forms == truecaser.forms
    for text, message in (
        ("{", "no truecaser JSON"),
        ("[]", "no truecaser JSON"),
        ("{}", "no truecaser JSON"),
        ('{"forms": {"mary": "John"}}', "'John' is no form of 'mary'"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=f"{path}.*{message}"):
            Truecaser.load(path)
    with pytest.raises(FileNotFoundError, match="truecaser JSON"):
        Truecaser.load(tmp_path / "none.json")


def test_empty_tokens_stay_empty(truecaser):
    assert truecaser(["", "then", ".", "", "he"]) == ["", "Then", ".", "", "He"]


def test_one_string_is_no_list(truecaser):
    with pytest.raises(ValueError, match="`tokens` is one string, pass a list of tokens"):
        truecaser("then he left")
    with pytest.raises(ValueError, match="`texts` is one string, pass a list of texts"):
        Truecaser.learn("Mary left.")


def test_rare_words_are_left_out():
    assert set(Truecaser.learn(["We saw Mary . We saw Ann . We saw Ann ."]).forms) == {"saw", "ann"}
    with pytest.raises(ValueError, match="No word is in the texts 2 times"):
        Truecaser.learn(["Mary left."])


def test_a_truecaser_of_novels_is_bundled():
    truecaser = Truecaser.load("novels")
    text = "`` oh , elizabeth ! '' said mr. hall , of the red house in london ."
    expected = "`` Oh , Elizabeth ! '' said mr. Hall , of the red house in London ."
    assert truecaser(text.split()) == expected.split()
    assert len(truecaser.forms) > 30_000


def test_words_behind_titles_get_their_case_back(real_data):
    truecaser, right = Truecaser.load("novels"), []
    text = sorted(real_data("novels/litbank").glob("*.txt"))[0].read_text("utf-8")
    for title, word in re.findall(r"\b(\w+\.?) (?=(\w+))", text):
        if lower(title) in TITLES:
            right.append(truecaser(["so", lower(title), lower(word)])[2] == word)
    assert sum(right) > 0.95 * len(right) > 100


def test_novels_teach_names(real_data):
    folder = real_data("novels/litbank")
    first, held_out = sorted(folder.glob("*.txt"))[:2]
    texts = [text.read_text("utf-8-sig")[:300_000].split("\n\n") for text in (first, held_out)]
    truecaser = Truecaser.learn([" ".join(text.split()) for text in texts[0]])
    words = [word for text in texts[1] for word in text.split()]
    cased = truecaser([word.lower() for word in words])
    right = sum(a == b for a, b in zip(words, cased, strict=True))
    plain = sum(word == word.lower() for word in words)
    assert right > plain


def test_capital_letters_are_those_of_the_same_word():
    tokens = "mr. \u0131lgaz met \xdfmann . \xb5lga left . \xe9mile ate .".split()
    cased = Truecaser({})(tokens)
    assert [lower(token) for token in cased] == tokens
    assert cased[1:4:2] == ["\u0131lgaz", "\xdfmann"] and cased[-3] == "\xc9mile"
