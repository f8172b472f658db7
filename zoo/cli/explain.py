"""`corefmem explain`: shows the attention of a model that answers one question."""

import pathlib
from typing import Any

from zoo.cli.options import (
    ANNOTATOR,
    MODEL_FILE,
    PASSAGE,
    QUESTION,
    QUESTIONS_FILE,
    SENTENCE,
    TRUECASER,
    option,
)


def explain(
    model: MODEL_FILE,
    file: QUESTIONS_FILE = None,
    passage: PASSAGE = None,
    question: QUESTION = None,
    sentence: SENTENCE = None,
    number: int | None = option("N", "question of the file, 1 by default", default=None),
    by_sentence: bool = option(
        None,
        "the answer after each sentence too: from each beginning read anew, and from one reading",
        "--by-sentence",
        default=False,
    ),
    output: str | None = option(
        "FILE",
        "write the picture of TensorBoard, FILE.png, or what the demo shows, FILE.html, too",
        default=None,
    ),
    annotator: ANNOTATOR = None,
    truecaser: TRUECASER = None,
) -> None:
    """Show where a reader looks to answer a question."""
    from zoo.cli.inputs import check_strings, check_truecaser, choose_texts, load_model

    path = pathlib.Path(output) if output else None
    if path and path.suffix not in (".png", ".html"):
        raise ValueError(
            f"--output {output}: the picture is a PNG file, the page one of HTML: end its name in "
            ".png or .html."
        )
    texts = choose_texts(file, passage=passage, question=question, sentence=sentence)
    if "sentence" in texts:
        refuse_options(
            number=number, annotator=annotator, truecaser=truecaser, by_sentence=by_sentence
        )
    check_truecaser(annotator, truecaser)
    example = None if "sentence" in texts else choose(file, number, texts)
    reader = load_model(model)
    from keras_corefmem.utils.files import replacing
    from keras_corefmem.visualization import make_console, print_view, views, views_to_html
    from keras_corefmem.visualization.terminal import print_heading
    from zoo.reading import (
        annotate_for,
        preprocessor_of,
        warn_of_missing_structure,
        warn_of_unknown_words,
    )
    from zoo.serving.demo.answers import answer

    check_strings(model, reader, texts or dict.fromkeys(("passage", "question")))
    preprocessor, console = preprocessor_of(reader), make_console()
    if example is None:
        example = make_sentence(texts["sentence"], preprocessor)
    else:
        if annotator:
            (example,) = annotate_for(preprocessor, [example], annotator, truecaser)
        else:
            warn_of_missing_structure(reader)
        warn_of_unknown_words(preprocessor, [(example.passage, example.question)])
    if path and path.suffix == ".png" and not reader.has_attention:
        raise ValueError(f"{model} has no attention to draw: write a page, --output FILE.html.")
    (shown,) = reader.views([example])
    if not shown:
        logits = views.inspect_examples([example], preprocessor, reader.inspect).logits[0]
        verdict = views.heading(example, logits, preprocessor)
        print_heading(console, example.question, verdict)
        console.print("This model attends to nothing in particular: there is no more to show.")
    # A reader with supervised heads has a second view.
    named = dict(zip(("", "-heads"), shown, strict=False))
    after = reader.answer_views([example])[0] if by_sentence else None
    named |= {f"-{name}": view for name, view in (after or {}).items()}
    for view in named.values():
        print_view(console, view)
    if path and path.suffix == ".html":
        odds: dict[str, float] | None = None
        unknown: tuple[str, ...] = ()
        if "sentence" not in texts:
            # Like the page of the demo, with the answer after each sentence.
            odds, unknown, shown = answer(reader, example, shown, after)
        with replacing(path) as partial:
            partial.write_text(views_to_html(shown, model, odds, unknown), encoding="utf-8")
        console.print(f"Page: {path}")
    elif path:
        write_pictures(path, named, console)


def write_pictures(path: pathlib.Path, named: dict[str, Any], console: Any) -> None:
    """Writes each view as a picture, with the name of the view appended to that of the file."""
    from keras_corefmem.utils.files import replacing
    from keras_corefmem.visualization import draw

    for end, view in named.items():
        picture = path.with_stem(f"{path.stem}{end}")
        with replacing(picture) as partial:
            partial.write_bytes(draw(view))
        console.print(f"Picture: {picture}")


def make_sentence(text: str, preprocessor: Any) -> Any:
    """Makes a `Sentence` without an answer, and warns of its unknown words."""
    from keras_corefmem.datasets.example import UNKNOWN_ANSWER
    from keras_corefmem.datasets.sentences.sentence import Sentence
    from zoo.reading import warn_of_unknown_words

    warn_of_unknown_words(preprocessor, [(text,)], stacklevel=3)
    words = preprocessor.tokenizer(text)
    answer = (UNKNOWN_ANSWER,) * len(words) if preprocessor.tags else UNKNOWN_ANSWER
    return Sentence(tuple(words), answer)


def refuse_options(**options: Any) -> None:
    """Raises `ValueError` for options that do not apply to single sentences."""
    for name, value in options.items():
        if value is not None and value is not False:
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for passages with a question: leave it out.")


def choose(file: str | None, number: int | None, texts: dict[str, str]) -> Any:
    from keras_corefmem.datasets import Example
    from zoo.cli.inputs import read_questions

    if texts:
        if number is not None:
            raise ValueError("--number chooses a question of a file: give a file, or leave it out.")
        return Example.from_text(texts["passage"], texts["question"])
    if file is None:
        raise ValueError("Give --passage and --question, --sentence, or a file of questions.")
    examples, number = read_questions(file), 1 if number is None else number
    n = len(examples)
    if not 1 <= number <= n:
        raise ValueError(f"--number {number}: {file} has {n} questions, choose one of 1..{n}.")
    return examples[number - 1]
