"""Coreference in the CoNLL-2012 format, which the official scorers read."""

import dataclasses
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable

from keras_corefmem.graphs.annotation import Annotation, Mention, head_of
from keras_corefmem.utils.files import BadFileError, Path, read_text, replacing

NONE = ("", "-", "_")
WORD, TAG = 3, 4
LEAST_COLUMNS = 5

_FORM = "CoNLL-2012"
_BEGIN = re.compile(r"#begin document \((.*)\)(?:; part (\d{1,9}))?")
_PART = re.compile(r"(\()?(\d{1,9})(\))?", re.ASCII)


def read_conll(path: Path) -> list[tuple[str, Annotation]]:
    """Reads documents with coreference chains from a CoNLL-2012 file.

    Each line is a token, and a blank line ends a sentence. The lines of a sentence have equally
    many columns; sentences differ, by one for each predicate. The last column is coreference: `(3`
    opens a mention of chain 3, `3)` closes it, `(3)` is a mention of a single token, `|` separates
    several of these, and `-`, `_` or nothing means none. Mentions of one chain may nest: the one
    opened last closes first.

    The head of a mention is its last token, because the format has no dependencies; add those of a
    parser with `with_parse`.

    Args:
        path: path of the file.

    Returns:
        Pairs of a document's name, such as `"wsj_0001; part 0"`, and its annotation, whose text is
        the tokens separated by spaces, and by line breaks between sentences.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is malformed; the message names the line.
    """
    documents, name = [], None
    body: list[tuple[str, str]] = []
    lines = read_text(path, _FORM).split("\n")
    for number, line in enumerate(lines, 1):
        place = f"{path}:{number}"
        if line.startswith("#begin document"):
            if name is not None:
                raise BadFileError(
                    f"{place}: a document begins inside another, end that one first."
                )
            header = _BEGIN.fullmatch(line.strip())
            if header is None:
                raise BadFileError(f"{place}: write `#begin document (name); part 0`.")
            name, body = f"{header[1]}; part {int(header[2] or 0)}", []
        elif line.startswith("#end document"):
            if name is None:
                raise BadFileError(f"{place}: no #begin document before this #end document.")
            documents.append((name, _annotation(name, body, place)))
            name = None
        elif name is not None:
            body.append((line, place))
        elif line.strip() and not line.startswith("#"):
            raise BadFileError(f"{place}: a token outside a document, begin with #begin document.")
    if name is not None:
        raise BadFileError(
            f"{path}:{len(lines)}: no #end document for {name!r:.80}; is the file truncated?"
        )
    if not documents:
        raise BadFileError(f"{path}: no document in the file, pass a {_FORM} file.")
    return documents


def _annotation(name, body, end):
    rows, sentences, begins, count = [], [], True, 0
    opened, chains = defaultdict(list), defaultdict(list)
    for line, place in body:
        if not line.strip():
            begins = True
            continue
        # In some files, the last column is empty if there is no coreference.
        columns = line.split("\t") if "\t" in line else line.split()
        if begins:
            count = max(len(columns), LEAST_COLUMNS)
        if len(columns) != count:
            expected = f"{count} or more" if begins else count
            raise BadFileError(
                f"{place}: {len(columns)} columns, expected {expected}, as many on every line of a "
                "sentence."
            )
        word = columns[WORD]
        if not word or " " in word:
            raise BadFileError(
                f"{place}: {word!r:.80} is no word, column {WORD + 1} must have one."
            )
        if begins:
            sentences.append(len(rows))
            begins = False
        coreference = columns[-1].strip()
        for part in [] if coreference in NONE else coreference.split("|"):
            _add_part(part, len(rows), place, opened, chains)
        rows.append(columns)
    unclosed = [mention for mentions in opened.values() for mention in mentions]
    if unclosed:
        place = min(unclosed)[1]
        raise BadFileError(f"{place}: this mention is not closed before {end}, #end document.")
    if not rows:
        raise BadFileError(f"{end}: the document {name!r:.80} has no tokens, leave it out.")
    words, tags = ([columns[index] for columns in rows] for index in (WORD, TAG))
    text, starts = _spaced(words, sentences)
    chains = [chains[chain] for chain in sorted(chains)]
    tags = () if set(tags) <= set(NONE) else tags
    return Annotation(text, words, starts, sentences, tags=tags, chains=chains)


def _add_part(part, token, place, opened, chains):
    match = _PART.fullmatch(part)
    if match is None or not (match[1] or match[3]):
        raise BadFileError(f"{place}: coreference {part!r:.80} is none of `(3`, `3)`, `(3)`.")
    chain = int(match[2])
    if match[1]:
        opened[chain].append((token, place))
    if match[3]:
        if not opened[chain]:
            raise BadFileError(
                f"{place}: {part!r:.80} closes a mention of chain {chain} that was not opened."
            )
        start, _ = opened[chain].pop()
        chains[chain].append(Mention(start, token + 1, token))


def _spaced(words, sentences):
    """Returns the text of the words, and the character offset of each."""
    begins = set(sentences[1:])
    text = "".join(("\n" if n in begins else " ") + word for n, word in enumerate(words))[1:]
    return text, [0, *itertools.accumulate(len(word) + 1 for word in words)][:-1]


def with_parse(annotation: Annotation, parsed: Annotation) -> Annotation:
    """Adds the dependencies of another annotation of the same tokens.

    The head of a mention becomes its first token whose governor is outside the mention.

    Args:
        annotation: an annotation, for example from `read_conll`.
        parsed: an annotation with the same number of tokens, and with governors.

    Returns:
        An annotation with the governors, labels and tags of `parsed`, and the chains and all other
        fields of `annotation`.

    Raises:
        ValueError: if the numbers of tokens differ, or `parsed` has no governors.
    """
    if len(annotation) != len(parsed) or not parsed.governors:
        raise ValueError(
            f"`parsed` must have dependencies of the same {len(annotation)} tokens; got "
            f"{len(parsed)} tokens and {len(parsed.governors)} governors."
        )
    chains = [
        [m._replace(head=head_of(parsed.governors, m.start, m.end)) for m in chain]
        for chain in annotation.chains
    ]
    parse = {name: getattr(parsed, name) for name in ("governors", "labels", "tags")}
    return dataclasses.replace(annotation, **parse, chains=chains)


def write_conll(path: Path, documents: Iterable[tuple[str, Annotation]]) -> None:
    """Writes documents with coreference chains to a CoNLL-2012 file, completely or not at all.

    Args:
        path: path of the file to write.
        documents: pairs of a name, which may end with `; part N`, and an annotation.

    Raises:
        ValueError: if a token contains whitespace, a name contains a line break or a tab, a part is
            not a number, or two mentions of one chain overlap without nesting, which the format
            cannot represent.
    """
    with replacing(path) as partial, open(partial, "w", encoding="utf-8", newline="\n") as file:
        for name, annotation in documents:
            file.writelines(_lines(name, annotation))


def _lines(document, annotation):
    name, _, part = document.partition("; part ")
    if re.search(r"[\n\t]", name) or not (part or "0").isdecimal():
        raise ValueError(f"{document!r:.80} is no name of a document, write it as `name; part 0`.")
    yield f"#begin document ({name}); part {int(part or 0):03d}\n"
    for first, second in itertools.chain.from_iterable(map(_crossing, annotation.chains)):
        raise ValueError(f"{name}: {first} and {second} of one chain cross, leave one of them out.")
    columns, starts, start = _coreference(annotation), set(annotation.sentences[1:]), 0
    for token, word in enumerate(annotation.tokens):
        if token in starts:
            yield "\n"
            start = token
        if re.search(r"\s", word):
            raise ValueError(f"{name}: token {token}, {word!r:.80}, has a space in it, split it.")
        tag = annotation.tags[token] if annotation.tags else "-"
        fields = (name.replace(" ", "_"), int(part or 0), token - start, word, tag)
        yield "\t".join((*map(str, fields), *["-"] * 6, columns[token])) + "\n"
    yield "\n#end document\n"


def _crossing(chain):
    """Yields pairs of mentions of a chain that overlap, but neither of which is in the other."""
    opened = []
    for mention in sorted(chain, key=lambda m: (m.start, -m.end)):
        opened = [other for other in opened if other.end > mention.start]
        yield from ((other, mention) for other in opened if other.end < mention.end)
        opened.append(mention)


def _coreference(annotation):
    """Returns the last column: opening mentions, longest first, single tokens, closing mentions."""
    parts = defaultdict(list)
    for number, chain in enumerate(annotation.chains):
        for start, end, _ in chain:
            if end - start == 1:
                parts[start].append((1, number, f"({number})"))
            else:
                parts[start].append((0, -end, f"({number}"))
                parts[end - 1].append((2, -start, f"{number})"))
    columns = (sorted(parts[token]) for token in range(len(annotation)))
    return ["|".join(text for _, _, text in column) or "-" for column in columns]
