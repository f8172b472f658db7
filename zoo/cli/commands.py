"""What the commands do; `zoo.cli.app` reads their arguments."""

import json
import pathlib
import sys

import zoo
from keras_corefmem.datasets.passages import cnn
from keras_corefmem.datasets.stories import babi
from keras_corefmem.utils.files import load_json, replacing
from zoo.configs import configuration, models
from zoo.experiments import data, results, studies
from zoo.hub import presets as preset
from zoo.reports import significance
from zoo.reports import tables as report
from zoo.reports.scores import group_runs

# What models read: a passage and a question about it, or a single sentence.
TEXTS = ("passage", "question"), ("sentence",)
SETTING_HELP = "write it as --set NAME=JSON, such as --set units=32 or --set head='\"auto\"'."


def parse_settings(assignments):
    """Fields of `zoo.training.Settings` from `NAME=JSON`; other names are the model's arguments."""
    from zoo.training import merge_settings, split_settings

    values, arguments = {}, {}
    for assignment in assignments:
        name, _, value = assignment.partition("=")
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            raise ValueError(f"--set {assignment}: the value is no JSON; {SETTING_HELP}") from None
        if name != "arguments":
            values[name] = value
        elif isinstance(value, dict):
            arguments.update(value)
        else:
            raise ValueError(f"--set {assignment}: give an object, or --set NAME=JSON for each.")
    return merge_settings({"arguments": arguments}, split_settings(values))


def load_model(name):
    """A reader of text from the path of a `.keras` file or the name of a preset.

    Raises:
        ValueError: if the file is broken, or holds nothing that reads text.
        FileNotFoundError: if there is no such file.
    """
    if name.endswith(".keras"):
        if not pathlib.Path(name).is_file():
            raise FileNotFoundError(f"There is no file {name}; `corefmem train` makes one.")
        from zoo.reading.answers import preprocessor_of

        model = zoo.load(name)
        try:
            preprocessor_of(model)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        return model
    return preset.from_preset(name)


def describe_data(name):
    """What a model was trained on: from the preset's card, or the record beside the file."""
    if not name.endswith(".keras"):
        return preset.read_preset(name)["card"]
    record = pathlib.Path(name).with_name("run.json")
    return load_json(record) if record.exists() else {}


def evaluate(args):
    from zoo import training

    model, known = load_model(args.model), describe_data(args.model)
    dataset = args.dataset or known.get("dataset")
    if args.data_dir and not args.dataset and dataset in (None, "simulator"):
        dataset = "babi"
    task = known.get("task") if args.task is None else args.task
    if dataset is None or task is None:
        raise ValueError(
            f"{args.model} does not say what it was trained on: give --dataset, --task."
        )
    # Where the one lies says nothing about another data set.
    same = known if dataset == known.get("dataset") else {}
    folder = args.data_dir or same.get("data_dir")
    language = args.language or same.get("language")
    examples = getattr(data.load(dataset, task, folder, language), args.part)
    result = training.evaluate(model, training.make_batches(model, examples))
    count = result["count"]
    print(
        f"{dataset} task {task}, {args.part}: accuracy {result['accuracy']:.2%}, "
        f"{count - len(result['wrong'])} of {count} {data.DATASETS[dataset].counted}"
    )


def given_texts(args):
    """The texts that are given as options, by name: of a question, of a sentence, or none.

    Raises:
        ValueError: if they are incomplete, or given beside a file.
    """
    texts = {name: getattr(args, name) for name in ("passage", "question", "sentence")}
    texts = {name: text for name, text in texts.items() if text is not None}
    if args.file and texts:
        raise ValueError("Give either a file, or --passage and --question, or --sentence.")
    if texts and tuple(texts) not in TEXTS:
        raise ValueError(
            "--passage and --question go together, and --sentence alone: give both, or that one."
        )
    return texts


def check_strings(name, model, texts):
    """Refuses texts that a model does not read."""
    if tuple(texts) != model.STRINGS:
        options = " and ".join(f"--{string}" for string in model.STRINGS)
        raise ValueError(
            f"{name} reads {' and '.join(model.STRINGS)}, not {' and '.join(texts)}: give {options}"
            ", or the same in JSON."
        )


def predict(args):
    given, expected = given_texts(args), {}
    if args.file:
        examples = read_questions(args.file)
        texts = [{"passage": e.passage, "question": e.question} for e in examples]
        expected = {n: {"expected": example.answer} for n, example in enumerate(examples)}
    elif given:
        texts = [given]
    else:
        texts = [parse_line(n, line) for n, line in enumerate(sys.stdin, 1) if line.strip()]
    model = load_model(args.model)
    for row in texts:
        check_strings(args.model, model, row)
    readings = model.read(*([row[name] for row in texts] for name in model.STRINGS))
    for n, (row, reading) in enumerate(zip(texts, readings, strict=True)):
        asked = {name: text for name, text in row.items() if name != "passage"}
        line = {**asked, **describe(reading), **expected.get(n, {})}
        if reading.unknown_words:
            line["unknown_words"] = reading.unknown_words
        print(json.dumps(line, ensure_ascii=False))


def describe(reading):
    """A `zoo.Reading` or `zoo.Tagging` for JSON."""
    if isinstance(reading, zoo.Tagging):
        probabilities = [round(probability, 4) for probability in reading.probabilities]
        return {"words": reading.words, "tags": reading.tags, "probabilities": probabilities}
    ranked = zip(reading.answers, reading.probabilities, strict=True)
    return {
        "answer": reading.answer,
        "probability": round(reading.probability, 4),
        "answers": {answer: round(probability, 4) for answer, probability in ranked},
    }


def read_questions(path):
    """The `Example`s of a file: a `.question` of CNN or the Daily Mail, or one in bAbI's format."""
    if path.endswith(".question"):
        return [cnn.relabel(cnn.read_file(path))]
    return babi.read_file(path)


def parse_line(number, line):
    """The texts of a line of JSON, by name."""
    try:
        content = json.loads(line)
    except json.JSONDecodeError:
        content = None
    for names in TEXTS:
        texts = {n: content.get(n) for n in names} if isinstance(content, dict) else {}
        if texts and all(isinstance(text, str) for text in texts.values()):
            return texts
    raise ValueError(
        f"standard input, line {number}: give an object with passage and question, as "
        '{"passage": "Mary went to the kitchen.", "question": "Where is Mary?"}, or with sentence.'
    )


def export(args):
    zoo.export(load_model(args.model), args.folder)
    print(f"SavedModel: {args.folder}")


def show(args):
    print_lines("Models", {name: configuration(name).description for name in models()})
    cards = {name: describe_card(preset.read_preset(name)["card"]) for name in preset.presets()}
    print_lines("Presets", cards)
    if not cards:
        print("  none yet; `corefmem reproduce STUDY --presets` makes them")
    print_lines("Data sets", {name: dataset.line for name, dataset in data.DATASETS.items()})
    print_lines("Studies", {n: study.description for n, study in studies.STUDIES.items()})


def print_lines(heading, lines):
    """Prints names and what they are, in two columns below a heading."""
    print(heading)
    width = max(map(len, lines), default=0) + 2
    for name, line in lines.items():
        print(f"  {name:<{width}}{line}")


def describe_card(card):
    """What a preset was trained on, and how well it does."""
    dataset = data.DATASETS[card["dataset"]]
    task = f" task {card['task']}" if dataset.tasks else ""
    return (
        f"{card['dataset']}{task}, seed {card['seed']}: validation {card['valid_accuracy']:.1%}, "
        f"{dataset.reported} {card['test_accuracy']:.1%}"
    )


def download(args):
    folder = babi.download(args.cache_dir)
    print(f"bAbI: {folder}")
    if args.cache_dir:
        print(f"Read it with --data-dir {folder}")


def reproduce(args):
    from zoo.experiments.reproduce import check_data, plan
    from zoo.experiments.reproduce import reproduce as execute

    settings = parse_settings(args.set)
    if settings and not args.tag:
        raise ValueError("Settings of your own need a name: give --tag NAME with --set.")
    runs = plan(args.study, args.data_dir, args.models, args.tasks, args.seeds, settings, args.tag)
    check_data(args.study, runs[0].task, args.data_dir)
    failures = execute(
        runs, args.results, args.runs, args.jobs, lambda line: print(line, flush=True)
    )
    if args.presets is not None:
        make_presets(args, {(run.model, run.task) for run in runs})
    print(report.table(args.study, args.results))
    for run, error in failures:
        print(f"corefmem: {run.name} failed: {error!r}", file=sys.stderr)
    return 1 if failures else 0


def make_presets(args, wanted):
    """Makes a preset of the best run of every model and task."""
    from zoo.experiments.presets import make_preset

    groups = group_runs(results.read_results(args.study, args.results))
    for key in sorted(wanted & groups.keys()):
        name, card = make_preset(
            results.best_result(groups[key]),
            args.data_dir,
            args.runs,
            args.presets or preset.FOLDER,
        )
        print(f"preset {name}: test {card['test_accuracy']:.1%}", flush=True)


def show_report(args):
    named = args.compare or args.by
    if named and not args.study:
        raise ValueError("--compare and --by are about one study: name it, corefmem report STUDY.")
    if args.by and not args.plots:
        raise ValueError("--by is of pictures: give --plots DIR with it.")
    chosen = [args.study] if args.study else studies.STUDIES
    if args.plots:
        show_plots(args, chosen)
    if args.compare:
        print(significance.comparison(args.study, *args.compare, args.results))
    for path in map(pathlib.Path, args.write or ()):
        text = report.fill(path.read_text(encoding="utf-8"), args.results)
        with replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
        print(f"Tables written to {path}")
    if args.plots or args.compare or args.write:
        return
    wanted = [] if args.study else results.recorded_searches(args.results)
    if args.search:
        chosen, wanted = [], [args.search]
    for name in (*chosen, *(f"{results.SEARCHES}/{search}" for search in wanted)):
        print(f"## {name}\n\n{report.table_of(name, args.results)}\n")


def show_plots(args, chosen):
    """Draws studies that have runs, or a search."""
    from zoo.reports import plots

    if args.search:
        chosen, paths = [], plots.draw_search(args.search, args.plots, args.results)
    else:
        drawn = (plots.draw(study, args.plots, args.results, args.by) for study in chosen)
        paths = [path for found in drawn for path in found]
    if not paths:
        raise ValueError(
            f"{args.results} has no run of {', '.join(chosen)}: `corefmem reproduce` makes them."
        )
    for path in paths:
        print(path)
