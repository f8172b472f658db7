"""All benchmarks that this machine can run, one after the other.

    python benchmarks/all.py                                  # what needs no data
    python benchmarks/all.py --torch PYTHON --data-dir DIR --annotator PIPELINE --seed 5
    python benchmarks/all.py --quick                          # tries them, records nothing

The figures of a GPU are measured where there is one.
"""

import pathlib
import shutil
import subprocess
import sys
import time

import records

SIMPLE = "memory_networks", "supervised_attention", "edge_types", "long_passages", "latency"
SIMPLE += "demo", "load", "dispatch"


def list_commands(options):
    """The name of each benchmark and the arguments of its command."""
    torch = ["--torch", options.torch] if options.torch else []
    annotator = ["--annotator", options.annotator] if options.annotator else []
    data = ["--data-dir", options.data_dir] if options.data_dir else []
    quick = ["--quick"] if options.quick else []
    yield "recurrence", torch + quick
    for name in SIMPLE:
        yield name, quick
    yield "annotation", annotator + quick + (["--scale"] if options.scale else [])
    if options.quick or shutil.which("nvidia-smi"):
        yield "gpu", torch + quick
    if data and annotator:
        yield "raw_text", data + annotator + quick
    if data and options.seed is not None and not options.quick:
        yield "study", [*data, "--seed", str(options.seed)]


def main():
    parser = records.make_parser(__doc__)
    parser.add_argument("--torch", metavar="PYTHON", help="interpreter that has PyTorch")
    parser.add_argument("--data-dir", help="folder of bAbI and LAMBADA")
    parser.add_argument("--annotator", help="path or name of a spaCy pipeline")
    parser.add_argument("--scale", action="store_true", help="annotate 100,000 texts too")
    parser.add_argument("--seed", type=int, help="seed without results yet, for study")
    failed = []
    for name, arguments in [*list_commands(parser.parse_args()), ("pages", [])]:
        script, start = pathlib.Path(__file__).with_name(f"{name}.py"), time.perf_counter()
        code = subprocess.run([sys.executable, str(script), *arguments]).returncode
        failed += [name] if code else []
        print(f"{name}: {(time.perf_counter() - start) / 60:.1f} minutes", flush=True)
    return f"Failed: {', '.join(failed)}." if failed else 0


if __name__ == "__main__":
    sys.exit(main())
