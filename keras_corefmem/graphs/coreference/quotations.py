"""Quotations: who speaks to whom, and so who "I" and "you" are."""

import dataclasses

from keras_corefmem.graphs.coreference.mentions import NAME, NOMINAL, PRONOUN
from keras_corefmem.text import lexicons

DOUBLE = {"\u201c": "\u201d", "``": "''", '"': '"'}
SINGLE = {"\u2018": "\u2019", "`": "'", "\u00ab": "\u00bb"}
# How far, in tokens, a verb of speech stands from its quotation, and turns from each other.
BEHIND, AHEAD, TURN = 12, 16, 150

_SENTENCE_ENDS = frozenset(".!?;")
_PAUSES = frozenset(",.!?;:-\u2014") | frozenset(DOUBLE) | frozenset(DOUBLE.values()) | {"--"}


@dataclasses.dataclass
class Quotation:
    """Direct speech.

    Args:
        start: token of its opening mark.
        end: token behind its closing mark.
        speaker: number of the mention of its speaker, `None` if unknown.
        addressee: number of a mention of who is spoken to, `None` if unknown.
        named_behind: whether the speaker is named behind it.
    """

    start: int
    end: int
    speaker: int | None = None
    addressee: int | None = None
    named_behind: bool = False


def find_quotations(parse):
    """Finds quotations by their marks; one that does not close is none.

    Single marks count where a text has no double ones, and close only behind punctuation: they are
    apostrophes too.

    Args:
        parse: `Parse`.

    Returns:
        List of `Quotation`, in the order of the text.
    """
    marks = DOUBLE if not DOUBLE.keys().isdisjoint(parse.words) else SINGLE
    found, start, closing = [], None, None
    for token, word in enumerate(parse.words):
        if word == closing and (marks is DOUBLE or not parse.words[token - 1][-1].isalnum()):
            found.append(Quotation(start, token + 1))
            start = closing = None
        elif start is None and word in marks:
            start, closing = token, marks[word]
    return found


def attribute(parse, entities, quotations, by_head):
    """Finds speakers and addressees of quotations, and joins "I" and "you" to them.

    The speaker is the subject of a verb of speech beside the quotation, or who goes on speaking
    behind one, or who acts in the sentence before; in a dialogue without all these, two take turns.
    The addressee is called by name, or is the nearest other speaker. Outside quotations, "I" is the
    narrator.

    Args:
        parse: `Parse`.
        entities: `Entities`; their mentions get the number of their quotation.
        quotations: list of `Quotation`, which get speaker and addressee.
        by_head: dictionary from the head of a mention to its number.
    """
    inside = [None] * len(parse)
    for number, quotation in enumerate(quotations):
        inside[quotation.start : quotation.end] = [number] * (quotation.end - quotation.start)
    for phrase in entities.phrases:
        phrase.quotation = inside[phrase.head]
    for number, quotation in enumerate(quotations):
        quotation.speaker, quotation.named_behind = _named_speaker(
            parse, quotation, inside, by_head
        )
        if quotation.speaker is None:
            quotation.speaker = _told_speaker(parse, entities, quotations, number, inside, by_head)
    _find_addressees(parse, entities, quotations)
    _join_participants(parse, entities, quotations)


def _named_speaker(parse, quotation, inside, by_head):
    """The subject of a verb of speech behind a quotation or before it, and whether it is behind."""
    behind = range(quotation.end, min(quotation.end + BEHIND, len(parse)))
    ahead = range(quotation.start - 1, max(quotation.start - 1 - AHEAD, -1), -1)
    for side in (behind, ahead):
        for token in side:
            if inside[token] is not None or parse.words[token] in _SENTENCE_ENDS:
                break
            if parse.lowers[token] not in lexicons.SPEECH or parse.tags[token] not in (
                "VERB",
                "AUX",
            ):
                continue
            # Inverted subjects are often parsed wrongly: take the neighbour then.
            for place in (parse.subject(token), token + 1, token - 1, token + 2):
                if place in by_head and inside[place] is None:
                    return by_head[place], side is behind
    return None, False


def _told_speaker(parse, entities, quotations, number, inside, by_head):
    """Who goes on speaking, acts in the sentence before the quotation, or takes turns."""
    start = quotations[number].start
    before = quotations[number - 1] if number else Quotation(0, 0)
    between = start - before.end
    if number and 0 < between <= BEHIND:
        goes_on = before.named_behind or parse.words[start - 1] == ","
        if goes_on or parse.sentences[before.end - 1] == parse.sentences[start]:
            return before.speaker
    if number > 1 and between == 0 and before.start - quotations[number - 2].end <= BEHIND:
        return quotations[number - 2].speaker
    return _actor(parse, entities, start, inside, by_head) if between else None


def _actor(parse, entities, start, inside, by_head):
    """The person who is the first subject of the sentence before a quotation."""
    first = start - 1
    while first > 0 and parse.sentences[first - 1] == parse.sentences[start - 1]:
        first -= 1
    for token in range(first, start):
        if parse.labels[token] == "nsubj" and inside[token] is None and token in by_head:
            mention = by_head[token]
            person = entities.persons[entities.find(mention)]
            name = entities.phrases[mention].kind == NAME and person is None
            return mention if person or name else None
    return None


def _find_addressees(parse, entities, quotations):
    called = {}
    for index, phrase in enumerate(entities.phrases):
        if phrase.quotation is not None and phrase.kind == NAME and _is_called(parse, phrase):
            called.setdefault(phrase.quotation, index)
    for number, quotation in enumerate(quotations):
        quotation.addressee = called.get(number)
        if quotation.addressee is not None or quotation.speaker is None:
            continue
        near = sorted(range(number - 3, number + 4), key=lambda other: abs(other - number))
        for other in near:
            if not 0 <= other < len(quotations) or quotations[other].speaker is None:
                continue
            if abs(quotations[other].start - quotation.start) >= TURN:
                continue
            if _differ(entities, quotations[other].speaker, quotation.speaker):
                quotation.addressee = quotations[other].speaker
                break


def _differ(entities, one, other):
    """Whether two speakers are others, as far as they are resolved: two "he" may be one."""
    if entities.find(one) == entities.find(other):
        return False
    phrases = entities.phrases[one], entities.phrases[other]
    return len({phrase.pronoun for phrase in phrases}) > 1 or phrases[0].kind != PRONOUN


def _is_called(parse, phrase):
    """Whether a name is a vocative: "Come, Mary!"."""
    if phrase.label == "vocative":
        return True
    before = parse.words[phrase.start - 1] in _PAUSES
    return before and phrase.end < len(parse) and parse.words[phrase.end] in _PAUSES


def _is_term_of_address(parse, phrase):
    """Whether a noun stands for "you": "Come, sir!"."""
    return (
        phrase.kind == NOMINAL
        and parse.lowers[phrase.head] in lexicons.VOCATIVES
        and _is_called(parse, phrase)
    )


def _join_participants(parse, entities, quotations):
    """Joins pronouns of the first and second person to speakers, addressees and each other."""
    last = {}
    for index, phrase in enumerate(entities.phrases):
        if phrase.quotation is not None and _is_term_of_address(parse, phrase):
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
            if other is not None and entities.can_corefer(
                entities.find(index), entities.find(other)
            ):
                entities.merge(index, other)
                break
        last[key] = index
