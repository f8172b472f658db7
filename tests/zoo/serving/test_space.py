"""`space/` starts and answers as a Space of Hugging Face runs it."""

import configparser
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from packaging.specifiers import SpecifierSet

ROOT = pathlib.Path(__file__).parents[3]
SPACE = ROOT / "space"
SECONDS = 240


def test_requirements_and_card_are_those_of_the_package():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    lines = (SPACE / "README.md").read_text(encoding="utf-8").split("---")[1].strip().splitlines()
    card = {name: value.strip('" ') for name, _, value in (line.partition(":") for line in lines)}
    package, extra = re.fullmatch(
        r"(\w+)\[(\w+)\]\n", (SPACE / "requirements.txt").read_text()
    ).groups()
    assert package == setup["metadata"]["name"] and (SPACE / card["app_file"]).exists()
    allowed = SpecifierSet(setup["options.extras_require"][extra].strip().removeprefix("gradio"))
    assert card["sdk"] == "gradio" and card["sdk_version"] in allowed
    assert f"Python :: {card['python_version']}\n" in setup["metadata"]["classifiers"] + "\n"


@pytest.mark.thorough
def test_the_space_answers(tmp_path):
    client = pytest.importorskip("gradio_client")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    settings = {"PYTHONPATH": str(ROOT), "GRADIO_SERVER_PORT": str(port)}
    with open(tmp_path / "log", "wb") as log:
        command = [sys.executable, SPACE / "app.py"]
        environment = {**os.environ, **settings}
        app = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=log, stderr=log)
    try:
        end = time.monotonic() + SECONDS
        while not answers(address):
            assert app.poll() is None and time.monotonic() < end, (tmp_path / "log").read_text()
            time.sleep(0.5)
        story = "Mary went to the kitchen. John moved to the garden.", "Where is Mary?"
        asked = "ga_coref_gru_babi_1", *story, [], [], ""
        answer = client.Client(address, verbose=False).predict(*asked, api_name="/read")
        assert max(answer, key=answer.get) == "kitchen"
    finally:
        app.terminate()
        app.wait(SECONDS)


def answers(address):
    try:
        with urllib.request.urlopen(address, timeout=SECONDS):
            return True
    except OSError:
        return False
