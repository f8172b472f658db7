import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.datasets.stories.babi import read_file, write_file

STORY = (
    b"1 Mary moved to the bathroom. \n"
    b"2 John went to the hallway.\n"
    b"3 Where is Mary? \tbathroom\t1\n"
    b"4 Mary got the apple there.\n"
    b"5 Where is the apple? \tbathroom\t4 1\n"
    b"1 Sandra and John are thirsty.\n"
    b"2 What do they want?\tmilk,water\t\n"
)
TOLD = ("Mary moved to the bathroom.", "John went to the hallway.", "Mary got the apple there.")
EXAMPLES = [
    Example(TOLD[:2], "Where is Mary?", "bathroom", (1,)),
    Example(TOLD, "Where is the apple?", "bathroom", (3, 1)),
    Example(("Sandra and John are thirsty.",), "What do they want?", "milk,water"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "qa1_train.txt"


def test_questions_are_no_sentences_and_stories_end(path):
    path.write_bytes(STORY)
    examples = read_file(path)
    assert examples == EXAMPLES
    assert [example.source for example in examples] == [f"{path}:{line}" for line in (3, 5, 7)]


@pytest.mark.parametrize("written", [STORY + b"\n\n", STORY.rstrip(b"\n")])
def test_editors_leave_their_marks(path, written):
    path.write_bytes(written)
    assert read_file(path) == EXAMPLES


@pytest.mark.parametrize(
    "written, message",
    [
        (b"1 Mary left.\n2 Where is Mary?\n", ":2: .* 1 of the 3 columns; is the file truncated"),
        (b"1 Mary left.\n2 Where is Mary?\tgard", ":2: .* 2 of the 3 columns"),
        (b"1 Mary left.\n2 Where?\tgarden\t1\n3 Mary we", ":3: the last story has no question"),
        (b"1 Mary left.\n3 Where?\tgarden\t1\n", ":2: number 3 does not follow 1"),
        (b"2 Mary left.\n3 Where?\tgarden\t2\n", ":1: number 2 does not follow 0"),
        (b"1 Mary left.\n2\n", ":2: no bAbI line"),
        (b"1 Mary left.\n\n1 John left.\n", ":2: no bAbI line"),
        (b"The quick brown fox.\n", ":1: no bAbI line"),
        (b"", ":1: no bAbI line"),
        (b"1 Mary left.\n2 John left.\n", ": no question in the file"),
        (b"1 Mary left.\n1 John left.\n2 Where?\tgarden\t1\n", ":2: the story before has no"),
        (b"1 Where is Mary?\tgarden\t\n", ":1: the passage is empty"),
        (b"1 Mary left.\n2 Where is Mary?\t\t1\n", ":2: the answer is empty"),
        (b"1 A left.\n2 Where?\tb\t1\n3 Where?\tb\t2\n", ":3: supporting fact 2 is a question"),
        (b"1 A left.\n2 Where?\tb\t2\n", ":2: supporting fact '2' is no earlier line"),
        (b"1 A left.\n2 Where?\tb\tx\n", ":2: supporting fact 'x' is no earlier line"),
    ],
)
def test_broken_files_are_named(path, written, message):
    path.write_bytes(written)
    with pytest.raises(ValueError, match=f"qa1_train.txt{message}"):
        read_file(path)


def test_writing_numbers_lines_as_bAbI_does(path):
    write_file(EXAMPLES, path)
    assert path.read_bytes() == STORY.replace(b"? \t", b"?\t").replace(b" \n", b"\n")


@pytest.mark.parametrize("task", simulator.TASKS)
def test_what_is_written_is_read(path, task):
    examples = simulator.simulate(task, 23)
    write_file(examples, path)
    assert read_file(path) == examples


@pytest.mark.parametrize(
    "example, message",
    [
        (Example(("Who?",), "Where is Mary?", "office"), "'Who\\?' would be read as a question"),
        (Example(("Mary left. ",), "Where is Mary?", "office"), "outer spaces"),
        (Example(("Mary left.",), "Where\tis Mary?", "office"), "tabs"),
        (Example(("Mary left.",), "Where is Mary?", "off\nice"), "line breaks"),
        (Example(("Mary left.",), "Where?", "here", edges=[(1, 2, "x")]), "has edges or chains"),
        (Example(("Mary left.",), "Where?", "here", chains=[1, 0, 0, 0, 0]), "has edges or chains"),
    ],
)
def test_texts_that_would_not_come_back_leave_the_old_file(path, example, message):
    path.write_bytes(STORY)
    with pytest.raises(ValueError, match=message):
        write_file([*EXAMPLES, example], path)
    assert path.read_bytes() == STORY
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(ValueError, match="no examples to write"):
        write_file([], path)
