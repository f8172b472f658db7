from keras_corefmem.graphs.coreference.parse import Parse

UD = (
    "She/PRP__Case=Nom/1/nsubj gave/VBD/1/ROOT books/NNS__Number=Plur/1/obj to/IN/4/case "
    "Mary/NNP/1/obl and/CC/6/cc left/VBD/1/conj"
)
OWN = "She/PRP/1/nsubjpass was/VBD/1/ROOT seen/VBN/1/dobj by/IN/2/agent Mary/NNP/3/pobj"


def test_tags_and_labels_become_universal(parsed):
    parse = Parse.from_doc(parsed(UD))
    assert parse.tags == ["PRON", "VERB", "NOUN", "ADP", "PROPN", "CCONJ", "VERB"]
    assert parse.labels[:3] == ["nsubj", "root", "obj"]
    assert [index for index, plural in enumerate(parse.plural) if plural] == [2]
    assert parse.lowers[0] == "she" and len(parse) == 7
    assert Parse.from_doc(parsed(OWN)).labels == ["nsubj", "root", "obj", "prep", "obl"]


def test_subtypes_are_dropped_but_that_of_possessors(parsed):
    parse = Parse.from_doc(parsed("his/PRP$/1/nmod:poss man/NN/1/root seen/VBN/1/acl:relcl"))
    assert parse.labels == ["nmod:poss", "root", "acl"]
    assert Parse.from_doc(parsed("his/PRP$/1/poss man/NN/1/ROOT")).labels[0] == "nmod:poss"


def test_what_depends_on_a_token(parsed):
    parse = Parse.from_doc(parsed(UD))
    assert parse.subtree(1) == (0, 6) and parse.subtree(4) == (3, 4) and parse.subtree(0) == (0, 0)
    assert parse.dependent(1, "obj", "obl") == 2 and parse.dependent(1, "xcomp") is None


def test_predicates_and_their_subjects(parsed):
    parse = Parse.from_doc(parsed(UD))
    assert parse.predicate(4) == 1 and parse.predicate(0) == 1
    # A coordinated predicate shares its subject.
    assert parse.subject(6) == 0
    assert Parse.from_doc(parsed(OWN)).predicate(4) == 2
    assert Parse.from_doc(parsed("Mary/NNP/0/root")).subject(0) is None


def test_nouns_behind_titles_are_names(parsed):
    parse = Parse.from_doc(parsed("Mrs./NNP/1/compound Hall/NN/2/nsubj saw/VBD/2/root"))
    assert parse.tags[:2] == ["PROPN", "PROPN"]
    assert Parse.from_doc(parsed("Mrs./NNP/1/compound hall/NN/1/root")).tags[1] == "NOUN"


def test_words_that_are_names_elsewhere_are_names(parsed):
    text = "Good/JJ/1/nsubj saw/VBD/1/root Good/NNP/1/obj and/CC/4/cc Well/NN/1/conj"
    assert Parse.from_doc(parsed(text)).tags == ["PROPN", "VERB", "PROPN", "CCONJ", "NOUN"]
    common = Parse.from_doc(parsed(f"{text} good/JJ/1/obj"))
    assert common.tags[0] == "ADJ"


def test_sentences_are_numbered(parsed):
    doc = parsed("He/PRP/1/nsubj ran/VBD/1/root She/PRP/3/nsubj sat/VBD/3/root")
    assert Parse.from_doc(doc).sentences == [0, 0, 1, 1]
