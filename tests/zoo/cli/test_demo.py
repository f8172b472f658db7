"""`corefmem demo`, without a browser."""

import collections
import itertools
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import zoo
from keras_corefmem.datasets import CandidateExample, Example
from keras_corefmem.datasets.passages import lambada
from keras_corefmem.datasets.stories import babi, simulator
from tests.support.commands import printed, refused
from tests.support.conformance.evaluation import randomize
from zoo.serving.demo import links, stories
from zoo.serving.demo.layout import WORDS
from zoo.serving.demo.page import _Page, make_page
from zoo.training import evaluate

READER = "ga_coref_gru_babi_1"


def dropdown(page, name):
    components = page.get_config_file()["components"]
    (found,) = (each["props"] for each in components if each["props"].get("elem_id") == name)
    return found


@pytest.mark.thorough
def test_all_models_begin_with_a_reader_with_and_without_chains():
    pytest.importorskip("gradio")
    page = make_page()
    model, other = dropdown(page, "model"), dropdown(page, "other")
    assert (model["value"], other["value"]) == ("ga_coref_gru_lambada", "ga_gru_lambada")
    names = [name for _, name in model["choices"]]
    assert names[:2] == [model["value"], other["value"]] and len(set(names)) == len(names) > 100
    assert names.index("qdren_babi_9") < names.index("qdren_babi_10")


@pytest.mark.thorough
def test_others_ask_what_the_page_offers_alone():
    layout = SimpleNamespace(gr=None, models=[("one", READER)], annotators=[WORDS, "exact"])
    read = _Page(layout, None).read
    asked = "Mary left. John went to the office.", "Where is John?", [], [], ""
    assert max(read(READER, *asked).items(), key=lambda each: each[1])[0] == "office"
    for foreign in ("qdren_babi_1", "hf://me/reader", "mine.keras"):
        with pytest.raises(ValueError, match=f"This page has no '{foreign}': choose of {READER}"):
            read(foreign, *asked)
    with pytest.raises(
        ValueError, match="This page has no 'en_core_web_sm': choose of .words alone., exact"
    ):
        read(READER, *asked[:-1], "en_core_web_sm")


def test_serves_the_models_that_are_named(monkeypatch, capsys):
    gradio, served = pytest.importorskip("gradio"), []
    monkeypatch.setattr(gradio.Blocks, "launch", lambda page, **where: served.append((page, where)))
    printed(capsys, "demo", READER, "qdren_babi_1", "--port", 7999)
    (page, where) = served[0]
    assert where == {"server_name": "127.0.0.1", "server_port": 7999}
    for host, name in (("10.0.0.7", "10.0.0.7"), ("::1", "[::1]"), ("[::1]", "[::1]")):
        printed(capsys, "demo", READER, "--port", 7998, "--host", host)
        assert served[-1][1] == {"server_name": name, "server_port": 7998}
    choices = dropdown(page, "model")["choices"]
    assert dropdown(page, "other")["value"] == ""
    assert [name for _, name in choices] == [READER, "qdren_babi_1"]
    assert choices[0][0] == "ga-coref-gru · babi task 1 · test 100.0%"


def test_another_model_keeps_the_question_and_another_first_one_drops_the_list():
    pytest.importorskip("gradio")
    page = make_page([READER, "qdren_babi_1"]).get_config_file()
    ids = {each["props"].get("elem_id"): each["id"] for each in page["components"]}

    def of(name, event, side):
        dependencies = (d for d in page["dependencies"] if (ids[name], event) in d["targets"])
        return {number for each in dependencies for number in each[side]}

    texts = {ids["passage"], ids["question"]}
    assert texts <= of("annotator", "input", "inputs")
    # Not asked anew, with its edits and candidates.
    assert not texts & of("other", "input", "inputs") and ids["answer"] in of(
        "other", "input", "outputs"
    )
    assert {ids["table"], ids["summary"]} <= of("model", "change", "outputs")


def test_says_what_is_missing(monkeypatch, capsys):
    assert "There is no preset 'ga_coref_gru_babi_99'" in refused(
        capsys, "demo", "ga_coref_gru_babi_99"
    )
    monkeypatch.setitem(sys.modules, "gradio", None)
    assert "pip install 'keras_corefmem[demo]'" in refused(capsys, "demo", READER)


@pytest.mark.parametrize("task", range(1, 21))
def test_every_task_has_a_story(task):
    for example in stories.samples({"dataset": "babi", "task": task}):
        assert example.sentences and example.answer != "[unknown]"


def test_wrong_answers_are_looked_for_among_questions_of_the_data(tmp_path, monkeypatch):
    monkeypatch.setattr(stories, "LOOKED_AT", 30)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    for task, count in ((1, 30), ("all", 30)):
        examples, kind = stories.questions({"dataset": "babi", "task": task}, None)
        assert (len(examples), kind) == (count, "simulated")
    assert len({example.source.partition(",")[0] for example in examples}) == len(simulator.TASKS)
    look = _Page(SimpleNamespace(gr=None), None).look_for_wrong_answers
    wrong, rows, said = look("ga_coref_gru_lambada")
    assert len(wrong) == len(rows) and f"{len(wrong)} of 6 bundled questions" in said
    assert "no test questions of lambada" in said and "`corefmem demo --data-dir DIR`." in said
    card = {"dataset": "babi", "task": 20, "language": "en-valid"}
    assert stories.questions(card, None) == (stories.samples(card), "bundled")
    assert "task 20 of babi, and simulates none: run `corefmem download" in (
        stories.how_to_get_questions(card)
    )
    asked = [Example(("Mary left.",), "Who left?", "Mary")]
    for folder in (tmp_path / "data" / "en-valid", tmp_path / "home/datasets/tasks_1-20_v1-2/en"):
        folder.mkdir(parents=True)
        for part in ("train", "valid", "test"):
            babi.write_file(asked, folder / f"qa20_{part}.txt")
    assert len(stories.questions(card, str(tmp_path / "data"))[0]) == 1
    assert len(stories.questions({**card, "language": "en"}, None)[0]) == 1
    with pytest.raises(FileNotFoundError, match="get the data with `corefmem download babi`"):
        stories.questions(card, str(tmp_path))
    (tmp_path / lambada.FILES["test"]).write_text("mary met john . he saw mary\n")
    examples, _ = stories.questions({"dataset": "lambada", "task": 1}, str(tmp_path))
    assert [example.answer for example in examples] == ["mary"]


def test_wrong_answers_are_those_that_differ():
    model = zoo.from_preset(READER)
    right = Example(("Mary went to the kitchen.",), "Where is Mary?", "kitchen")
    wrong = Example(right.sentences, right.question, "office")
    found = stories.wrong_answers(model, [right, wrong, right])
    assert [(each.example, each.answer) for each in found] == [(wrong, "kitchen")]


def test_as_many_answers_are_wrong_as_evaluate_counts():
    stories_of = simulator.simulate(1, 48)
    capital = [Example(e.sentences, e.question, e.answer.capitalize()) for e in stories_of]
    # The first of the candidates that are one word stands for both.
    alike = [
        CandidateExample(e.sentences, e.question, answer, candidates=(e.answer.upper(), e.answer))
        for e, answer in zip(stories_of, itertools.cycle(["kitchen", "KITCHEN"]))
        if e.answer == "kitchen"
    ]
    for examples in (capital, alike):
        model = zoo.AttentionSumReader.from_examples(
            examples, encoder="gru", units=4, local_answers=True, tokenizer="words"
        )
        model.compile(jit_compile=False)
        randomize(model, np.random.default_rng(3), 0.8)
        wrong = stories.wrong_answers(model, examples)
        expected = evaluate(model, model.batches(examples))["wrong"]
        numbers = [n for n, e in enumerate(examples) if any(w.example is e for w in wrong)]
        assert numbers == expected and len(expected) < len(examples)


def test_wrong_answers_are_looked_for_in_all_tasks(tmp_path, monkeypatch):
    monkeypatch.setattr(stories, "LOOKED_AT", 30)
    (tmp_path / "en-valid").mkdir()
    for task in range(1, 21):
        asked = [Example(("Mary left.",), f"Who left in {task}?", "Mary")] * 4
        for part in ("train", "valid", "test"):
            babi.write_file(asked, tmp_path / "en-valid" / f"qa{task}_{part}.txt")
    card = {"dataset": "babi", "task": "all", "language": "en-valid"}
    examples, _ = stories.questions(card, str(tmp_path))
    counts = collections.Counter(example.question for example in examples)
    assert len(examples) == 30 and len(counts) == 20 and set(counts.values()) == {1, 2}


def test_chains_are_merged_and_cut_and_edges_drawn():
    model = zoo.from_preset(READER)
    example = links.as_example(model, "Mary left. John slept.", "Where is Mary?")
    mary, left, _, john, *_ = before = links.chains_of(model, example)
    assert mary != john and left == 0
    assert links.labelled_tokens(model, example)[:2] == ["1 mary · chain 1", "2 left"]
    joined = links.chains_of(model, links.merge_chains(model, example, 2, 4))
    assert joined[1] == joined[3] == john and joined[0] == mary
    both = links.chains_of(model, links.merge_chains(model, example, 1, 4))
    assert both[0] == both[3] == both[before.index(mary, 1)]
    new = links.chains_of(model, links.merge_chains(model, example, 2, 5))
    assert new[1] == new[4] == max(before) + 1
    assert links.chains_of(model, links.cut_chain(model, example, 1))[0] == 0
    drawn = links.draw_edge(example, 2, 5, "coreference")
    assert model.preprocessor.typed_edges(model.preprocessor.encode(drawn)) == [
        (2, 5, "coreference")
    ]
    memory = zoo.from_preset("qdren_babi_1")
    assert links.chains_of(memory, example) == ()
