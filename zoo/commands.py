"""What the commands do; `zoo.cli` reads their arguments."""

import json
import pathlib
import sys

import zoo
from keras_corefmem.datasets import babi, cnn
from keras_corefmem.files import replacing
from zoo import configurations, data, preset, report, studies

SETTING_HELP = "write it as --set NAME=JSON, such as --set units=32 or --set head='\"auto\"'."


def parse_settings(assignments):
    """Fields of `zoo.training.Settings` from `NAME=JSON`; other names are the model's arguments."""
    import dataclasses

    from zoo.training import Settings

    fields = {field.name for field in dataclasses.fields(Settings)} - {"model", "seed"}
    settings, arguments = {}, {}
    for assignment in assignments:
        name, _, value = assignment.partition("=")
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            raise ValueError(f"--set {assignment}: the value is no JSON; {SETTING_HELP}") from None
        if name == "arguments":
            if not isinstance(value, dict):
                raise ValueError(
                    f"--set {assignment}: give an object, or --set NAME=JSON for each."
                )
            arguments.update(value)
        elif name in fields:
            settings[name] = value
        else:
            arguments[name] = value
    return {**settings, "arguments": arguments} if arguments else settings


def load_model(name):
    """A reader from the path of a `.keras` file or the name of a preset."""
    if name.endswith(".keras"):
        if not pathlib.Path(name).is_file():
            raise FileNotFoundError(f"There is no file {name}; `corefmem train` makes one.")
        return zoo.load(name)
    return preset.from_preset(name)


def describe_data(name):
    """What a model was trained on: from the preset's card, or the record beside the file."""
    if not name.endswith(".keras"):
        return preset.read_preset(name)["card"]
    record = pathlib.Path(name).with_name("run.json")
    return json.loads(record.read_text()) if record.exists() else {}


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
    folder = args.data_dir or known.get("data_dir")
    language = args.language or known.get("language")
    examples = getattr(data.load(dataset, task, folder, language), args.part)
    result = training.evaluate(model, training.make_batches(model, examples))
    count = result["count"]
    print(
        f"{dataset} task {task}, {args.part}: accuracy {result['accuracy']:.2%}, "
        f"{count - len(result['wrong'])} of {count} questions"
    )


def check_texts(args):
    """Whether a passage and a question are given; never one alone, nor beside a file."""
    given = [text is not None for text in (args.passage, args.question)]
    if args.file and any(given):
        raise ValueError("Give either a file, or --passage and --question.")
    if any(given) != all(given):
        raise ValueError("--passage and --question go together: give both, or neither.")
    return all(given)


def predict(args):
    given = check_texts(args)
    if args.file:
        examples = read_questions(args.file)
        texts = [(e.passage, e.question, {"expected": e.answer}) for e in examples]
    elif given:
        texts = [(args.passage, args.question, {})]
    else:
        texts = [parse_line(n, line) for n, line in enumerate(sys.stdin, 1) if line.strip()]
    model = load_model(args.model)
    if model.STRINGS != ("passage", "question"):
        raise ValueError(
            f"{args.model} reads {' and '.join(model.STRINGS)}, not a passage and a question: in "
            "Python, zoo.load(FILE).read(TEXT) does."
        )
    passages, questions, extras = zip(*texts, strict=True) if texts else ((), (), ())
    readings = model.read(list(passages), list(questions))
    for question, reading, extra in zip(questions, readings, extras, strict=True):
        ranked = zip(reading.answers, reading.probabilities, strict=True)
        line = {
            "question": question,
            "answer": reading.answer,
            **extra,
            "probability": round(reading.probability, 4),
            "answers": {answer: round(probability, 4) for answer, probability in ranked},
        }
        if reading.unknown_words:
            line["unknown_words"] = reading.unknown_words
        print(json.dumps(line, ensure_ascii=False))


def read_questions(path):
    """The `Example`s of a file: a `.question` of CNN or the Daily Mail, or one in bAbI's format."""
    if path.endswith(".question"):
        return [cnn.relabel(cnn.read_file(path))]
    return babi.read_file(path)


def parse_line(number, line):
    """Passage and question of a line of JSON."""
    try:
        content = json.loads(line)
        texts = content["passage"], content["question"]
    except (json.JSONDecodeError, KeyError, TypeError):
        texts = (None,)
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(
            f"standard input, line {number}: give an object with passage and question, as "
            '{"passage": "Mary went to the kitchen.", "question": "Where is Mary?"}.'
        )
    return *texts, {}


def export(args):
    zoo.export(load_model(args.model), args.folder)
    print(f"SavedModel: {args.folder}")


def show(args):
    print("Models")
    for name in configurations.models():
        print(f"  {name:<20}{configurations.describe(name)}")
    print("Presets")
    for name in preset.presets():
        card = preset.read_preset(name)["card"]
        print(
            f"  {name:<32}{card['dataset']} task {card['task']}, seed {card['seed']}: "
            f"validation {card['valid_accuracy']:.1%}, test {card['test_accuracy']:.1%}"
        )
    if not preset.presets():
        print("  none yet; `corefmem reproduce STUDY --presets` makes them")
    print("Data sets")
    for name, text in {**data.DATASETS, **data.SENTENCES}.items():
        print(f"  {name:<20}{text}")
    print("Studies")
    for name, study in studies.STUDIES.items():
        print(f"  {name:<20}{study['description']}")


def download(args):
    folder = babi.download(args.cache_dir)
    print(f"bAbI: {folder}")
    if args.cache_dir:
        print(f"Read it with --data-dir {folder}")


def reproduce(args):
    from zoo.reproduce import plan
    from zoo.reproduce import reproduce as execute

    settings = parse_settings(args.set)
    if settings and not args.tag:
        raise ValueError("Settings of your own need a name: give --tag NAME with --set.")
    runs = plan(args.study, args.data_dir, args.models, args.tasks, args.seeds, settings, args.tag)
    study = studies.STUDIES[args.study]
    task = study["tasks"][runs[0].task].data
    data.load(study["dataset"], task, args.data_dir, study.get("language"))
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
    groups = report.group(report.read_results(args.study, args.results))
    for key in sorted(wanted & groups.keys()):
        name, card = preset.make_preset(
            report.best(groups[key]), args.data_dir, args.runs, args.presets or preset.FOLDER
        )
        print(f"preset {name}: test {card['test_accuracy']:.1%}", flush=True)


def show_report(args):
    if args.write:
        path = pathlib.Path(args.write)
        text = report.fill(path.read_text(encoding="utf-8"), args.results)
        with replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
        print(f"Tables written to {path}")
        return
    for study in [args.study] if args.study else studies.STUDIES:
        print(f"## {study}\n\n{report.table(study, args.results)}\n")
