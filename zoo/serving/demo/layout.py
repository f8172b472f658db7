"""Layout of the page."""

from collections.abc import Sequence
from typing import Any

from keras_corefmem.datasets.stories import simulator
from keras_corefmem.visualization.pages import STYLE

TITLE = "Reading with linguistic structure as memory"
ABOUT = "Choose a model, ask it about a story, and change the chains and edges that it follows."
NOBODY, WORDS, EXACT = "(no other model)", "(words alone)", "exact"


class Layout:
    """The components of a page.

    Args:
        gradio: the module, which is imported only when a page is made.
        models: pairs of a label and the name of a model.
        annotators: names of annotators.
        beside: name of the second model at the start, `""` for none.
    """

    def __init__(
        self,
        gradio: Any,
        models: Sequence[tuple[str, str]],
        annotators: Sequence[str],
        beside: str = "",
    ) -> None:
        self.gr, self.annotators, self.models = gradio, [WORDS, *annotators], models
        self.beside = beside
        with gradio.Blocks(title=TITLE, analytics_enabled=False, fill_width=True) as self.blocks:
            self._lay_out()

    def _lay_out(self) -> None:
        gr = self.gr
        gr.HTML(f"<style>{STYLE}</style><h1>{TITLE}</h1><p>{ABOUT}</p>")
        # The question that is shown, and the one as chosen of the wrong answers.
        self.example, self.chosen, self.wrong = gr.State(None), gr.State(None), gr.State([])
        with gr.Row():
            first = self.models[0][1]
            self.model = gr.Dropdown(
                self.models, value=first, label="Model", elem_id="model", scale=2
            )
            self.other = gr.Dropdown(
                [(NOBODY, ""), *self.models], value=self.beside, label="Beside it", elem_id="other"
            )
        with gr.Tabs() as self.tabs:
            with gr.Tab("Ask", id="ask"):
                self._lay_out_question()
            with gr.Tab("Wrong answers", id="wrong"):
                self._lay_out_wrong_answers()
            with gr.Tab("Coreference", id="coreference"):
                self._lay_out_coreference()

    def _lay_out_question(self) -> None:
        gr = self.gr
        with gr.Row():
            with gr.Column(scale=2):
                self.sample = gr.Dropdown([], label="A question that fits", elem_id="sample")
                self.passage = gr.Textbox(label="Story", lines=5, elem_id="passage")
                self.question = gr.Textbox(label="Question", elem_id="question")
                self.annotator = gr.Dropdown(
                    self.annotators,
                    value=WORDS,
                    label="Annotator, for readers of annotated text",
                    elem_id="annotator",
                )
                self.button = gr.Button("Answer", variant="primary", elem_id="ask")
                self._lay_out_editor()
            with gr.Column(scale=5):
                self.until = gr.Slider(
                    1, 2, value=2, step=1, label="Answer after sentence", elem_id="until"
                )
                self.note = gr.HTML(elem_id="note")
                with gr.Row():
                    self.shown = [self._lay_out_answer(name) for name in ("answer", "beside")]
                with gr.Accordion("Copy", open=False, elem_id="copy"):
                    self.python = gr.Code(label="Python", language="python", elem_id="python")
                    self.curl = gr.Code(label="curl", language="shell", elem_id="curl")

    def _lay_out_editor(self) -> None:
        gr = self.gr
        with gr.Group() as self.editor:
            self.token = gr.Dropdown([], label="Token", elem_id="token")
            self.target = gr.Dropdown([], label="Another token", elem_id="target")
            self.kind = gr.Dropdown([], label="Type of an edge", elem_id="kind")
            with gr.Row():
                names = {"merge": "Merge chains", "cut": "Cut out", "draw": "Draw edge"}
                names["reset"] = "As it was"
                self.edits = [
                    gr.Button(name, elem_id=each, size="sm", min_width=80)
                    for each, name in names.items()
                ]

    def _lay_out_answer(self, name: str) -> tuple[Any, Any]:
        with self.gr.Column(visible=name == "answer", elem_id=name) as column:
            html = self.gr.HTML(elem_id=f"{name}-view")
        return column, html

    def _lay_out_wrong_answers(self) -> None:
        tasks = ", ".join(map(str, simulator.TASKS))
        self.gr.Markdown(
            "Questions of what a model was trained on are put to it: the test questions in the "
            f"folder of `--data-dir`, without one simulated questions of bAbI tasks {tasks}."
        )
        self.look = self.gr.Button("Look for questions that the model gets wrong", elem_id="look")
        self.summary = self.gr.Markdown(elem_id="summary")
        self.table = self.gr.Dataframe(
            headers=["question", "right", "answer", "probability"],
            interactive=False,
            elem_id="table",
        )

    def _lay_out_coreference(self) -> None:
        gr = self.gr
        self.text = gr.Textbox(
            "Then Mary met Sandra. After that Mary told Sandra a story.",
            label="Text",
            lines=4,
            elem_id="text",
        )
        self.resolver = gr.Dropdown(self.annotators[1:], value=EXACT, label="Annotator")
        self.resolve = gr.Button("Find the chains", variant="primary", elem_id="resolve")
        self.resolved = gr.HTML(elem_id="chains")
