"""Mention detection: names, noun phrases and personal pronouns of a parsed text."""

import dataclasses

from keras_corefmem.graphs.coreference.agreement import gender_of_name, gender_of_noun
from keras_corefmem.text import lexicons

PRONOUN, NAME, NOMINAL = "pronoun", "name", "nominal"

# Dependents that are no part of a noun phrase.
_OUTSIDE = frozenset(
    "case cc conj punct appos parataxis mark cop nsubj csubj aux expl advcl discourse vocative "
    "dislocated dep list orphan preconj attr ccomp".split()
)
# Dependents that are part of the name that their head belongs to.
_NAME_PARTS = ("compound", "flat", "fixed")
_PUNCTUATION = frozenset(".,;:!?-\"'`()[]\u2018\u2019\u201c\u201d\u2014\u2013\u2026_") | {
    *("``", "''", "--", "...")
}
_WEATHER = frozenset("rain rains rained raining snow snowed snowing".split())
_SEEMING = frozenset("seem seems seemed appear appears appeared happen happened happens".split())
_TIMES = frozenset(
    "time morning evening night afternoon day noon midnight o'clock spring summer autumn winter "
    "monday tuesday wednesday thursday friday saturday sunday late early dark cold true".split()
)


@dataclasses.dataclass(slots=True)
class Phrase:
    """A mention with what its words say of its referent.

    Args:
        start: its first token.
        end: the token behind its last one.
        head: the token that the others depend on.
        kind: `"pronoun"`, `"name"` or `"nominal"`.
        sentence: number of its sentence.
        label: relation of its head.
        pronoun: `lexicons.Pronoun` of a pronoun.
        number: `"one"`, `"many"` or `""`.
        gender: `"masculine"`, `"feminine"`, `"thing"` or `""`.
        person: whether it is a person, `None` if unknown.
        name: words of a name in lower case, without titles.
        title: title of a name.
        modifiers: words before a common noun, in lower case.
        definite: whether a common noun can refer back: "the", "this", a possessor.
        possessor: token of the possessor, `None` without one.
        quotation: number of the quotation that it stands in, `None` outside.
    """

    start: int
    end: int
    head: int
    kind: str
    sentence: int
    label: str
    pronoun: lexicons.Pronoun | None = None
    number: str = ""
    gender: str = ""
    person: bool | None = None
    name: tuple = ()
    title: str = ""
    modifiers: frozenset = frozenset()
    definite: bool = False
    possessor: int | None = None
    quotation: int | None = None


def detect(parse):
    """Finds mentions.

    Args:
        parse: `Parse`.

    Returns:
        List of `Phrase`, in the order of their heads.
    """
    found = []
    for token, tag in enumerate(parse.tags):
        if parse.lowers[token] in lexicons.PRONOUNS and tag not in ("NOUN", "PROPN", "VERB"):
            if not _is_expletive(parse, token):
                found.append(describe(parse, token, token + 1, token))
        elif tag in ("NOUN", "PROPN") and not _is_inside_name(parse, token):
            start, end = _span(parse, token)
            found.append(describe(parse, start, end, token))
    return found


def given(parse, spans):
    """Takes mentions from elsewhere, such as a corpus.

    Args:
        parse: `Parse`.
        spans: pairs of the first token and the one behind the last.

    Returns:
        List of `Phrase`, in the order of the spans.
    """
    return [describe(parse, start, end, head_of(parse, start, end)) for start, end in spans]


def head_of(parse, start, end):
    """The token of a span whose head is outside; nouns and pronouns are preferred to others."""
    span, governors = range(start, end), parse.governors
    roots = [t for t in span if governors[t] not in span or governors[t] == t]
    nouns = [t for t in roots if parse.tags[t] in ("NOUN", "PROPN", "PRON")]
    if not nouns:
        # Where the parse crosses the span, the first noun that is no modifier.
        inside = [t for t in span if parse.tags[t] in ("NOUN", "PROPN", "PRON")]
        nouns = [t for t in inside if not _is_inside_name(parse, t)] or inside
    return (nouns or roots or [end - 1])[0]


def describe(parse, start, end, head):
    """The `Phrase` of a span."""
    lower = parse.lowers[head]
    place = (start, end, head)
    sentence, label = parse.sentences[head], parse.labels[head]
    if lower in lexicons.PRONOUNS and (end - start == 1 or parse.tags[head] == "PRON"):
        pronoun = lexicons.PRONOUNS[lower]
        person = {"thing": False, "": None}.get(pronoun.gender, True)
        person = True if pronoun.person < 3 else person
        return Phrase(
            *place, PRONOUN, sentence, label, pronoun, pronoun.number, pronoun.gender, person
        )
    first, last = _core(parse, head, start, end)
    number = "many" if parse.plural[head] else "one"
    if parse.tags[head] == "PROPN" or (lower in lexicons.FAMILY and end - start == 1):
        title, name = _split_title(parse.lowers[first : last + 1])
        gender, person = gender_of_name(title, name)
        return Phrase(
            *place, NAME, sentence, label, None, number, gender, person, name, title, definite=True
        )
    gender, person = gender_of_noun(lower)
    number = "" if lower in lexicons.GROUPS else number
    possessor = parse.dependent(head, "nmod:poss")
    before = {parse.lowers[token] for token in range(start, head)}
    modifiers = frozenset(
        parse.lowers[child]
        for child in parse.children[head]
        if parse.labels[child] in ("amod", "compound", "nummod") and start <= child < end
    )
    definite = bool(before & lexicons.DEFINITE) or possessor is not None
    return Phrase(
        *(*place, NOMINAL, sentence, label, None, number, gender, person, (), ""),
        modifiers=modifiers,
        definite=definite and parse.lowers[start] not in lexicons.INDEFINITE,
        possessor=possessor,
    )


def _is_inside_name(parse, token):
    """Whether a noun is only part of the noun phrase of its head."""
    head, label = parse.governors[token], parse.labels[token]
    if label not in _NAME_PARTS or head == token:
        return False
    if parse.lowers[token] in lexicons.TITLES:
        return True
    # A name before a common noun has a mention of its own: "Bramblehurst station".
    return not (parse.tags[token] == "PROPN" and parse.tags[head] == "NOUN" and token < head)


def _core(parse, head, start, end):
    """First and last token of a name: the neighbours of its head that are parts of it."""
    parts = {head, *(c for c in parse.children[head] if parse.labels[c] in _NAME_PARTS)}
    first = last = head
    while first > start and (first - 1 in parts or _is_title(parse, first - 1)):
        first -= 1
    while last + 1 < end and (
        last + 1 in parts
        or (parse.tags[last + 1] == "PROPN" and parse.labels[last + 1] in _NAME_PARTS)
    ):
        last += 1
    return first, last


def _is_title(parse, token):
    return parse.lowers[token] in lexicons.TITLES and parse.words[token][0].isupper()


def _split_title(name):
    """Title of a name, `""` without one, and its other words; a title alone is the name itself."""
    index = 0
    while index < len(name) - 1 and name[index] in lexicons.TITLES:
        index += 1
    return " ".join(name[:index]), tuple(word for word in name[index:] if word not in _PUNCTUATION)


def _span(parse, head):
    """Start and end of the noun phrase of a head."""
    first = last = head
    for child in parse.children[head]:
        if parse.labels[child] in _OUTSIDE:
            continue
        left, right = parse.subtree(child)
        adverbial = parse.labels[child] in ("advmod", "obl") and child < head
        if adverbial and parse.dependent(head, "cop"):
            continue
        first, last = min(first, left), max(last, right)
    while last > head and parse.lowers[last] in _PUNCTUATION:
        last -= 1
    while first < head and parse.lowers[first] in _PUNCTUATION:
        first += 1
    return first, last + 1


def _is_expletive(parse, token):
    """Whether "it" refers to nothing: weather, time, and clauses that follow as the subject."""
    if parse.lowers[token] != "it":
        return False
    if parse.labels[token] == "expl":
        return True
    if parse.labels[token] != "nsubj":
        return False
    head = parse.governors[token]
    if parse.lowers[head] in _WEATHER | _SEEMING | _TIMES:
        return True
    adjective = parse.tags[head] == "ADJ" or any(
        parse.tags[child] == "ADJ" for child in parse.children[head] if child > head
    )
    return adjective and parse.dependent(head, "csubj", "ccomp", "xcomp", "advcl") is not None
