"""Questions about real text, from files through annotation to a trained reader and its table."""

import concurrent.futures
import json
import re
import shutil
import warnings

import numpy as np
import pytest

import zoo
from keras_corefmem import datasets
from keras_corefmem.datasets import AnnotatedExample, CandidateExample, annotate_examples
from tests.support.commands import printed, refused
from tests.support.texts.annotated import PASSAGE, QUESTION, annotated_reader
from zoo import training
from zoo.cli import app as cli
from zoo.configs import configuration
from zoo.experiments import data
from zoo.experiments.reproduce import check_data, execute
from zoo.experiments.runs import Run
from zoo.experiments.studies import STUDIES
from zoo.reports import tables as report

NAMES = ("Mary", "John", "Sandra", "Daniel")
SETTINGS = {"epochs": 1, "batch_size": 8, "buckets": 2, "arguments": {"units": 4, "edge_units": 2}}


def passage(number):
    """Context, question and answer."""
    name, other = NAMES[number % 4], NAMES[(number + 1) % 4]
    return (
        f"So {name} met {other} . Then {name} slept{' and ate' * (number % 3)} .",
        "They saw",
        name,
    )


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """Tiny passages, LAMBADA and WikiHop."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "passages").mkdir()
    for part, numbers in (("train", range(24)), ("valid", range(5))):
        lines = []
        for context, question, answer in map(passage, numbers):
            text = f"{context} {question} {answer}"
            sizes = {"context_tokens": len(context.split()), "query_tokens": 2}
            lines.append(json.dumps({"text": text, **sizes, "answer": answer}))
        (folder / "passages" / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
    lines = [" ".join(passage(number)).lower() for number in range(6)]
    lines.append("so mary slept . they saw nobody")
    (folder / "lambada_development_plain_text.txt").write_text("\n".join(lines) + "\n")
    for part, count in (("train", 21), ("dev", 3)):
        questions = [
            {
                "id": str(n),
                "query": "home_of tom",
                "supports": ["Tom met the red cat .", f"The red cat lives in New York{n} ."],
                "candidates": [f"new york{n}", "boston"],
                "answer": f"new york{n}",
            }
            for n in range(count)
        ]
        (folder / f"{part}.json").write_text(json.dumps(questions))
    return folder


@pytest.fixture(scope="module")
def annotated(data_dir):
    """The same, annotated beside."""
    with pytest.MonkeyPatch.context() as patch:
        # Threads do the work of processes.
        pool = concurrent.futures.ThreadPoolExecutor
        patch.setattr("concurrent.futures.ProcessPoolExecutor", lambda count, *_: pool(count))
        for dataset in ("lambada", "wikihop"):
            folder = data_dir / "annotated" / dataset
            command = ["annotate", "--dataset", dataset, "--data-dir", str(data_dir)]
            assert cli.main([*command, "--output", str(folder)]) == 0
    return data_dir


def test_annotation_keeps_the_questions_of_lambada(annotated):
    splits = data.load("lambada", 1, annotated)
    plain = datasets.load("lambada", data_dir=annotated, cased=True)
    for part in training.PARTS:
        for example, before in zip(getattr(splits, part), getattr(plain, part), strict=True):
            assert isinstance(example, AnnotatedExample)
            assert (example.passage, example.question) == (before.passage, before.question)
            assert (example.answer, example.source) == (before.answer, before.source)
    # Capitalised words that repeat are a chain; LAMBADA has no capitals.
    assert splits.train[0].chain_ids[:8] == (0, 1, 0, 0, 0, 0, 1, 0)
    assert not any(splits.test[0].chain_ids)
    assert {(e.annotator, e.truecaser) for e in splits.train} == {("exact", "")}
    assert [example.kinds for example in splits.test] == [("answerable",)] * 6 + [()]


def test_records_of_passages_that_changed_are_named(annotated, tmp_path):
    folder = shutil.copytree(annotated, tmp_path / "data")
    with warnings.catch_warnings(action="error"):
        data.load("lambada", 1, folder)
        data.load("wikihop", 1, folder)
    path = folder / "passages" / "valid.jsonl"
    path.write_text(path.read_text().replace("slept", "sat"))
    with pytest.warns(UserWarning, match="annotated.lambada: valid changed since they were anno"):
        data.load("lambada", 1, folder)
    path.write_text("no JSON")
    assert len(data.load("lambada", 1, folder).valid) == 5


def test_no_annotator_sees_an_answer(annotated):
    for part in training.PARTS:
        path = annotated / "annotated" / "lambada" / f"{part}.jsonl"
        texts = [json.loads(line)["text"] for line in path.read_text().splitlines()]
        assert all(text.lower().endswith(" they saw") for text in texts)


# `test_lambada_kinds` has the kinds, `test_studies_of_files` a study.
@pytest.mark.thorough
def test_a_study_counts_kinds_of_questions(annotated, tmp_path):
    options = {"layers": 1, "embedding_dim": 4}
    settings = {**SETTINGS, "arguments": {"units": 4, **options}}
    check_data("lambada", "passages", annotated)
    run = Run("lambada", "ga-coref-gru", "passages", 0, str(annotated), settings, "tiny")
    content = execute(run, tmp_path / "results", tmp_path / "runs")
    assert content["questions"] == {"train": 24, "valid": 5, "test": 7}
    assert content["settings"]["arguments"]["order"] == "passage_first"
    right = sum(n not in content["test_wrong"] for n in range(6))
    assert content["test_kinds"] == {"answerable": [right, 6]} and 6 in content["test_wrong"]
    # Without parts of speech no word of a passage is known to be a name, which could be guessed.
    assert "baselines" not in content
    lines = report.tables_of("lambada", tmp_path / "results").splitlines()
    head = "| dev accuracy in % | `ga-coref-gru` | "
    assert lines[0].startswith(head)
    kinds = STUDIES["lambada"].kinds
    assert lines[2].startswith(f"| all passages | {100 * right / 7:.1f} | 55.69 |")
    row = f"| {kinds['answerable']} | {100 * right / 6:.1f} | 68.88 |"
    assert lines[3] == row and len(lines[2:]) > 10


def test_wikihop_has_candidates_of_several_words(annotated):
    splits = data.load("wikihop", 1, annotated)
    example = splits.test[0]
    assert example.candidates == ("new york0", "boston") and example.question == "home_of tom"
    settings = training.Settings.of("ga-coref-gru", "wikihop", **SETTINGS)
    assert settings.arguments["characters"] and settings.batch_size == 8
    model, batches = training.prepare(splits, settings)
    assert model.config["answer_head"] == "span_sum" and not model.config["joint"]
    assert set(model.features) >= {"passage_asked", "passage_characters", "candidates"}
    features, answers, _ = batches["test"][0]
    assert np.argwhere(features["candidates"][0]).shape == (2, 2) and answers[0] == 1


def test_records_of_one_kind_are_not_read_for_another(annotated, tmp_path):
    (tmp_path / "annotated").mkdir()
    for name in ("cbt", "cbt-NE"):
        (tmp_path / "annotated" / name).symlink_to(annotated / "annotated" / "lambada")
    assert len(data.load("cbt", "NE", tmp_path).train) == 24
    with pytest.raises(FileNotFoundError, match="cbtest_CN_train.txt"):
        data.load("cbt", "CN", tmp_path)


@pytest.fixture
def plain(data_dir, tmp_path):
    """The folder without annotations."""
    folder = tmp_path / "plain"
    folder.mkdir()
    for path in ("train.json", "dev.json", "passages", "lambada_development_plain_text.txt"):
        (folder / path).symlink_to(data_dir / path)
    return folder


def test_text_without_annotation_is_read_too(plain):
    assert data.find_annotated("lambada", plain) is None
    splits = data.load("lambada", 1, plain)
    assert splits.train[0].passage.startswith("so mary met john")
    settings = training.Settings.of("as-gru", "lambada", **SETTINGS)
    model, _ = training.prepare(splits, settings)
    assert model.config["answer_head"] == "pointer_sum"
    assert model.read("so fred slept .", "they saw", top=2).answers[0] in ("so", "fred", "slept")
    with pytest.raises(ValueError, match="plain holds no records of lambada: make them in its"):
        check_data("lambada", "passages", plain)
    hop = data.load("wikihop", 1, plain)
    assert isinstance(hop.train[0], CandidateExample)
    assert (
        zoo.AttentionSumReader.from_examples(hop.train, units=4).config["answer_head"] == "span_sum"
    )


@pytest.mark.thorough
def test_a_reader_trains_on_streamed_records(annotated):
    pytest.importorskip("tensorflow")
    from keras_corefmem.preprocessing.batching.record_batches import stream

    splits = data.load("lambada", 1, annotated)
    settings = training.Settings.of("as-coref-gru", "lambada", **SETTINGS)
    model, _ = training.prepare(splits, settings)
    folder = annotated / "annotated" / "lambada" / "train"
    batches = stream(
        folder, model.preprocessor, model.features, 4, buckets=(24,), batch_size=8, seed=0
    )
    history = model.fit(batches, epochs=2, verbose=0).history
    assert len(history["loss"]) == 2 and history["loss"][1] < history["loss"][0]


@pytest.mark.thorough
def test_train_and_explain(annotated, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(zoo, "export", lambda model, folder: None)
    command = ["train", "--dataset", "lambada", "--data-dir", str(annotated), "--epochs", "1"]
    for setting in ("units=4", "embedding_dim=4", "layers=1", "batch_size=8", "buckets=1"):
        command += ["--set", setting]
    out = printed(capsys, *command)
    assert "24 train, 5 valid, 7 test questions" in out and "Development accuracy: " in out
    (path,) = tmp_path.glob("models/*/model.keras")
    assert zoo.load(path).preprocessor.annotator == "exact"
    texts = "--passage", "So Tom met Ann .", "--question", "They saw"
    assert re.search(r"tom\[\d+%\] met", printed(capsys, "explain", path, *texts))
    assert "lambada, development: accuracy" in printed(capsys, "evaluate", path)


@pytest.mark.thorough
def test_commands_annotate_raw_text(plain, tmp_path, capsys):
    path = tmp_path / "reader.keras"
    model = annotated_reader()
    model.save(path)
    with pytest.warns(UserWarning, match="does not know these words"):
        reading = model.read(PASSAGE, QUESTION, annotator="exact")
    texts = "--passage", PASSAGE, "--question", QUESTION
    line = json.loads(printed(capsys, "predict", path, *texts, "--annotator", "exact"))
    assert (line["answer"], line["probability"]) == (reading.answer, round(reading.probability, 4))
    shown = printed(capsys, "explain", path, *texts, "--annotator", "exact")
    assert f"{reading.answer} {reading.probability:.0%}" in shown
    # Chains of two names, and the full stop apart.
    assert re.search(r"So\S* Mary#1\S* met\S* Tom\S* in\S* Rome#2\S* \.", shown)
    evaluate = "evaluate", path, "--dataset", "lambada", "--data-dir", plain
    annotated = annotate_examples(datasets.load("lambada", data_dir=plain).test)
    result = training.evaluate(model, model.batches(annotated))
    expected = f"lambada, development: accuracy {result['accuracy']:.2%}"
    shown = printed(capsys, *evaluate, "--annotator", "exact")
    assert expected in shown and re.search(r"\n  answerable: \S+%, \d+ of \d+\n", shown)
    with pytest.warns(UserWarning, match="was trained on text that exact annotated"):
        printed(capsys, *evaluate)
    assert "--annotator and --truecaser out" in refused(
        capsys, *("evaluate", path, "--dataset", "simulator", "--task", 1, "--annotator", "exact")
    )


def test_published_settings():
    coref = training.Settings.of("ga-coref-gru", "lambada", arguments={"units": 64})
    assert coref.arguments["units"] == 64 and coref.arguments["embedding_dim"] == 100
    assert coref.batch_size == 64 and coref.learning_rate == 0.0005
    assert training.Settings.of("ga-coref-gru") == training.Settings.of("ga-coref-gru", "babi")
    assert configuration("as-gru").training_options("cnn")["arguments"]["units"] == 384
    assert training.Settings.of("qdren", "cnn").arguments == {}
