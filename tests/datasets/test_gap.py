import pytest

from keras_corefmem.datasets import gap
from keras_corefmem.datasets.gap import AmbiguousPronoun, Name, answer, read_gap, score
from keras_corefmem.graphs.annotators import annotate
from keras_corefmem.graphs.coreference.scores import Score

HEADER = "\t".join(gap.COLUMNS)
TEXT = 'Ann Lee met Eve, and she "left".'
LINE = f"test-1\t{TEXT}\tshe\t21\tAnn Lee\t0\tTRUE\tEve\t12\tFALSE\thttp://x"


@pytest.fixture
def write(tmp_path):
    def save(*lines):
        path = tmp_path / "gap-test.tsv"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return path

    return save


def test_lines_are_read_quotation_marks_and_all(write):
    (example,) = read_gap(write(HEADER, LINE))
    names = (Name("Ann Lee", 0, True), Name("Eve", 12, False))
    assert example == AmbiguousPronoun("test-1", TEXT, "she", 21, names)
    assert example.feminine and example.source.endswith("gap-test.tsv:2")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE.replace("\t21\t", "\t20\t"), ":2: 'she' is not at character 20 of the text"),
        (LINE.replace("\t12\t", "\t11\t"), ":2: 'Eve' is not at character 11"),
        (LINE.replace("\t12\t", "\tx\t"), ":2: the offsets 21, 0, x must be numbers"),
        (LINE.replace("FALSE", "NO"), ":2: .* labels true, no TRUE or FALSE"),
        (LINE.replace("\tshe\t", "\tEve\t").replace("\t21\t", "\t12\t"), "'Eve' is no pronoun"),
        (LINE.rsplit("\t", 1)[0], ":2: 10 columns, expected 11; is the file truncated"),
        (None, "no pronoun in the file"),
    ],
)
def test_broken_files_raise(write, line, message):
    with pytest.raises(ValueError, match=message):
        read_gap(write(HEADER, *filter(None, [line])))
    with pytest.raises(ValueError, match=":1: the columns are not ID, Text"):
        read_gap(write(LINE))


def test_answers_are_names_in_the_pronouns_chain(write):
    (example,) = read_gap(write(HEADER, LINE))
    (annotation,) = annotate([TEXT])
    content = annotation.to_dict()
    place = annotation.tokens.index("she")
    for chains, expected in (
        ([], (False, False)),
        ([[(0, 2, 1), (place, place + 1, place)]], (True, False)),
        ([[(3, 4, 3), (place, place + 1, place)], [(0, 2, 1)]], (False, True)),
        ([[(0, 2, 1), (3, 4, 3)]], (False, False)),
    ):
        found = type(annotation).from_dict(content | {"chains": chains})
        assert answer(example, found) == expected
    with pytest.raises(ValueError, match="the annotation of test-1 is of another text"):
        answer(example, next(annotate(["Ann left."])))


def example(pronoun, *truths):
    text = f"A B {pronoun}"
    names = (Name("A", 0, truths[0]), Name("B", 2, truths[1]))
    return AmbiguousPronoun("x", text, pronoun, 4, names)


def test_f1_counts_names_that_are_referred_to():
    examples = [
        example("he", True, False),
        example("his", False, True),
        example("her", False, False),
    ]
    scores = score(examples, [(True, False), (True, False), (False, True)])
    assert scores["masculine"] == Score(precision=0.5, recall=0.5)
    assert scores["feminine"] == Score(precision=0.0, recall=0.0)
    assert scores["overall"] == Score(precision=1 / 3, recall=0.5)
    assert scores["bias"] == 0.0
    assert score(examples[2:], [(False, False)])["bias"] is None


def test_the_real_files_are_read(real_data):
    for part, size in (("validation", 454), ("development", 2000)):
        examples = read_gap(real_data(f"gap/gap-{part}.tsv"))
        assert len(examples) == size
        assert sum(example.feminine for example in examples) == size // 2
