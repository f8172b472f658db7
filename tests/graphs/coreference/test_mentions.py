import pytest

from keras_corefmem.graphs.coreference.clusters import Clusters
from keras_corefmem.graphs.coreference.mentions import (
    NAME,
    NOMINAL,
    PRONOUN,
    Phrase,
    describe_spans,
    detect,
    head_of,
)
from keras_corefmem.graphs.coreference.parse import Parse

HALL = (
    "Old/JJ/2/amod Mrs./NNP/2/compound Hall/NNP/3/nsubj lost/VBD/3/root her/PRP$/7/nmod:poss "
    "little/JJ/7/amod railway/NN/7/compound tickets/NNS/3/obj ,/,/3/punct poor/JJ/10/amod "
    "soul/NN/2/appos"
)


@pytest.fixture
def mentions(parsed):
    """A function from tokens to the texts of the mentions that are detected, and these."""

    def find(text):
        parse = Parse.from_doc(parsed(text))
        phrases = detect(parse)
        return [" ".join(parse.words[p.start : p.end]) for p in phrases], phrases

    return find


def test_names_noun_phrases_and_pronouns_are_found(mentions):
    texts, found = mentions(HALL)
    hall, her, tickets, soul = found
    assert texts == ["Old Mrs. Hall", "her", "her little railway tickets", "poor soul"]
    assert [phrase.kind for phrase in found] == [NAME, PRONOUN, NOMINAL, NOMINAL]
    assert hall.name == ("hall",) and hall.title == "mrs." and hall.gender == "feminine"
    assert her.pronoun.person == 3 and her.number == "one" and her.gender == "feminine"
    assert tickets.number == "many" and tickets.definite and tickets.possessor == 4
    assert tickets.modifiers == {"little", "railway"} and not soul.definite
    assert soul.person is None and soul.number == "one"


def test_titles_are_parts_of_names(mentions):
    # As newer treebanks label them.
    text = (
        "Detective/NNP/1/nmod:desc Jones/NNP/2/nsubj saw/VBD/2/root Mr./NNP/4/nmod:desc "
        "Blowers/NNPS/2/obj of/IN/6/case Iping/NNP/4/nmod"
    )
    texts, (jones, blowers, iping) = mentions(text)
    assert texts == ["Detective Jones", "Mr. Blowers of Iping", "Iping"]
    assert jones.name == ("jones",) and (blowers.title, blowers.name) == ("mr.", ("blowers",))
    assert (blowers.number, blowers.gender) == ("one", "masculine") and iping.label == "nmod"


def test_prepositions_and_conjuncts_stay_outside(mentions):
    text = "in/IN/2/case the/DT/2/det house/NN/2/root and/CC/5/cc a/DT/5/det barn/NN/2/conj"
    texts, (house, barn) = mentions(text)
    assert texts == ["the house", "a barn"]
    assert house.definite and not barn.definite and house.gender == "thing"


def test_names_before_nouns_are_mentions_of_their_own(mentions):
    assert mentions("Iping/NNP/1/compound station/NN/1/root")[0] == ["Iping", "Iping station"]


@pytest.mark.parametrize(
    "text",
    [
        "It/PRP/1/nsubj rains/VBZ/1/root",
        "It/PRP/2/nsubj is/VBZ/2/cop clear/JJ/2/root that/IN/5/mark we/PRP/5/nsubj go/VBP/2/csubj",
        "It/PRP/1/expl seems/VBZ/1/root",
        "It/PRP/1/nsubj seems/VBZ/1/root",
    ],
)
def test_it_without_a_referent_is_none(mentions, text):
    assert "It" not in mentions(text)[0]


def test_it_with_a_referent_is_one(mentions):
    for text in ("It/PRP/1/nsubj sank/VBD/1/root", "saw/VBD/0/root it/PRP/0/obj"):
        assert len(mentions(text)[1]) == 1


def test_given_spans_get_heads(parsed):
    parse = Parse.from_doc(parsed(HALL))
    assert [p.head for p in describe_spans(parse, [(0, 3), (4, 8), (6, 7)])] == [2, 7, 6]
    assert head_of(parse, 1, 3) == 2
    # Without a noun, the root of the span; across the parse, its last noun phrase.
    assert head_of(parse, 9, 10) == 9


def test_genders_of_nouns_and_names(mentions):
    _, (elizabeth, sailors) = mentions("Elizabeth/NNP/1/nsubj met/VBD/1/root sailors/NNS/1/obj")
    assert (elizabeth.gender, elizabeth.person) == ("feminine", True)
    assert (sailors.gender, sailors.person, sailors.number) == ("masculine", True, "many")


def phrase(**fields):
    return Phrase(0, 1, 0, NOMINAL, 0, "nsubj", **fields)


def test_entities_agree_in_gender_number_and_person():
    man, woman = phrase(gender="masculine", person=True), phrase(gender="feminine", person=True)
    some, thing, many = phrase(), phrase(gender="thing", person=False), phrase(number="many")
    one = phrase(number="one")
    clusters = Clusters(None, [man, woman, some, thing, many, one])
    assert not clusters.agree(0, 1) and not clusters.agree(0, 3)
    assert not clusters.agree(4, 5)
    assert clusters.agree(0, 2) and clusters.agree(2, 4)
    clusters.merge(0, 2)
    # What one mention says holds for all.
    assert not clusters.agree(clusters.find(2), 1)
    assert clusters.genders[clusters.find(2)] == "masculine"
    assert clusters.chains() == [[man, some], [woman], [thing], [many], [one]]
