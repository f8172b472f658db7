import json

import pytest

from keras_corefmem.datasets.passages import cnn, emory

QUESTION = {
    "scene_id": "s01_e02_c03",
    "query": "@ent02 tells @placeholder that @ent07 is late .",
    "answer": "@ent00",
    "utterances": [
        {"speakers": "@ent01", "tokens": "Where is @ent00 ?"},
        {"speakers": "", "tokens": "( @ent00 enters . )"},
        {"speakers": "@ent00 @ent02", "tokens": "Here !"},
        {"speakers": "@ent02", "tokens": "Hi @ent00 ."},
    ],
}


@pytest.fixture
def write(tmp_path):
    """A function that writes questions and returns the path of their file."""

    def write_file(*questions):
        path = tmp_path / "dev.json"
        path.write_text(json.dumps(questions))
        return path

    return write_file


def test_utterances_stand_behind_their_speakers(write):
    path = write(QUESTION)
    (example,) = emory.read_file(path)
    assert example.sentences == (
        "@entity0 : Where is @entity1 ?",
        "( @entity1 enters . )",
        "@entity1 @entity2 : Here !",
        "@entity2 : Hi @entity1 .",
    )
    assert example.question == "@entity2 tells @placeholder that @entity3 is late ."
    assert example.answer == "@entity1" and isinstance(example, cnn.ClozeExample)
    assert example.candidates == ("@entity0", "@entity1", "@entity2")
    assert example.source == f"{path}:0:s01_e02_c03"


def test_baselines_count_mentions_and_turns(write):
    (example,) = emory.read_file(write(QUESTION))
    assert example.guesses == {
        "most frequent entity": "@entity1",
        "… of those the question lacks": "@entity1",
        "most frequent speaker": "@entity2",
    }
    question = {**QUESTION, "query": "@placeholder waits for @ent00 .", "answer": "@ent02"}
    (example,) = emory.read_file(write(question))
    assert example.guesses["… of those the question lacks"] == "@entity2"


def test_folds_part_scenes_and_test_each_question_once(write):
    scenes = [f"s01_e01_c{number // 2:02}" for number in range(60)]
    folder = write(*({**QUESTION, "scene_id": scene} for scene in scenes)).parent
    splits = [emory.load(folder, fold) for fold in range(1, emory.FOLDS + 1)]
    tested = [example.source for split in splits for example in split.test]
    assert len(tested) == len(set(tested)) == 60
    for split in splits:
        parts = [{e.source.rpartition(":")[2] for e in part} for part in vars(split).values()]
        assert [len(part) for part in parts] == [22, 2, 6]
        assert len(set.union(*parts)) == 30
    assert emory.load(folder, 2) == splits[1]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"query": "Who ?"}, "dev.json:0:s01_e02_c03: no @placeholder in the query"),
        ({"answer": "@ent07"}, "dev.json:0:s01_e02_c03: the answer '@entity7' is none of the 3"),
        ({"utterances": []}, "dev.json:0:s01_e02_c03: the passage is empty"),
        (
            {"utterances": [{"tokens": "Hi"}]},
            "0.utterances.0.speakers: Field required .*; pass an Emory",
        ),
        ({"answer": 3}, "dev.json: 0.answer: Input should be a valid string"),
    ],
)
def test_broken_files_are_named(write, changes, message):
    path = write({**QUESTION, **changes})
    with pytest.raises(ValueError, match=message):
        emory.read_file(path)
    with pytest.raises(ValueError, match="dev.json: no question in the file"):
        emory.read_file(write())


@pytest.mark.parametrize("fold", [0, 6, "one"])
def test_an_unknown_fold_is_refused(fold, tmp_path):
    with pytest.raises(ValueError, match=f"no fold {fold!r} of emory, the folds are 1 to 5"):
        emory.load(tmp_path, fold)


def test_published_questions(real_data):
    folder = real_data("emory/dev.json").parent
    splits = emory.load(folder, 1)
    assert sum(map(len, vars(splits).values())) == 1349
    right = [
        e.guesses["most frequent speaker"] == e.answer for e in emory.read_file(folder / "dev.json")
    ]
    assert sum(right) == 425
