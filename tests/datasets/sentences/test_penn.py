import pytest

from keras_corefmem.datasets.sentences.penn import Constituent, Tree, decode, read_trees


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trees.mrg"


def test_constituents_are_spans_in_the_order_of_their_brackets(path):
    path.write_text("\n( (S (NP (DT The) (NN dog))\n\t(VP (VBD barked)) ) )\n(X (. .))\n")
    first, second = read_trees(path)
    assert first == Tree(
        ("The", "dog", "barked"),
        (
            Constituent("", 0, 3, False, 2),
            Constituent("S", 0, 3, False, 2),
            Constituent("NP", 0, 2, False, 2),
            Constituent("DT", 0, 1, True, 2),
            Constituent("NN", 1, 2, True, 2),
            Constituent("VP", 2, 3, False, 3),
            Constituent("VBD", 2, 3, True, 3),
        ),
    )
    stop = (Constituent("X", 0, 1, False, 4), Constituent(".", 0, 1, True, 4))
    assert second == Tree((".",), stop)


@pytest.mark.parametrize("space", ["\u00a0", "\u0085", "\u2028"])
def test_words_are_trees_and_only_ascii_space_separates(path, space):
    path.write_bytes(f"(CD 8{space}1/2)\r\n(CD 9)(CD 7)\r\n".encode())
    assert [tree.words for tree in read_trees(path)] == [(f"8{space}1/2",), ("9",), ("7",)]


@pytest.mark.parametrize(
    "escaped, words",
    [
        ("-LRB- -RRB- -LSB- -RSB- -LCB- -RCB- -rrb-", "( ) [ ] { } )"),
        (r"1\/2 \*\* C:\dir `` ''", r"1/2 ** C:\dir `` ''"),
    ],
)
def test_escapes_are_undone(escaped, words):
    assert " ".join(map(decode, escaped.split())) == words


@pytest.mark.parametrize(
    "written, message",
    [
        ("(S (NN dog)\n(X (. .))\n(VP", ":3: the bracket that opens here is never closed"),
        ("( (S (NN dog) )\n( (S (. .)) )\n", ":2: a bracket inside a tree has no label; .* before"),
        ("(NN dog)\n(NN cat))\n", ":2: a bracket is closed that was never opened"),
        ("(NN dog) barked\n", ":1: 'barked' stands outside all brackets"),
        ("The quick brown fox.\n", ":1: 'The' stands outside all brackets"),
        ("(S (NN dog) barked)", ":1: 'barked' stands beside another word"),
        ("(NN dog barked)", ":1: 'barked' stands beside another word"),
        ("(NN dog (VBD barked))", ":1: a bracket opens behind the word 'dog'"),
        ("(S (NN dog)\n(VBD))", ":2: a bracket holds no word"),
        ("()", ":1: a bracket holds no word"),
        (" \n", ": no tree in the file"),
    ],
)
def test_broken_trees_are_named(path, written, message):
    path.write_text(written)
    with pytest.raises(ValueError, match=f"trees.mrg{message}"):
        list(read_trees(path))


def test_a_missing_bracket_is_found_on_its_line(path):
    path.write_text("(3 (2 a) (3 b))\n(3 (2 c) (3 d)\n(3 (2 e) (3 f))\n")
    with pytest.raises(ValueError, match=":2: 1 brackets are not closed at the end of the line"):
        list(read_trees(path, one_per_line=True))
