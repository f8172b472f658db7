"""Coreference by rules, and the spaCy component `corefmem_resolver` that applies them."""

from keras_corefmem.graphs.coreference.agreement import Entities
from keras_corefmem.graphs.coreference.mentions import NAME, NOMINAL, PRONOUN, detect, given
from keras_corefmem.graphs.coreference.name_matching import link_names
from keras_corefmem.graphs.coreference.nominals import (
    NominalIndex,
    link_appositions,
    link_predicates,
)
from keras_corefmem.graphs.coreference.parse import Parse
from keras_corefmem.graphs.coreference.pronouns import WEIGHTS, rank, reflexive_antecedent
from keras_corefmem.graphs.coreference.quotations import attribute, find_quotations
from keras_corefmem.graphs.formats.spacy_docs import CLUSTERS
from keras_corefmem.utils.checks import check_sizes

STEPS = ("names", "appositions", "predicates", "quotations", "nominals", "pronouns")
# What an entity is, by the first of these that a mention of it tells.
KINDS = ("person", "name", "place", "other")
PRONOUN_DISTANCE, NOMINAL_DISTANCE = 4, 100


def resolve(
    parse,
    phrases,
    steps=STEPS,
    pronoun_distance=PRONOUN_DISTANCE,
    nominal_distance=NOMINAL_DISTANCE,
    weights=WEIGHTS,
):
    """Joins the mentions of a text that refer to the same entity.

    Names, appositions, predicates and the participants of quotations are joined in the whole text;
    then each noun phrase and pronoun, from left to right, to an entity before it. The order follows
    the precision of the rules, as in [Lee et al., 2013](https://aclanthology.org/J13-4004).

    Args:
        parse: `Parse`.
        phrases: list of `Phrase`, from `detect` or `given`.
        steps: names out of `STEPS`, what to do of it.
        pronoun_distance: greatest number of sentences between a pronoun and its antecedent.
        nominal_distance: the same for noun phrases.
        weights: of the ranking of antecedents, see `rank`.

    Returns:
        List of lists of `Phrase`, one for each entity, those of one mention included.

    Raises:
        ValueError: if there is no such step.
    """
    _check_names("steps", steps, STEPS)
    phrases = sorted(phrases, key=lambda phrase: (phrase.head, phrase.start - phrase.end))
    by_head = {phrase.head: index for index, phrase in reversed([*enumerate(phrases)])}
    entities = Entities(phrases)
    if "names" in steps:
        link_names(entities)
    if "appositions" in steps:
        link_appositions(parse, entities, by_head)
    if "predicates" in steps:
        link_predicates(parse, entities, by_head)
    quotations = find_quotations(parse) if "quotations" in steps else []
    attribute(parse, entities, quotations, by_head)
    nominals = NominalIndex(parse, entities, by_head, nominal_distance)
    for index, phrase in enumerate(phrases):
        antecedent = None
        if phrase.kind == NOMINAL and "nominals" in steps:
            antecedent = nominals.antecedent(index)
        elif phrase.kind == PRONOUN and phrase.pronoun.person == 3 and "pronouns" in steps:
            antecedent = reflexive_antecedent(parse, entities, index, by_head)
            if antecedent is None:
                antecedent = rank(
                    parse, entities, index, by_head, quotations, pronoun_distance, weights
                )
        if antecedent is not None:
            entities.merge(index, antecedent)
        nominals.add(index)
    return [[phrases[index] for index in chain] for chain in entities.chains()]


def _check_names(argument, names, known):
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is none of the {argument}, {', '.join(known)}.")


def kind_of(chain):
    """What kind of entity a list of `Phrase`s mentions, one of `KINDS`."""
    if any(phrase.person for phrase in chain):
        return "person"
    if any(phrase.kind == NAME for phrase in chain):
        return "name"
    places = any(phrase.kind == NOMINAL and phrase.gender == "thing" for phrase in chain)
    return "place" if places else "other"


class Resolver:
    """A spaCy component that writes coreference chains into `doc.spans`.

    They are `doc.spans["coref_clusters_1"]` and so on, the convention of spacy-experimental. It
    needs a parser before it, of Universal Dependencies or with spaCy's own labels, and nothing
    else: no model, no download. In a pipeline: `nlp.add_pipe("corefmem_resolver")`.

    Args:
        steps: what to resolve, names out of `STEPS`.
        pronoun_distance: greatest number of sentences between a pronoun and its antecedent.
        nominal_distance: the same for noun phrases.
        singletons: whether mentions that corefer with no other are chains, too.
        kinds: which entities, names out of `KINDS`.

    Raises:
        ValueError: if there is no such step or kind, or a distance is negative; when called, if the
            Doc has no dependencies.
    """

    def __init__(
        self,
        steps=STEPS,
        pronoun_distance=PRONOUN_DISTANCE,
        nominal_distance=NOMINAL_DISTANCE,
        singletons=False,
        kinds=KINDS,
    ):
        _check_names("steps", steps, STEPS)
        _check_names("kinds", kinds, KINDS)
        check_sizes(0, pronoun_distance=pronoun_distance, nominal_distance=nominal_distance)
        self.steps = tuple(steps)
        self.pronoun_distance = pronoun_distance
        self.nominal_distance = nominal_distance
        self.singletons = singletons
        self.kinds = tuple(kinds)

    def chains(self, doc, mentions=None):
        """Resolves a Doc without changing it.

        Args:
            doc: a parsed `spacy.tokens.Doc`.
            mentions: pairs of the first token and the one behind the last, where mentions are
                known; `None` detects them.

        Returns:
            List of lists of `Phrase`, by first mention; all mentions of those that are known.
        """
        parse = Parse.from_doc(doc)
        phrases = detect(parse) if mentions is None else given(parse, mentions)
        found = resolve(parse, phrases, self.steps, self.pronoun_distance, self.nominal_distance)
        if mentions is not None:
            return found
        least = 1 if self.singletons else 2
        return [chain for chain in found if len(chain) >= least and kind_of(chain) in self.kinds]

    def __call__(self, doc):
        for number, chain in enumerate(self.chains(doc), 1):
            doc.spans[f"{CLUSTERS}_{number}"] = [doc[p.start : p.end] for p in chain]
        return doc
