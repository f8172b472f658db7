import pytest

from keras_corefmem.datasets import CandidateExample
from keras_corefmem.datasets.passages import cbt

SENTENCES = tuple(f"Sentence {n} of Tom ." for n in range(1, 21))
CANDIDATES = "Ann|Bob|the cat|Dan|Eve|Fay|Gus|Hal|Ida|Tom"
QUESTION = f"`` Well , '' said XXXXX .\tTom\t\t{CANDIDATES}"


def item(question=QUESTION, sentences=SENTENCES):
    return "".join(f"{n} {line}\n" for n, line in enumerate((*sentences, question), 1))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "cbtest_NE_train.txt"
    path.write_text(f"{item()}\n{item(QUESTION.replace('Tom', 'Ann', 1))}\n")
    return path


def test_questions_have_twenty_sentences_and_ten_candidates(path):
    first, second = cbt.read_file(path)
    assert first == CandidateExample(
        SENTENCES, "`` Well , '' said XXXXX .", "Tom", candidates=tuple(CANDIDATES.split("|"))
    )
    assert second.answer == "Ann"
    assert (first.source, second.source) == (f"{path}:21", f"{path}:43")


def test_editors_leave_their_marks(path):
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().rstrip().replace(b"\n", b"\r\n"))
    assert len(cbt.read_file(path)) == 2


def test_candidates_are_distinct(path):
    path.write_text(item(QUESTION.replace("Gus", "Ann") + "||"))
    distinct = CANDIDATES.replace("Gus|", "")
    assert cbt.read_file(path)[0].candidates == tuple(distinct.split("|"))


@pytest.mark.parametrize(
    "text, message",
    [
        ("", ": no question in the file"),
        ("Once upon a time\n", ":1: the line does not start with the number 1 and a space"),
        ("1 One .\n3 Three .\n", ":2: the line does not start with the number 2"),
        ("1 One .\n\n", ":2: the question is missing behind sentence 1; is the file truncated"),
        ("1 One .", ":1: the file ends behind sentence 1; is it truncated"),
        (item(sentences=SENTENCES[:19]), ":20: a question behind 19 sentences, it has 20"),
        (item(QUESTION.replace("XXXXX", "he")), ":21: not a question with XXXXX"),
        (item(QUESTION.replace("\t\t", "\t")), ":21: not a question with XXXXX, a tab, the"),
        (item(QUESTION.replace("Tom", "Zoe", 1)), ":21: the answer 'Zoe' is none of the 10 cand"),
        (item(QUESTION.replace("\tTom", "\t")), ":21: the answer is empty"),
    ],
)
def test_broken_files_are_named(path, text, message):
    path.write_text(text)
    with pytest.raises(ValueError, match=f"cbtest_NE_train.txt{message}"):
        cbt.read_file(path)


@pytest.mark.parametrize("kind", cbt.KINDS)
@pytest.mark.parametrize("inside", ["CBTest/data", "data", "."])
def test_a_kind_has_three_parts(tmp_path, kind, inside):
    folder = tmp_path / inside
    folder.mkdir(parents=True, exist_ok=True)
    for part, answer in (("train", "Tom"), ("valid_2000ex", "Ann"), ("test_2500ex", "Bob")):
        text = item(QUESTION.replace("Tom", answer, 1))
        (folder / f"cbtest_{kind}_{part}.txt").write_text(text)
    splits = cbt.load(tmp_path, kind)
    parts = (splits.train, splits.valid, splits.test)
    assert [[e.answer for e in part] for part in parts] == [["Tom"], ["Ann"], ["Bob"]]


def test_wrong_kinds(path):
    with pytest.raises(ValueError, match="no kind 'XX' of CBT, choose one of NE, CN, P, V"):
        cbt.load(path.parent, "XX")
