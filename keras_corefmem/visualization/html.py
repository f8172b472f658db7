"""Coreference chains as HTML."""

from typing import Any

from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.formats.spacy_docs import chains_of
from keras_corefmem.visualization.pictures import chain_colour


def chains_to_html(document: Any, page: bool = False) -> str:
    """Marks the coreference chains of a text in HTML, with spaCy's displaCy.

    Each mention is underlined in the colour of its chain and labelled with its number, from 1;
    mentions inside others are underlined below them. In a notebook,
    `IPython.display.HTML(chains_to_html(doc))` shows it.

    Args:
        document: a spaCy Doc with coreference by `corefmem_resolver` or another source that
            `keras_corefmem.graphs.from_doc` lists; or an `Annotation`.
        page: bool, whether to return a whole page instead of a `div`.

    Returns:
        The HTML, which needs no other file.

    Example:
        >>> (annotation,) = keras_corefmem.graphs.annotate(["Then Mary saw that Mary slept."])
        >>> html = keras_corefmem.visualization.chains_to_html(annotation)
        >>> html.startswith('<div class="spans"')
        True
    """
    from spacy import displacy

    if isinstance(document, Annotation):
        tokens = list(document.tokens)
        chains = [[(m.start, m.end) for m in chain] for chain in document.chains]
    else:
        tokens = [token.text for token in document]
        chains = [[mention[:2] for mention in chain] for chain in chains_of(document) or ()]
    spans = [
        {"start_token": start, "end_token": end, "label": str(number)}
        for number, chain in enumerate(chains, 1)
        for start, end in chain
    ]
    colours = {str(n): chain_colour(n) for n in range(1, len(chains) + 1)}
    content = {"text": document.text, "tokens": tokens, "spans": spans}
    return displacy.render(
        content, style="span", manual=True, page=page, jupyter=False, options={"colors": colours}
    )
