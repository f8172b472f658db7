"""Antecedents of pronouns, ranked by recency, syntax, salience and agreement."""

import math

from keras_corefmem.graphs.coreference.mentions import NAME, PRONOUN

# What speaks for an antecedent: set by hand, and moved half-way to what suits half of LitBank and
# GAP's validation part best.
WEIGHTS = {
    "distance": -0.9,  # for each sentence between
    "tokens": -0.01,  # for each token between
    "subject": 1.3,
    "object": 0.1,
    "possessive": -0.3,
    "nested": -0.3,  # part of another noun phrase
    "parallel": 0.25,  # the pronoun's own relation
    "clause_subject": 0.35,  # subject of the pronoun's clause
    "name": 0.3,
    "pronoun": -0.15,
    "nominal": -0.35,
    "indefinite": -0.15,
    "salience": 0.6,  # times the logarithm of how often it is mentioned
    "unknown": -0.6,  # gender unknown
    "thing": -2.7,  # nothing says that it is a person, as the pronoun is
    "locative": -1.5,  # "in Scotland"
    "quotation": 1.3,  # both in speech, or both in narration
    "cataphora": -0.4,  # behind the pronoun
}
# How many mentions before a pronoun are ranked, and what the best must reach.
MAX_CANDIDATES, LEAST_SCORE = 60, -1.5

_LOCATIVE = frozenset("in into at near within across throughout inside outside".split())


def rank(parse, entities, index, by_head, quotations, max_distance, weights=WEIGHTS):
    """Chooses the antecedent of a third-person pronoun.

    Args:
        parse: `Parse`.
        entities: `Entities`, in which all earlier mentions are resolved.
        index: number of the mention.
        quotations: list of `Quotation`.
        max_distance: greatest number of sentences between the two.
        weights: dictionary like `WEIGHTS`.

    Returns:
        Number of the antecedent, `None` without one.
    """
    phrases = entities.phrases
    phrase = phrases[index]
    entity = entities.find(index)
    blocked = _blocked(entities, phrase, quotations)
    best, best_score, seen = None, -math.inf, set()
    later = _main_subject(parse, phrase, by_head)
    if later is not None:
        found = entities.find(later)
        if found not in blocked and entities.can_corefer(found, entity):
            score = _score(parse, entities, phrase, phrases[later], 0, found, weights)
            best, best_score = later, score + weights["cataphora"]
    for candidate in range(index - 1, max(index - 1 - MAX_CANDIDATES, -1), -1):
        other = phrases[candidate]
        distance = phrase.sentence - other.sentence
        if distance > max_distance:
            break
        found = entities.find(candidate)
        if found == entity or found in blocked or found in seen:
            continue
        if not _fits(phrase, other) or not entities.can_corefer(found, entity):
            continue
        if other.start <= phrase.start and phrase.end <= other.end and other.head != phrase.head:
            continue
        if _is_coargument(parse, phrase, other):
            seen.add(found)
            continue
        score = _score(parse, entities, phrase, other, distance, found, weights)
        if score > max(best_score, LEAST_SCORE):
            best, best_score = candidate, score
    return best


def reflexive_antecedent(parse, entities, index, by_head):
    """The subject of a reflexive pronoun's own clause, `None` for other pronouns or without one."""
    phrase = entities.phrases[index]
    if not phrase.pronoun.reflexive:
        return None
    other = by_head.get(parse.subject(parse.predicate(phrase.head)))
    if other is None or other >= index:
        return None
    return other if entities.can_corefer(entities.find(index), entities.find(other)) else None


def _fits(phrase, other):
    """Whether an antecedent is in the third person, or speaks, and is not more than one."""
    if other.pronoun is not None and other.pronoun.person != 3 and other.quotation is None:
        return False
    return not (phrase.pronoun.number == "one" and other.number == "many")


def _score(parse, entities, phrase, other, distance, entity, weights):
    score = weights["distance"] * distance
    score += weights["tokens"] * abs(phrase.start - other.end)
    if phrase.person and not entities.persons[entity] and _is_locative(parse, other):
        score += weights["locative"]
    if other.label == "nsubj":
        score += weights["subject"]
    elif other.label in ("obj", "iobj"):
        score += weights["object"]
    elif other.label == "nmod:poss":
        score += weights["possessive"]
    elif other.label in ("nmod", "compound"):
        score += weights["nested"]
    if other.label == phrase.label:
        score += weights["parallel"]
    if other.kind == NAME:
        score += weights["name"]
    elif other.kind == PRONOUN:
        score += weights["pronoun"]
    else:
        score += weights["nominal"]
        if phrase.person and entities.persons[entity] is None:
            score += weights["thing"]
        if not other.definite:
            score += weights["indefinite"]
    if phrase.gender and not entities.genders[entity]:
        score += weights["unknown"]
    if (phrase.quotation is None) == (other.quotation is None):
        score += weights["quotation"]
    members = entities.members[entity]
    score += weights["salience"] * math.log(len(members))
    if distance == 0 and other.label == "nsubj":
        if parse.subject(parse.predicate(phrase.head)) == other.head:
            score += weights["clause_subject"]
    return score


def _blocked(entities, phrase, quotations):
    """Entities that a pronoun cannot refer to: in speech, the speaker and the addressee."""
    if phrase.quotation is None:
        return set()
    quotation = quotations[phrase.quotation]
    participants = (quotation.speaker, quotation.addressee)
    return {entities.find(mention) for mention in participants if mention is not None}


def _is_coargument(parse, phrase, other):
    """Whether binding forbids: a pronoun and another argument of its own predicate."""
    if phrase.pronoun.reflexive or phrase.label == "nmod:poss" or phrase.sentence != other.sentence:
        return False
    if other.label == "nmod:poss" or _has_possessor(parse, phrase.head):
        return False
    governor = parse.predicate(phrase.head)
    if parse.predicate(other.head) == governor and governor not in (phrase.head, other.head):
        return True
    return phrase.label != "nsubj" and parse.subject(governor) == other.head


def _has_possessor(parse, token):
    """Whether a token is inside a possessed noun phrase, which binds: "her nickname for him"."""
    head = parse.governors[token]
    if parse.labels[head] == "prep":
        head = parse.governors[head]
    return parse.tags[head] == "NOUN" and parse.dependent(head, "nmod:poss") is not None


def _is_locative(parse, phrase):
    """Whether a preposition of place comes before: "in Scotland"."""
    return phrase.start > 0 and parse.lowers[phrase.start - 1] in _LOCATIVE


def _main_subject(parse, phrase, by_head):
    """The subject that follows a pronoun in its fronted clause: "In his youth, John sang"."""
    if phrase.pronoun.reflexive:
        return None
    token, last = phrase.head, None
    for _ in range(12):
        head = parse.governors[token]
        if head == token:
            break
        token = head
        subject = parse.dependent(token, "nsubj")
        if subject is not None and subject > phrase.head and subject in by_head:
            last = by_head[subject]
    return last
