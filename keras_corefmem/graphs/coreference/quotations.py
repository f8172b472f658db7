"""Quotations: speakers and addressees, and so the referents of "I" and "you"."""

import dataclasses

from keras_corefmem.graphs.coreference.clusters import Clusters
from keras_corefmem.graphs.coreference.mentions import NAME, NOMINAL, PRONOUN
from keras_corefmem.graphs.coreference.parse import Parse
from keras_corefmem.text.lexicons import SPEECH, VOCATIVES

DOUBLE = {"\u201c": "\u201d", "``": "''", '"': '"'}
SINGLE = {"\u2018": "\u2019", "`": "'", "\u00ab": "\u00bb"}
# Maximum tokens from a quotation to a verb of speech after or before it, and between two turns.
BEHIND, AHEAD, TURN = 12, 16, 150

_SENTENCE_ENDS = frozenset(".!?;")
_PAUSES = frozenset(",.!?;:-\u2014") | frozenset(DOUBLE) | frozenset(DOUBLE.values()) | {"--"}


@dataclasses.dataclass
class Quotation:
    """Direct speech."""

    start: int
    end: int
    speaker: int | None = None
    addressee: int | None = None
    named_behind: bool = False


def find_quotations(parse: Parse) -> list[Quotation]:
    """Finds quotations by their marks, in the order of the text; unclosed ones are ignored.

    Single marks count only if a text has no double ones, and close a quotation only after
    punctuation, because they are apostrophes too.
    """
    marks = DOUBLE if not DOUBLE.keys().isdisjoint(parse.words) else SINGLE
    quotations: list[Quotation] = []
    start = closing = None
    for token, word in enumerate(parse.words):
        closes = marks is DOUBLE or not parse.words[token - 1][-1].isalnum()
        if start is not None and word == closing and closes:
            quotations.append(Quotation(start, token + 1))
            start = closing = None
        elif start is None and word in marks:
            start, closing = token, marks[word]
    return quotations


def attribute(clusters: Clusters, quotations: list[Quotation]) -> None:
    """Finds speakers and addressees of quotations, and joins "I" and "you" to them.

    The speaker is the subject of a verb of speech next to the quotation, or the previous speaker
    if that one goes on, or the person who acts in the sentence before; in a dialogue without any of
    these, two speakers take turns. The addressee is the one who is called by name, or the nearest
    other speaker. Outside quotations, "I" is the narrator.
    """
    inside: list[int | None] = [None] * len(clusters.parse)
    for number, quotation in enumerate(quotations):
        inside[quotation.start : quotation.end] = [number] * (quotation.end - quotation.start)
    for phrase in clusters.phrases:
        phrase.quotation = inside[phrase.head]
    for number, quotation in enumerate(quotations):
        quotation.speaker, quotation.named_behind = _named_speaker(clusters, quotation, inside)
        if quotation.speaker is None:
            quotation.speaker = _told_speaker(clusters, quotations, number, inside)
    _find_addressees(clusters, quotations)
    _join_participants(clusters, quotations)


def _named_speaker(clusters, quotation, inside):
    """Returns the subject of a verb of speech after or before a quotation, and whether after."""
    parse, by_head = clusters.parse, clusters.by_head
    behind = range(quotation.end, min(quotation.end + BEHIND, len(parse)))
    ahead = range(quotation.start - 1, max(quotation.start - 1 - AHEAD, -1), -1)
    for side in (behind, ahead):
        for token in side:
            if inside[token] is not None or parse.words[token] in _SENTENCE_ENDS:
                break
            if parse.lowers[token] not in SPEECH or parse.tags[token] not in ("VERB", "AUX"):
                continue
            # Inverted subjects are often parsed wrongly: try the verb's neighbours too.
            for place in (parse.subject(token), token + 1, token - 1, token + 2):
                if place in by_head and inside[place] is None:
                    return by_head[place], side is behind
    return None, False


def _told_speaker(clusters, quotations, number, inside):
    """Returns the speaker who goes on, takes turns, or acts in the sentence before a quotation."""
    parse, start = clusters.parse, quotations[number].start
    before = quotations[number - 1] if number else Quotation(0, 0)
    between = start - before.end
    if number and 0 < between <= BEHIND:
        goes_on = before.named_behind or parse.words[start - 1] == ","
        if goes_on or parse.sentences[before.end - 1] == parse.sentences[start]:
            return before.speaker
    if number > 1 and between == 0 and before.start - quotations[number - 2].end <= BEHIND:
        return quotations[number - 2].speaker
    return _actor(clusters, start, inside) if between else None


def _actor(clusters, start, inside):
    """Returns the first subject of the sentence before a quotation, if it can be a person."""
    parse, first = clusters.parse, start - 1
    while first > 0 and parse.sentences[first - 1] == parse.sentences[start - 1]:
        first -= 1
    for token in range(first, start):
        if parse.labels[token] == "nsubj" and inside[token] is None and token in clusters.by_head:
            mention = clusters.by_head[token]
            person = clusters.persons[clusters.find(mention)]
            name = clusters.phrases[mention].kind == NAME and person is None
            return mention if person or name else None
    return None


def _find_addressees(clusters, quotations):
    called = {}
    for index, phrase in enumerate(clusters.phrases):
        vocative = phrase.kind == NAME and _is_called(clusters.parse, phrase)
        if phrase.quotation is not None and vocative:
            called.setdefault(phrase.quotation, index)
    for number, quotation in enumerate(quotations):
        quotation.addressee = called.get(number)
        if quotation.addressee is not None or quotation.speaker is None:
            continue
        near = range(max(number - 3, 0), min(number + 4, len(quotations)))
        for place in sorted(near, key=lambda place: abs(place - number)):
            other = quotations[place]
            if other.speaker is None or abs(other.start - quotation.start) >= TURN:
                continue
            if _differ(clusters, other.speaker, quotation.speaker):
                quotation.addressee = other.speaker
                break


def _differ(clusters, one, other):
    """Returns whether two speakers are known to differ: two unresolved "he" may be the same."""
    if clusters.find(one) == clusters.find(other):
        return False
    phrases = clusters.phrases[one], clusters.phrases[other]
    return len({phrase.pronoun for phrase in phrases}) > 1 or phrases[0].kind != PRONOUN


def _is_called(parse, phrase):
    """Returns whether a name is a vocative: "Come, Mary!"."""
    if phrase.label == "vocative":
        return True
    before = parse.words[phrase.start - 1] in _PAUSES
    return before and phrase.end < len(parse) and parse.words[phrase.end] in _PAUSES


def _join_participants(clusters, quotations):
    """Joins first- and second-person pronouns and vocatives to participants and each other."""
    last, parse = {}, clusters.parse
    for index, phrase in enumerate(clusters.phrases):
        noun = phrase.kind == NOMINAL and parse.lowers[phrase.head] in VOCATIVES
        if phrase.quotation is not None and noun and _is_called(parse, phrase):
            # "Come, sir!"
            person, number = 2, ""
        elif phrase.kind != PRONOUN or phrase.pronoun.person == 3:
            continue
        else:
            person, number = phrase.pronoun.person, phrase.pronoun.number
        participant = None
        if phrase.quotation is not None and (person, number) != (1, "many"):
            quotation = quotations[phrase.quotation]
            participant = quotation.speaker if person == 1 else quotation.addressee
        key = (person, number, phrase.quotation)
        for other in (participant, last.get(key)):
            if other is not None and clusters.link(index, other):
                break
        last[key] = index
