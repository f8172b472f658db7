"""The page of `corefmem demo` as a Space of Hugging Face, where Gradio runs this file."""

from zoo.serving.demo.page import make_page

make_page().launch()
