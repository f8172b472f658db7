import types

import pytest

from keras_corefmem.graphs import Mention
from keras_corefmem.graphs.formats.spacy_docs import chains_of, from_doc

spacy = pytest.importorskip("spacy")

WORDS = ["Mary", "  ", "told", "her", "friend", ".", "\n", "She", "left"]
HEADS = [2, 0, 2, 4, 2, 2, 5, 8, 8]
DEPS = ["nsubj", "", "ROOT", "poss", "dobj", "punct", "", "nsubj", "ROOT"]


@pytest.fixture
def doc():
    """A Doc with two tokens of spaces: numbers 1 and 6."""
    nlp = spacy.blank("en")
    spaces = [False, False, True, True, False, False, False, True, False]
    tags = ["NNP__Number=Sing", "_SP", "VBD", "PRP$", "NN", ".", "_SP", "PRP", "VBD"]
    return spacy.tokens.Doc(nlp.vocab, WORDS, spaces, tags=tags, heads=HEADS, deps=DEPS)


@pytest.fixture
def extension():
    """A function that sets an extension attribute of Docs for a test."""
    names = []

    def add(doc, name, value):
        spacy.tokens.Doc.set_extension(name, default=None)
        names.append(name)
        setattr(doc._, name, value)

    yield add
    for name in names:
        spacy.tokens.Doc.remove_extension(name)


def test_spaces_are_left_out(doc):
    annotation = from_doc(doc)
    assert annotation.text == "Mary  told her friend.\nShe left"
    assert annotation.tokens == ("Mary", "told", "her", "friend", ".", "She", "left")
    assert annotation.starts == (0, 6, 11, 15, 21, 23, 27)
    assert annotation.governors == (1, 1, 3, 1, 1, 6, 6)
    assert annotation.labels == ("nsubj", "ROOT", "poss", "dobj", "punct", "nsubj", "ROOT")
    assert annotation.tags == ("NNP", "VBD", "PRP$", "NN", ".", "PRP", "VBD")
    assert annotation.sentences == (0, 5) and annotation.chains == ()


def test_universal_tags_come_first(doc):
    for token in doc:
        token.pos_ = "X"
    assert from_doc(doc).tags == ("X",) * 7


def test_what_is_not_known_is_empty():
    annotation = from_doc(spacy.blank("en")("Mary left. She ran."))
    assert annotation.governors == annotation.labels == annotation.tags == annotation.chains == ()
    assert annotation.sentences == (0,)


def test_named_entities_are_those_of_a_component():
    nlp = spacy.blank("en")
    assert from_doc(nlp("Mary  left")).named_entities == ()
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "Mary Ann"}])
    assert from_doc(nlp("Yes  Mary Ann left")).named_entities == ("", "PERSON", "PERSON", "")
    # It looked for some, in vain.
    assert from_doc(nlp("He left")).named_entities == ("", "")


def test_a_head_that_is_a_space_is_passed_on():
    vocab = spacy.blank("en").vocab
    doc = spacy.tokens.Doc(vocab, ["a", " ", "b", " "], heads=[1, 2, 2, 3], deps=["x", "", "r", ""])
    assert from_doc(doc).governors == (1, 1)
    rootless = spacy.tokens.Doc(vocab, ["a", " "], heads=[1, 1], deps=["x", "ROOT"])
    assert from_doc(rootless).governors == (0,)


def test_groups_of_spans(doc):
    doc.spans["coref_clusters_2"] = [doc[3:4], doc[0:2]]
    doc.spans["coref_clusters_10"] = [doc[2:5], doc[7:8], doc[6:7]]
    # Other groups: heads, other names, numbers that are none.
    for name in ("coref_head_clusters_1", "coref_clusters_0", "coref_clusters_x", "sc"):
        doc.spans[name] = [doc[8:9]]
    assert from_doc(doc).chains == (
        (Mention(0, 1, 0), Mention(2, 3, 2)),
        (Mention(1, 4, 1), Mention(5, 6, 5)),
    )


def test_clusters_of_characters(doc, extension):
    extension(doc, "coref_clusters", [[(0, 4), (23, 26)], [(11, 19)]])
    # "fri" is expanded to its token.
    assert from_doc(doc).chains == ((Mention(0, 1, 0), Mention(5, 6, 5)), (Mention(2, 4, 3),))
    doc._.coref_clusters = [[(50, 60)]]
    with pytest.raises(ValueError, match="Characters 50 to 60 .* outside the text of 31"):
        from_doc(doc)


def test_chains_of_indexes(doc, extension):
    one, both, she = (
        types.SimpleNamespace(token_indexes=indexes, root_index=indexes[0])
        for indexes in ([0], [0, 4], [7])
    )
    chains = [types.SimpleNamespace(mentions=[one, she]), types.SimpleNamespace(mentions=[both])]
    extension(doc, "coref_chains", chains)
    assert from_doc(doc).chains == ((Mention(0, 1, 0), Mention(5, 6, 5)), (Mention(0, 4, 0),))


def test_spaces_are_no_heads(doc, extension):
    told, mary = (
        types.SimpleNamespace(token_indexes=indexes, root_index=1) for indexes in ([0, 1], [1, 2])
    )
    extension(doc, "coref_chains", [types.SimpleNamespace(mentions=[told, mary])])
    assert from_doc(doc).chains == ((Mention(0, 1, 0), Mention(1, 2, 1)),)


def test_the_last_word_is_the_head_where_nothing_was_parsed():
    doc = spacy.blank("en")("The old man  slept. The man \n left.")
    doc.spans["coref_clusters_1"] = [doc[0:3], doc[6:9]]
    assert from_doc(doc).chains == ((Mention(0, 3, 2), Mention(5, 7, 6)),)


def test_docs_without_chains_are_told_from_those_that_were_not_resolved(doc):
    assert chains_of(doc) is None
    doc.spans["corefmem_resolver"] = []
    assert chains_of(doc) == []
    assert from_doc(doc, resolve=None).chains == ()
    copies = spacy.tokens.Doc(doc.vocab).from_bytes(doc.to_bytes()), doc.copy()
    docs = spacy.tokens.DocBin(docs=[doc]).get_docs(doc.vocab)
    assert [chains_of(each) for each in (*copies, *docs)] == [[]] * 3


def test_only_docs_without_coreference_are_resolved(doc, extension):
    def resolve(doc):
        doc.spans["coref_clusters_1"] = [doc[7:8]]
        return doc

    extension(doc, "coref_chains", None)
    assert from_doc(doc, resolve).chains == ((Mention(5, 6, 5),),)
    doc._.coref_chains = []
    del doc.spans["coref_clusters_1"]
    assert from_doc(doc, resolve).chains == ()


def test_nothing_but_spaces_raises():
    with pytest.raises(ValueError, match="An annotation needs a token"):
        from_doc(spacy.blank("en")("  "))
