"""`corefmem explain` of every kind of model, and its pictures."""

import dataclasses
import functools
import json
import re

import keras
import numpy as np
import pytest

import zoo
from keras_corefmem.callbacks import AttentionPictures, SentencePictures
from keras_corefmem.datasets import Example
from keras_corefmem.datasets.stories import babi, simulator
from tests.support.commands import printed, refused
from tests.support.tiers import standing_for
from zoo.configs import configuration

EXAMPLES = simulator.simulate(1, 12)
PASSAGE = "Mary went to the kitchen. John went to the garden."
QUESTION = "Where is Mary?"
STORY = ["--passage", PASSAGE, "--question", QUESTION]
TINY = {"units": 6}
MODELS = {
    "ren": {"slots": 12},
    "qdren": {"slots": 3, "retrieve": 1},
    "dmn": {"passes": 2},
    "memn2n": {},
    "ga-coref-gru": {"layers": 2},
    "as-mage-gru": {"joint": False, "edge_units": 2},
}


@functools.cache
def build(name):
    keras.utils.set_random_seed(0)
    configured = configuration(name)
    arguments = {**configured.arguments, **TINY, **MODELS[name]}
    return getattr(zoo, configured.class_name).from_examples(EXAMPLES, **arguments)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a file of questions, and a `.keras` file per model."""
    folder = tmp_path_factory.mktemp("explain")
    babi.write_file(EXAMPLES, folder / "questions.txt")
    for name in MODELS:
        build(name).save(folder / f"{name}.keras")
    return folder


def explain(capsys, *arguments):
    return printed(capsys, "explain", *arguments).splitlines()


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_prints_the_answer_that_read_gives(name, folder, capsys):
    lines = explain(capsys, folder / f"{name}.keras", *STORY)
    reading = build(name).read(PASSAGE, QUESTION)
    assert re.sub(r"#\d+", "", lines[0]).lower().replace(" ?", "?") == QUESTION.lower()
    assert lines[1].strip() == f"{reading.answer} {reading.probability:.0%}"
    assert "\x1b" not in "".join(lines)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ren", "dmn", "memn2n"])
def test_prints_what_the_model_attends_to(name, folder, capsys):
    model = build(name)
    encoded = model.preprocessor.encode_text(PASSAGE, QUESTION)
    attention = model.attend(model.preprocessor.collate([encoded], 1, 2))[0]
    lines = explain(capsys, folder / f"{name}.keras", *STORY)
    for line, sentence, row in zip(lines[3:5], PASSAGE.split(". "), attention, strict=True):
        number, _, rest = line.strip().partition(" ")
        assert number in "12" and rest.startswith(sentence.rstrip("."))
        percents = [f"{value:.0%}" for value in row if value >= 0.005]
        assert rest.split(".")[1].split() == percents and percents
    assert all(word in " ".join(lines) for word in model.columns())


def test_a_sentence_that_is_not_read_has_no_numbers(folder, capsys):
    lines = explain(capsys, folder / "qdren.keras", *STORY)
    assert re.search(r"1 Mary went to the kitchen\. +\d+%", lines[3])
    assert lines[4].strip() == "2 John went to the garden."


@pytest.mark.thorough
def test_tokens_and_chains_of_a_reader(folder, capsys):
    model = build("ga-coref-gru")
    ids = [model.preprocessor.ids_of_text(text)[None] for text in (PASSAGE, QUESTION)]
    attention = np.asarray(model.attend(model.preprocessor.features(*ids)))[0]
    lines = explain(capsys, folder / "ga-coref-gru.keras", *STORY)
    assert lines[0] == "where is mary#1 ?"
    tokens = " ".join(line.strip().partition(" ")[2] for line in lines[2:4]).split()
    expected = [f"[{value:.0%}]" if value >= 0.01 else "" for value in attention]
    assert [re.sub(r"^[^\[]*", "", token) for token in tokens] == expected and any(expected)
    assert tokens[0].startswith("mary#1") and not tokens[6].startswith("john#")
    apart = explain(capsys, folder / "as-mage-gru.keras", *STORY)
    assert apart[0] == "where is mary ?"


@pytest.mark.parametrize(
    ("name", "number"), [("ren", 1), pytest.param("as-mage-gru", 9, marks=pytest.mark.thorough)]
)
def test_a_question_of_a_file_and_the_picture_of_tensorboard(
    name, number, folder, capsys, tmp_path
):
    example, model = EXAMPLES[number - 1], build(name)
    chosen = ["--number", number] if number > 1 else []
    picture = tmp_path / "new" / "picture.png"
    lines = explain(
        capsys, folder / f"{name}.keras", folder / "questions.txt", *chosen, "--output", picture
    )
    reading = model.read(example.passage, example.question)
    right = reading.answer == example.answer
    assert lines[1].startswith(f"{'✓' if right else '✗'} {reading.answer}")
    assert right or lines[1].endswith(f"right: {example.answer}")
    marked = [line for line in lines if line.startswith("▸") or " ▸" in line]
    assert [int(re.search(r"▸(\d+)", line)[1]) for line in marked] == sorted(
        example.supporting_facts
    )
    assert lines[-1] == f"Picture: {picture}"
    arguments = tmp_path / "log", [example], model.preprocessor, model.inspect
    if name == "ren":
        callback = SentencePictures(*arguments, model.columns)
    else:
        callback = AttentionPictures(*arguments)
    drawn = []
    callback.events.image = lambda step, tag, png: drawn.append(png)
    callback.write(0)
    assert picture.read_bytes() == drawn[0]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ren", "ga-coref-gru"])
def test_the_answer_after_each_sentence(name, folder, capsys, tmp_path):
    command = folder / f"{name}.keras", *STORY, "--by-sentence", "--output", tmp_path / "a.png"
    out = "\n".join(explain(capsys, *command))
    _, anew, *once = re.split("each beginning read anew|from the states of one reading", out)
    assert len(once) == (name == "ga-coref-gru")
    first = build(name).read("Mary went to the kitchen.", QUESTION)
    (row,) = (line for line in anew.splitlines() if "1 Mary went to the kitchen." in line)
    assert f"{first.probability:.0%}" in row
    # A pointer sum has nothing else to point at.
    assert not once or re.search(r"1 Mary went to the kitchen\..* 100%", once[0])
    drawn = ["a-after-sentence.png", "a-one-reading.png"][: 1 + len(once)]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*drawn, "a.png"]


@pytest.mark.parametrize("name", ["ren", "ga-coref-gru"])
def test_a_page_shows_the_answer_and_loads_nothing(name, folder, capsys, tmp_path):
    path = tmp_path / "page.html"
    words = folder / f"{name}.keras", *STORY, "--by-sentence", "--output", path
    assert explain(capsys, *words)[-1] == f"Page: {path}"
    page, reading = path.read_text(encoding="utf-8"), build(name).read(PASSAGE, QUESTION)
    assert f">{reading.answer} {reading.probability:.0%}<" in page
    # As in the demo: all answers with their probabilities, and the answer after each sentence.
    bars = re.findall(r"<span>(\S+)</span><span>(\d+%)</span>", page)
    odds = [f"{odd:.0%}" for odd in reading.probabilities]
    assert bars == list(zip(reading.answers, odds, strict=True)) and len(bars) > 1
    assert "each beginning read anew" in page
    assert ("from the states of one reading" in page) == (name == "ga-coref-gru")
    assert "1 Mary went to the kitchen." in page
    assert not re.search(r"<script|<link|https?:|url\(|@import", page)
    assert ("<svg" in page) == (name == "ga-coref-gru")
    story = "--passage", "Zebulon slept.", "--question", QUESTION
    explain(capsys, folder / f"{name}.keras", *story, "--output", path)
    assert "guessed at: zebulon, slept</p>" in path.read_text(encoding="utf-8")


def test_views_of_a_page_are_made_once(folder, capsys, tmp_path, monkeypatch):
    asked = []
    for method in ("views", "answer_views"):
        made = getattr(zoo.RecurrentEntityNetwork, method)

        def count(model, examples, name=method, made=made):
            asked.append(name)
            return made(model, examples)

        monkeypatch.setattr(zoo.RecurrentEntityNetwork, method, count)
    page = "--output", tmp_path / "page.html"
    explain(capsys, folder / "ren.keras", *STORY, "--by-sentence", *page)
    explain(capsys, folder / "ren.keras", *STORY, *page)
    assert asked == ["views", "answer_views"] * 2


@pytest.mark.parametrize("name", standing_for(["ren", "ga-coref-gru"], ["ren"]))
def test_raw_text_is_cut_as_read_cuts_it(name, folder, capsys):
    passage = "Mary went to the kitchen.John went to the garden. Mary left"
    reading = build(name).read(passage, QUESTION)
    story = ["--passage", passage, "--question", QUESTION]
    lines = explain(capsys, folder / f"{name}.keras", *story)
    assert lines[1].strip() == f"{reading.answer} {reading.probability:.0%}"
    if name == "ren":
        rows = [line.strip() for line in lines[3:6]]
        assert rows[1].startswith("2 john went to the garden .") and rows[2].startswith("3 mary ")


# `test_repositories` has commands take presets.
@pytest.mark.thorough
def test_a_preset_is_explained(capsys):
    lines = explain(capsys, "ga_mage_gru_babi_2", *STORY)
    assert lines[1].split()[0] in zoo.from_preset("ga_mage_gru_babi_2").preprocessor.answers
    assert len(lines) == 4


def test_a_model_without_attention_says_so(capsys, tmp_path):
    model = zoo.RecurrentReader.from_examples(EXAMPLES, units=6)
    model.save(tmp_path / "plain.keras")
    lines = explain(capsys, tmp_path / "plain.keras", *STORY)
    reading = model.read(PASSAGE, QUESTION)
    assert lines[:2] == [QUESTION, f"{reading.answer} {reading.probability:.0%}"]
    assert "nothing" in lines[2]
    picture = tmp_path / "a.png"
    words = "explain", tmp_path / "plain.keras", *STORY, "--output", picture
    assert "plain.keras has no attention to draw" in refused(capsys, *words)
    assert not picture.exists()
    page = picture.with_suffix(".html")
    explain(capsys, *words[1:-1], page)
    shown = page.read_text(encoding="utf-8")
    assert "1 Mary went to the kitchen." in shown and f"<h2>{reading.answer}</h2>" in shown


def test_unknown_words_are_named(folder, capsys):
    arguments = ["--passage", "Zoë went to the kitchen.", "--question", QUESTION]
    with pytest.warns(UserWarning, match="does not know these words: 'zoë'"):
        lines = explain(capsys, folder / "dmn.keras", *arguments)
    assert lines[3].strip().startswith("1 Zoë went to the kitchen.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give --passage and --question, --sentence, or a file of questions."),
        (["--passage", PASSAGE], "--passage and --question, which go together"),
        (["questions.txt", *STORY], "Give either a file, or --passage and"),
        (["questions.txt", "--number", "13"], "--number 13: questions.txt has 12 questions"),
        (["questions.txt", "--number", "0"], "choose one of 1..12"),
        ([*STORY, "--number", "2"], "--number chooses a question of a file"),
        (["nowhere.txt"], "nowhere.txt"),
        (
            [*STORY, "--output", "a.jpg"],
            "--output a.jpg: the picture is a PNG file, the page one of HTML",
        ),
        (["--sentence", PASSAGE, "--number", "2"], "--number is for passages with a question"),
        (["--sentence", PASSAGE, "--number", "0"], "--number is for passages with a question"),
        (
            ["--sentence", PASSAGE, "--truecaser", "x"],
            "--truecaser is for passages with a question",
        ),
        (["--sentence", PASSAGE, "--annotator", "exact"], "--annotator is for passages with a"),
        (["--sentence", PASSAGE, "--by-sentence"], "--by-sentence is for passages with a question"),
        (["--passage", " ", "--question", QUESTION], "the passage is empty"),
        (["--passage", PASSAGE, "--question", ""], "the question is empty"),
    ],
)
def test_bad_input_gives_one_line_and_status_2(arguments, message, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    assert message in refused(capsys, "explain", "dmn.keras", *arguments)
    assert sorted(folder.iterdir()) == before


@pytest.mark.thorough
def test_edges_of_json_lines_are_shown_and_read(tmp_path, capsys):
    path, lines = tmp_path / "reader.keras", tmp_path / "my.jsonl"
    typed = [dataclasses.replace(e, edges=[(1, 5, "near"), (2, 1, "near")]) for e in EXAMPLES]
    keras.utils.set_random_seed(0)
    options = {"encoder": "mage_gru", "edge_types": ["coreference", "near"], "edge_units": 2}
    reader = zoo.AttentionSumReader.from_examples(typed, units=8, edge_attention=True, **options)
    reader.save(path)
    texts = {"passage": PASSAGE, "question": QUESTION}
    rows = [{**texts, "edges": edges} for edges in ([], [(4, 11, "near"), (9, 10, "near")])]
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out = explain(capsys, path, lines, "--number", "2")
    assert any(re.match("near  the → garden, to → the$", line) for line in out)
    assert re.match(r"Attention to edges: sequence \d+%, coreference \d+%, near \d+%", out[-1])
    answers = [json.loads(line) for line in printed(capsys, "predict", path, lines).splitlines()]
    readings = reader.read([PASSAGE] * 2, QUESTION, edges=[row["edges"] for row in rows])
    assert [each["answer"] for each in answers] == [reading.answer for reading in readings]
    assert "expected" not in answers[0]
    found = [reading.probability for reading in readings]
    assert found[0] != pytest.approx(found[1], abs=1e-7)
    assert found[1] == pytest.approx(reader.read(**texts, edges=rows[1]["edges"]).probability)
    logits = reader.predict([Example((PASSAGE,), QUESTION, "garden", edges=rows[1]["edges"])])
    odds = np.exp(logits[0] - logits.max())
    assert found[1] == pytest.approx(odds.max() / odds.sum(), rel=1e-5)
    options = {"encoder": "mage_gru", "units": 8, "edge_units": 2}
    plain = zoo.AttentionSumReader.from_examples(EXAMPLES, **options)
    with pytest.warns(UserWarning, match="does not read: near. Name them in edge_types") as record:
        plain.read(**texts, edges=rows[1]["edges"])
    assert record[0].filename == __file__
    with pytest.raises(ValueError, match="There are 2 texts, but edges of 1: give a list each"):
        reader.read([PASSAGE] * 2, QUESTION, edges=[[]])
    with pytest.raises(ValueError, match="qdren reads no edges, leave them out"):
        zoo.RecurrentEntityNetwork.from_examples(EXAMPLES, name="qdren").read(
            PASSAGE, QUESTION, edges=[(1, 2, "near")]
        )


@pytest.mark.thorough
def test_words_of_a_kind_are_joined_by_edges_of_its_type(tmp_path, capsys):
    arguments = {"edge_types": ["coreference", "person", "place", "thing"], "edge_units": 1}
    model = zoo.AttentionSumReader.from_examples(EXAMPLES, encoder="mage_gru", **arguments, **TINY)
    model.save(tmp_path / "typed.keras")
    lines = explain(capsys, tmp_path / "typed.keras", *STORY)
    assert "person  mary → mary" in lines
    (view,) = model.views([Example.from_text("Mary went to the hall. Mary left.", "Who left?")])[0]
    assert view.edges == [(1, 7, "person")]
