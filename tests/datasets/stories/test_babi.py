import pytest

from keras_corefmem.datasets import group_by_story
from keras_corefmem.datasets.example import count_kinds
from keras_corefmem.datasets.stories import babi, babi_mix, simulator

SIZES = {17: (904, 96), 18: (905, 95), 20: (904, 96)}


@pytest.fixture
def layout(tmp_path):
    """An official layout: short names with validation files, long names without."""
    train, valid, test = (simulator.simulate(1, size, seed) for seed, size in enumerate((60, 5, 9)))
    root = tmp_path / "tasks_1-20_v1-2"
    for language, name in (("en-valid", "qa1"), ("en", "qa1_single-supporting-fact")):
        (root / language).mkdir(parents=True)
        babi.write_file(train, root / language / f"{name}_train.txt")
        babi.write_file(test, root / language / f"{name}_test.txt")
    babi.write_file(valid, root / "en-valid" / "qa1_valid.txt")
    return root


@pytest.mark.parametrize(
    "task, language", [*((task, "en-valid") for task in babi.TASKS), (2, "en")]
)
def test_official_tasks_are_read_whole(babi_dir, tmp_path, task, language):
    splits = babi.load(babi_dir, task, language)
    train, valid = SIZES.get(task, (900, 100))
    assert (len(splits.train), len(splits.valid), len(splits.test)) == (train, valid, 1000)
    babi.write_file(splits.valid, tmp_path / "copy.txt")
    assert babi.read_file(tmp_path / "copy.txt") == splits.valid


def test_an_official_question_as_it_stands(babi_dir):
    example = babi.load(babi_dir, 2).train[1]
    assert example.question == "Where is the football?"
    assert (example.answer, example.supporting_facts) == ("garden", (11, 6))
    assert example.sentences[10] == "Mary dropped the football."


@pytest.mark.parametrize("folder", ["..", ".", "en-valid"])
def test_any_level_of_the_layout_will_do(layout, folder):
    splits = babi.load(layout / folder, 1)
    parts = [simulator.simulate(1, size, seed) for seed, size in enumerate((60, 5, 9))]
    assert [splits.train, splits.valid, splits.test] == parts


def test_a_language_that_is_asked_for_is_not_replaced(layout):
    assert babi.load(layout, 1, "en").test == simulator.simulate(1, 9, 2)
    looked = r"/tasks_1-20_v1-2/hn or .*/hn; get .*download\(\)"
    with pytest.raises(FileNotFoundError, match=rf"No files qa1_\*train.txt .*{looked}"):
        babi.load(layout / "en-valid", 1, "hn")


def test_files_may_have_names_of_another_language(layout):
    for path in (layout / "en").iterdir():
        path.rename(path.with_name(path.name.replace("single-supporting-fact", "eine-tatsache")))
    assert babi.load(layout, 1, "en").test == simulator.simulate(1, 9, 2)


def test_whole_stories_are_held_out(layout):
    splits = babi.load(layout, 1, "en")
    examples = simulator.simulate(1, 60, 0)
    assert len(group_by_story(splits.valid)) == 1 and len(splits.valid) == 5
    assert splits.train == [example for example in examples if example not in splits.valid]
    assert splits == babi.load(layout, 1, "en")
    assert any(babi.load(layout, 1, "en", seed).valid != splits.valid for seed in range(1, 4))


@pytest.mark.parametrize("task", [0, 21, "2"])
def test_task_numbers_are_1_to_20(layout, task):
    with pytest.raises(ValueError, match=r"1\.\.20"):
        babi.load(layout, task)


@pytest.fixture
def tasks(tmp_path):
    """Twenty tiny tasks, of six questions each, of one more in the first."""
    folder = tmp_path / "en-valid"
    folder.mkdir()
    for task in babi.TASKS:
        for seed, part in enumerate(("train", "valid", "test")):
            stories = simulator.simulate(1, 6 + (task == 1), 3 * task + seed)
            babi.write_file(stories, folder / f"qa{task}_{part}.txt")
    return folder


def test_all_tasks_are_one_data_set_whose_questions_keep_their_task(tasks):
    splits = babi.load(tasks, "all")
    for part in ("train", "valid", "test"):
        apart = [getattr(babi.load(tasks, task), part) for task in babi.TASKS]
        joined = getattr(splits, part)
        assert joined == [example for examples in apart for example in examples]
        kinds = [(str(task),) for task, each in zip(babi.TASKS, apart, strict=True) for _ in each]
        assert [example.kinds for example in joined] == kinds
    assert count_kinds(splits.test, [0, 4])["1"] == [5, 7]
    assert count_kinds(splits.test, [0, 4])["2"] == [6, 6]
    with pytest.raises(ValueError, match="no bAbI task 'every', .* 1..20, or 'all'"):
        babi.load(tasks, "every")


def test_tasks_are_mixed_each_in_itself(tasks):
    mixed = babi_mix.load(tasks, "all")
    assert mixed.test[7:13] == babi_mix.load(tasks, 2).test
    assert [example.kinds for example in mixed.test[6:8]] == [("1",), ("2",)]
