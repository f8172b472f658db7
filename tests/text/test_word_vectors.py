import collections
import gzip

import numpy as np
import pytest

from keras_corefmem.text import PADDING, UNKNOWN, Vocabulary, load_word_vectors

VECTORS = {
    "the": (0.1, -0.2, 0.3),
    ". . .": (1.0, 1.1, 1.2),
    "mary": (2.0, 2.1, 2.2),
    "Paris": (3.0, 3.1, 3.2),
    "paris": (4.0, 4.1, 4.2),
    "\u00a0": (5.0, 5.1, 5.2),
    "a\u0085b": (6.0, 6.1, 6.2),
    "at name@domain.com": (7.0, 7.1, 7.2),
}
GLOVE = "".join(f"{word} {' '.join(map(str, v))}\n" for word, v in VECTORS.items()).encode()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(GLOVE)
    return path


@pytest.mark.parametrize(
    "written",
    [
        GLOVE,
        b"8 3\n" + GLOVE,
        gzip.compress(b"8 3\n" + GLOVE),
        b"8 3\n" + GLOVE.replace(b"\n", b" \n"),
        GLOVE.replace(b"\n", b"\r\n"),
        GLOVE.rstrip(b"\n"),
        b"\xef\xbb\xbf8 3\n" + GLOVE,
    ],
    ids=["glove", "word2vec", "gzip word2vec", "spaces at the end", "\\r\\n", "no end", "mark"],
)
def test_vectors_are_found_in_every_form(path, written):
    path.write_bytes(written)
    vocabulary = Vocabulary(reversed(VECTORS))
    matrix, coverage = load_word_vectors(path, vocabulary)
    assert matrix.dtype == np.float32 and matrix.shape == (10, 3)
    np.testing.assert_array_equal(matrix[PADDING], 0)
    expected = np.array([*VECTORS.values()][::-1], "float32")
    np.testing.assert_array_equal(matrix[2:], expected)
    assert (coverage.words, coverage.missing, coverage.missing_tokens) == (8, (), None)


def test_words_of_other_vocabularies_are_passed_over(path):
    matrix, coverage = load_word_vectors(path, Vocabulary(["paris", "nowhere", "the", "."]))
    np.testing.assert_array_equal(matrix[[2, 4]], np.float32([VECTORS["paris"], VECTORS["the"]]))
    assert coverage.missing == ("nowhere", ".")
    assert str(coverage) == "2 of 4 words have a vector"


def test_missing_words_are_drawn_by_the_seed(path):
    vocabulary = Vocabulary(["the", *(f"new{i}" for i in range(4000))])
    matrix, _ = load_word_vectors(path, vocabulary)
    assert abs(matrix[3:].std() - 0.1) < 0.005 and abs(matrix[3:].mean()) < 0.005
    assert matrix[UNKNOWN].all() and matrix[3:].all()
    same, other, wide = (
        load_word_vectors(path, vocabulary, **arguments)[0]
        for arguments in ({"seed": 0}, {"seed": 1}, {"std": 1.0})
    )
    np.testing.assert_array_equal(same, matrix)
    assert (other[3:] != matrix[3:]).all()
    assert abs(wide[3:].std() - 1) < 0.05


def test_lower_case_stands_in_only_where_a_word_is_missing(path):
    vocabulary = Vocabulary(["Mary", "Paris", "PARIS", "mary", "Bob"])
    matrix, coverage = load_word_vectors(path, vocabulary, lower_case=True)
    expected = [VECTORS[word] for word in ("mary", "Paris", "paris", "mary")]
    np.testing.assert_array_equal(matrix[2:6], np.float32(expected))
    assert (coverage.missing, coverage.lower_cased) == (("Bob",), 2)
    assert str(coverage) == "4 of 5 words have a vector (2 of their lower case)"
    assert load_word_vectors(path, vocabulary)[1].missing == ("Mary", "PARIS", "Bob")


PAIR = [f"{word} {' '.join(map(str, VECTORS[word]))}\n".encode() for word in ("paris", "Paris")]


@pytest.mark.parametrize(
    ("written", "words", "options", "expected", "lower_cased"),
    [
        # A word of its own wins wherever it stands, and the first vector of a word counts.
        (b"".join(PAIR), ["Paris"], {"lower_case": True}, [VECTORS["Paris"]], 0),
        (b"".join(PAIR[::-1]), ["Paris"], {"lower_case": True}, [VECTORS["Paris"]], 0),
        (
            GLOVE + b"the 9 9 9\nmary 9 9 9\n",
            ["the", "Mary"],
            {"lower_case": True},
            [VECTORS["the"], VECTORS["mary"]],
            1,
        ),
        (b"7 1 2\n8 3 4\n", ["7", "8"], {}, [[1, 2], [3, 4]], 0),
        # A known width helps where the first word has spaces.
        (b". . 1 2\nthe 3 4\n", [". .", "the"], {"width": 2}, [[1, 2], [3, 4]], 0),
    ],
)
def test_the_vectors_of_a_word(path, written, words, options, expected, lower_cased):
    path.write_bytes(written)
    matrix, coverage = load_word_vectors(path, Vocabulary(words), **options)
    np.testing.assert_array_equal(matrix[2:], np.float32(expected))
    assert coverage.lower_cased == lower_cased


def test_tokens_without_a_vector_are_counted(path):
    counts = collections.Counter({"the": 6, "mary": 1, "nowhere": 2, "outside": 1})
    coverage = load_word_vectors(path, Vocabulary(["the", "nowhere", "mary"]), counts=counts)[1]
    assert coverage.missing == ("nowhere",)
    assert coverage.missing_tokens == pytest.approx(0.3)
    assert str(coverage) == "2 of 3 words have a vector; 30.00% of the tokens have none"
    assert load_word_vectors(path, Vocabulary(["the"]), counts={})[1].missing_tokens == 0


@pytest.mark.parametrize(
    "written, message",
    [
        (b"the 1 2 3\ncat 1 2\n", ":2: 2 numbers instead of 3, .*truncated"),
        (b"the 1 2 3\ncat 1 2 3 4\n", ":2: more than 3 numbers, pass vectors of one width"),
        (b"the 1 2 3\nmary 1 x 3\n", ":2: 'x' is no finite number, pass"),
        (b"the 1 2 3\nmary 1 2 nan\n", ":2: 'nan' is no finite number"),
        (b"the 1 2 3\nmary 1 2 1e999\n", ":2: '1e999' is no finite number"),
        (b"2 3\nthe 1 2 3\n", ":2: 1 vectors in the file instead of 2, is it truncated"),
        (b"1 3\nthe 1 2 3\ncat 1 2 3\n", ":3: 2 vectors in the file instead of 1"),
        (b"2 3\nthe 1 2 3 4\n", ":2: more than 3 numbers"),
        (b". . 1 2\nthe 3 4\n", ":1: .\\.. is no finite number, .* pass `width`"),
        (b"2 3\n", ":1: 0 vectors in the file instead of 2"),
        (b"", ":0: 0 vectors in the file"),
        (b"the\n", ":1: 0 numbers instead of a vector"),
        (b"The quick fox\njumps over the lazy dog\n", ":1: 'quick' is no finite number"),
        (b"2 3\nthe \x00\x00\x80?\x00\x00\x80?\x00\x00\x80?", ":2: 1 numbers instead of 3"),
        (b"PK\x03\x04", ": a zip archive, unpack it"),
        (gzip.compress(GLOVE)[:-12], ": the compressed file is truncated or broken"),
        (gzip.compress(GLOVE)[:-4] + b"\0\0\0\0", ": the compressed file is truncated or broken"),
    ],
)
def test_broken_files_are_named(path, written, message):
    path.write_bytes(written)
    with pytest.raises(ValueError, match=f"vectors.txt{message}"):
        load_word_vectors(path, Vocabulary(["the", "mary"]))
    path.unlink()
    with pytest.raises(FileNotFoundError, match="vectors.txt: no such file, .*glove"):
        load_word_vectors(path, Vocabulary(["the"]))
    with pytest.raises(FileNotFoundError, match=f"{path.parent}: no such file, .*glove"):
        load_word_vectors(path.parent, Vocabulary(["the"]))


@pytest.mark.parametrize("width", [0, -2, 2.5])
def test_wrong_widths_are_named(path, width):
    path.write_bytes(GLOVE)
    with pytest.raises(ValueError, match="width must be an integer of at least 1, got"):
        load_word_vectors(path, Vocabulary(["the"]), width)


def test_official_vectors_as_they_stand(real_data):
    path = real_data("glove/glove.6B.50d.small.txt")
    with open(path, encoding="utf-8", newline="\n") as stream:
        words = [line.split(" ")[0] for line in stream]
    matrix, coverage = load_word_vectors(path, Vocabulary(words))
    assert matrix.shape == (4811 + 2, 50)
    assert coverage.missing == ()
    np.testing.assert_allclose(matrix[2, :3], [0.418, 0.24968, -0.41242])
