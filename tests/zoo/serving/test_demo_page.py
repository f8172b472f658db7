"""What the demo page shows and copies, without a browser."""

import dataclasses
import functools
import json
import re
import shlex
from types import SimpleNamespace

import pytest

import zoo
from keras_corefmem.corpora import annotate_files, write_questions
from keras_corefmem.datasets import AnnotatedExample, Example, Splits
from keras_corefmem.datasets.stories import simulator
from keras_corefmem.utils.files import write_json
from tests.support.model_cases import SPANS, make
from tests.support.texts.annotated import PASSAGE, QUESTION, annotated_reader, questions
from zoo.reading import read_examples
from zoo.serving.demo import answers, stories
from zoo.serving.demo.layout import EXACT, WORDS
from zoo.serving.demo.page import _bundled, _label, _model, _Page

EXAMPLES = simulator.simulate(1, 12)
STORY = "Mary went to the kitchen. John moved to the garden.", "Where is Mary?"


@pytest.fixture
def page():
    """The handlers of a page, whose updates of components are dictionaries."""
    blocks = SimpleNamespace(local_url="http://127.0.0.1:7860/")
    return _Page(SimpleNamespace(gr=SimpleNamespace(update=dict), blocks=blocks), None)


@pytest.fixture
def save(tmp_path):
    def save(model):
        path = str(tmp_path / "model.keras")
        model.save(path)
        return path

    return save


def run(code, capsys):
    """The answer and the probability that a program prints."""
    capsys.readouterr()
    exec(code, {})
    answer, probability = capsys.readouterr().out.rsplit(maxsplit=1)
    return answer, pytest.approx(float(probability), abs=1e-6)


def best(odds):
    return next(iter(odds.items()))


def test_notes_show_unknown_words_as_they_are_written(page, save):
    path = save(zoo.AttentionSumReader.from_examples(EXAMPLES, units=4, tokenizer="spaces"))
    _, _, note, *_ = page.ask(path, "", "Mary saw <b>*x*</b> .", "Where is Mary ?", WORDS)
    assert "&lt;b&gt;*x*&lt;/b&gt;" in note


def test_a_broken_preset_is_named(monkeypatch):
    def describe_data(name):
        raise ValueError(f"{name}.json is damaged")

    monkeypatch.setattr("zoo.serving.demo.page.describe_data", describe_data)
    with pytest.raises(ValueError, match=r"ga_coref_gru_lambada\.json is damaged"):
        _bundled()


@pytest.mark.slow
def test_edges_of_any_type_are_drawn_followed_and_copied(page, save, capsys):
    types = {"edge_types": ["coreference", "near"], "edge_units": 2}
    examples = [dataclasses.replace(each, edges=[(1, 5, "near")]) for each in EXAMPLES]
    path = save(
        zoo.AttentionSumReader.from_examples(examples, encoder="mage_gru", units=8, **types)
    )
    plain, _, note, _, html, *_ = page.ask(path, "", *STORY, WORDS)
    assert note == "" and 'data-type="near"' not in html
    choices = path, "", 2, WORDS
    drawn, *shown = page.edit("draw", 1, 5, "near", plain, *choices)
    assert drawn.edges == ((1, 5, "near"),) and shown[2].count('data-type="near"') == 1
    merged, *shown = page.edit("merge", 2, 5, "near", drawn, *choices)
    found = [answers.answer(_model(path), each).odds for each in (plain, drawn, merged)]
    assert len({f"{best(odds)[1]:.7f}" for odds in found}) == 3
    python = shown[-2]
    assert "chains=" in python and "edges=((1, 5, 'near'),)" in python
    assert run(python, capsys) == best(found[2])


@pytest.mark.thorough
def test_attention_of_tokens_is_shown_and_a_question_with_an_annotator_copied(page, save, capsys):
    path = save(annotated_reader())
    asked = page.ask(path, "", PASSAGE, QUESTION, EXACT)
    odds, words = (
        answers.answer(_model(path), example).odds
        for example in (asked[0], page.ask(path, "", PASSAGE, QUESTION, WORDS)[0])
    )
    assert odds != words
    assert "from the states of one reading" in asked[4]
    shares = re.findall(r"<title>(\d+)% of the attention", asked[4])
    assert 97 <= sum(map(int, shares)) <= 103 and len(shares) == 15
    python = asked[-2]
    assert "annotator='exact'" in python and run(python, capsys) == best(odds)


TITLED = "Mr. Tom met John in Rome. Mrs. Hall said\nthat Mr. Tom saw Mary.", "But Mary saw"
LINES = "Mary went to the office\nJohn moved to the garden\nMary left!", "Where is Mary?"


@pytest.mark.parametrize(
    ("make_model", "texts", "annotator"),
    [
        pytest.param(annotated_reader, TITLED, WORDS, id="words"),
        pytest.param(annotated_reader, TITLED, EXACT, id="annotated"),
        pytest.param(lambda: make("qrn"), LINES, WORDS, id="lines"),
        pytest.param(lambda: make("qrn"), LINES, EXACT, id="not-annotated"),
    ],
)
def test_what_is_shown_is_what_is_copied(make_model, texts, annotator, page, save, capsys):
    path = save(make_model())
    page.layout.models, page.layout.annotators = [(path, path)], [WORDS, EXACT]
    example, _, note, *_ = shown = page.ask(path, "", *texts, annotator)
    assert ("reads no annotations" in note) == (annotator == EXACT and texts is LINES)
    states = [(example, shown[2:], len(example.sentences))]
    if texts is TITLED:
        count = len(example.sentences)
        choices = path, "", count, annotator
        drawn, *shown = page.edit("draw", 1, 5, "coreference", example, *choices)
        states.append((drawn, shown, count))
        states.append((drawn, page.show(drawn, path, "", 1, annotator), 1))
        states.append((example, page.show(example, path, "", 1, annotator), 1))
    for asked, (*_, python, curl), until in states:
        part = asked
        if until < len(asked.sentences):
            part = asked.beginning(until, _model(path).preprocessor.tokenizer)
        odds = answers.answer(_model(path), part).odds
        name, probability = best(odds)
        assert run(python, capsys) == (name, probability)
        assert "http://127.0.0.1:7860/gradio_api" in curl
        data = json.loads(shlex.split(curl)[shlex.split(curl).index("-d") + 1])["data"]
        assert page.read(*data) == pytest.approx(odds, abs=1e-6)


def test_the_address_of_a_space_is_copied(page, monkeypatch):
    page.layout.blocks.local_url = "http://127.0.0.1:7861/"
    assert page._address() == "http://127.0.0.1:7861"
    monkeypatch.setenv("SPACE_HOST", "me-reader.hf.space")
    assert page._address() == "https://me-reader.hf.space"


def test_another_model_that_cuts_other_tokens_reads_no_changes(page, save, tmp_path):
    texts = "Mary didn't go. John went to the office. Mary left.", "Where is John?"
    words, prose = (str(tmp_path / f"{name}.keras") for name in ("words", "prose"))
    for path, tokenizer in ((words, "words"), (prose, "prose")):
        make("ga-coref-gru", layers=1, tokenizer=tokenizer).save(path)
    plain = page.ask(words, prose, *texts, WORDS)[0]
    unchanged = answers.answer(_model(prose), plain).html
    for name, target in (("merge", 10), ("cut", None), ("draw", 13)):
        edited, note, _, html, _, beside, *_ = page.edit(
            name, 1, target, "coreference", plain, words, prose, 3, WORDS
        )
        assert edited != plain and html == answers.answer(_model(words), edited).html
        assert beside == unchanged and note.startswith(f"{prose} cuts the text to other tokens")
    alike = page.edit("merge", 1, 10, None, plain, words, words, 3, WORDS)
    assert alike[3] == alike[5] and "other tokens" not in alike[1]


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        ("qrn", ([1] * 13, [], ""), "reads no chains, leave them out"),
        ("qrn", ([], [[1, 2, "near"]], ""), "reads no edges of type near, leave them out"),
        ("qrn", ([], [], EXACT), "reads no annotations, leave the annotator out"),
        ("ga-coref-gru", ([], [[1, 2, "near"]], ""), "reads no edges of type near"),
        ("ga-coref-gru", ([], [1, 2], ""), "edge 1 must be .source, target, type."),
    ],
)
def test_others_are_told_what_a_model_does_not_read(model, changes, message, page, save):
    path = save(make(model))
    page.layout.models, page.layout.annotators = [(path, path)], [WORDS, EXACT]
    with pytest.raises(ValueError, match=message):
        page.read(path, *STORY, *changes)
    with pytest.raises(ValueError, match="question must be a string, got None"):
        page.read(path, STORY[0], None, [], [], "")


def test_of_long_stories_no_beginnings_are_read(page, save, monkeypatch):
    monkeypatch.setattr(answers, "BEGINNINGS", 2)
    path = save(make("ga-coref-gru", layers=1))
    story = STORY[0] + " Mary left."
    for until, shown in ((3, False), (2, True)):
        example = page.ask(path, "", story, STORY[1], WORDS)[0]
        note, _, html, *_ = page.show(example, path, "", until, WORDS)
        assert ("each beginning read anew" in html) == shown
        assert ("Of more than 2 sentences there is no answer after each." in note) != shown


@pytest.mark.thorough
def test_passes_of_a_memory_are_shown():
    memory = zoo.DynamicMemoryNetwork.from_examples(EXAMPLES, units=6, passes=2)
    html = answers.answer(memory, EXAMPLES[0]).html
    assert "<th>pass 1</th><th>pass 2</th>" in html
    assert "each beginning read anew" in html and f"{EXAMPLES[0].sentences[0]}</td>" in html


@pytest.mark.thorough
def test_supervised_heads_stand_beside_their_targets():
    html = answers.answer(make("bidaf-supervised", encoder="gru"), SPANS[0]).html
    for signal in ("coref_all", "dependency", "roles"):
        assert f"<h2>{signal}</h2>" in html
    assert "<th>attends to</th><th>targets</th>" in html


@pytest.mark.slow
def test_a_pipeline_of_spacy_finds_the_chain_of_a_pronoun(page, save, ud_pipeline):
    path, pipeline = save(annotated_reader()), str(ud_pipeline.path)
    texts = "Mary met John in Rome. Then she left.", "So they saw"
    _, _, _, _, html, _, _, tokens, *_ = page.ask(path, "", *texts, pipeline)
    chains = dict(label.split(" · ") for label, _ in tokens["choices"] if "chain" in label)
    assert chains["8 she"] == chains["1 mary"]


def test_questions_are_those_of_what_a_file_was_trained_on(page, save, tmp_path):
    path = save(make("qrn"))
    wrong, rows, note = page.look_for_wrong_answers(path)
    assert not wrong and not rows and "not on record what this model was trained on" in note
    lines = [
        {"passage": f"Ann has {n}.", "question": "How many?", "answer": str(n)} for n in range(30)
    ]
    own = tmp_path / "own.jsonl"
    own.write_text("\n".join(map(json.dumps, lines)))
    write_json(tmp_path / "run.json", {"dataset": str(own), "task": 1})
    wrong, _, note = page.look_for_wrong_answers(path)
    assert note.startswith(f"{len(wrong)} of 3 test questions")
    assert all(each.example.question == "How many?" for each in wrong)
    # A record whose file is gone says nothing.
    own.unlink()
    assert "not on record" in page.look_for_wrong_answers(path)[2]


def test_questions_are_annotated_if_there_are_records(page, save, tmp_path):
    asked = [Example(e.sentences, e.question, e.answer) for e in questions(6)]
    folder = tmp_path / "data" / "annotated" / "cbt-NE"
    for path in write_questions(Splits(asked, asked, asked), folder).values():
        annotate_files([path], path.with_suffix(""), processes=0)
    card = {"dataset": "cbt", "task": "NE"}
    found, kind = stories.questions(card, str(tmp_path / "data"))
    assert kind == "test" and [example.answer for example in found] == [e.answer for e in asked]
    assert all(any(example.chain_ids) for example in found)
    path, own, unread = save(annotated_reader()), tmp_path / "own.jsonl", "without the annotations"
    rows = [{"passage": e.passage, "question": e.question, "answer": e.answer} for e in asked]
    own.write_text("\n".join(map(json.dumps, rows)))
    write_json(tmp_path / "run.json", {"dataset": str(own), "task": 1})
    assert unread in page.look_for_wrong_answers(path)[2]
    write_json(tmp_path / "run.json", {**card, "data_dir": str(tmp_path / "data")})
    note = page.look_for_wrong_answers(path)[2]
    assert "of 6 test questions" in note and unread not in note


def test_without_data_the_bundled_stories_are_searched(page):
    wrong, _, note = page.look_for_wrong_answers("ga_gru_lambada")
    assert [(each.example.answer, each.answer) for each in wrong][:1] == [("mark", "captain")]
    assert note.startswith(f"{len(wrong)} of 6 bundled questions") and "--data-dir DIR" in note


@pytest.mark.slow
def test_a_wrong_answer_is_shown_with_the_links_and_candidates_of_its_question(page, save, capsys):
    path = save(annotated_reader())
    example = AnnotatedExample(
        ("so mary met tom in rome .", "then mary left rome ."),
        "but mary saw",
        "rome",
        chain_ids=(0, 1, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0),
        candidates=("tom", "rome"),
    )
    model = _model(path)
    ((read,), found) = read_examples(model, [example]), stories.wrong_answers(model, [example])
    page.gr.Tabs = dict
    shown = page.show_wrong_answer(example, path, "")
    passage, question, annotator, tab, kept, _, _, _, html, *_, python, curl = shown
    assert passage == "\n".join(example.sentences) and question == example.question
    assert (annotator, tab, kept) == (WORDS, {"selected": "ask"}, example)
    bars = re.findall(r"<div style=[^>]*><span>(\w+)</span>", html)
    assert bars == list(read.answers) and sorted(bars) == ["rome", "tom"]
    assert [each.answer for each in found] == ([] if read.answer == "rome" else [read.answer])
    assert run(python, capsys) == (read.answer, read.probability)
    assert curl.startswith("# This question has candidates")
    edited, *_ = page.edit("cut", 4, None, None, kept, path, "", 2, WORDS)
    assert edited != kept
    # As it was: not as the texts alone would be read, which is what other texts are.
    assert page.reset(kept, path, "", passage, question, annotator) == shown[4:]
    for chosen, texts in ((kept, (passage, "but tom saw")), (None, (passage, question))):
        again = page.reset(chosen, path, "", *texts, annotator)
        assert again == page.ask(path, "", *texts, WORDS) != shown[4:]


def test_a_preset_of_unknown_data_is_called_by_its_name(tmp_path):
    make("qrn").save_to_preset(tmp_path / "reader", card={"test_accuracy": 0.5})
    assert _label(str(tmp_path / "reader")) == str(tmp_path / "reader")
    assert "task 1" in _label("qrn_babi_1")


def test_a_sample_is_written_to_the_page(page):
    handle = "ga_coref_gru_babi_20"
    first = page.choose_model(handle)
    assert page.choose_sample(handle, 0) == first[1:]
    for number, example in enumerate(stories.samples({"dataset": "babi", "task": 20})):
        passage, question = page.choose_sample(handle, number)
        assert passage == "\n".join(example.sentences) and question == example.question
    assert "\n" in first[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cut", None, None), "^Choose a token.$"),
        (("merge", None, 2), "^Choose a token.$"),
        (("merge", 1, None), "^Choose another token to join it to.$"),
        (("draw", 1, 1), "^Choose another token to join it to.$"),
    ],
)
def test_an_edit_without_its_tokens_says_what_to_choose(arguments, message):
    with pytest.raises(ValueError, match=message):
        _Page._edited(*arguments, "coreference", None, None)


def test_without_a_question_the_page_asks_for_one(page):
    unread = None, "ga_coref_gru_babi_1", "", 1, WORDS
    for call in (page.show, functools.partial(page.edit, "cut", 1, None, "coreference")):
        with pytest.raises(ValueError, match=r"^Ask a question first\.$"):
            call(*unread)


def test_models_of_sentences_are_refused(monkeypatch):
    monkeypatch.setattr(
        "zoo.serving.demo.page.open_model", lambda handle: SimpleNamespace(TEXTS=["sentence"])
    )
    with pytest.raises(
        ValueError, match="tagger.keras answers no questions about passages: choose"
    ):
        _model("tagger.keras")
