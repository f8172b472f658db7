import collections
import json

import pytest

from keras_corefmem.datasets.passages import lambada, novels
from keras_corefmem.datasets.passages.novel_passages import passage_grams

NAMES = ("captain", "soldier", "farmer", "lawyer", "doctor", "painter", "butcher", "sailor")
VERBS = ("met", "saw", "passed", "heard", "found", "asked", "praised", "blamed")


def novel(hero, count=8):
    """A novel in which the hero ends every fourth sentence."""
    parts = ["CHAPTER I."]
    for name, verb in zip(NAMES[:count], VERBS[:count], strict=True):
        parts.append(
            f"The {name} and the {hero} {verb} one another near the old {hero}'s house at night, "
            f"and it rained. The {name} {verb} nobody else but the {hero} on that day of the whole "
            f"long week in autumn, so far as the {hero} knew of it. It was very dark in {hero} "
            f"street by then, and cold. Then a voice in the dark street of the {hero} {verb} "
            f"{name} and {hero}."
        )
    return "\n\n".join(parts)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "novels"
    for number, hero in enumerate(("queen", "king", "bishop")):
        path = folder / f"shelf/{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(novel(hero, 8 if number else 3))
    return folder


def parts(output):
    return [(output / f"{part}.jsonl").read_text() for part in ("train", "valid")]


def rows_of(output):
    return [[json.loads(line) for line in part.splitlines()] for part in parts(output)]


def source(row):
    return row["source"].rpartition(":")[0]


def test_novels_become_passages(folder, tmp_path):
    shown = []

    def track(paths):
        shown.extend(path.name for path in paths)
        return paths

    report = novels.build(folder, tmp_path / "out", targets="sentences", track=track)
    assert sorted(shown) == ["0.txt", "1.txt", "2.txt"]
    written = json.loads((tmp_path / "out/passages.json").read_text())
    assert written == report and report["counts"]["novels"] == 3
    train, valid = (set(map(source, part)) for part in rows_of(tmp_path / "out"))
    assert valid == set(report["held_out"]) and len(valid) == 1
    assert train | valid == {f"shelf/{n}.txt" for n in range(3)} and not train & valid
    for part, text in zip(("train", "valid"), parts(tmp_path / "out"), strict=True):
        lines = text.splitlines()
        assert report["counts"][part] == len(lines) == len(set(lines))
        examples = lambada.read_passages(tmp_path / f"out/{part}.jsonl")
        assert examples and lambada.trainable(examples) == examples
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("passages.json", "train.jsonl", "valid.jsonl")
    ]


def test_the_same_seed_makes_the_same_files(folder, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        novels.build(folder, tmp_path / name, seed=seed)
    assert parts(tmp_path / "a") == parts(tmp_path / "b") != parts(tmp_path / "c")
    # Novels that are held out have ends of sentences alone.
    train, valid = ({row["end"] for row in part} for part in rows_of(tmp_path / "a"))
    assert valid == {"."} < train


def test_a_limit_is_shared_evenly_and_prefers_ends_of_sentences(folder, tmp_path):
    report = novels.build(folder, tmp_path / "out", limit=9, seed=4)
    rows = sum(rows_of(tmp_path / "out"), [])
    assert collections.Counter(map(source, rows)) == {f"shelf/{n}.txt": 3 for n in range(3)}
    assert {row["end"] for row in rows} == {"."}
    assert report["counts"]["beyond the limit"] > 0


def test_what_is_evaluated_on_is_left_out(folder, tmp_path):
    path = tmp_path / "test.txt"
    path.write_text(
        "`` dark street of the queen met captain and queen .\n"
        "street of the king met captain and king .\n"
    )
    clean = novels.build(folder, tmp_path / "a")["counts"]
    report = novels.build(folder, tmp_path / "b", [path])
    assert report["counts"]["in the evaluation text"] > 0 and "in the evaluation text" not in clean
    assert report["evaluation"] == [str(path)]
    with pytest.raises(FileNotFoundError, match="none.txt: no such file"):
        novels.build(folder, tmp_path / "c", [tmp_path / "none.txt"])


def test_a_novel_in_both_parts_is_not_trained_on(folder, tmp_path):
    clean = novels.build(folder, tmp_path / "a")
    (held,) = clean["held_out"]
    assert "shared with the validation part" not in clean["counts"]
    # Another edition: the contexts of its passages begin elsewhere.
    (copy := folder / "other").mkdir()
    text = (folder / held).read_text().replace("CHAPTER I.", "CHAPTER I.\n\nIt began so.")
    (copy / "edition.txt").write_text(text.replace(", so far as", ", as far as"))
    seeds = (novels.build(folder, tmp_path / "b", seed=seed) for seed in range(20))
    report = next(r for r in seeds if set(r["held_out"]) & {held, "other/edition.txt"})
    assert report["counts"]["shared with the validation part"] > 0
    train, valid = (
        {gram for row in part for gram in passage_grams(row["text"].split(" "), 16)}
        for part in rows_of(tmp_path / "b")
    )
    assert valid and train and not train & valid
    again = novels.build(folder, tmp_path / "c", seed=report["seed"])
    assert again["counts"] == report["counts"] and parts(tmp_path / "b") == parts(tmp_path / "c")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"targets": "nouns"}, "targets must be one of sentences, clauses, words; got 'nouns'"),
        ({"limit": 0}, "limit must be an integer of at least 1, got 0"),
        ({"validation": 1.0}, "validation must lie between 0 and 1, got 1.0"),
        ({"limit": 1}, "No passages for valid.jsonl: give more novels, or a higher limit"),
    ],
)
def test_bad_arguments_are_refused(folder, tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        novels.build(folder, tmp_path / "out", **changes)
    assert not (tmp_path / "out").exists()


def test_failures_leave_older_files(folder, tmp_path):
    novels.build(folder, tmp_path / "out")
    before = parts(tmp_path / "out")
    (folder / "shelf/9.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="9.txt: no UTF-8 text, pass a novel file"):
        novels.build(folder, tmp_path / "out", seed=5)
    assert parts(tmp_path / "out") == before


def test_novels_are_needed(tmp_path):
    with pytest.raises(FileNotFoundError, match="No novels in .*: pass a folder of files"):
        novels.build(tmp_path, tmp_path / "out")
    (tmp_path / "a.txt").write_text(novel("queen"))
    with pytest.raises(ValueError, match="cannot be held out of 1: give more"):
        novels.build(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    "numbers, limit, expected",
    [
        ([5, 1, 9], None, [5, 1, 9]),
        ([5, 1, 9], 100, [5, 1, 9]),
        ([5, 1, 9], 9, [4, 1, 4]),
        ([5, 1, 9], 8, [3, 1, 4]),
        ([2, 0, 2], 3, [1, 0, 2]),
        ([], 3, []),
    ],
)
def test_quotas_are_even(numbers, limit, expected):
    assert novels.quotas(numbers, limit) == expected
