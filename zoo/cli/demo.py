"""`corefmem demo`."""

from zoo.cli.options import DATA_DIR, argument, option


def demo(
    presets: list[str] | None = argument(
        "[PRESET ...]", "models to choose from, all bundled presets by default", default=None
    ),
    annotator: list[str] | None = option(
        "PIPELINE ...", "spaCy pipelines, names or paths, to choose from", default=None
    ),
    data_dir: DATA_DIR = None,
    host: str = option("NAME", "address to listen at", default="127.0.0.1"),
    port: int = option("N", "port to listen at", default=7860, min=1, max=65535),
) -> None:
    """Serve a page to play with models."""
    from zoo.cli.inputs import check_model

    for name in presets or ():
        check_model(name)
    from zoo.serving.demo.page import make_page

    page = make_page(presets or (), data_dir, annotator or ())
    # Gradio wants addresses of IPv6 as in URLs.
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    page.launch(server_name=host, server_port=port)
