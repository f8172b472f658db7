"""The README and the guides: their texts, and the examples and commands in their blocks."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = {page.stem: page.read_text(encoding="utf-8") for page in PAGES}
BLOCKS = [
    (page, *block)
    for page, text in TEXTS.items()
    for block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
]


def lines_of(text):
    """The lines of a shell, whole, those of a loop once for each of its values."""
    for line in text.replace("\\\n", " ").splitlines():
        loop = re.fullmatch(r"for (\w+) in (.+?); do (.+); done", line)
        for value in loop[2].split() if loop else ():
            yield re.sub(rf"\$({loop[1]}\b|{{{loop[1]}}})", value, loop[3])
        if not loop:
            yield line


def words_of(command):
    """The words behind `corefmem`, without variables of the environment and a comment."""
    words = shlex.split(command, comments=True)
    return [word for word in words if not re.match(r"[A-Z_]+=", word)][1:]


EXAMPLES: dict[str, list[str]] = {}
COMMANDS: dict[str, list[str]] = {}
for page, language, text in BLOCKS:
    if language == "python":
        EXAMPLES.setdefault(page, []).append(text)
    for line in lines_of(text) if language == "" else ():
        for command in line.split("&&"):
            if re.match(r"\s*([A-Z_]+=\S+ +)*(\S*/)?corefmem( |$)", command):
                COMMANDS.setdefault(page, []).append(command.strip())
