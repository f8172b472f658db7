"""The demo page in a browser without a window; `COREFMEM_PICTURES=docs` renews its pictures."""

import contextlib
import functools
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import pytest

import zoo
from keras_corefmem.datasets import Example
from tests.support.browser import browser, find_programs
from zoo.reading import read_examples

GRU, COREF = "ga_gru_lambada", "ga_coref_gru_lambada"
READER, MEMORY, OFTEN_WRONG = "ga_coref_gru_babi_1", "qdren_babi_1", "qdren_babi_2"
TYPED, PASSES = "ga_mage_gru_attention_typed_babi_2", "dmn_supervised_babi_1"
SUPERVISED = "bidaf_sa_early_coref_all_lambada"
SECONDS = 60
PASSAGE = (
    "John went to the office.",
    "Mary moved to the garden.",
    "John travelled to the hallway.",
)
QUESTION = "Where is John?"


class Page:
    """The page in a browser."""

    def __init__(self, driver):
        self.driver = driver

    def see(self, script, *arguments):
        """What a script returns, once that is something: not null, 0 or empty."""
        from selenium.common.exceptions import JavascriptException
        from selenium.webdriver.support.ui import WebDriverWait

        wait = WebDriverWait(self.driver, SECONDS, 0.1, [JavascriptException])
        return wait.until(
            lambda driver: driver.execute_script(script, *arguments),
            f"The page never showed: {script}",
        )

    def code(self, name):
        return self.driver.execute_script(
            "return document.querySelector(`#${arguments[0]} .cm-content`).innerText", name
        )

    def wait_for(self, name, text):
        self.see(
            "return document.getElementById(arguments[0])?.innerText.includes(arguments[1])",
            name,
            text,
        )

    def click(self, name):
        self.see("return document.getElementById(arguments[0])", name)
        self.driver.execute_script("document.getElementById(arguments[0]).click()", name)

    def open_tab(self, name):
        self.see(
            "const tab = [...document.querySelectorAll('button[role=tab]')]"
            ".find(each => each.innerText.trim() === arguments[0]);"
            "tab?.click(); return tab",
            name,
        )

    def write(self, name, text):
        from selenium.webdriver.common.by import By
        from selenium.webdriver.common.keys import Keys

        box = self.driver.find_element(By.CSS_SELECTOR, f"#{name} textarea, #{name} input")
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(text)
        return box

    def choose(self, name, text):
        from selenium.webdriver.common.keys import Keys

        box = self.write(name, text)
        # The page reacts a moment after what is typed and chosen.
        self.see(
            "return [...document.querySelectorAll('ul[role=listbox] li')]"
            ".some(option => option.innerText.includes(arguments[0]))",
            text,
        )
        box.send_keys(Keys.ENTER)
        time.sleep(0.5)

    def ask(self, passage, question):
        from selenium.webdriver.common.keys import Keys

        self.write("passage", "\n".join(passage))
        self.write("question", question).send_keys(Keys.ENTER)

    def chains(self):
        """The chain of each token that is drawn."""
        return self.driver.execute_script(
            "return [...document.querySelectorAll('#answer-view g.token')]"
            ".map(token => Number(token.dataset.chain))"
        )

    def odds(self, name="answer"):
        """The answer on top."""
        return self.driver.execute_script(
            "return document.querySelector(`#${arguments[0]}-view .odds h2`)?.innerText", name
        )

    def picture(self, name):
        folder = os.environ.get("COREFMEM_PICTURES")
        if folder:
            self.driver.execute_script("window.scrollTo(0, 0)")
            # What was just renewed is pale for a moment.
            time.sleep(1)
            self.driver.save_screenshot(str(pathlib.Path(folder) / f"demo-{name}.png"))


@pytest.fixture
def page(tmp_path, monkeypatch, request):
    programs = find_programs()
    gradio = pytest.importorskip("gradio")
    monkeypatch.setenv("GRADIO_ANALYTICS_ENABLED", "False")
    from zoo.serving.demo import page, stories

    monkeypatch.setattr(stories, "LOOKED_AT", 50)
    presets = getattr(request, "param", [READER, MEMORY, GRU, COREF, OFTEN_WRONG])
    blocks = page.make_page(presets)
    _, address, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    try:
        with browser(programs, tmp_path / "profile") as driver:
            driver.get(address)
            yield Page(driver)
    finally:
        gradio.close_all()


# One test: a page and a browser take long to start.
@pytest.mark.slow
def test_models_are_asked_edited_compared_and_copied(page):
    look_at_an_answer(page)
    edit_chains(page)
    read_up_to_a_sentence(page)
    copy(page)
    compare(page)
    look_at_a_memory(page)
    find_wrong_answers(page)
    resolve_coreference(page)


preset = functools.cache(zoo.from_preset)


def best(*chains, passage=PASSAGE):
    example = Example(passage, QUESTION, "[unknown]", chains=chains)
    return read_examples(preset(READER), [example])[0]


def look_at_an_answer(page):
    page.wait_for("answer-view", "sandra")
    page.ask([*PASSAGE, "Zebulon slept."], QUESTION)
    page.wait_for("note", "zebulon")
    page.ask(PASSAGE, QUESTION)
    page.wait_for("answer-view", "where is john ?")
    page.see("return document.getElementById('note').innerText.trim() === ''")
    assert page.odds() == best().answer == "hallway"
    page.wait_for("answer-view", "each beginning read anew")
    page.wait_for("answer-view", "from the states of one reading")
    assert page.see("return document.querySelectorAll('#answer-view path.edge').length") == 2
    page.picture("answer")


def edit_chains(page):
    page.see("const label = document.querySelector('#copy button'); label?.click(); return label")
    before = page.chains()
    assert len(before) == sum(len(text.split()) + 1 for text in (*PASSAGE, QUESTION))
    # John of the last sentence, and of the question, is Mary.
    page.choose("token", "13 john")
    page.choose("target", "7 mary")
    page.click("merge")
    page.see(
        "const chains = [...document.querySelectorAll('#answer-view g.token')]"
        ".map(token => token.dataset.chain);"
        "return chains[0] === chains[6]"
    )
    after = page.chains()
    assert after[6] == after[0] == after[12] != 0
    page.choose("token", "13 john")
    page.click("cut")
    page.see("return document.querySelectorAll('#answer-view g.token')[12].dataset.chain === '0'")
    after = page.chains()
    reading = best(*after)
    page.wait_for("answer-view", f"{reading.probability:.0%}")
    assert page.odds() == reading.answer
    page.picture("edited")
    copy_changes(page, reading)
    # Another model is asked the edited question.
    page.choose("other", "ga-coref-gru · babi")
    page.wait_for("beside-view", f"{reading.probability:.0%}")
    assert page.chains() == after and page.odds("beside") == reading.answer
    page.choose("other", "(no other model)")
    page.see("return !document.getElementById('beside-view')?.offsetParent")
    page.click("reset")
    page.see("return document.querySelectorAll('#answer-view g.token')[12].dataset.chain !== '0'")
    assert page.chains() == before
    edges = "document.querySelectorAll('#answer-view path.edge').length"
    count = page.see(f"return {edges}")
    page.choose("token", "7 mary")
    page.choose("target", "13 john")
    page.click("draw")
    page.see(f"return {edges} > {count}")
    page.click("reset")
    page.see(f"return {edges} === {count}")


def copy_changes(page, reading):
    page.see(r"return /\[\d+, \d/.test(document.querySelector('#curl .cm-content')?.innerText)")
    if shutil.which("curl"):
        odds = ask_by_curl(page)
        assert odds[reading.answer] == pytest.approx(reading.probability, abs=1e-3)


def read_up_to_a_sentence(page):
    page.driver.execute_script(
        "const input = document.querySelector('#until input[type=number]');"
        "input.value = 1; input.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    page.see("return document.querySelectorAll('#answer-view g.token').length === 10")
    assert page.odds() == best(passage=PASSAGE[:1]).answer == "office"
    page.click("ask")
    page.see("return document.querySelectorAll('#answer-view g.token').length > 10")


def copy(page):
    page.wait_for("python", "zoo.from_preset")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(page.code("python"), {})
    assert printed.getvalue().startswith("hallway ")
    if shutil.which("curl"):
        odds = ask_by_curl(page)
        assert max(odds, key=odds.get) == "hallway"


def ask_by_curl(page):
    command = page.code("curl")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    (data,) = re.findall(r"^data: (.*)$", done.stdout, re.MULTILINE)
    (odds,) = json.loads(data)
    return odds


def compare(page):
    page.choose("model", "ga-coref-gru · lambada")
    page.wait_for("answer-view", "mark")
    page.choose("other", "ga-gru · lambada")
    page.wait_for("beside-view", "captain")
    assert page.odds() == "mark" != (found := page.odds("beside"))
    passage, question = page.see(
        "return ['passage', 'question'].map("
        "name => document.querySelector(`#${name} textarea, #${name} input`).value)"
    )
    assert found == preset(GRU).read(passage, question).answer
    page.picture("beside")
    page.choose("other", "(no other model)")
    edges = "document.querySelectorAll('#answer-view path.edge').length"
    count = page.driver.execute_script(f"return {edges}")
    page.choose("annotator", "exact")
    page.see(f"return {edges} !== {count}")


def look_at_a_memory(page):
    page.choose("model", "qdren")
    page.wait_for("answer-view", "slot 1")
    page.see("return !document.getElementById('merge')?.offsetParent")
    page.picture("memory")


def find_wrong_answers(page):
    page.choose("model", "qdren · babi task 2")
    page.wait_for("answer-view", "slot 1")
    page.open_tab("Wrong answers")
    page.click("look")
    page.wait_for("summary", "of 50 simulated questions are answered wrongly")
    cells = "[...document.querySelectorAll('#table [role=gridcell][data-row=\"0\"]')]"
    question, _, answer, _ = page.see(f"return {cells}.map(cell => cell.innerText.trim())")
    page.driver.execute_script(f"return {cells}[0]").click()
    page.wait_for("answer-view", question)
    assert page.odds() == answer
    page.choose("model", "ga-coref-gru · babi")
    page.see("return document.getElementById('summary').innerText.trim() === ''")


def resolve_coreference(page):
    page.open_tab("Coreference")
    page.click("resolve")
    page.wait_for("chains", "Sandra")
    shown = page.see("return document.getElementById('chains').innerText")
    assert shown.split() == (
        "Then Mary 1 met Sandra 2 . After that Mary 1 told Sandra 2 a story .".split()
    )
    page.picture("coreference")


# What `test_demo_page` reads as HTML.
@pytest.mark.thorough
@pytest.mark.parametrize("page", [[TYPED, PASSES, SUPERVISED]], indirect=True)
def test_typed_edges_passes_and_supervised_heads_are_shown(page):
    page.wait_for("answer-view", "where is the apple ?")
    persons = "document.querySelectorAll('#answer-view path.edge[data-type=person]').length"
    count = page.see(f"return {persons}")
    page.choose("token", "1 daniel")
    page.choose("target", "8 john")
    page.choose("kind", "person")
    page.click("draw")
    page.see(f"return {persons} > {count}")
    page.choose("model", "dmn-supervised")
    page.wait_for("answer-view", "pass 1")
    page.choose("model", "bidaf")
    page.wait_for("answer-view", "coref_all")
