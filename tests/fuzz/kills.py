"""Commands, killed at random moments and given again: `python -m tests.fuzz.kills [COMMAND...]`.

Each command runs once undisturbed. Then, for each moment, it starts in a folder of its own, is
killed with all its processes, and is given again until it ends. Numbers, names of files, and steps
and tags of TensorBoard must be those of the undisturbed run.
"""

import argparse
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from tests.support.texts.tiny_babi import write_babi

ROOT = Path(__file__).parents[2]
MAIN = [sys.executable, "-c", "import sys; from zoo import cli; sys.exit(cli.main())"]
SMALL = "--set batch_size=50 --set buckets=1 --set units=8 --set dropout=0.3".split()
SEARCH = "search --model gru --space space.json --output out --log-dir logs --results results"
SEARCH += " --set batch_size=50 --set buckets=1"
COMMANDS = {
    "train": "train --model gru --epochs 3 --output out --log-dir logs".split() + SMALL,
    "search": f"{SEARCH} --trials 2 --epochs 2".split(),
    "workers": f"{SEARCH} --trials 2 --epochs 2 --workers 2".split(),
    "hyperband": f"{SEARCH} --tuner hyperband --epochs 3".split(),
    "annotate": "annotate texts.txt --output out --shard-size 100 --processes 2".split(),
    "reproduce": (
        "reproduce babi-1k --models ngram --tasks 1 --seeds 0 1 --data-dir babi --jobs 2 "
        "--results results --runs out --set epochs=3 --tag short"
    ).split(),
}
# What differs between two undisturbed runs: their time and place, and keras-tuner's bookkeeping.
VOLATILE = "seconds", "cpu_seconds", "data_dir"
ORACLE = "oracle.json"


def prepare(folder: Path) -> None:
    (folder / "babi").mkdir()
    write_babi(folder / "babi", train=200, valid=50, test=50)
    lines = (f"Mary met John {n} times. She likes him." for n in range(2000))
    (folder / "texts.txt").write_text("\n".join(lines) + "\n")
    (folder / "space.json").write_text(json.dumps({"units": [4, 8], "dropout": [0.1, 0.3]}))


def start(command: str, folder: Path) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.Popen(
        MAIN + COMMANDS[command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finish(command: str, folder: Path) -> None:
    process = start(command, folder)
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}: {out[-500:]}")


def without_volatile(content: object, volatile: tuple[str, ...] = VOLATILE) -> object:
    if isinstance(content, dict):
        kept = {k: v for k, v in content.items() if k not in volatile}
        return {k: without_volatile(v, volatile) for k, v in kept.items()}
    if isinstance(content, list):
        return [without_volatile(v, volatile) for v in content]
    return content


def events_in(path: Path) -> set[tuple[int, str]]:
    """Step and tag of what TensorBoard shows of a file."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    events = EventFileLoader(str(path)).Load()
    return {(event.step, value.tag) for event in events for value in event.summary.value}


def weights_in(file: Path | io.BytesIO) -> dict[str, bytes]:
    """The bytes of each array of a file of weights."""
    import h5py

    found: dict[str, bytes] = {}

    def add(name: str, item: h5py.HLObject) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()].tobytes()

    with h5py.File(file) as opened:
        opened.visititems(add)
    return found


def weights_of(path: Path) -> dict[str, bytes]:
    """The same of the weights in a `.keras` file."""
    with zipfile.ZipFile(path) as archive:
        return weights_in(io.BytesIO(archive.read("model.weights.h5")))


def outcome(folder: Path) -> dict[str, object]:
    """What a command left: numbers, bytes of records, events, and names of other files."""
    found: dict[str, object] = {}
    for path in folder.rglob("*"):
        name = re.sub(r"tfevents\..*", "tfevents", str(path.relative_to(folder)))
        if path.suffix in (".json", ".jsonl") and path.name != ORACLE:
            lines = path.read_text().splitlines()
            texts = lines if path.suffix == ".jsonl" else ["".join(lines)]
            # Files of weights name layers, which Keras numbers anew in each process.
            volatile = (*VOLATILE, "sha256") if path.name == "state.json" else VOLATILE
            found[name] = [without_volatile(json.loads(text), volatile) for text in texts]
        elif name.endswith("tfevents"):
            # A run has a file for each of its starts.
            found[name] = sorted({*(found.get(name) or ()), *events_in(path)})
        elif path.suffix == ".h5":
            found[name] = weights_in(path)
        elif path.suffix == ".keras":
            found[name] = weights_of(path)
        else:
            found[name] = path.read_bytes() if path.suffix == ".tfrecord" else None
    return found


def differences(found: dict[str, object], expected: dict[str, object]) -> list[str]:
    names = found.keys() | expected.keys()
    missing = object()
    return sorted(n for n in names if found.get(n, missing) != expected.get(n, missing))


def campaign(command: str, moments: int, seed: int) -> list[str]:
    """Kills a command at random moments; a line for each after which something differs."""
    draw, wrong = random.Random(seed), []
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place, "whole")
        whole.mkdir()
        prepare(whole)
        began = time.monotonic()
        finish(command, whole)
        duration, expected = time.monotonic() - began, outcome(whole)
        for number in range(moments):
            folder, moment = Path(place, str(number)), draw.uniform(0, duration)
            folder.mkdir()
            prepare(folder)
            process = start(command, folder)
            time.sleep(moment)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            finish(command, folder)
            different = differences(outcome(folder), expected)
            if different:
                wrong.append(f"{command}, killed after {moment:.2f} s: {', '.join(different)}")
                print(wrong[-1], flush=True)
        print(f"{command}: {moments - len(wrong)} of {moments} as if undisturbed", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS), metavar="COMMAND")
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = [campaign(each, options.moments, options.seed) for each in options.commands]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
