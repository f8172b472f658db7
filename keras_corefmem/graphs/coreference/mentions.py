"""Mention detection: names, noun phrases and personal pronouns of a parsed text."""

import dataclasses
from collections.abc import Iterable

from keras_corefmem.graphs.coreference.parse import Parse
from keras_corefmem.text import lexicons

PRONOUN, NAME, NOMINAL = "pronoun", "name", "nominal"

_NOUNS = ("NOUN", "PROPN", "PRON")
# Labels of dependents that are not part of a noun phrase.
_OUTSIDE = frozenset(
    "case cc conj punct appos parataxis mark cop nsubj csubj aux expl advcl discourse vocative "
    "dislocated dep list orphan preconj attr ccomp".split()
)
# Labels of dependents that are part of the same name as their governor.
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
    """A mention, and what its words say about its referent."""

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
    name: tuple[str, ...] = ()
    title: str = ""
    modifiers: frozenset[str] = frozenset()
    definite: bool = False
    possessor: int | None = None
    quotation: int | None = None


def detect(parse: Parse) -> list[Phrase]:
    """Finds mentions, in the order of their heads."""
    phrases = []
    for token, tag in enumerate(parse.tags):
        if parse.lowers[token] in lexicons.PRONOUNS and tag not in ("NOUN", "PROPN", "VERB"):
            if not _is_expletive(parse, token):
                phrases.append(describe(parse, token, token + 1, token))
        elif tag in ("NOUN", "PROPN") and not _is_inside_name(parse, token):
            start, end = _span(parse, token)
            phrases.append(describe(parse, start, end, token))
    return phrases


def describe_spans(parse: Parse, spans: Iterable[tuple[int, int]]) -> list[Phrase]:
    """Describes known mentions, pairs of the first token and the one after the last."""
    return [describe(parse, start, end, head_of(parse, start, end)) for start, end in spans]


def head_of(parse: Parse, start: int, end: int) -> int:
    """Returns the token of a span whose governor is outside, preferring nouns and pronouns."""
    span, governors = range(start, end), parse.governors
    roots = [t for t in span if governors[t] not in span or governors[t] == t]
    nouns = [t for t in roots if parse.tags[t] in _NOUNS]
    if not nouns:
        # If the parse crosses the span, the first noun that is not a modifier.
        inside = [t for t in span if parse.tags[t] in _NOUNS]
        nouns = [t for t in inside if not _is_inside_name(parse, t)] or inside
    return (nouns or roots or [end - 1])[0]


def describe(parse: Parse, start: int, end: int, head: int) -> Phrase:
    """Returns the `Phrase` of a span."""
    lower = parse.lowers[head]
    phrase = Phrase(start, end, head, NOMINAL, parse.sentences[head], parse.labels[head])
    if lower in lexicons.PRONOUNS and (end - start == 1 or parse.tags[head] == "PRON"):
        phrase.kind, phrase.pronoun = PRONOUN, lexicons.PRONOUNS[lower]
        phrase.number, phrase.gender = phrase.pronoun.number, phrase.pronoun.gender
        phrase.person = {"thing": False, "": None}.get(phrase.gender, True)
        if phrase.pronoun.person < 3:
            phrase.person = True
        return phrase
    phrase.number = "many" if parse.plural[head] else "one"
    if parse.tags[head] == "PROPN" or (lower in lexicons.FAMILY and end - start == 1):
        first, last = _core(parse, head, start, end)
        phrase.kind, phrase.definite = NAME, True
        # A pipeline may have merged the words of a name.
        words = " ".join(parse.lowers[first : last + 1]).split()
        phrase.title, phrase.name = _split_title(words)
        phrase.gender, phrase.person = _gender_of_name(phrase.title, phrase.name)
        if phrase.title:
            # "Mr. Blowers" looks like a plural.
            phrase.number = "one"
        return phrase
    phrase.gender, phrase.person = _gender_of_noun(lower)
    if lower in lexicons.GROUPS:
        phrase.number = ""
    phrase.possessor = parse.dependent(head, "nmod:poss")
    phrase.modifiers = frozenset(
        parse.lowers[child]
        for child in parse.children[head]
        if parse.labels[child] in ("amod", "compound", "nummod") and start <= child < end
    )
    refers_back = not lexicons.DEFINITE.isdisjoint(parse.lowers[start:head])
    refers_back = refers_back or phrase.possessor is not None
    phrase.definite = refers_back and parse.lowers[start] not in lexicons.INDEFINITE
    return phrase


def _gender_of_name(title, name):
    """Returns the gender of a name, by its title or words, and whether it is a person."""
    for part in title.split() or name[:1]:
        if part in lexicons.MALE_TITLES:
            return "masculine", True
        if part in lexicons.FEMALE_TITLES:
            return "feminine", True
    if name and (name[-1] in lexicons.PLACES or name[-1] in lexicons.ORGANIZATIONS):
        return "thing", False
    gender = lexicons.given_names().get(name[0] if name else "", "")
    return gender, True if gender or title else None


def _gender_of_noun(noun):
    """Returns the gender of a common noun, and whether it is a person, `None` if unknown."""
    if noun in lexicons.MALE:
        return "masculine", True
    if noun in lexicons.FEMALE:
        return "feminine", True
    if noun in lexicons.PEOPLE:
        return "", True
    if noun in lexicons.PLACES:
        return "thing", False
    return "", True if noun.endswith(lexicons.PERSON_ENDINGS) and len(noun) > 4 else None


def _is_inside_name(parse, token):
    """Returns whether a noun is only part of the noun phrase of its governor."""
    head, label = parse.governors[token], parse.labels[token]
    if label == "nmod:desc":
        return True
    if label not in _NAME_PARTS or head == token:
        return False
    if parse.lowers[token] in lexicons.TITLES:
        return True
    # A name before a common noun has a mention of its own: "Bramblehurst station".
    return not (parse.tags[token] == "PROPN" and parse.tags[head] == "NOUN" and token < head)


def _core(parse, head, start, end):
    """Returns the first and last token of a name: its head and the adjacent parts of it."""
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
    """Returns the title of a name, or `""`, and its other words; a title alone is the name."""
    index = 0
    while index < len(name) - 1 and name[index] in lexicons.TITLES:
        index += 1
    return " ".join(name[:index]), tuple(word for word in name[index:] if word not in _PUNCTUATION)


def _span(parse, head):
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
    """Returns whether "it" is an expletive: of weather or time, or for a clause that follows."""
    if parse.lowers[token] != "it":
        return False
    if parse.labels[token] == "expl":
        return True
    if parse.labels[token] != "nsubj":
        return False
    predicate = parse.governors[token]
    if parse.lowers[predicate] in _WEATHER | _SEEMING | _TIMES:
        return True
    adjective = parse.tags[predicate] == "ADJ" or any(
        parse.tags[child] == "ADJ" for child in parse.children[predicate] if child > predicate
    )
    clause = parse.dependent(predicate, "csubj", "ccomp", "xcomp", "advcl")
    return adjective and clause is not None
