"""`corefmem explain`: where a model looks when it answers one question."""

import pathlib
import re

from keras_corefmem.datasets import Example
from keras_corefmem.datasets.annotated import AnnotatedExample, to_text
from keras_corefmem.datasets.sentences.sentence import Sentence
from keras_corefmem.graphs import annotate
from keras_corefmem.preprocessing.preprocessor import UNKNOWN_ANSWER
from keras_corefmem.utils.files import replacing
from keras_corefmem.visualization import draw, make_console, print_view, views
from keras_corefmem.visualization.terminal import print_heading
from zoo.architectures.sentences.sentence_model import SentenceModel
from zoo.architectures.stories.story_model import StoryModel
from zoo.cli.commands import check_strings, given_texts, load_model, read_questions
from zoo.reading import preprocessor_of, warn_of_unknown_words


def explain(args):
    if args.output and pathlib.Path(args.output).suffix != ".png":
        raise ValueError(
            f"--output {args.output}: the picture is a PNG file, end its name in .png."
        )
    texts = given_texts(args)
    example = None if "sentence" in texts else choose(args, texts)
    model = load_model(args.model)
    check_strings(args.model, model, texts or dict.fromkeys(("passage", "question")))
    preprocessor, console = preprocessor_of(model), make_console()
    if example is None:
        example = make_sentence(texts["sentence"], preprocessor)
    else:
        if args.annotator:
            example = annotate_question(example, args.annotator, preprocessor)
        warn_of_unknown_words(preprocessor, [(example.passage, example.question)])
    if args.output and not model.has_attention:
        raise ValueError(f"{args.model} has no attention to draw: leave --output out.")
    arguments = [example], preprocessor, model.inspect
    if isinstance(model, SentenceModel):
        (view,) = views.word_views(*arguments)
    elif not model.has_attention:
        logits = views.inspect_examples(*arguments).logits[0]
        verdict = views.heading(example, logits, preprocessor)
        print_heading(console, example.question, verdict)
        console.print("This model attends to nothing in particular: there is no more to show.")
        return
    elif isinstance(model, StoryModel):
        (view,) = views.sentence_views(*arguments, model.columns())
    else:
        (view,) = views.token_views(*arguments)
    print_view(console, view)
    if args.output:
        write_picture(console, args.output, draw(view))
    if getattr(model, "signals", ()):
        (view,) = views.head_views([example], preprocessor, model.look)
        print_view(console, view)
        if args.output:
            path = pathlib.Path(args.output)
            write_picture(console, path.with_stem(f"{path.stem}-heads"), draw(view))


def write_picture(console, path, png):
    with replacing(path) as partial:
        partial.write_bytes(png)
    console.print(f"Picture: {path}")


def annotate_question(example, annotator, preprocessor):
    """A question as an `AnnotatedExample`; sentences are new ones, so that no facts support it.

    Args:
        example: the `Example`.
        annotator: path or name of a spaCy pipeline, or `exact`.
        preprocessor: the reader's preprocessor.

    Raises:
        ValueError: if the reader reads no annotation, or there is no such pipeline.
    """
    if not preprocessor.local:
        raise ValueError("--annotator is for readers of annotated passages, leave it out.")
    text, fields = to_text(example)
    (annotation,) = annotate([text], annotator)
    return AnnotatedExample.from_record(annotation, fields)


def make_sentence(text, preprocessor):
    """A `Sentence` whose answer is unknown; warns of its unknown words."""
    warn_of_unknown_words(preprocessor, [(text,)], stacklevel=3)
    words = preprocessor.tokenizer(text)
    answer = (UNKNOWN_ANSWER,) * len(words) if preprocessor.tags else UNKNOWN_ANSWER
    return Sentence(tuple(words), answer)


def choose(args, texts):
    """The `Example` that the arguments ask about."""
    if not texts and not args.file:
        raise ValueError("Give --passage and --question, --sentence, or a file of questions.")
    if texts:
        if args.number is not None:
            raise ValueError("--number chooses a question of a file: give a file, or leave it out.")
        return Example(split_sentences(texts["passage"]), texts["question"], UNKNOWN_ANSWER)
    examples, number = read_questions(args.file), 1 if args.number is None else args.number
    if not 1 <= number <= len(examples):
        raise ValueError(
            f"--number {number}: {args.file} has {len(examples)} questions, choose one of "
            f"1..{len(examples)}."
        )
    return examples[number - 1]


def split_sentences(text):
    """Cuts a text where `.`, `?` or `!` is followed by a space."""
    return tuple(filter(None, re.split(r"(?<=[.?!])\s+", text.strip())))
