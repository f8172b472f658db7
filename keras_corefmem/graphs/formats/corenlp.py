"""Annotations in the JSON of Stanford CoreNLP, read and written."""

from itertools import accumulate, count, pairwise
from typing import Any

from keras_corefmem.graphs.annotation import Annotation, Mention
from keras_corefmem.graphs.formats.corenlp_offsets import (
    CHARACTERS,
    CODE_POINTS,
    ORIGINAL,
    find_tokens,
    put_together,
    units_before,
)
from keras_corefmem.utils.files import Path, load_json, write_json

DEPENDENCIES = "basicDependencies"
ROOT = "ROOT"
# What is no named entity.
OUTSIDE = "O"


def read_corenlp(path: Path, text: str | None = None) -> Annotation:
    """Reads the JSON that CoreNLP writes for a text (`-outputFormat json`).

    Its offsets count in UTF-16, where an emoji is two characters; `starts` of the annotation count
    characters as Python does. Files whose offsets count so, too, are recognized.

    Args:
        path: the file.
        text: the text that was annotated, unchanged; `None` puts together the tokens and what is
            between them.

    Returns:
        The annotation; dependencies, tags, chains and named entities are empty where the file has
        none.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is truncated or of another form, or its tokens are not in the text.
    """
    content = load_json(path, "CoreNLP JSON")
    try:
        return from_corenlp(content, text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def from_corenlp(content: dict[str, Any], text: str | None = None) -> Annotation:
    """Returns the annotation of CoreNLP's JSON, already loaded; see `read_corenlp`.

    CoreNLP numbers tokens from 1 in each sentence; the token of a mention's head in the document
    is `offset[sentNum - 1] + headIndex - 1`, and governor 0 is the root.
    """
    try:
        return _convert(content, text)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(
            f"not the JSON of CoreNLP ({type(error).__name__}: {error}): sentences have tokens, "
            f"{DEPENDENCIES} have dep, governor and dependent, corefs are lists of mentions."
        ) from error


def _convert(content, text):
    sentences = content["sentences"]
    if not all(sentence["tokens"] for sentence in sentences):
        raise ValueError("a sentence has no tokens, annotate the text again.")
    tokens = [token for sentence in sentences for token in sentence["tokens"]]
    *offsets, _ = accumulate((len(sentence["tokens"]) for sentence in sentences), initial=0)
    if text is None:
        text, begins = put_together(tokens)
        words = [token[ORIGINAL] for token in tokens]
    else:
        words, begins = find_tokens(tokens, text)
    governors, labels = list(range(len(tokens))), [""] * len(tokens)
    for offset, sentence in zip(offsets, sentences, strict=True):
        for edge in sentence.get(DEPENDENCIES, ()):
            token = offset + _number(edge["dependent"], sentence)
            if edge["governor"] != 0:
                governors[token] = offset + _number(edge["governor"], sentence)
            labels[token] = edge["dep"]
    parsed = any(labels)
    return Annotation(
        text,
        words,
        begins,
        offsets or (0,),
        governors if parsed else (),
        labels if parsed else (),
        [token["pos"] for token in tokens] if all("pos" in token for token in tokens) else (),
        [
            [_mention(mention, offsets) for mention in chain]
            for chain in content.get("corefs", {}).values()
        ],
        named_entities=["" if token["ner"] == OUTSIDE else token["ner"] for token in tokens]
        if all("ner" in token for token in tokens)
        else (),
    )


def _number(index, sentence):
    """Number from 0 of a token of a sentence that is numbered from 1."""
    if not 1 <= index <= len(sentence["tokens"]):
        raise ValueError(
            f"token {index} of a dependency is not in its sentence of {len(sentence['tokens'])}."
        )
    return index - 1


def _mention(mention, offsets):
    number = mention["sentNum"]
    if not 1 <= number <= len(offsets):
        raise ValueError(f"sentence {number} of a mention is none of the {len(offsets)}.")
    offset = offsets[number - 1] - 1
    return Mention(*(offset + mention[key] for key in ("startIndex", "endIndex", "headIndex")))


def to_corenlp(annotation: Annotation) -> dict[str, Any]:
    """Returns the JSON of CoreNLP for an annotation.

    `characterOffset*` count in UTF-16; where a text has characters above U+FFFF, `codepointOffset*`
    beside them count as Python does.

    Args:
        annotation: the annotated text; its typed edges are left out.

    Raises:
        ValueError: if a mention or a dependency crosses the end of a sentence, which the format has
            no place for.
    """
    numbers, sentences = annotation.sentence_numbers.tolist(), []
    units = units_before(annotation.text)
    for number, (start, end) in enumerate(pairwise((*annotation.sentences, len(annotation)))):
        tokens = range(start, end)
        sentence = {
            "index": number,
            "tokens": [_token(annotation, t, start, units) for t in tokens],
        }
        if annotation.governors:
            sentence[DEPENDENCIES] = [_dependency(annotation, t, start, numbers) for t in tokens]
        sentences.append(sentence)
    identities = count(1)
    chains = [
        [_entry(annotation, mention, next(identities), numbers) for mention in chain]
        for chain in annotation.chains
    ]
    return {"sentences": sentences, "corefs": {str(c[0]["id"]): c for c in chains}}


def write_corenlp(path: Path, annotation: Annotation) -> None:
    """Writes `to_corenlp` of an annotation, whole or not at all."""
    write_json(path, to_corenlp(annotation))


def _token(annotation, token, start, units):
    begin, word = annotation.starts[token], annotation.tokens[token]
    end = annotation.starts[token - 1] + len(annotation.tokens[token - 1]) if token else 0
    behind = annotation.starts[token + 1] if token + 1 < len(annotation) else None
    offsets = begin, begin + len(word)
    fields = {
        "index": token - start + 1,
        "word": word,
        ORIGINAL: word,
        **dict(zip(CHARACTERS, (units[offset] for offset in offsets), strict=True)),
        **(dict(zip(CODE_POINTS, offsets, strict=True)) if units[-1] > len(units) - 1 else {}),
        "before": annotation.text[end:begin],
        "after": annotation.text[offsets[1] : behind],
    }
    fields |= {"pos": annotation.tags[token]} if annotation.tags else {}
    named = annotation.named_entities
    return fields | ({"ner": named[token] or OUTSIDE} if named else {})


def _dependency(annotation, token, start, numbers):
    governor = annotation.governors[token]
    if numbers[governor] != numbers[token]:
        raise ValueError(f"Token {token} depends on token {governor} of another sentence.")
    root = governor == token
    return {
        "dep": ROOT if root else annotation.labels[token],
        "governor": 0 if root else governor - start + 1,
        "governorGloss": ROOT if root else annotation.tokens[governor],
        "dependent": token - start + 1,
        "dependentGloss": annotation.tokens[token],
    }


def _entry(annotation, mention, identity, numbers):
    number = numbers[mention.start]
    if numbers[mention.end - 1] != number:
        raise ValueError(f"{mention} crosses the end of sentence {number + 1}.")
    offset = annotation.sentences[number] - 1
    return {
        "id": identity,
        "text": " ".join(annotation.tokens[mention.start : mention.end]),
        "startIndex": mention.start - offset,
        "endIndex": mention.end - offset,
        "headIndex": mention.head - offset,
        "sentNum": number + 1,
    }
