"""Antecedents of pronouns, ranked by recency, syntax, salience and agreement."""

import math

from keras_corefmem.graphs.coreference.clusters import Clusters
from keras_corefmem.graphs.coreference.mentions import NOMINAL
from keras_corefmem.graphs.coreference.quotations import Quotation

# Set by hand, then moved halfway to what fits half of LitBank and GAP's validation part best.
WEIGHTS = {
    "distance": -0.9,  # for each sentence between
    "tokens": -0.01,  # for each token between
    "subject": 1.3,
    "object": 0.1,
    "possessive": -0.3,
    "nested": -0.3,  # part of another noun phrase
    "parallel": 0.25,  # the same relation as the pronoun
    "clause_subject": 0.35,  # subject of the pronoun's clause
    "name": 0.3,
    "pronoun": -0.15,
    "nominal": -0.35,
    "indefinite": -0.15,
    "salience": 0.6,  # times the logarithm of the number of its mentions
    "unknown": -0.6,  # gender unknown
    "thing": -2.7,  # a noun not known to be a person, as the pronoun is
    "locative": -1.5,  # "in Scotland"
    "quotation": 1.3,  # both in speech, or both in narration
    "cataphora": -0.4,  # after the pronoun
}
# Maximum number of mentions to rank before a pronoun, and the score that the best must exceed.
MAX_CANDIDATES, LEAST_SCORE = 60, -1.5

_LOCATIVE = frozenset("in into at near within across throughout inside outside".split())


def rank(
    clusters: Clusters, index: int, quotations: list[Quotation], max_distance: int
) -> int | None:
    """Chooses the antecedent of a third-person pronoun, once all earlier mentions are resolved."""
    phrases = clusters.phrases
    phrase, own = phrases[index], clusters.find(index)
    blocked: set[int] = set()
    if phrase.quotation is not None:
        # In speech, the pronoun refers to neither the speaker nor the addressee.
        speech = quotations[phrase.quotation]
        blocked = {clusters.find(m) for m in (speech.speaker, speech.addressee) if m is not None}
    best, best_score = None, -math.inf
    later = _main_subject(clusters, phrase)
    if later is not None:
        cluster = clusters.find(later)
        if cluster not in blocked and clusters.agree(cluster, own):
            score = _score(clusters, phrase, phrases[later], 0, cluster)
            best, best_score = later, score + WEIGHTS["cataphora"]
    for candidate in range(index - 1, max(index - 1 - MAX_CANDIDATES, -1), -1):
        other = phrases[candidate]
        distance = phrase.sentence - other.sentence
        if distance > max_distance:
            break
        cluster = clusters.find(candidate)
        if cluster == own or cluster in blocked:
            continue
        if not _fits(phrase, other) or not clusters.agree(cluster, own):
            continue
        if other.start <= phrase.start and phrase.end <= other.end and other.head != phrase.head:
            continue
        if _is_coargument(clusters.parse, phrase, other):
            blocked.add(cluster)
            continue
        score = _score(clusters, phrase, other, distance, cluster)
        if score > max(best_score, LEAST_SCORE):
            best, best_score = candidate, score
    return best


def reflexive_antecedent(clusters: Clusters, index: int) -> int | None:
    """Returns the subject of a reflexive pronoun's own clause, `None` for other pronouns."""
    parse, phrase = clusters.parse, clusters.phrases[index]
    if phrase.pronoun is None or not phrase.pronoun.reflexive:
        return None
    other = clusters.headed_by(parse.subject(parse.predicate(phrase.head)))
    return other if other is not None and other < index and clusters.agree(index, other) else None


def _fits(phrase, other):
    """Returns whether person and number fit: "I" and "you" fit only as mentions in quotations."""
    if other.pronoun is not None and other.pronoun.person != 3 and other.quotation is None:
        return False
    return not (phrase.pronoun.number == "one" and other.number == "many")


def _score(clusters, phrase, other, distance, cluster):
    parse, person, subject = clusters.parse, clusters.persons[cluster], other.label == "nsubj"
    clause_subject = subject and distance == 0
    values = {
        "distance": distance,
        "tokens": abs(phrase.start - other.end),
        "locative": phrase.person and not person and _is_locative(parse, other),
        "subject": subject,
        "object": other.label in ("obj", "iobj"),
        "possessive": other.label == "nmod:poss",
        "nested": other.label in ("nmod", "compound"),
        "parallel": other.label == phrase.label,
        other.kind: True,
        "thing": other.kind == NOMINAL and phrase.person and person is None,
        "indefinite": other.kind == NOMINAL and not other.definite,
        "unknown": phrase.gender and not clusters.genders[cluster],
        "quotation": (phrase.quotation is None) == (other.quotation is None),
        "salience": math.log(len(clusters.members[cluster])),
        "clause_subject": clause_subject
        and parse.subject(parse.predicate(phrase.head)) == other.head,
    }
    return sum(WEIGHTS[name] * value for name, value in values.items() if value)


def _is_coargument(parse, phrase, other):
    """Returns whether binding excludes a mention, as an argument of the pronoun's predicate."""
    if phrase.pronoun.reflexive or phrase.label == "nmod:poss" or phrase.sentence != other.sentence:
        return False
    if other.label == "nmod:poss" or _has_possessor(parse, phrase.head):
        return False
    predicate = parse.predicate(phrase.head)
    if parse.predicate(other.head) == predicate and predicate not in (phrase.head, other.head):
        return True
    return phrase.label != "nsubj" and parse.subject(predicate) == other.head


def _has_possessor(parse, token):
    """Returns whether a token is in a possessed phrase, which binds it: "her nickname for him"."""
    governor = parse.governors[token]
    if parse.labels[governor] == "prep":
        governor = parse.governors[governor]
    return parse.tags[governor] == "NOUN" and parse.dependent(governor, "nmod:poss") is not None


def _is_locative(parse, phrase):
    """Returns whether a preposition of place precedes a mention: "in Scotland"."""
    return phrase.start > 0 and parse.lowers[phrase.start - 1] in _LOCATIVE


def _main_subject(clusters, phrase):
    """Returns the subject that follows a pronoun in a fronted phrase: "In his youth, John sang"."""
    parse, token, last = clusters.parse, phrase.head, None
    for _ in range(0 if phrase.pronoun.reflexive else 12):
        if parse.governors[token] == token:
            break
        token = parse.governors[token]
        subject = parse.dependent(token, "nsubj")
        if subject is not None and subject > phrase.head and subject in clusters.by_head:
            last = clusters.by_head[subject]
    return last
