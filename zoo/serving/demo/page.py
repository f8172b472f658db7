"""The page: questions to models, edited chains and edges, wrong answers, and coreference."""

import dataclasses
import functools
import html
import os
from collections.abc import Callable, Sequence
from typing import Any
from unittest import mock

from keras_corefmem.datasets import DATASETS, Example
from keras_corefmem.datasets.registry import find
from keras_corefmem.utils.extras import extra
from keras_corefmem.visualization.pages import note_of
from zoo.architectures.loading import open_model
from zoo.hub import describe_data, open_preset
from zoo.hub.presets import presets
from zoo.reading.answers import reads_annotations
from zoo.serving.demo import answers, links, stories
from zoo.serving.demo.layout import EXACT, WORDS, Layout

os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")

# Number of models kept in memory.
KEPT = 8
# The two models that a page of all models shows first.
FIRST, BESIDE = "ga_coref_gru_lambada", "ga_gru_lambada"


def make_page(
    handles: Sequence[str] = (), data_dir: str | None = None, annotators: Sequence[str] = ()
) -> Any:
    """Makes the page, a `gradio.Blocks` to `launch`.

    Args:
        handles: models to choose from, as `corefmem predict` takes them; by default, all presets
            that answer questions about passages.
        data_dir: folder of the data set that the models were trained on, whose test questions are
            searched for wrong answers; without one, stories are simulated.
        annotators: names or paths of spaCy pipelines, besides `"exact"`.

    Raises:
        ImportError: if Gradio is not installed.
        ValueError: if there is no such model.
    """
    # Gradio writes stubs of its components for editors when imported, unless `getfile` fails. That
    # takes longer than the rest of the import.
    with extra("demo", "The page needs Gradio"), mock.patch("inspect.getfile", side_effect=OSError):
        import gradio
    models = [(_label(handle), handle) for handle in handles or _bundled()]
    layout = Layout(gradio, models, [EXACT, *annotators], "" if handles else BESIDE)
    with layout.blocks:
        _Page(layout, data_dir).connect(layout)
    return layout.blocks


def _bundled() -> list[str]:
    """Returns the presets that answer questions about passages."""
    names = dict.fromkeys([FIRST, BESIDE, *presets()])
    cards = {name: describe_data(name) for name in names}
    return [name for name, card in cards.items() if DATASETS[card["dataset"]].reads == "questions"]


@functools.lru_cache(KEPT)
def _model(handle: str) -> Any:
    model = open_model(handle)
    if set(model.TEXTS) != {"passage", "question"}:
        raise ValueError(f"{handle} answers no questions about passages: choose another model.")
    return model


def _data_of(handle: str) -> Any:
    """Returns what a model was trained on, empty if its record or file is missing or broken."""
    try:
        card = describe_data(handle)
        if dataset := card.get("dataset"):
            find(dataset)
        return card
    except (OSError, ValueError):
        return {}


def _label(handle: str) -> str:
    card = {} if handle.endswith(".keras") else open_preset(handle).card
    if not {"dataset", "model", "test_accuracy"} <= card.keys():
        return handle
    known = DATASETS.get(card["dataset"])
    task = f" task {card['task']}" if known and known.tasks else ""
    part = known.reported if known else "test"
    model = " ".join(filter(None, (card["model"], card.get("variant"))))
    return f"{model} · {card['dataset']}{task} · {part} {card['test_accuracy']:.1%}"


class _Page:
    """The event handlers of a page."""

    def __init__(self, layout: Layout, data_dir: str | None) -> None:
        self.gr, self.layout, self.data_dir = layout.gr, layout, data_dir

    def _address(self) -> str:
        host = os.environ.get("SPACE_HOST")
        # A page that is part of another program does not know its own.
        local = self.layout.blocks.local_url or "http://127.0.0.1:7860/"
        return f"https://{host}" if host else local.rstrip("/")

    def connect(self, on: Layout) -> None:
        def choose_wrong_answer(
            wrong: list[stories.Wrong], handle: str, other: str, event: Any
        ) -> tuple:
            example = wrong[event.index[0]].example
            return example, *self.show_wrong_answer(example, handle, other)

        # Gradio passes the event because of this type.
        choose_wrong_answer.__annotations__["event"] = self.gr.SelectData
        ask, texts = self._told(self.ask), [on.passage, on.question]
        inputs = [on.model, on.other, *texts, on.annotator]
        results = [on.note, *on.shown[0], *on.shown[1], on.token, on.target, on.kind]
        results += [on.editor, on.python, on.curl]
        changed = [on.example, on.until, *results]
        hide: dict[str, Any] = {"api_visibility": "private", "concurrency_id": "models"}
        choose = self._told(self.choose_model)
        for event in (on.blocks.load, on.model.change):
            event(choose, on.model, [on.sample, *texts], **hide).then(ask, inputs, changed, **hide)
        choose = self._told(self.choose_sample)
        on.sample.input(choose, [on.model, on.sample], texts, **hide).then(
            ask, inputs, changed, **hide
        )
        for event in (on.button.click, on.question.submit, on.annotator.input):
            event(ask, inputs, changed, **hide)
        again = [on.example, on.model, on.other, on.until, on.annotator]
        # Both models are asked the same, with its edits.
        for event in (on.until.input, on.other.input):
            event(self._told(self.show), again, results, trigger_mode="always_last", **hide)
        for name, button in zip(("merge", "cut", "draw"), on.edits[:3], strict=True):
            chosen = [on.token, on.target, on.kind, *again]
            edit = self._told(functools.partial(self.edit, name))
            button.click(edit, chosen, [on.example, *results], **hide)
        on.edits[3].click(self._told(self.reset), [on.chosen, *inputs], changed, **hide)
        listed = [on.wrong, on.table, on.summary]
        on.look.click(self._told(self.look_for_wrong_answers), on.model, listed, **hide)
        # They are those of the model before.
        on.model.change(lambda: ([], [], ""), None, listed, api_visibility="private")
        on.table.select(
            self._told(choose_wrong_answer),
            [on.wrong, on.model, on.other],
            [on.chosen, *texts, on.annotator, on.tabs, *changed],
            **hide,
        )
        on.resolve.click(
            self._told(resolve), [on.text, on.resolver], on.resolved, api_visibility="private"
        )
        self.gr.api(self._told(self.read), api_name="read", concurrency_id="models")

    def _told(self, function: Callable) -> Callable:
        """Wraps a function so that the page shows the messages of its errors."""

        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except (ValueError, OSError, ImportError) as error:
                raise self.gr.Error(str(error), print_exception=False) from None

        return call

    def choose_model(self, handle: str) -> tuple:
        samples = stories.samples(_data_of(handle))
        choices = [(f"{each.question} ({each.answer})", n) for n, each in enumerate(samples)]
        return self.gr.update(choices=choices, value=0), *_texts(samples[0])

    def choose_sample(self, handle: str, number: int) -> tuple:
        return _texts(stories.samples(_data_of(handle))[number])

    def ask(self, handle: str, other: str, passage: str, question: str, annotator: str) -> tuple:
        model = _model(handle)
        example = links.as_example(model, passage, question, _annotator(model, annotator))
        return self.show_whole(example, handle, other, annotator)

    def reset(
        self,
        chosen: Example | None,
        handle: str,
        other: str,
        passage: str,
        question: str,
        annotator: str,
    ) -> tuple:
        """Undoes the edits of a question: the wrong answer that was chosen, or the texts."""
        if chosen is not None and (*_texts(chosen), WORDS) == (passage, question, annotator):
            return self.show_whole(chosen, handle, other, annotator)
        return self.ask(handle, other, passage, question, annotator)

    def show_wrong_answer(self, example: Example, handle: str, other: str) -> tuple:
        """Shows a question as it was answered, with its own chains, edges and candidates."""
        tab = self.gr.Tabs(selected="ask")
        return *_texts(example), WORDS, tab, *self.show_whole(example, handle, other, WORDS)

    def show_whole(self, example: Example, handle: str, other: str, annotator: str) -> tuple:
        count = len(example.sentences)
        slider = self.gr.update(maximum=max(count, 2), value=count, interactive=count > 1)
        return example, slider, *self.show(example, handle, other, count, annotator)

    def show(
        self, example: Example | None, handle: str, other: str, until: int, annotator: str
    ) -> list:
        example = _known(example)
        gr, model, read = self.gr, _model(handle), example
        if until < len(example.sentences):
            read = example.beginning(int(until), model.preprocessor.tokenizer)
        shown: list[Any] = []
        unknown: tuple[str, ...] = ()
        notes: list[str] = []
        for each in (handle, other):
            if each:
                beside = links.as_read_beside(model, _model(each), read)
                if beside is not read:
                    notes.append(f"{each} cuts the text to other tokens, and reads it unchanged.")
                answer = answers.answer(_model(each), beside)
                shown += [gr.update(visible=True), answer.html]
                unknown += answer.unknown_words
            else:
                shown += [gr.update(visible=False), ""]
        tokens = [(label, n) for n, label in enumerate(links.labelled_tokens(model, example), 1)]
        kinds = list(links.edge_types_of(model))
        chosen = _annotator(model, annotator)
        if chosen and (read.chains or read.edges or read is not example):
            # Annotating the edited question again would discard the edits.
            chosen, read = None, links.as_read(model, read)
        python = answers.as_python(handle, read, chosen)
        editor = [gr.update(choices=tokens)] * 2
        editor += [gr.update(choices=kinds, value=kinds[0] if kinds else None)]
        curl = answers.as_curl(self._address(), handle, read, chosen)
        if len(read.sentences) > answers.BEGINNINGS:
            notes.append(
                f"Of more than {answers.BEGINNINGS} sentences there is no answer after each."
            )
        if _is_chosen(annotator) and not model.preprocessor.local:
            notes.append("This model reads no annotations: no annotator was asked.")
        note = html.escape(" ".join(filter(None, [*notes, note_of(unknown)])), quote=False)
        return [note, *shown, *editor, gr.update(visible=bool(kinds)), python, curl]

    def edit(
        self,
        name: str,
        token: int | None,
        target: int | None,
        kind: str,
        example: Example | None,
        handle: str,
        *shown: Any,
    ) -> tuple:
        example = _known(example)
        edited = self._edited(name, token, target, kind, example, _model(handle))
        return edited, *self.show(edited, handle, *shown)

    @staticmethod
    def _edited(
        name: str, token: int | None, target: int | None, kind: str, example: Example, model: Any
    ) -> Example:
        if token is None:
            raise ValueError("Choose a token.")
        if name == "cut":
            return links.cut_chain(model, example, token)
        if target is None or target == token:
            raise ValueError("Choose another token to join it to.")
        if name == "merge":
            return links.merge_chains(model, example, token, target)
        return links.draw_edge(example, token, target, kind)

    def look_for_wrong_answers(self, handle: str) -> tuple:
        card = _data_of(handle)
        examples, kind = stories.questions(card, self.data_dir or card.get("data_dir"))
        if not examples:
            return [], [], stories.how_to_get_questions(card)
        model = _model(handle)
        wrong = stories.wrong_answers(model, examples)
        rows = [
            [each.example.question, each.example.answer, each.answer, f"{each.probability:.0%}"]
            for each in wrong
        ]
        said = f"{len(rows)} of {len(examples)} {kind} questions are answered wrongly."
        if kind == "bundled":
            said += f" {stories.how_to_get_questions(card)}"
        if reads_annotations(model) and not all(hasattr(each, "chain_ids") for each in examples):
            said += " They are read without the annotations that the model was trained on."
        return wrong, rows, said

    def read(
        self, handle: str, passage: str, question: str, chains: list, edges: list, annotator: str
    ) -> dict[str, float]:
        """Returns the best answers and their probabilities, also with other chains and edges."""
        # API calls are not limited to the choices on the page.
        models = [name for _, name in self.layout.models]
        for chosen, known in ((handle, models), (annotator or WORDS, self.layout.annotators)):
            if chosen not in known:
                raise ValueError(f"This page has no {chosen!r}: choose of {', '.join(known)}.")
        for name, text in (("passage", passage), ("question", question)):
            if not isinstance(text, str):
                raise ValueError(f"{name} must be a string, got {text!r:.80}.")
        model = _model(handle)
        if _is_chosen(annotator) and not model.preprocessor.local:
            raise ValueError(f"{handle} reads no annotations, leave the annotator out.")
        example = links.as_example(model, passage, question, _annotator(model, annotator))
        changes = {"chains": chains, "edges": edges}
        changed = {name: value for name, value in changes.items() if value}
        example = dataclasses.replace(example, **changed)
        links.check_links(model, handle, example)
        return answers.answer(model, example).odds


def _known(example: Example | None) -> Example:
    """Returns the question that is shown, unless none could be read yet."""
    if example is None:
        raise ValueError("Ask a question first.")
    return example


def _texts(example: Example) -> tuple[str, str]:
    """Returns passage and question as the page shows them."""
    return "\n".join(example.sentences), example.question


def _annotator(model: Any, chosen: str | None) -> str | None:
    """Returns the annotator to use, `None` if none is chosen or the model reads no annotations."""
    return chosen if _is_chosen(chosen) and model.preprocessor.local else None


def _is_chosen(annotator: str | None) -> bool:
    return annotator not in (WORDS, "", None)


def resolve(text: str, annotator: str) -> str:
    """Returns the chains of a text as HTML."""
    from keras_corefmem.graphs import annotate
    from keras_corefmem.visualization import chains_to_html

    (annotation,) = annotate([text], annotator)
    return chains_to_html(annotation)
