import pytest

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.passages import cnn

LINES = (
    "http://web.archive.org/web/2012/http://edition.cnn.com/story.html",
    "",
    '( @entity7 ) -- @entity2 met @entity12 . " why ? " asked @entity2 \'s friend',
    "",
    "@placeholder talked to @entity12 and @entity5",
    "",
    "@entity2",
    "",
    "@entity2:Mary Smith",
    "@entity12:Title: a film",
    "@entity7:CNN",
    "@entity5:Bob",
    "@entity9:Nobody",
)
QUESTION = cnn.ClozeExample(
    ("( @entity7 ) -- @entity2 met @entity12 .", '" why ?', "\" asked @entity2 's friend"),
    "@placeholder talked to @entity12 and @entity5",
    "@entity2",
    candidates=("@entity7", "@entity2", "@entity12"),
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "0001.question"
    path.write_text("\n".join(LINES))
    return path


def test_a_question_has_the_entities_of_its_passage_for_candidates(path):
    example = cnn.read_file(path)
    assert example == QUESTION
    assert isinstance(example, Example)
    assert example.source == f"{path}:5"
    assert example.marker_names == tuple(tuple(line.split(":", 1)) for line in LINES[8:])


def test_editors_leave_their_marks(path):
    path.write_text("\n".join(LINES).replace("friend", "fri\u2028e\u0085nd") + "\n\n")
    assert cnn.read_file(path).sentences[-1] == "\" asked @entity2 's fri\u2028e\u0085nd"


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda lines: lines[:1], ":3: no passage on this line, .* truncated"),
        (lambda lines: lines[:3], ":5: no question on this line"),
        (lambda lines: lines[:5], ":7: no answer on this line"),
        (lambda lines: lines[:6] + lines[7:], ":7: no answer on this line"),
        (lambda lines: lines[:1] + lines[2:], ":2: no empty line behind the address"),
        (lambda lines: lines[:5] + lines[6:], ":6: no empty line behind the question"),
        (lambda lines: lines[:7] + lines[8:], ":8: no empty line behind the answer"),
        (lambda lines: [*lines[:-1], "@ent"], ":13: '@ent' is no `@entityN:name`"),
        (lambda lines: [*lines[:-1], "Bob:Bob"], ":13: 'Bob:Bob' is no `@entityN:name`"),
        (lambda lines: [*lines[:6], "@entity5", *lines[7:]], ":5: the answer '@entity5' is none"),
        (lambda lines: [*lines[:6], "@entity1", *lines[7:]], ":5: the answer '@entity1' is none"),
        (lambda lines: [*lines[:4], "Who ?", *lines[5:]], ":5: no @placeholder in the question"),
        (lambda lines: ["The quick brown fox."], ":3: no passage on this line"),
        (lambda lines: [], ":1: no address on this line"),
    ],
)
def test_broken_files_are_named(path, change, message):
    path.write_text("\n".join(change(list(LINES))))
    with pytest.raises(ValueError, match=f"0001.question{message}"):
        cnn.read_file(path)


def write(folder, name, answer):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [*LINES[:6], answer, *LINES[7:]]
    (folder / f"{name}.question").write_text("\n".join(lines))


@pytest.mark.parametrize("level", ["..", "."])
def test_a_part_is_read_in_the_order_of_names(path, level):
    folder = path.parent / "questions/validation"
    for name, answer in (("b", "@entity12"), ("a", "@entity2"), ("c", "@entity7")):
        write(folder, name, answer)
    examples = cnn.read_part(folder.parent / level, "validation")
    assert [example.answer for example in examples] == ["@entity2", "@entity12", "@entity7"]


def test_all_parts_are_loaded_with_their_entities_renumbered(path):
    for part, answer in zip(cnn.PARTS, ("@entity2", "@entity12", "@entity7"), strict=True):
        write(path.parent / "questions" / part, "a", answer)
    splits = cnn.load(path.parent)
    parts = (splits.train, splits.valid, splits.test)
    assert [e.answer for part in parts for e in part] == ["@entity1", "@entity2", "@entity0"]
    assert splits.train == [cnn.relabel(QUESTION)]
    # At once, not while iterating.
    (path.parent / "test").mkdir()
    with pytest.raises(FileNotFoundError, match=cnn.ORIGIN):
        cnn.read_part(path.parent / "test", "test")
    with pytest.raises(ValueError, match="no part 'dev', `part` is one of training, validation"):
        cnn.read_part(path.parent, "dev")


def test_entities_are_numbered_by_first_occurrence(path):
    example = cnn.relabel(cnn.read_file(path))
    assert example.sentences[0] == "( @entity0 ) -- @entity1 met @entity2 ."
    assert example.sentences[2] == "\" asked @entity1 's friend"
    assert example.question == "@placeholder talked to @entity2 and @entity3"
    assert example.answer == "@entity1"
    assert example.candidates == ("@entity0", "@entity1", "@entity2")
    names = {"@entity0": "CNN", "@entity1": "Mary Smith", "@entity2": "Title: a film"}
    assert dict(example.marker_names) == names | {"@entity3": "Bob"}
    assert cnn.relabel(example) == example


def wide(answer, entities=30):
    """An example with many entities, so that no permutation is likely to come twice."""
    passage = " ".join(f"@entity{3 * number}" for number in range(entities))
    candidates = cnn.find_markers(passage)
    return cnn.ClozeExample((passage,), "@placeholder ?", answer, candidates=candidates)


def test_a_permutation_keeps_who_is_who():
    example = wide("@entity9")
    permuted = cnn.relabel(example, seed=1)
    assert permuted != cnn.relabel(example)
    assert set(permuted.candidates) == {f"@entity{number}" for number in range(30)}
    assert permuted.candidates.index(permuted.answer) == 3
    assert cnn.relabel(permuted) == cnn.relabel(example)


def test_permutations_differ_by_seed_epoch_and_example():
    kinds = [cnn.relabel(wide("@entity9"), seed, epoch) for seed, epoch in ((1, 0), (2, 0), (1, 1))]
    kinds.append(cnn.relabel(wide("@entity9", 31), seed=1))
    orders = [example.candidates[:30] for example in kinds]
    assert len(set(orders)) == 4
    assert kinds[0] == cnn.relabel(wide("@entity9"), seed=1)


def test_official_questions_are_known_by_their_columns(real_cnn):
    rows, examples = real_cnn
    assert [len(example.candidates) for example in examples] == [34, 19, 21, 22, 18]
    for example, row in zip(examples, rows, strict=True):
        assert isinstance(example, cnn.ClozeExample) and example == cnn.relabel(example)
        first = cnn.find_markers(row["context"]).index(row["answer"])
        assert example.answer == f"@entity{first}"
    assert examples[0].question == "@entity27 produces 30 guidebooks on @placeholder travel"
