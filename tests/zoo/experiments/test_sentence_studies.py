"""Studies of single sentences, from files to tables."""

import io
import json
import pathlib
import re

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem import datasets
from keras_corefmem.callbacks import Questions
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.text import UNKNOWN
from tests.support.commands import printed, refused
from tests.support.results import record
from zoo import training
from zoo.experiments import data
from zoo.experiments.results import read_results, result_name
from zoo.experiments.runs import plan
from zoo.experiments.studies import STUDIES
from zoo.reports import tables as report

TREES = ("(3 (2 a) (4 (3 great) (2 film)))", "(1 (2 a) (0 (1 bad) (2 film)))", "(2 (2 a) (2 film))")
TREES += ("(4 (4 great) (2 film))", "(0 (0 bad) (2 film))", "(3 (3 great) (2 .))")
VECTORS = "a 0.1 0.2 0.3\ngreat 1 1 1\nbad -1 -1 -1\n"
TINY = {"epochs": 2, "batch_size": 8, "buckets": 1, "arguments": {"units": 4, "filters": 2}}


def conllu(sentences):
    lines = []
    for words in sentences:
        for n, (word, tag) in enumerate(words, 1):
            lines.append("\t".join([str(n), word, "_", tag, tag, *"_" * 5]))
        lines.append("")
    return "\n".join(lines) + "\n"


TAGGED = [[("The", "DT"), ("film", "NN")], [("It", "PRP"), ("is", "VBZ"), ("great", "JJ")]]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """A tiny treebank of each kind, and word vectors."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("sst/trees", "ud_english_ewt", "glove"):
        (folder / name).mkdir(parents=True)
    (folder / "sst/trees/train.txt").write_text("\n".join(TREES * 5) + "\n")
    (folder / "sst/trees/dev.txt").write_text("\n".join(TREES[:4]) + "\n")
    for part, count in (("train", 15), ("dev", 3)):
        path = folder / f"ud_english_ewt/en_ewt-ud-{part}.conllu"
        path.write_text(conllu(TAGGED * count))
    (folder / "glove/glove.tiny.txt").write_text(VECTORS)
    return folder


def test_a_tenth_of_the_training_sentences_is_held_out(data_dir):
    splits = data.load("sst", "fine", data_dir)
    assert sum(s.is_root for s in splits.train) == 27 and len(splits.valid) == 3
    assert [s.answer for s in splits.test] == ["positive", "negative", "neutral", "very positive"]
    assert [s.answer for s in data.load("sst", "binary", data_dir).test] == [
        *("positive", "negative", "positive")
    ]
    splits = data.load("pos", "XPOS", data_dir)
    assert list(map(len, (splits.train, splits.valid, splits.test))) == [27, 3, 6]


def test_the_treebank_of_the_journal_has_parts_of_its_own(tmp_path):
    for section in range(25):
        (tmp_path / f"wsj_{section:02}00.mrg").write_text(f"( (NP (DT the) (NN word{section})))\n")
    splits = data.load("wsj", "PTB", tmp_path)
    assert list(map(len, (splits.train, splits.valid, splits.test))) == [19, 3, 3]
    assert splits.test[0] == Sentence(("the", "word22"), ("DT", "NN"))


@pytest.mark.thorough
def test_evaluate_names_the_part_that_it_reads(data_dir, tmp_path, capsys):
    splits, path = data.load("sst", "binary", data_dir), tmp_path / "model.keras"
    sizes = {"units": 4, "passes": 1, "bidirectional": False}
    zoo.SentenceDynamicMemoryNetwork.from_examples(splits.train, **sizes).save(path)
    words = "evaluate", path, "--dataset", "sst", "--task", "binary", "--data-dir"
    assert "sst task binary, development: accuracy" in printed(capsys, *words, data_dir)
    assert "No files test.txt in " in refused(capsys, *words, data_dir, "--part", "test")
    trees = tmp_path / "sst/trees"
    trees.mkdir(parents=True)
    for name in ("train", "dev", "test"):
        (trees / f"{name}.txt").write_text("\n".join(TREES if name == "test" else TREES[:1]) + "\n")
    out = printed(capsys, *words, tmp_path, "--part", "test")
    assert re.fullmatch(
        r"sst task binary, test: accuracy \S+%, \d of 5 labels\n  prob.* error\n", out
    )
    error = refused(capsys, "evaluate", path, "--dataset", "wsj", "--part", "development")
    assert "--part development: wsj has the parts train, valid, test" in error


PASSAGES = ["mary met john . she said hello to john\n", "ann met tom . he saw ann\n"]


def evaluate_parts(capsys, model, folder, dataset, task):
    """What `corefmem evaluate` says of the reported part and of the published test part."""
    model.save(folder / "model.keras")
    words = "evaluate", folder / "model.keras", "--dataset", dataset, "--task", task
    words += "--data-dir", folder
    return [printed(capsys, *words), printed(capsys, *words, "--part", "test")]


@pytest.mark.thorough
def test_evaluate_reads_the_development_or_the_test_part_of_ud(data_dir, tmp_path, capsys):
    for part, count in (("train", 15), ("dev", 3), ("test", 1)):
        path = tmp_path / f"en_ewt-ud-{part}.conllu"
        path.write_text(conllu(TAGGED * count))
    train = data.load("pos", "UPOS", tmp_path).train
    model = zoo.SentenceDynamicMemoryNetwork.from_examples(train, units=4, passes=1)
    shown, tested = evaluate_parts(capsys, model, tmp_path, "pos", "UPOS")
    assert re.match(r"pos task UPOS, development: accuracy \S+%, \d+ of 15 labels\n", shown)
    assert re.match(r"pos task UPOS, test: accuracy \S+%, \d of 5 labels\n", tested)


@pytest.mark.thorough
def test_evaluate_reads_the_development_or_the_test_part_of_lambada(tmp_path, capsys):
    context = {"text": "Ann met Tom . He saw Ann", "context_tokens": 4, "query_tokens": 2}
    for part in ("train", "valid"):
        (tmp_path / f"{part}.jsonl").write_text(json.dumps(context) + "\n")
    (tmp_path / "lambada_development_plain_text.txt").write_text("".join(PASSAGES))
    (tmp_path / "lambada_test_plain_text.txt").write_text(PASSAGES[0])
    train = data.load("lambada", 1, tmp_path).train
    options = {"units": 4, "tokenizer": "spaces", "local_answers": True}
    model = zoo.AttentionSumReader.from_examples(train, **options)
    for part in ("train", "valid"):
        (tmp_path / f"{part}.jsonl").unlink()
    shown, tested = evaluate_parts(capsys, model, tmp_path, "lambada", 1)
    assert re.match(r"lambada, development: accuracy \S+%, \d of 2 questions\n", shown)
    assert re.match(r"lambada, test: accuracy \S+%, \d of 1 questions\n", tested)


def test_published_parts_need_no_other(data_dir, tmp_path):
    (tmp_path / "lambada_test_plain_text.txt").write_text(PASSAGES[0])
    (tmp_path / "test.txt").write_text("\n".join(TREES) + "\n")
    (tmp_path / "en_ewt-ud-test.conllu").write_text(conllu(TAGGED))
    (passage,) = datasets.load_published("lambada", "test", data_dir=tmp_path)
    assert (passage.question, passage.answer) == ("she said hello to", "john")
    assert len(datasets.load_published("sst", "test", data_dir=tmp_path)) == 6
    assert len(datasets.load_published("sst", "test", "binary", tmp_path)) == 5
    assert [s.answer for s in datasets.load_published("pos", "test", "UPOS", tmp_path)] == [
        tuple(tag for _, tag in sentence) for sentence in TAGGED
    ]
    for name, test, development in (
        ("lambada", "lambada_test_plain_text.txt", "lambada_development_plain_text.txt"),
        ("sst", "test.txt", "dev.txt"),
        ("pos", "en_ewt-ud-test.conllu", "en_ewt-ud-dev.conllu"),
    ):
        known = datasets.DATASETS[name]
        tested = datasets.load_published(name, "test", data_dir=tmp_path)
        (tmp_path / test).rename(tmp_path / development)
        again = known.published["development"](known.first_task, tmp_path)
        assert [each.answer for each in again] == [each.answer for each in tested]
    with pytest.raises(FileNotFoundError, match="No files .*-ud-test.conllu"):
        datasets.load_published("pos", "test", data_dir=data_dir)
    with pytest.raises(ValueError, match="wikihop has no test part besides"):
        datasets.load_published("wikihop", "test", data_dir=tmp_path)


def test_a_model_starts_from_word_vectors(data_dir):
    splits = data.load("sst", "fine", data_dir)
    path = data.word_vectors(data_dir)
    model = zoo.SentenceDynamicMemoryNetwork.from_examples(splits.train, path, units=4)
    assert model.config["embedding_dim"] == 3
    assert str(model.coverage).startswith("3 of 5 words have a vector; ")
    table = model.get_layer("word_embedding").get_weights()[0]
    ids = model.preprocessor.vocabulary.encode(["", "great", "bad"])
    np.testing.assert_allclose(table[ids[1:]], [[1] * 3, [-1] * 3])
    assert not table[0].any() and model.get_layer("word_embedding").trainable
    with pytest.raises(ValueError, match="3 numbers instead of 7"):
        type(model).from_examples(splits.train, path, embedding_dim=7)


def test_words_that_are_dropped_are_read_as_unknown(data_dir):
    splits = data.load("sst", "fine", data_dir)
    model = zoo.SentenceDynamicMemoryNetwork.from_examples(
        splits.train, units=4, word_dropout=1.0, dropout=0.0
    )
    words = np.array([[2, 3, 4, 0]], "int32")
    unknown = np.where(words > 0, UNKNOWN, 0)
    trained, read, unread = (
        keras.ops.convert_to_numpy(model({"words": ids}, training=training))
        for ids, training in ((words, True), (words, False), (unknown, False))
    )
    np.testing.assert_allclose(trained, unread, atol=1e-6)
    assert np.abs(trained - read).max() > 1e-3


def test_word_vectors_are_one_file(data_dir, tmp_path):
    assert data.word_vectors(data_dir / "glove") == data_dir / "glove/glove.tiny.txt"
    with pytest.raises(FileNotFoundError, match="No files glove"):
        data.word_vectors(tmp_path)
    for name in ("glove.a.txt", "glove.b.txt"):
        (tmp_path / name).write_text(VECTORS)
    with pytest.raises(ValueError, match="several files of word vectors .glove.a.txt, glove.b"):
        data.word_vectors(tmp_path)


@pytest.mark.thorough
def test_reproduce_trains_measures_and_reports(data_dir, tmp_path, capsys):
    results, runs = str(tmp_path / "results"), str(tmp_path / "runs")
    command = ["reproduce", "pos", "--tasks", "characters-0", "--data-dir", str(data_dir)]
    command += ["--results", results, "--runs", runs, "--tag", "tiny", "--jobs", "1"]
    for name, value in {**TINY, **TINY["arguments"]}.items():
        if name != "arguments":
            command += ["--set", f"{name}={value}"]
    out = printed(capsys, *command)
    (content,) = read_results("pos", results)
    assert result_name(content) == f"{content['model']}-tiny-characters-0-seed-0"
    assert content["questions"]["test"] == 15
    wrong = content["test_wrong"]
    assert content["test_accuracy"] == pytest.approx(1 - len(wrong) / 15)
    assert wrong == sorted(set(wrong)) and set(wrong) <= set(range(15))
    assert content["settings"]["arguments"]["passes"] == 0
    assert content["word_vectors"]["file"] == "glove.tiny.txt"
    assert "words have a vector" in content["word_vectors"]["coverage"]
    assert str(data_dir) not in pathlib.Path(results, "pos.jsonl").read_text()
    label = STUDIES["pos"].tasks["characters-0"].label
    assert f"| {label} | {100 * content['test_accuracy']:.1f} |" in out
    path = str(pathlib.Path(runs, "pos", result_name(content), "model.keras"))
    assert zoo.load(path).read("great film").probabilities
    error = refused(capsys, "predict", path, "--passage", "Great.", "--question", "Is it?")
    assert "reads sentence, not passage and question: give --sentence" in error


@pytest.mark.thorough
def test_train_evaluate_predict_and_explain(data_dir, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ["train", "--model", "dmn-tagger", "--dataset", "pos", "--data-dir", data_dir]
    command += ["--epochs", "1", "--set", "units=4", "--set", "buckets=1"]
    out = printed(capsys, *command)
    name = "dmn-tagger-pos-XPOS-seed-0-buckets-1-units-4"
    assert f"{name}: 27 train, 3 valid, 6 test sentences\n" in out
    accuracy = re.search(r"Development accuracy: (\S+)% of 15 labels", out)[1]
    path = f"models/{name}/model.keras"
    assert f"corefmem predict {path} --sentence 'The film'" in out
    tags = event_tags(f"tensorboard_logs/{name}/validation")
    assert tags["images"] == [f"questions/attention/{n}" for n in (1, 2, 3)]

    shown = printed(capsys, "evaluate", path)
    found = re.search(r"pos task XPOS, development: accuracy (\S+)%, \d+ of 15 labels", shown)
    assert float(found[1]) == pytest.approx(float(accuracy), abs=0.051)

    monkeypatch.setattr("sys.stdin", io.StringIO('{"sentence": "The great film"}\n'))
    found = json.loads(printed(capsys, "predict", path))
    sentence = "--sentence", "The great film"
    assert json.loads(printed(capsys, "predict", path, *sentence)) == found
    reading = zoo.load(path).read("The great film")
    assert found["tags"] == list(reading.tags) and found["words"] == ["The", "great", "film"]
    lines = printed(capsys, "explain", path, *sentence, "--output", "x.png").splitlines()
    assert lines[0] == "The great film" and (tmp_path / "x.png").exists()
    shown = [re.split(" +", line.strip())[1:3] for line in lines[3:6]]
    assert shown == [list(pair) for pair in zip(reading.words, reading.tags, strict=True)]


@pytest.mark.thorough
def test_a_classifier_shows_its_labels_and_its_passes_over_words(data_dir, tmp_path, capsys):
    splits = data.load("sst", "fine", data_dir)
    model = zoo.SentenceDynamicMemoryNetwork.from_examples(splits.train, units=4, passes=3)
    for callback in model.tensorboard_callbacks(tmp_path, splits.valid):
        callback.set_model(model)
        if isinstance(callback, Questions):
            callback.write(0)
    tags = event_tags(tmp_path / "validation")
    assert tags["images"] == [f"questions/attention/{n}" for n in (1, 2, 3)]
    assert [tag for tag in tags["tensors"] if tag.startswith("answers")]
    path = str(tmp_path / "model.keras")
    model.save(path)
    lines = printed(capsys, "explain", path, "--sentence", "A great film").splitlines()
    assert lines[1].startswith(model.read("A great film").answer)
    assert lines[2].split() == ["pass", "1", "pass", "2", "pass", "3"]
    assert [line.split()[1] for line in lines[3:6]] == ["A", "great", "film"]


def event_tags(folder):
    """Tags of what TensorBoard shows, by kind."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder)).Reload().Tags()


@pytest.mark.thorough
def test_accuracy_counts_every_tag(data_dir):
    splits = data.load("pos", "XPOS", data_dir)
    settings = training.Settings.of("dmn-tagger", **TINY)
    model, batches = training.prepare(splits, settings)
    sentences = [*splits.test, Sentence(("The", "film"), ("DT", "NEW"))]
    found = training.evaluate(model, model.batches(sentences, batch_size=4), texts=True)
    tags = [tag for sentence in sentences for tag in sentence.answer]
    chosen = []
    for sentence in sentences:
        encoded = model.preprocessor.encode(sentence)
        logits = model.predict_on_batch(
            model.preprocessor.collate([encoded], 1, 5, names=("words",))
        )
        chosen += [
            model.preprocessor.answers[n] for n in logits[0, : len(sentence.words)].argmax(-1)
        ]
    wrong = [n for n, pair in enumerate(zip(chosen, tags, strict=True)) if pair[0] != pair[1]]
    assert found["wrong"] == wrong and found["count"] == len(tags) and len(tags) - 1 in wrong
    assert found["predicted"] == [chosen[n] for n in wrong]


def test_a_table_of_accuracies_by_passes(tmp_path):
    for task, seed, wrong, valid in (
        ("fine-0", 0, 600, 0.41),
        ("fine-2", 0, 580, 0.40),
        ("fine-2", 1, 560, 0.42),
        ("binary-1", 0, 188, 0.8),
    ):
        fields = {"study": "sst", "wrong": wrong, "valid": valid, "backend": "tensorflow"}
        record(tmp_path, "dmn-sentiment", task, seed, **fields)
    text = report.tables_of("sst", tmp_path)
    rows = dict(line[2:-2].split(" | ", 1) for line in text.splitlines() if line.startswith("| "))
    assert rows["dev accuracy in %"] == "`dmn-sentiment` | Kumar et al. 2016, test, GloVe 300d"
    assert rows["fine, 0 passes"] == "40.0 | 50.0" and rows["fine, 1 pass"] == "– | 51.5"
    assert rows["fine, 2 passes"] == "44.0 (43.0 ± 1.4) | 52.1"
    assert rows["fine, the best by validation"] == "44.0 | 52.1"
    assert rows["binary, the best by validation"] == "81.2 | 88.6"
    assert text.endswith(
        "corefmem reproduce sst --models dmn-sentiment --tasks fine-0 binary-1 --seeds 0 "
        "--data-dir DIR\n"
        "corefmem reproduce sst --models dmn-sentiment --tasks fine-2 --seeds 0 1 "
        "--data-dir DIR\n```"
    )


def test_tasks_are_chosen_by_name_or_group():
    tasks = [run.task for run in plan("sst", tasks=["binary"], seeds=(0,))]
    assert tasks == ["binary-0", "binary-1", "binary-2", "binary-3"]
    runs = plan("pos", tasks=["words-3", "characters-1"], seeds=(0, 1))
    assert [(run.task, run.seed) for run in runs] == [
        *(("words-3", 0), ("characters-1", 0), ("words-3", 1), ("characters-1", 1))
    ]
    with pytest.raises(ValueError, match="study sst has no task ternary; choose of fine-0, fine-1"):
        plan("sst", tasks=["ternary"])
    with pytest.raises(ValueError, match="ga-gru does not read sst; it reads simulator, babi"):
        plan("sst", models=["ga-gru"])
    with pytest.raises(ValueError, match="dmn-tagger does not read babi;"):
        plan("babi-1k", models=["dmn-tagger"])


def test_missing_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="No files train.txt in"):
        data.load("sst", "fine", tmp_path)
