import dataclasses

import pytest

from keras_corefmem import corpora
from keras_corefmem.corpora.questions import find_annotated
from keras_corefmem.datasets import AnnotatedExample, CandidateExample, Example, Splits
from keras_corefmem.datasets.passages import wikihop

STORY = Example(("Then Mary left Rome .", "It was cold there ."), "and Rome missed", "Mary")
# An annotator puts its sentences together in its own way.
DOCUMENTS = CandidateExample(
    ("Rome  is old. It is large.", " It is in Italy ."),
    "country Rome",
    "Italy",
    candidates=("Italy",),
)


def annotated(splits, folder, make_example):
    annotator = corpora.TextAnnotator(tokenized=True, truecaser="novels")
    for part, path in corpora.write_questions(splits, folder).items():
        corpora.annotate_files([path], folder / part, annotator, processes=0)
    return corpora.read_questions(folder, make_example)


@pytest.mark.parametrize(
    ("example", "make_example"),
    [
        (STORY, AnnotatedExample.from_record),
        (DOCUMENTS, wikihop.from_record),
    ],
)
def test_changes_since_the_annotation(tmp_path, example, make_example):
    splits = Splits([example] * 2, [example], [example])
    found = annotated(splits, tmp_path, make_example)
    moved = dataclasses.replace(example, sentences=(*example.sentences[:-1], "It rained ."))
    asked = dataclasses.replace(example, question=f"{example.question} too")

    def changed(**parts):
        return corpora.changed_parts(found, dataclasses.replace(splits, **parts))

    assert changed() == []
    assert changed(train=[example, moved]) == ["train"]
    assert changed(valid=[], test=[moved]) == ["valid", "test"]
    assert changed(test=[asked]) == ["test"]


def test_records_of_the_default_task_are_found(tmp_path):
    train = tmp_path / "annotated" / "cbt-NE" / "train"
    train.mkdir(parents=True)
    (train / "index.json").touch()
    assert find_annotated("cbt", tmp_path) == find_annotated("cbt", tmp_path, "NE") == train.parent
    assert find_annotated("cbt", tmp_path, "CN") is None
