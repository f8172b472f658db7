"""`corefmem score`: how well coreference is resolved, on LitBank and GAP."""

import pathlib
import platform
import shlex
import time

from rich.table import Table

import keras_corefmem
from keras_corefmem.datasets import gap
from keras_corefmem.graphs.annotators import has_coreference, load_pipeline
from keras_corefmem.graphs.coreference import Resolver
from keras_corefmem.graphs.coreference.scores import score_chains
from keras_corefmem.graphs.formats.conll import read_conll
from keras_corefmem.graphs.formats.spacy_docs import chains_of, from_doc
from keras_corefmem.utils.files import write_json
from keras_corefmem.visualization import make_console
from zoo.experiments.outcome import versions

PACKAGES = ("spacy", "scipy")
LITBANK = "https://github.com/dbamman/litbank"
# LitBank annotates people, places, vehicles and organizations, and nothing else.
LITBANK_KINDS = ("person", "name", "place")
NAMES = {"mentions": "mentions", "muc": "MUC", "b3": "B3", "ceafe": "CEAFe"}


def score(args):
    nlp = load_pipeline(args.annotator)
    run = {"litbank": score_litbank, "gap": score_gap}[args.dataset]
    name, content = run(args, nlp, make_console())
    pipeline = f"{nlp.meta['lang']}_{nlp.meta['name']}"
    path = pathlib.Path(args.results) / "coreference" / f"{name}-{pipeline}.json"
    tokens, seconds = content["tokens"], content["seconds"]
    rates = ", ".join(f"{tokens / max(s, 1e-9):,.0f} in {name}" for name, s in seconds.items())
    console = make_console()
    console.print(f"{tokens:,} tokens; tokens a second: {rates}")
    options = {"--mentions": args.mentions} if args.dataset == "litbank" else {"--part": args.part}
    content |= {
        "dataset": args.dataset,
        "command": shlex.join(
            ["corefmem", "score", args.dataset, "--data-dir", "DIR", "--annotator", pipeline]
            + [part for option in options.items() for part in option]
        ),
        "pipeline": {"name": pipeline, "version": nlp.meta["version"]},
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "package": keras_corefmem.__version__,
        "versions": versions(PACKAGES),
        "python": platform.python_version(),
    }
    write_json(path, content)
    console.print(f"Written: {path}")


def score_litbank(args, nlp, console):
    """Scores of the `.conll` files of a folder, or of its folder `conll`."""
    folder = pathlib.Path(args.data_dir)
    paths = sorted(folder.glob("*.conll")) or sorted(folder.glob("conll/*.conll"))
    if not paths:
        raise FileNotFoundError(
            f"No .conll files in {folder}; get coref/conll of {LITBANK} and pass that folder."
        )
    if args.mentions == "gold" and has_coreference(nlp):
        raise ValueError(
            f"--mentions gold: {args.annotator} finds mentions of its own; leave the option out, "
            "or give a pipeline without coreference."
        )
    resolver = Resolver(singletons=True, kinds=LITBANK_KINDS)
    documents = [annotation for path in paths for _, annotation in read_conll(path)]
    pairs, seconds = [], {"pipeline": 0.0, "resolver": 0.0}
    docs = nlp.pipe(make_doc(nlp, document) for document in documents)
    for document in documents:
        key = [[mention[:2] for mention in chain] for chain in document.chains]
        begun = time.perf_counter()
        doc = next(docs)
        parsed = time.perf_counter()
        if has_coreference(nlp):
            response = [[mention[:2] for mention in chain] for chain in chains_of(doc)]
        else:
            spans = sorted({m for chain in key for m in chain}) if args.mentions == "gold" else None
            found = resolver.chains(doc, spans)
            response = [[(phrase.start, phrase.end) for phrase in chain] for chain in found]
        seconds["pipeline"] += parsed - begun
        seconds["resolver"] += time.perf_counter() - parsed
        pairs.append((key, response))
    scores = {
        "all": score_chains(pairs),
        "without_singletons": score_chains(pairs, singletons=False),
    }
    for title, found in scores.items():
        _print(console, f"LitBank, {args.mentions} mentions, {title.replace('_', ' ')}", found)
        console.print(f"CoNLL F1: {100 * found['conll']:.2f}")
    content = {
        "mentions": args.mentions,
        "documents": len(documents),
        "tokens": sum(map(len, documents)),
        "seconds": seconds,
        "scores": {title: _numbers(found) for title, found in scores.items()},
    }
    return f"litbank-{args.mentions}", content


def make_doc(nlp, annotation):
    """A Doc of the tokens and sentences of an annotation."""
    from spacy.tokens import Doc

    begins = set(annotation.sentences)
    starts = [token in begins for token in range(len(annotation))]
    return Doc(nlp.vocab, words=list(annotation.tokens), sent_starts=starts)


def score_gap(args, nlp, console):
    """Scores of a part of GAP."""
    path = pathlib.Path(args.data_dir) / f"gap-{args.part}.tsv"
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file, get it from {gap.ORIGIN}.")
    examples = gap.read_gap(path)
    resolver, answers, tokens = Resolver(), [], 0
    seconds = {"pipeline": 0.0, "resolver": 0.0}
    docs = nlp.pipe(example.text for example in examples)
    for example in examples:
        begun = time.perf_counter()
        doc = next(docs)
        parsed = time.perf_counter()
        if not has_coreference(nlp):
            doc = resolver(doc)
        seconds["pipeline"] += parsed - begun
        seconds["resolver"] += time.perf_counter() - parsed
        tokens += len(doc)
        answers.append(gap.answer(example, from_doc(doc)))
    scores = gap.score(examples, answers)
    bias = scores.pop("bias")
    _print(console, f"GAP {args.part}", scores)
    console.print(f"Bias (F/M): {'-' if bias is None else f'{bias:.2f}'}")
    content = {
        "part": args.part,
        "pronouns": len(examples),
        "tokens": tokens,
        "seconds": seconds,
        "scores": _numbers(scores) | {"bias": bias},
    }
    return f"gap-{args.part}", content


def _print(console, title, scores):
    console.print(title, style="bold")
    table = Table(box=None, pad_edge=False)
    for name in ("", "P", "R", "F1"):
        table.add_column(name, justify="right" if name else "left")
    for name, found in scores.items():
        if name != "conll":
            values = (found.precision, found.recall, found.f1)
            table.add_row(NAMES.get(name, name), *(f"{100 * value:.2f}" for value in values))
    console.print(table)


def _numbers(scores):
    """Scores as what JSON can hold."""
    return {
        name: found
        if name == "conll"
        else {"precision": found.precision, "recall": found.recall, "f1": found.f1}
        for name, found in scores.items()
    }
