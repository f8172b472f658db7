import json

import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.passages import lambada
from keras_corefmem.text import SpaceTokenizer

PASSAGE = (
    "`` who is it ? '' asked tom . mr. gray looked up and -lrb- at last -rrb- smiled . "
    "` come in ! ' he said to tom"
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "passages.txt"
    path.write_text(f"{PASSAGE}\nit was ann . `` no , '' said bob\nno end here , said tom\n")
    return path


def test_the_last_sentence_is_the_question(path):
    # The third passage has one sentence alone.
    first, second = lambada.read_file(path)
    smiled = "mr. gray looked up and -lrb- at last -rrb- smiled ."
    sentences = ("`` who is it ? ''", "asked tom .", smiled, "` come in ! '")
    assert first == Example(sentences, "he said to", "tom")
    assert first.source == f"{path}:1" and second.source == f"{path}:2"
    assert (second.question, second.answer) == ("`` no , '' said", "bob")


@pytest.mark.parametrize("dash", ["\u2013", "-", ". . .", "&", "* * *"])
def test_printed_passages_may_have_marks_apart(dash):
    text = f"Mr. Gray {dash} so they said {dash} looked up. He smiled, and went home. She went home"
    example = lambada.read_passage(text)
    assert example.sentences[-1] == "he smiled , and went home ."
    assert (example.question, example.answer) == ("she went", "home")
    # Tokens stay as they are, even a name with a mark.
    tokens = "mr. gray -- of yahoo! -- looked up . he smiled , and went home . she went home"
    example = lambada.read_passage(tokens)
    assert " ".join([example.passage, example.question, example.answer]) == tokens


@pytest.mark.parametrize("line", ["", "word", " "])
def test_lines_without_a_passage_are_named(path, line):
    path.write_text(f"{PASSAGE}\n{line}\n{PASSAGE}\n")
    with pytest.raises(ValueError, match="passages.txt:2: no passage on this line, pass a file"):
        lambada.read_file(path)


def test_the_share_of_the_development_file(real_data):
    examples = lambada.read_file(real_data(f"lambada/{lambada.FILES['development']}"))
    assert len(examples) == 4869 and sum(map(lambada.is_answerable, examples)) == 4039
    # People chose these words, so that hardly any is a stop word.
    assert 0.99 < len(lambada.trainable(examples)) / 4039 < 1


def test_training_answers_are_words_of_the_context():
    answers = ["tom", "said", "'s", ".", "bob", "her", "the"]
    passage = ("tom saw her . the ` said tom 's hat .",)
    kept = lambada.trainable(Example(passage, "she met", answer) for answer in answers)
    assert [e.answer for e in kept] == ["tom", "said"]


BUILT = {"text": "Tom came . He saw Tom", "context_tokens": 3, "query_tokens": 2, "answer": "Tom"}


def test_built_passages_are_read_lower_cased(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(BUILT) + "\n")
    assert lambada.read_passages(path) == [Example(("tom came .",), "he saw", "tom")]
    (cased,) = lambada.read_passages(path, cased=True)
    assert cased == Example(("Tom came .",), "He saw", "Tom")
    assert cased.source == f"{path}:1"


def test_words_are_lower_cased_as_tokenizers_do(tmp_path):
    text = "\u0130nci met \u03a3\u0391\u03a3 . They saw \u0130nci"
    words = SpaceTokenizer()(text)
    example = lambada.read_passage(text)
    assert [*example.passage.split(), *example.question.split(), example.answer] == words
    path = tmp_path / "train.jsonl"
    built = {"text": text, "context_tokens": 4, "query_tokens": 2, "answer": words[-1]}
    path.write_text(json.dumps(built))
    assert lambada.read_passages(path) == [example]


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "JSONDecodeError"),
        ("", "JSONDecodeError"),
        ("[]", "TypeError"),
        ('{"text": "a"}', "KeyError: 'context_tokens'"),
        ({"text": 3}, "AttributeError"),
        ({"query_tokens": 3}, "ValueError: 3 and 3 tokens do not make 6 less 1"),
        ({"context_tokens": 5, "query_tokens": 0}, "ValueError: 5 and 0 tokens"),
    ],
)
def test_broken_passages_are_named(tmp_path, line, message):
    path = tmp_path / "train.jsonl"
    line = json.dumps(BUILT | line) if isinstance(line, dict) else line
    path.write_text(f"{json.dumps(BUILT)}\n{line}\n{json.dumps(BUILT)}\n")
    with pytest.raises(ValueError, match=f"train.jsonl:2: not the expected JSON .{message}"):
        lambada.read_passages(path)


@pytest.mark.parametrize("folders", [("", ""), ("passages", "lambada")])
def test_parts_are_found_in_a_folder_or_inside_it(tmp_path, path, folders):
    for folder in folders:
        (tmp_path / folder).mkdir(exist_ok=True)
    for name in ("train", "valid"):
        (tmp_path / folders[0] / f"{name}.jsonl").write_text(json.dumps(BUILT))
    with pytest.raises(FileNotFoundError, match="lambada_development.* in .*; unpack .*zenodo"):
        lambada.load(tmp_path)
    path.rename(tmp_path / folders[1] / lambada.FILES["development"])
    splits = lambada.load(tmp_path)
    assert [len(part) for part in (splits.train, splits.valid, splits.test)] == [1, 1, 2]
