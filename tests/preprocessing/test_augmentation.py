import dataclasses
import itertools

import numpy as np
import pytest

from keras_corefmem.corpora import annotate_files, read_shards, write_questions
from keras_corefmem.datasets import (
    AnnotatedExample,
    CandidateExample,
    Example,
    Sentence,
    Splits,
    annotate_examples,
)
from keras_corefmem.datasets.passages import wikihop
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.graphs import Annotation
from keras_corefmem.preprocessing import (
    CandidatePreprocessor,
    LengthenStories,
    ReaderPreprocessor,
    RemoveEvidence,
    RenameEntities,
    ShuffleSentences,
    StoryPreprocessor,
    augmentations,
)
from keras_corefmem.text import get_tokenizer

TOKENIZE = get_tokenizer("words")
STORIES = simulator.simulate(2, 40)
WORDS = ("mary", "sandra", "daniel", "john", "kitchen", "garden", "office", "bathroom", "milk")
# "Mary" and "Ann" are one person.
NOTE = Annotation(
    "Mary met Bob . He saw Ann in Paris . Rome bored Bob . Who met Mary",
    "Mary met Bob . He saw Ann in Paris . Rome bored Bob . Who met Mary".split(),
    [
        n
        for n, c in enumerate(" Mary met Bob . He saw Ann in Paris . Rome bored Bob . Who met Mary")
        if c == " "
    ],
    sentences=(0, 4, 10, 14),
    governors=(1, 1, 1, 1, 5, 5, 5, 8, 5, 5, 11, 11, 11, 11, 15, 15, 15),
    labels=("dep",) * 17,
    chains=[[(0, 1, 0), (6, 7, 6), (16, 17, 16)], [(2, 3, 2), (4, 5, 4), (12, 13, 12)]],
    typed_edges=[(1, 7, "met"), (12, 3, "bored"), (17, 2, "asks")],
    named_entities="PERSON,,PERSON,,,,PERSON,,GPE,,GPE,,PERSON,,,,PERSON".split(","),
)
ANNOTATED = AnnotatedExample.from_annotation(
    NOTE, 14, "Bob", candidates=("Bob", "Mary", "Ann"), edges=[(1, 12, "hears"), (17, 5, "of")]
)


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


def test_shuffled_sentences_take_their_facts_and_edges_along():
    story = Example(
        ("He ran.", "It fell down.", "So what."),
        "Who ran?",
        "he",
        (3, 1),
        edges=[(1, 6, "a"), (12, 2, "b")],
    )
    tokens = TOKENIZE(f"{story.passage} {story.question}")
    seen = set()
    for seed in range(9):
        moved = ShuffleSentences()(story, random(seed))
        seen.add(moved.sentences)
        facts = [[each.sentences[n - 1] for n in each.supporting_facts] for each in (story, moved)]
        assert facts[0] == facts[1] and sorted(moved.sentences) == sorted(story.sentences)
        words = TOKENIZE(f"{moved.passage} {moved.question}")
        named = [(words[a - 1], words[b - 1], kind) for a, b, kind in moved.edges]
        assert sorted(named) == sorted((tokens[a - 1], tokens[b - 1], k) for a, b, k in story.edges)
    assert len(seen) > 3


def test_chains_of_examples_move_with_their_sentences():
    story = Example(("He ran.", "Mary sat down.", "She slept."), "Who slept?", "she")
    tokens = TOKENIZE(f"{story.passage} {story.question}")
    chains = [{"mary": 1, "she": 1, "who": 2, "slept": 3}.get(token, 0) for token in tokens]
    story = dataclasses.replace(story, chains=chains)
    orders = set()
    for seed in range(9):
        moved = ShuffleSentences()(story, random(seed))
        orders.add(moved.sentences)
        words = TOKENIZE(f"{moved.passage} {moved.question}")
        pairs = dict(zip(words, moved.chains, strict=True))
        assert pairs == dict(zip(tokens, chains, strict=True))
    assert len(orders) > 3
    lengthen = LengthenStories([("It fell.",)], share=1.0)
    assert lengthen(story, random(0)) is story


def test_shuffled_annotations_keep_their_structure():
    def described(example):
        """Everything by words, those of the same spelling told apart by their sentence."""
        words = [
            f"{word}@{text}"
            for text in (*example.sentences, example.question)
            for word in text.split()
        ]
        structure = example.structure
        chains = [sorted(words[head] for head in chain) for chain in structure.chains]
        pairs = {"arguments": structure.arguments, **structure.edges}
        return (
            sorted(zip(words, example.chain_ids, example.named_entities, strict=True)),
            sorted((words[t], words[g]) for t, g in enumerate(structure.governors)),
            chains,
            {
                k: sorted((words[a], words[b]) for a, b in each.tolist())
                for k, each in pairs.items()
            },
            sorted((words[a - 1], words[b - 1], kind) for a, b, kind in example.edges),
        )

    orders = set()
    for seed in range(9):
        moved = ShuffleSentences()(ANNOTATED, random(seed))
        orders.add(moved.sentences)
        assert described(moved) == described(ANNOTATED)
        heads = [head for chain in moved.structure.chains for head in chain]
        assert heads == [head for chain in moved.structure.chains for head in sorted(chain)]
    assert len(orders) > 3


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


def test_documents_are_shuffled_with_their_candidates():
    documents = tuple(f"Document {n} . It ends ." for n in range(4))
    example = CandidateExample(documents, "country x", "3", candidates=("1", "3"))
    moved = ShuffleSentences("penn")(example, random(2))
    assert set(moved.sentences) == set(documents) and moved.sentences != documents
    assert moved.candidates == example.candidates and moved.answer == "3"


def test_documents_that_are_annotated_are_shuffled_whole(tmp_path):
    documents = "Paris is in France. It is old", "Rome is in Italy. It is big.", "Bonn is small"
    example = CandidateExample(documents, "country Rome", "Italy", candidates=("Italy", "France"))
    written = write_questions(Splits([], [], [example]), tmp_path)["test"]
    annotate_files([written], tmp_path / "annotated", processes=0)
    (read,) = map(wikihop.from_record, *zip(*read_shards(tmp_path / "annotated"), strict=True))
    (same,) = annotate_examples(
        [example], tokenizer=get_tokenizer("words").cased, make_example=wikihop.from_record
    )
    assert read == same and read.documents == same.documents == (1, 3, 5)
    parts = [read.sentences[:2], read.sentences[2:4], read.sentences[4:]]
    orders = set()
    for seed in range(9):
        moved = ShuffleSentences()(read, random(seed))
        bounds = [n - 1 for n in (*moved.documents, 6)]
        found = [moved.sentences[a:b] for a, b in itertools.pairwise(bounds)]
        assert sorted(found) == sorted(parts) and moved.question == read.question
        orders.add(moved.sentences)
    assert len(orders) > 3
    assert read.beginning(3, TOKENIZE).documents == ()


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
