import dataclasses

import numpy as np
import pytest

from keras_corefmem.datasets import AnnotatedExample, Example, Sentence
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.preprocessing import (
    CandidatePreprocessor,
    ReaderPreprocessor,
    RemoveEvidence,
    RenameEntities,
    StoryPreprocessor,
    augmentations,
)
from keras_corefmem.text import get_tokenizer
from tests.support.texts.annotated import ANNOTATED, NOTE

TOKENIZE = get_tokenizer("words")
STORIES = simulator.simulate(2, 40)
WORDS = ("mary", "sandra", "daniel", "john", "kitchen", "garden", "office", "bathroom", "milk")


def random(seed=0):
    return np.random.default_rng(seed)


def words_of(example):
    texts = (
        *example.sentences,
        example.question,
        example.answer,
        *getattr(example, "candidates", ()),
    )
    return [word for text in texts for word in example.tokens(text, TOKENIZE)]


def fit(cls, examples=STORIES):
    options = {
        ReaderPreprocessor: {"entity_words": WORDS},
        CandidatePreprocessor: {"tokenizer": "words"},
        StoryPreprocessor: {"answer_words": True, "max_sentences": 20},
    }
    return cls.fit(examples, **options[cls])


@pytest.mark.parametrize("cls", [ReaderPreprocessor, StoryPreprocessor, CandidatePreprocessor])
@pytest.mark.parametrize("within", [None, "classes", "types"])
def test_names_are_permuted_alike_in_all_texts(cls, within):
    rename = RenameEntities.fit(STORIES, fit(cls), within)
    classes = [{form.lower() for forms in group for form in forms} for group in rename.groups]
    assert len(classes) == 1 if within is None else len(classes) > 1
    changed = set()
    for seed, example in enumerate(STORIES):
        old, new = words_of(example), words_of(rename(example, random(seed)))
        pairs = set(zip(old, new, strict=True))
        assert len(pairs) == len(set(old)) == len(set(new))
        changed |= {pair for pair in pairs if pair[0] != pair[1]}
    assert changed
    for old, new in changed:
        assert any({old, new} <= words for words in classes)


@pytest.mark.parametrize("cls", [ReaderPreprocessor, StoryPreprocessor, CandidatePreprocessor])
def test_batches_read_the_augmented_stories(cls):
    preprocessor = fit(cls)
    encoded = list(map(preprocessor.encode, STORIES))
    names = preprocessor.feature_names
    options = {"shuffle": True, "seed": 5, "examples": STORIES}
    batches = preprocessor.batches(encoded, names, augment=["rename", "shuffle"], **options)
    plain = preprocessor.batches(encoded, names, shuffle=True, seed=5)
    rename, shuffle = augmentations("rename+shuffle", STORIES, preprocessor)
    assert len(augmentations(["rename+shuffle", shuffle], STORIES, preprocessor)) == 3
    for epoch in (0, 1):
        batches.start_epoch(epoch)
        plain.start_epoch(epoch)
        assert np.array_equal(batches.order, plain.order)
        for n in range(len(batches)):
            features, answers, _ = batches[n]
            expected = []
            for index in batches.batches[n][0]:
                draws = random((5, epoch, index, 1))
                example = shuffle(rename(STORIES[index], draws), draws)
                expected.append(preprocessor.encode(example))
                text = getattr(expected[-1], "passage", getattr(expected[-1], "sentences", None))
                words = preprocessor.vocabulary.decode(text[text != 0])
                read = example.sentences[-20:] if cls is StoryPreprocessor else example.sentences
                assert words == TOKENIZE(" ".join(read))
                number = np.ravel(expected[-1].answer)[0]
                answer = preprocessor.answers_of(expected[-1])[number]
                spelled = cls is not CandidatePreprocessor
                assert answer == (example.answer if spelled else example.answer.lower())
            lengths = batches.batches[n][1:]
            wanted = preprocessor.collate(expected, 32, *lengths, names)
            for name in names:
                assert np.array_equal(features[name], wanted[name]), name
            wanted = np.array([row.answer for row in expected])
            assert np.array_equal(answers[: len(expected)], wanted)
            shapes = {name: array.shape for name, array in plain[n][0].items()}
            assert {name: array.shape for name, array in features.items()} == shapes


def test_epochs_are_drawn_by_the_seed_alone():
    preprocessor = fit(StoryPreprocessor)
    encoded = list(map(preprocessor.encode, STORIES))

    def stories(epoch, seed=0, in_order=False):
        batches = preprocessor.batches(
            encoded, ["sentences"], shuffle=True, seed=seed, augment="rename", examples=STORIES
        )
        batches.start_epoch(epoch)
        batches = batches.in_order() if in_order else batches
        return np.concatenate([batches[n][0]["sentences"] for n in range(len(batches))])

    assert np.array_equal(stories(3), stories(3))
    assert not np.array_equal(stories(3), stories(4))
    assert not np.array_equal(stories(3), stories(3, seed=1))
    plain = preprocessor.batches(encoded, ["sentences"])
    assert np.array_equal(
        stories(3, in_order=True)[: len(plain[0][0]["sentences"])], plain[0][0]["sentences"]
    )


def test_forms_of_a_word_stay_together():
    classes = [[("cat", "cats"), ("dog", "dogs"), ("wolf", "wolves"), "sheep"]]
    rename = RenameEntities(classes)
    example = Example(("The cats saw a wolf and sheep.",), "Is a cat here?", "cat")
    found = {rename(example, random(seed)) for seed in range(9)}
    texts = {(each.passage, each.question, each.answer) for each in found}
    assert texts == {
        ("The cats saw a wolf and sheep.", "Is a cat here?", "cat"),
        ("The dogs saw a wolf and sheep.", "Is a dog here?", "dog"),
    }


def test_forms_are_those_of_a_lemmatizer():
    examples = [Example(("A cat and cats.", "A dog and dogs."), "Is a cat in?", "cat")]
    lemma = {"cats": "cat", "dogs": "dog"}
    preprocessor = ReaderPreprocessor.fit(
        examples, entity_words=("cat", "dog"), lemmatizer=lambda word: lemma.get(word, word)
    )
    assert RenameEntities.fit(examples, preprocessor).groups == [[["cat", "cats"], ["dog", "dogs"]]]


def test_answers_of_several_words_are_renamed_with_the_tokens_of_an_annotation():
    passage = "She has milk . She has apples ."
    example = AnnotatedExample((passage,), "What now", "milk,apples", chain_ids=(0,) * 10)
    renamed = RenameEntities([["milk", "apples"]], "spaces")(example, random(2))
    assert renamed.passage == "She has apples . She has milk ."
    assert renamed.answer == "apples,milk"


def test_tokens_that_are_not_as_written_are_renamed():
    example = Example(("\u201cMary,\u201d said Bob.",), "Who said \u2018Mary\u2019?", "Bob")
    renamed = RenameEntities([["Mary", "Bob"]], "prose")(example, random(2))
    assert renamed.passage == "\u201cBob,\u201d said Mary."
    assert renamed.question == "Who said \u2018Bob\u2019?" and renamed.answer == "Mary"
    tokenize = get_tokenizer("prose")
    texts = example.passage.replace("Mary", "X").replace("Bob", "Mary").replace("X", "Bob")
    assert tokenize(renamed.passage) == tokenize(texts)


def test_an_answer_that_cannot_be_learned_leaves_the_example():
    examples = [
        Example(("Mary met John.",), "Who?", "Mary"),
        Example(("John ran.",), "Who?", "Mary"),
    ]
    for options in ({}, {"answer_words": True}):
        preprocessor = StoryPreprocessor.fit(examples, **options)
        rename = RenameEntities(
            [["Mary", "John", "Bob"]], is_answer=lambda answer: answer == "Mary"
        )
        encoded = list(map(preprocessor.encode, examples))
        batches = preprocessor.batches(
            encoded, ["sentences"], shuffle=True, augment=[rename], examples=examples
        )
        for epoch in range(8):
            batches.start_epoch(epoch)
            assert (batches[0][1][:2] == encoded[0].answer).all()
    batches.augment = [RenameEntities([["Mary", "John", "Bob"]])]
    for epoch in range(8):
        batches.start_epoch(epoch)
        assert (batches[0][1][:2] > 0).all()


def test_capital_letters_are_kept():
    rename = RenameEntities([["Mary", "john"]])
    example = Example(("Mary met john. John left. MARY!",), "mary?", "Mary")
    renamed = next(
        e for e in (rename(example, random(n)) for n in range(9)) if e.question == "john?"
    )
    assert renamed.passage == "john met Mary. Mary left. John!" and renamed.answer == "john"


def test_persons_and_places_are_those_of_an_annotator():
    example = dataclasses.replace(ANNOTATED, name_words=("Mary", "Bob"))
    preprocessor = CandidatePreprocessor.fit([example])
    every = RenameEntities.fit([example], preprocessor)
    assert sorted(forms[0] for forms in every.groups[0]) == ["Ann", "Bob", "Mary", "Paris", "Rome"]
    rename = RenameEntities.fit([example], preprocessor, "classes")
    names = [{forms[0] for forms in group} for group in rename.groups]
    assert names == [{"Ann", "Bob", "Mary"}, {"Paris", "Rome"}]
    for seed in range(9):
        renamed = rename(example, random(seed))
        pairs = dict(zip(words_of(example), words_of(renamed), strict=True))
        assert renamed.chain_ids == example.chain_ids and renamed.structure is example.structure
        assert renamed.candidates.index(renamed.answer) == 0
        assert [pairs[word.lower()] for word in example.name_words] == [
            w.lower() for w in renamed.name_words
        ]
        assert pairs["met"] == "met" and {pairs["paris"], pairs["rome"]} == {"paris", "rome"}
    assert example.named_entities == NOTE.named_entities
    unnamed = dataclasses.replace(example, named_entities=())
    with pytest.raises(ValueError, match="annotate with a pipeline that recognizes names"):
        RenameEntities.fit([unnamed], preprocessor)


@pytest.mark.parametrize(
    "names", ["renam", "rename-class", ["suffle"], "rename+", "rename shuffle"]
)
def test_unknown_augmentations(names):
    with pytest.raises(
        ValueError, match=r"There is no augmentation .*: give one of rename, rename"
    ):
        augmentations(names, STORIES, fit(StoryPreprocessor))


def test_what_does_not_fit():
    preprocessor = fit(StoryPreprocessor)
    encoded = list(map(preprocessor.encode, STORIES))
    for options in ({"shuffle": True}, {"examples": STORIES}, {"shuffle": True, "examples": []}):
        with pytest.raises(ValueError, match="augment is for examples to train on"):
            preprocessor.batches(encoded, ["sentences"], augment="shuffle", **options)
    with pytest.raises(ValueError, match="augment is for questions"):
        augmentations("shuffle", [Sentence(("Good",), ("JJ",))], preprocessor)
    with pytest.raises(ValueError, match="within must be"):
        RenameEntities.fit(STORIES, preprocessor, "kinds")
    with pytest.raises(ValueError, match="'mary' is in the classes twice"):
        RenameEntities([["Mary"], ["mary"]])
    plain = [Example(("So.",), "So?", "yes")]
    with pytest.raises(ValueError, match="no entities to rename"):
        RenameEntities.fit(plain, StoryPreprocessor.fit(plain))


def of_kind(kind, examples=STORIES):
    return [dataclasses.replace(example, kinds=(kind,)) for example in examples]


def test_each_kind_of_questions_is_augmented_in_its_own_way():
    examples = [example for kind in "123" for example in of_kind(kind)]
    table = {"2": "none", "3": "shuffle", "*": "rename-classes"}
    (augment,) = augmentations(table, examples, fit(StoryPreprocessor))
    changed = {"words": set(), "order": set()}
    for example in examples:
        other = augment(example, random(5))
        assert other.kinds == example.kinds
        if words_of(other) != words_of(example):
            same = sorted(other.sentences) == sorted(example.sentences)
            changed["order" if same else "words"] |= {*example.kinds}
    assert changed == {"words": {"1"}, "order": {"3"}}


def test_a_table_of_augmentations_is_learned_kind_by_kind():
    places = [Example((f"It is in the {place} .",), "Where ?", place) for place in ("hall", "den")]
    beasts = [Example((f"It is in the {beast} .",), "Where ?", beast) for beast in ("cat", "dog")]
    examples = [*of_kind("1", places), *of_kind("2", beasts)]
    words = {"hall", "den", "cat", "dog"}
    preprocessor = ReaderPreprocessor.fit(examples, entity_words=words)
    (apart,) = augmentations({"*": "rename-classes"}, examples, preprocessor)
    renamed = {kind: set(rename.place) for kind, (rename,) in apart.by_kind.items()}
    assert renamed == {"1": {"hall", "den"}, "2": {"cat", "dog"}}


@pytest.mark.parametrize("kind, hint", [("19", "the kinds are 1, 2"), ("", "the kinds are 1, 2")])
def test_a_kind_that_no_example_has(kind, hint):
    examples = [*of_kind("1"), *of_kind("2")]
    with pytest.raises(ValueError, match=f"no training example is of the kind '{kind}'; {hint}"):
        augmentations({kind: "shuffle"}, examples, fit(StoryPreprocessor))


def test_entities_of_several_kinds_of_questions_are_those_of_each():
    # Together, "went" would be one.
    joined = [
        dataclasses.replace(example, kinds=(str(task),))
        for task in (1, 13)
        for example in simulator.simulate(task, 20)
    ]
    preprocessor = StoryPreprocessor.fit(joined)
    names = set(RenameEntities.fit(joined, preprocessor).place)
    assert names == RemoveEvidence.fit(joined).entities
    assert {"mary", "kitchen"} <= names and not names & {"went", "moved", "the"}
