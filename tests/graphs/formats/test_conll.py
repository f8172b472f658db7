import dataclasses

import pytest

from keras_corefmem.graphs import Annotation, Mention
from keras_corefmem.graphs.formats.conll import read_conll, with_parse, write_conll
from tests.support.conformance.graphs import spaced_annotation

TEXT = """#begin document (tale); part 0
tale\t0\t0\tMary\t_\t_\t(0)
tale\t0\t1\ttold\t_\t_\t_
tale\t0\t2\this\t_\t_\t(1|(2)
tale\t0\t3\twife\t_\t_\t1)
tale\t0\t4\t.\t_\t_\t-

tale\t0\t0\tShe\t_\t_\t(0)
tale\t0\t1\tleft\t_\t_\t
#end document
"""


@pytest.fixture
def write(tmp_path):
    def save(text):
        path = tmp_path / "x.conll"
        path.write_text(text, "utf-8")
        return path

    return save


def test_documents_are_read(write):
    ((name, annotation),) = read_conll(write(TEXT))
    assert name == "tale; part 0"
    assert annotation.text == "Mary told his wife .\nShe left"
    assert annotation.sentences == (0, 5) and annotation.tags == () and annotation.governors == ()
    assert annotation.chains == (
        (Mention(0, 1, 0), Mention(5, 6, 5)),
        (Mention(2, 3, 2),),
        (Mention(2, 4, 3),),
    )


def test_sentences_have_a_column_for_each_predicate(write):
    # As in OntoNotes: the second sentence has no predicate, the first has two.
    text = (
        "#begin document (bc/cctv/00/cctv_0000); part 000\n"
        "bc/cctv/00/cctv_0000 0 0 Mary NNP (S* - - - A * (ARG0*) (ARG0*) (1)\n"
        "bc/cctv/00/cctv_0000 0 1 came VBD *) come 01 1 A * (V*) * -\n\n"
        "bc/cctv/00/cctv_0000 0 0 She PRP (NP*) - - - A * (1)\n\n#end document\n"
    )
    ((name, annotation),) = read_conll(write(text))
    assert name == "bc/cctv/00/cctv_0000; part 0" and annotation.tags == ("NNP", "VBD", "PRP")
    assert annotation.chains == ((Mention(0, 1, 0), Mention(2, 3, 2)),)


def test_mentions_of_a_chain_nest(write):
    lines = ["(1", "(1", "1)", "1)"]
    body = "".join(f"d 0 {n} w{n} NN {c}\n" for n, c in enumerate(lines))
    ((_, annotation),) = read_conll(write(f"#begin document (d); part 003\n{body}#end document\n"))
    assert [m[:2] for m in annotation.chains[0]] == [(0, 4), (1, 3)]
    assert annotation.tags == ("NN",) * 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#end document\n", "", ":10: no #end document for 'tale; part 0'; is the file trunc"),
        ("#begin document (tale); part 0\n", "", ":1: a token outside a document"),
        ("(tale); part 0", "tale; part x", ":1: write `#begin document"),
        ("\t1)\n", "\t_\n", ":4: this mention is not closed before .*:10, #end document"),
        ("\t(1|(2)\n", "\t(2)\n", ":5: '1\\)' closes a mention of chain 1 that was not opened"),
        ("\t(1|(2)\n", "\t(1|2\n", ":4: coreference '2' is none of"),
        ("\t(1|(2)\n", "\t(1|x)\n", ":4: coreference 'x\\)' is none of"),
        ("\ttold\t_\t_\t_", "\ttold\t_\t_", ":3: 6 columns, expected 7, .* of a sentence"),
        ("tale\t0\t0\tShe\t_\t_\t(0)", "tale 0", ":8: 2 columns, expected 5 or more"),
        ("\ttold\t", "\t\t", ":3: '' is no word, column 4"),
        ("tale\t0\t0\tMary\t_\t_\t(0)", "tale 0", ":2: 2 columns, expected 5 or more"),
        ("\n\n", "\n#begin document (a)\n", ":7: a document begins inside another"),
        (TEXT, "", "no document in the file"),
        (TEXT, "#end document\n", ":1: no #begin document before"),
        (TEXT, "#begin document (a)\n#end document\n", ":2: the document 'a; part 0' has no tok"),
    ],
)
def test_broken_files_raise_with_their_line(write, old, new, message):
    with pytest.raises(ValueError, match=message):
        read_conll(write(TEXT.replace(old, new, 1)))


def test_no_file_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file, pass the path of a CoNLL-2012 file"):
        read_conll(tmp_path / "none.conll")


def test_what_is_written_is_read_again(write, tmp_path):
    path = tmp_path / "folder" / "y.conll"
    documents = read_conll(write(TEXT + "\n" + TEXT.replace("part 0", "part 1")))
    assert [name for name, _ in documents] == ["tale; part 0", "tale; part 1"]
    write_conll(path, documents)
    assert read_conll(path) == documents
    text = path.read_text()
    assert text.startswith("#begin document (tale); part 000\n")
    assert text.endswith("#end document\n")
    assert "\this\t-\t-\t-\t-\t-\t-\t-\t(2|(1)\n" in text
    assert len({line.count("\t") for line in text.splitlines() if "\t" in line}) == 1


def test_what_cannot_be_written_raises_and_leaves_the_file(tmp_path):
    path = tmp_path / "z.conll"
    path.write_text("old")
    for name, text, message in (
        ("d", "a b", "token 0, 'a b', has a space in it, split it"),
        ("d; part x", "a", "'d; part x' is no name of a document"),
        ("d\te", "a", "is no name of a document"),
    ):
        with pytest.raises(ValueError, match=message):
            write_conll(path, [(name, Annotation(text, [text], [0]))])
    crossing = spaced_annotation("a b c d", chains=[[(0, 3, 0), (1, 2, 1), (2, 4, 3)]])
    with pytest.raises(ValueError, match=r"d: Mention\(start=0.* and Mention\(start=2.* cross"):
        write_conll(path, [("d", crossing)])
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_heads_come_from_a_parse(write):
    text = TEXT.replace("\t1)\n", "\t_\n").replace(".\t_\t_\t-", ".\t_\t_\t1)")
    ((_, annotation),) = read_conll(write(text))
    heads = (1, 1, 3, 1, 1, 6, 6)
    parsed = dataclasses.replace(annotation, governors=heads, labels=["x"] * 7, chains=())
    merged = with_parse(annotation, parsed)
    # "his wife .": both the wife and the full stop depend on what is outside, the first counts.
    assert Mention(2, 5, 3) in [chain[0] for chain in merged.chains]
    assert merged.governors == heads and merged.sentences == annotation.sentences
    with pytest.raises(ValueError, match="dependencies of the same 7 tokens; got 7 tokens and 0"):
        with_parse(annotation, annotation)


def test_litbank_is_read_and_written_back(real_data, tmp_path):
    paths = sorted(real_data("litbank/conll").glob("*.conll"))[:20]
    for path in paths:
        documents = read_conll(path)
        write_conll(tmp_path / "a.conll", documents)
        assert read_conll(tmp_path / "a.conll") == documents
    ((name, bleak_house),) = read_conll(paths[0])
    assert name == "1023_bleak_house_brat; part 0" and len(bleak_house) == 2269
    assert sum(map(len, bleak_house.chains)) == 256
