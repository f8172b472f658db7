"""Reading and writing of annotations as Stanford CoreNLP's JSON."""

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
from keras_corefmem.utils.files import BadFileError, Path, load_json, write_json

DEPENDENCIES = "basicDependencies"
ROOT = "ROOT"
# Label of tokens outside named entities.
OUTSIDE = "O"


def read_corenlp(path: Path, text: str | None = None) -> Annotation:
    """Reads the JSON that CoreNLP writes for a text (`-outputFormat json`).

    CoreNLP's offsets count UTF-16 code units, of which an emoji has two; the annotation's `starts`
    count characters as Python does. Files whose offsets already count characters are recognized.

    Args:
        path: path of the file.
        text: the text that was annotated, unchanged; `None` rebuilds it from the tokens and what is
            between them.

    Returns:
        The annotation. Dependencies, tags, chains and named entities are empty if the file has
        none.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is truncated or not CoreNLP's JSON, or its tokens are not in the
            text.
    """
    content = load_json(path, "CoreNLP JSON")
    try:
        return from_corenlp(content, text)
    except ValueError as error:
        raise BadFileError(f"{path}: {error}") from error


def from_corenlp(content: dict[str, Any], text: str | None = None) -> Annotation:
    """Converts CoreNLP's JSON, already loaded, to an annotation; see `read_corenlp`.

    CoreNLP numbers tokens from 1 in each sentence, and governor 0 marks the root. The head of a
    mention is token `offset[sentNum - 1] + headIndex - 1` of the document, where `offset` is the
    number of tokens before each sentence.
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
    """Converts a token number of a sentence that counts from 1 to one that counts from 0."""
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
    """Converts an annotation to CoreNLP's JSON.

    `characterOffset*` count UTF-16 code units. If the text has characters above U+FFFF,
    `codepointOffset*` are added, which count characters as Python does.

    Args:
        annotation: the annotated text; its typed edges are left out.

    Raises:
        ValueError: if a mention or a dependency crosses the end of a sentence, which the format
            cannot represent.
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
    """Writes an annotation as CoreNLP's JSON, completely or not at all; see `to_corenlp`."""
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
