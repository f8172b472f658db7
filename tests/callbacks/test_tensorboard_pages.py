"""What TensorBoard's pages show of two runs of `corefmem train`, in a browser without a window.

`COREFMEM_PICTURES=docs` renews the picture of the guide."""

import contextlib
import io
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv
from matplotlib.image import imread, imsave

from keras_corefmem.callbacks.run import CHARTS
from tests.support.browser import browser, find_programs
from zoo.cli import app as cli

README = (pathlib.Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
# The README's second command trains; here as it does, but on fewer stories and in smaller size.
FIRST_COMMAND = re.search(r"^`.venv/bin/corefmem (.+?)`", README, re.MULTILINE)[1].split()
SMALL = "train_size=64", "epochs=2", "buckets=1", "units=8", "layers=1"
if "COREFMEM_PICTURES" in os.environ:
    # Curves to show.
    SMALL = "train_size=400", "epochs=10", "buckets=1", "units=16", "layers=1"
TABS = "timeseries", "custom_scalars", "text", "hparams", "projector"
# A busy machine may need long; whoever waits goes on at once when there is something to see.
SECONDS = 240
# The elements of the page, also those below shadow roots, where `querySelector` does not look.
ELEMENTS = """
const elements = [];
const collect = root => {
  for (const element of root.querySelectorAll("*")) {
    elements.push(element);
    if (element.shadowRoot) collect(element.shadowRoot);
  }
};
collect(document);
const named = name => elements.filter(element => element.localName === name);
const shown = element => element.getBoundingClientRect().height > 0;
const text = element => element.innerText.trim();
"""


class Page:
    """A tab of TensorBoard in a browser."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def open(self, tab):
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#{tab}")

    def see(self, script, *arguments):
        """What a script over `ELEMENTS` returns, once that is something: not null, 0 or empty."""
        from selenium.common.exceptions import JavascriptException, StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        changing = JavascriptException, StaleElementReferenceException
        wait = WebDriverWait(self.driver, SECONDS, 0.2, changing)
        return wait.until(
            lambda driver: driver.execute_script(ELEMENTS + script, *arguments),
            f"The page never showed: {script}",
        )

    def enter_frame(self):
        self.driver.switch_to.frame(self.see("return named('iframe')[0]"))


@pytest.fixture
def programs():
    return find_programs()


@pytest.fixture
def runs(programs, tmp_path, monkeypatch):
    """The folder of logs of two tiny runs, and the names of the runs."""
    logs = tmp_path / "logs"
    command = [*FIRST_COMMAND, "--output", str(tmp_path / "models"), "--log-dir", str(logs)]
    monkeypatch.setattr("zoo.cli.train.show_files", lambda *arguments: None)
    for rate in ("0.01", "0.02"):
        settings = (("--set", setting) for setting in (*SMALL, f"learning_rate={rate}"))
        assert cli.main([*command, *itertools.chain(*settings)]) == 0
    return logs, sorted(path.name for path in logs.iterdir())


@contextlib.contextmanager
def tensorboard(folder, log):
    """The address of a TensorBoard that knows all runs of a folder."""
    command = [sys.executable, "-m", "tensorboard.main", "--host", "127.0.0.1", "--port", "0"]
    with open(log, "wb") as output:
        server = subprocess.Popen([*command, "--logdir", folder], stdout=output, stderr=output)
    runs = sum(1 for _ in folder.rglob("events.out.tfevents.*"))
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end:
            assert server.poll() is None, log.read_text()
            found = re.search(r"at (http://127\.0\.0\.1:\d+/)", log.read_text())
            if found and is_ready(found[1], runs):
                yield found[1]
                return
            time.sleep(0.2)
        raise AssertionError(log.read_text())
    finally:
        server.terminate()
        server.wait(SECONDS)


def is_ready(address, runs):
    """Whether TensorBoard has read so many runs and found out which tabs have something to show."""
    if len(get(address, "runs")) < runs:
        return False
    return enabled_tabs(address) >= set(TABS)


def enabled_tabs(address):
    return {name for name, tab in get(address, "plugins_listing").items() if tab["enabled"]}


def get(address, path):
    with urllib.request.urlopen(f"{address}data/{path}", timeout=SECONDS) as response:
        return json.load(response)


# One test: every process that ran one of several would train runs of its own.
@pytest.mark.slow
def test_tensorboard_shows_two_runs(programs, runs, tmp_path):
    folder, names = runs
    with (
        tensorboard(folder, tmp_path / "tensorboard.log") as address,
        browser(programs, tmp_path / "profile") as driver,
    ):
        page = Page(driver, address)
        # What is looked at below, and older tabs of the same curves and pictures: none is empty.
        assert enabled_tabs(address) == {*TABS, "scalars", "images"}
        look_at_curves_and_pictures(page, names)
        look_at_hyper_parameters(page, names)
        look_at_charts(page)
        look_at_answers(page)
        look_at_words(page)


def look_at_curves_and_pictures(page, names):
    page.open("timeseries")
    listed = "return named('runs-data-table').some(table => text(table).includes(arguments[0]))"
    for name in names:
        for run in (name, f"{name}/best", f"{name}/train", f"{name}/validation"):
            assert page.see(listed, run)
    # Accuracy and loss come first and are open.
    groups = page.see(
        "const groups = named('metrics-card-group-toolbar').map(text);"
        "return groups.length > 4 && groups.map(group => group.split('\\n')[0]);"
    )
    expected = "epoch_accuracy", "epoch_loss", "epoch_probability", "questions", "training"
    assert all(group.startswith(name) for group, name in zip(groups, expected, strict=True))
    # Below each chart is a row for each line; lines of three colours are of two runs.
    rows = (
        "const rows = named('scalar-card').map(card => [...card.querySelectorAll("
        "'tb-data-table-content-row')].map(text).join());"
        "return rows.length === 2 && rows.every(row => arguments[0].every(name =>"
        "['best', 'train', 'validation'].every(part => row.includes(`${name}/${part}`))))"
    )
    assert page.see(rows, names)
    end = time.monotonic() + SECONDS
    while len(colours(page.see("return named('canvas').filter(shown)"))) < 3:
        assert time.monotonic() < end, "no lines"
    page.see(
        "return named('metrics-card-group-toolbar').filter(group =>"
        "text(group).startsWith('questions')).map(group => group.querySelector('button'))"
    )[0].click()
    # Cards are made when they come into view.
    width = page.see(
        "const cards = named('card-view');"
        "if (cards.length) cards[cards.length - 1].scrollIntoView();"
        "return named('image-card').filter(card => text(card).includes('questions/attention')).map("
        "card => card.querySelector('img')).filter(Boolean).map(image => image.naturalWidth)[0]"
    )
    assert width > 200


def colours(elements):
    """Hues, in twelfths of a circle, of at least 30 pixels of some elements."""
    pixels = [imread(io.BytesIO(e.screenshot_as_png))[..., :3].reshape(-1, 3) for e in elements]
    hue, saturation, _ = rgb_to_hsv(np.concatenate(pixels)).T
    counts = np.bincount((hue[saturation > 0.5] * 12).astype(int))
    return np.flatnonzero(counts >= 30)


def look_at_hyper_parameters(page, names):
    page.open("hparams")
    cells = page.see(
        "const cells = named('vaadin-grid-cell-content').map(text).filter(Boolean);"
        "return arguments[0].every(name => cells.includes(name)) && cells;",
        names,
    )
    rows = [cells.index(name) for name in names]
    columns, width = cells[: min(rows)], rows[1] - rows[0]
    # A box to tick is no text.
    columns.remove("Show Metrics")
    assert columns[:2] == ["Trial ID", "learning_rate"] and len(columns) == width
    # No defaults that nobody set.
    assert not {"answer_head", "average", "carry", "clip_each"} & set(columns)
    metrics = [name for name in columns if "epoch_" in name]
    assert metrics[0] == "best.epoch_accuracy" and "best.epoch_loss" in metrics
    for name, start, rate in zip(names, rows, (0.01, 0.02), strict=True):
        row = dict(zip(columns, cells[start : start + width], strict=True))
        assert row["Trial ID"] == name and float(row["learning_rate"]) == rate
        assert 0 <= float(row["validation.epoch_accuracy"]) <= 1
        assert float(row["best.epoch_loss"]) > 0
        best = float(row["best.epoch_accuracy"])
        assert best >= float(row["validation.epoch_accuracy"])


def look_at_charts(page):
    page.open("custom_scalars")
    charts = [title for title, _ in CHARTS[:6]]
    titles = "const titles = named('figcaption').map(text); return titles.length > 5 && titles;"
    assert page.see(titles) == charts
    # Training and validation of two runs have accuracy and loss, the rest is of one of them.
    lines = (
        "return named('path').filter(path => path.classList.contains('line') &&"
        "(path.getAttribute('d') || '').includes('L')).length >= 2 * (2 + 2 + 1 + 1 + 1 + 1)"
    )
    assert page.see(lines)
    if folder := os.environ.get("COREFMEM_PICTURES"):
        picture = imread(io.BytesIO(page.driver.get_screenshot_as_png()))
        # Below are the folder of the runs and nothing else.
        imsave(pathlib.Path(folder) / "tensorboard.png", picture[: len(picture) * 2 // 3])


def look_at_answers(page):
    page.open("text")
    cells = page.see("return named('td').map(text)")
    tables = page.see("const cells = named('th').map(text); return cells.length > 5 && cells;")
    assert tables[1:5] == ["question", "answer", "predicted", "probability"]
    assert cells[0] in "✓✗" and cells[1].startswith("Where is") and cells[4].endswith("%")


def look_at_words(page):
    page.open("projector")
    # One frame lies within the other.
    page.enter_frame()
    page.enter_frame()
    points = page.see(
        "return Number(elements.filter(e => e.classList.contains('numDataPoints')).map(text)[0])"
    )
    assert points == 22
    label = "return named('vz-projector-data-panel').map(panel => panel.selectedLabelOption)[0]"
    assert page.see(label) == "word"
    # Points are the words themselves.
    sprites = "named('vz-projector')[0].dataSet.spriteAndMetadataInfo.spriteImage"
    assert page.see(f"return {sprites} && {sprites}.width") == 5 * 40
    search = (
        "const within = (e, id) => e && (e.id === id || within(e.getRootNode().host, id));"
        "return named('input').filter(input => within(input, 'search-box'))[0]"
    )
    page.see(search).send_keys("kitchen")
    # The only match is chosen; all other words are its neighbours, nearest first.
    near = page.see("return elements.filter(e => e.classList.contains('nn-list')).map(text)[0]")
    assert {"bathroom", "garden", "mary"} <= set(near.split())
