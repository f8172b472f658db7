import itertools

import pytest

from keras_corefmem.datasets.sentences import Sentence, pos

CONLLU = """\
# sent_id = 1
# text = I don't know.
1\tI\tI\tPRON\tPRP\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
3.1\tever\tever\tADV\tRB\t_\t_\t_\t_\t_
4\tknow\tknow\tVERB\tVB\t_\t0\troot\t_\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_

# sent_id = 2
1\t_\t_\tSYM\tNFP\t_\t0\troot\t_\t_

"""
SENTENCES = [
    Sentence(("I", "do", "n't", "know", "."), ("PRON", "AUX", "PART", "VERB", "PUNCT")),
    Sentence(("_",), ("SYM",)),
]
PENN = r"""
( (S
    (NP-SBJ-1 (NNP Pierre) (NNP Vinken) )
    (VP (MD will)
      (VP (VB join)
        (NP (-LRB- -LRB-) (CD 1\/2) (-RRB- -RRB-) )
        (S
          (NP-SBJ (-NONE- *-1) )
          (NP-TMP (NNP Nov.) (CD 29) ))))
    (. .) ))
( (X (-NONE- 0) ))
( (INTJ (UH Yes) (, ,)))
"""
PENN_SENTENCES = [
    Sentence(
        ("Pierre", "Vinken", "will", "join", "(", "1/2", ")", "Nov.", "29", "."),
        ("NNP", "NNP", "MD", "VB", "-LRB-", "CD", "-RRB-", "NNP", "CD", "."),
    ),
    Sentence(("Yes", ","), ("UH", ",")),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x-ud-train.conllu"


@pytest.fixture
def wsj(tmp_path):
    """Two sections in a file each, and all others; the words of a file are its name."""
    for section in range(25):
        for number in (0, 1):
            name = f"wsj_{section:02}{number:02}.mrg"
            file = tmp_path / f"wsj/{section:02}" / (name.upper() if section == 7 else name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"( (S (NN {name}) ))\n")
    (tmp_path / "brown").mkdir()
    (tmp_path / "brown/cf01.mrg").write_text("( (S (NN brown) ))\n")
    return tmp_path


def test_words_have_numbers_of_their_own(path):
    path.write_text(CONLLU)
    sentences = pos.read_conllu(path)
    assert sentences == SENTENCES
    assert [sentence.source for sentence in sentences] == [f"{path}:1", f"{path}:11"]


def test_either_column_of_tags(path):
    path.write_text(CONLLU)
    assert pos.read_conllu(path, "XPOS")[0].answer == ("PRP", "VBP", "RB", "VB", ".")
    with pytest.raises(ValueError, match="no column 'LEMMA', .*'UPOS', 'XPOS'"):
        pos.read_conllu(path, "LEMMA")


def test_editors_leave_their_marks(path):
    path.write_text(CONLLU.replace("\n\n", "\n\n\n").replace("know", "kn\u2028o\u0085w"))
    first, second = pos.read_conllu(path)
    assert second == SENTENCES[1] and first.words[3] == "kn\u2028o\u0085w"


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("\t4\tpunct\t_\t_", "\t4\tpunct", ":9: 8 of the 10 columns"),
        ("5\t.", "6\t.", ":9: the word is number '6' instead of 5"),
        ("3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_\n", "", ":7: the word is number '4' inst"),
        ("\n\n# sent_id = 2", "", ":10: the word is number '1' instead of 6"),
        ("\tVERB\t", "\t_\t", ":8: the word 'know' has no UPOS tag"),
        ("\tknow\tknow\t", "\t\tknow\t", ":8: the word '' has no UPOS tag"),
        (CONLLU, "", ": no sentence in the file"),
        (CONLLU, "The quick brown fox.\n\n", ":1: 1 of the 10 columns"),
        ("root\t_\t_\n\n", "root\t_\t_\n", ":11: no empty line ends the sentence"),
        ("root\t_\t_\n\n", "root\t_", ":11: no empty line ends the sentence"),
        (CONLLU, "# sent_id = 1", ":1: no empty line ends the sentence"),
        (CONLLU, "# sent_id = 1\n", ":1: no empty line ends the sentence"),
    ],
)
def test_broken_conllu_is_named(path, old, new, message):
    path.write_text(CONLLU.replace(old, new))
    with pytest.raises(ValueError, match=f"x-ud-train.conllu{message}"):
        pos.read_conllu(path)


def test_a_treebank_has_its_parts_in_one_folder(path):
    path.write_text(CONLLU)
    with pytest.raises(FileNotFoundError, match="No files .*-ud-dev.conllu in .*pass its folder"):
        pos.load_conllu(path.parent)
    (path.parent / "x-ud-dev.conllu").write_text(CONLLU[CONLLU.index("# sent_id = 2") :])
    splits = pos.load_conllu(path.parent)
    assert (splits.train, splits.valid, splits.test) == (SENTENCES, SENTENCES[1:], [])
    (path.parent / "x-ud-test.conllu").write_text(CONLLU)
    assert pos.load_conllu(path.parent, "XPOS").test[1].answer == ("NFP",)
    (path.parent / "y-ud-test.conllu").write_text(CONLLU)
    with pytest.raises(ValueError, match="several treebanks .x-ud-test.conllu, y-ud-test.conllu"):
        pos.load_conllu(path.parent)


def test_traces_are_no_words(tmp_path):
    path = tmp_path / "wsj_0001.mrg"
    path.write_text(PENN)
    sentences = pos.read_penn(path)
    assert sentences == PENN_SENTENCES
    assert [sentence.source for sentence in sentences] == [f"{path}:2", f"{path}:12"]


def test_sections_are_split_in_their_order(wsj):
    splits = pos.load_wsj(wsj)
    sections = {"train": range(19), "valid": range(19, 22), "test": range(22, 25)}
    for part, numbers in sections.items():
        words = [sentence.words for sentence in getattr(splits, part)]
        assert words == [(f"wsj_{s:02}{n:02}.mrg",) for s, n in itertools.product(numbers, (0, 1))]


def test_a_missing_section_is_named(wsj):
    for section in ("03", "20"):
        for path in (wsj / "wsj" / section).iterdir():
            path.unlink()
    with pytest.raises(FileNotFoundError, match="sections 03, 20 in .*pass the folder"):
        pos.load_wsj(wsj)
    with pytest.raises(FileNotFoundError, match="sections 00, 01, .* 24 in"):
        pos.load_wsj(wsj / "nowhere")


def test_two_copies_would_count_twice(wsj):
    copy = wsj / "copy/wsj_1900.mrg"
    copy.parent.mkdir()
    copy.write_text("( (S (NN again) ))\n")
    with pytest.raises(ValueError, match="wsj_1900.mrg are the same file, pass the folder of one"):
        pos.load_wsj(wsj)


@pytest.mark.parametrize(
    "column, kinds", [pytest.param("UPOS", 17, marks=pytest.mark.thorough), ("XPOS", 49)]
)
def test_the_official_treebank_is_read_whole(real_data, column, kinds):
    splits = pos.load_conllu(real_data("ud_english_ewt/en_ewt-ud-train.conllu").parent, column)
    assert (len(splits.train), len(splits.valid)) == (12544, 2001)
    assert sum(len(sentence.words) for sentence in splits.train) == 204577
    assert sum(len(sentence.words) for sentence in splits.valid) == 25147
    assert len({tag for sentence in splits.train for tag in sentence.answer}) == kinds
