import random
import re
import string
from types import SimpleNamespace

import pytest

from keras_corefmem import graphs
from keras_corefmem.graphs import learn_entity_words, spacy_tagger, tagged_entity_words

PEOPLE = "mary john daniel sandra bill fred jeff julie".split()
PLACES = "bathroom hallway garden office kitchen bedroom cinema park school".split()
OBJECTS = "football milk apple".split()
WORLD = PEOPLE + PLACES + OBJECTS
GOLD = dict.fromkeys(range(1, 15), WORLD) | {
    15: "mice mouse wolves wolf cats cat sheep gertrude winona emily jessica".split(),
    16: "lily bernhard brian julius greg frog lion swan rhino green white gray yellow".split(),
    17: "red yellow pink blue sphere square rectangle triangle".split(),
    18: "box chocolate chest suitcase container".split(),
    19: PLACES,
    20: PLACES + OBJECTS + "sumit yann jason antoine tired bored thirsty hungry pajamas".split(),
}


def tokenizer(text):
    return re.findall(r"\w+|[^\w\s]", text.lower())


def words(examples):
    texts = (text for example in examples for text in (*example.sentences, example.question))
    return {word for text in texts for word in tokenizer(text)}


def example(sentences, question, answer):
    return SimpleNamespace(sentences=tuple(sentences), question=question, answer=answer)


def object_stories(count, seed=0):
    """Stories about where objects are, whose questions never name a person."""
    rng = random.Random(seed)
    examples = []
    for _ in range(count):
        sentences, thing = [], rng.choice(OBJECTS)
        for _ in range(rng.randint(2, 6)):
            person, place = rng.choice(PEOPLE[:4]), rng.choice(PLACES[:6])
            verb = rng.choice(["moved", "went", "went back", "journeyed"])
            sentences.append(f"{person.title()} {verb} to the {place}.")
            if rng.random() < 0.4:
                verb = rng.choice(["took", "got", "picked up"])
                sentences.append(f"{person.title()} {verb} the {rng.choice(OBJECTS)} there.")
        sentences += [f"{person.title()} got the {thing}.", f"{person.title()} left the {thing}."]
        examples.append(example(sentences, f"Where is the {thing}?", place))
    return examples


def scramble(examples, seed=0):
    """Renames every word to random letters; returns the examples and the new names."""
    rng, letters = random.Random(seed), string.ascii_lowercase
    old = sorted(words(examples) | {e.answer for e in examples})
    names = {word: "".join(rng.choices(letters, k=9)) for word in old if word.isalpha()}

    def rename(text):
        return " ".join(names.get(word, word) for word in tokenizer(text))

    renamed = [(map(rename, e.sentences), rename(e.question), rename(e.answer)) for e in examples]
    return [example(*each) for each in renamed], names


@pytest.mark.parametrize("count", [50, 300])
def test_people_are_found_although_no_question_names_them(count):
    examples = object_stories(count)
    assert learn_entity_words(iter(examples), tokenizer) == set(WORLD) & words(examples)


def test_renaming_words_renames_the_entities():
    examples = object_stories(200)
    scrambled, names = scramble(examples)
    found = learn_entity_words(examples, tokenizer)
    assert learn_entity_words(scrambled, tokenizer) == {names[word] for word in found}


def test_a_second_world_of_names_is_found():
    examples = object_stories(200)

    def rename(text):
        return " ".join(word + "2" * (word in WORLD) for word in tokenizer(text))

    second = [
        example([*e.sentences, *map(rename, other.sentences)], rename(other.question), other.answer)
        for e, other in zip(examples, object_stories(200, seed=1), strict=True)
    ]
    found = learn_entity_words(second, tokenizer)
    assert found == {w for w in words(second) if w.removesuffix("2") in WORLD}


def test_continued_stories_count_once():
    first = object_stories(60)
    continued = [
        example(e.sentences[:end], e.question, e.answer)
        for e in first
        for end in range(2, len(e.sentences) + 1, 2)
    ]
    assert learn_entity_words(continued, tokenizer) >= set(PEOPLE) & words(first)


def test_few_examples_give_content_words():
    examples = [
        example(["Ann went to the park.", "Bob went to the zoo."], "Where is Ann?", "park"),
        example(["Bob went to the park.", "Ann went to the zoo."], "Where is Bob?", "park"),
    ]
    found = learn_entity_words(examples, tokenizer)
    assert {"ann", "bob", "park"} <= found
    assert found.isdisjoint({"to", "the", "."})


def test_no_examples_give_no_entities():
    assert learn_entity_words([], tokenizer) == frozenset()


@pytest.mark.parametrize("task", GOLD)
def test_real_tasks(task, babi_dir):
    from keras_corefmem.datasets.stories import babi

    examples = babi.load(babi_dir, task).train
    gold = words(examples) & set(GOLD[task])
    found = learn_entity_words(examples, tokenizer)
    assert gold <= found
    assert found - gold <= ({"afternoon", "morning", "evening"} if task == 14 else set())
    scrambled, names = scramble(examples)
    assert learn_entity_words(scrambled, tokenizer) == {names[word] for word in found}


def test_nouns_of_a_tagger_are_entities():
    tags = {"Mary": "PROPN", "milk": "NN", "New York": "NNP", "took": "VERB", "the": "DT"}

    def tagger(text):
        return [(word, tag) for word, tag in tags.items() if word in text]

    examples = [example(["Mary took the milk."], "Is the milk in New York?", "no")]
    assert tagged_entity_words(examples, tagger, tokenizer) == {"mary", "milk", "new", "york"}


def test_spacy_tagger_prefers_universal_tags():
    def nlp(text):
        return [
            SimpleNamespace(text="Mary", pos_="PROPN", tag_="X"),
            SimpleNamespace(text="milk", pos_="", tag_="NN__Number=Sing"),
        ]

    assert spacy_tagger(nlp)("Mary milk") == [("Mary", "PROPN"), ("milk", "NN")]


def test_pipeline_with_joined_tags(ud_pipeline):
    examples = [example(["Mary moved to the bathroom."], "Where is Mary?", "bathroom")]
    found = tagged_entity_words(examples, spacy_tagger(ud_pipeline), tokenizer)
    assert found == {"mary", "bathroom"}


def test_old_names_warn():
    with pytest.warns(DeprecationWarning, match="graphs.learn_entities is now called"):
        assert graphs.learn_entities is learn_entity_words
    with pytest.warns(DeprecationWarning, match="now called tagged_entity_words"):
        assert graphs.tagged_entities is tagged_entity_words
    with pytest.raises(AttributeError, match="no attribute 'learn_words'"):
        graphs.learn_words  # noqa: B018


def test_entities_are_persons_places_and_things():
    stories = [
        example(
            ["Mary went to the kitchen.", "Mary got the milk there."], "Where is she?", "kitchen"
        ),
        example(["John sat in the garden.", "The garden is big."], "Where is the milk?", "attic"),
    ]
    words = ["mary", "john", "milk", "garden", "kitchen", "attic"]
    types = graphs.entity_types(iter(stories), words, tokenizer)
    assert types == {
        **{"mary": "person", "john": "person", "milk": "thing"},
        **{"garden": "thing", "kitchen": "place", "attic": "place"},
    }
