"""Small searches of the settings of QDREN on a tiny bAbI."""

from tuning.search import Search

SMALL = ["--set", "units=4", "--set", "batch_size=8", "--set", "buckets=1"]
NAME = "qdren-babi-task-01-own-random-seed-0"


def command(files, folder, *more, space="own"):
    words = ["search", "--model", "qdren", "--data-dir", str(files), "--task", "1"]
    words += ["--space", str(files / f"{space}.json"), *SMALL]
    for name in ("output", "log-dir", "results"):
        words += [f"--{name}", str(folder / name)]
    return [*words, *more]


def make_search(files, folder, model="qdren", space="own", units=4, epochs=60, **options):
    places = {"data_dir": str(files), "space": str(files / f"{space}.json")}
    settings = {"batch_size": 8, "buckets": 1, "arguments": {"units": units}, "epochs": epochs}
    places |= {"output": str(folder / "output"), "log_dir": str(folder / "logs")}
    return Search(model, "babi", settings=settings, **places, **options)
