"""Time on the clock of a whole study: all 20 bAbI tasks, one seed, GA + Coref-GRU, two processes.

    python benchmarks/study.py --data-dir path/to/babi --seed 4

Runs `corefmem reproduce` from nothing to its table: imports, data, compilation, training, tests.
Nothing else should run beside it. The results are kept, as of any study.
"""

import argparse
import os
import subprocess
import tempfile
import time

import records
from processes import COREFMEM

from keras_corefmem.utils.markdown import markdown_table
from zoo.experiments.results import read_results

STUDY, MODEL, JOBS = "babi-1k", "ga-coref-gru", 2


def make_table(content):
    """The figures as Markdown."""
    heading = ("study", "model", "tasks", "seeds", "processes", "minutes")
    counts = [str(content["tasks"]), "1", str(content["jobs"])]
    row = [STUDY, f"`{MODEL}`", *counts, f"{content['seconds'] / 60:.1f}"]
    return markdown_table([heading, row], text_columns=2)


def count_runs(folder, seed):
    """Number of recorded runs of a seed."""
    runs = read_results(STUDY, folder)
    return sum(run["model"] == MODEL and run["seed"] == seed for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", help="by default what `corefmem download babi` got")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", default="results")
    parser.add_argument("--runs", help="folder of the training states; a new one by default")
    options = parser.parse_args()
    if count_runs(options.results, options.seed):
        parser.error(f"{options.results} has runs of seed {options.seed}: take another.")
    words = [*COREFMEM, "reproduce", STUDY, "--models", MODEL, "--seeds", str(options.seed)]
    words += ["--jobs", str(JOBS), "--results", options.results]
    words += ["--data-dir", options.data_dir] if options.data_dir else []
    with tempfile.TemporaryDirectory() as folder:
        runs = options.runs or folder
        start, busy = time.perf_counter(), os.times()
        subprocess.run([*words, "--runs", runs], check=True)
        seconds, end = time.perf_counter() - start, os.times()
    cpu = sum(end[2:4]) - sum(busy[2:4])
    tasks = count_runs(options.results, options.seed)
    figures = {"seed": options.seed, "tasks": tasks, "jobs": JOBS, "seconds": seconds, "cpu": cpu}
    records.publish("study", make_table, figures, arguments=["--seed", str(options.seed)])


if __name__ == "__main__":
    main()
