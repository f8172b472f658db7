"""Rule-based coreference resolution, and its spaCy component `corefmem_resolver`."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from keras_corefmem.graphs.coreference import nominals
from keras_corefmem.graphs.coreference.clusters import Clusters
from keras_corefmem.graphs.coreference.mentions import NAME, NOMINAL, Phrase, describe_spans, detect
from keras_corefmem.graphs.coreference.name_matching import link_names
from keras_corefmem.graphs.coreference.parse import Parse
from keras_corefmem.graphs.coreference.pronouns import rank, reflexive_antecedent
from keras_corefmem.graphs.coreference.quotations import attribute, find_quotations
from keras_corefmem.graphs.formats.spacy_docs import CLUSTERS, NO_CHAINS, mark, span_groups
from keras_corefmem.utils.checks import check_sizes

LINKERS = {
    "names": link_names,
    "appositions": nominals.link_appositions,
    "predicates": nominals.link_predicates,
}
STEPS = (*LINKERS, "quotations", "nominals", "pronouns")
# Kinds of entities; an entity is of the first kind that one of its mentions shows.
KINDS = ("person", "name", "place", "other")
PRONOUN_DISTANCE, NOMINAL_DISTANCE = 4, 100


def resolve(
    parse: Parse,
    phrases: list[Phrase],
    steps: Iterable[str],
    pronoun_distance: int,
    nominal_distance: int,
) -> list[list[Phrase]]:
    """Joins the mentions of a text that refer to the same entity.

    First, names, appositions, predicate nouns and the participants of quotations are joined in the
    whole text; then each noun phrase and pronoun, from left to right, is joined to an earlier
    cluster. More precise rules come first, as in
    [Lee et al., 2013](https://aclanthology.org/J13-4004).
    """
    phrases = sorted(phrases, key=lambda phrase: (phrase.head, phrase.start - phrase.end))
    clusters = Clusters(parse, phrases)
    for step, link in LINKERS.items():
        if step in steps:
            link(clusters)
    quotations = find_quotations(parse) if "quotations" in steps else []
    attribute(clusters, quotations)
    nouns = nominals.NominalIndex(clusters, nominal_distance)
    for index, phrase in enumerate(phrases):
        antecedent = None
        if phrase.kind == NOMINAL and "nominals" in steps:
            antecedent = nouns.antecedent(index)
        elif phrase.pronoun is not None and phrase.pronoun.person == 3 and "pronouns" in steps:
            antecedent = reflexive_antecedent(clusters, index)
            if antecedent is None:
                antecedent = rank(clusters, index, quotations, pronoun_distance)
        if antecedent is not None:
            clusters.merge(index, antecedent)
        nouns.add(index)
    return clusters.chains()


def kind_of(chain: Iterable[Phrase]) -> str:
    """Returns the kind of entity that a chain refers to, one of `KINDS`."""
    if any(phrase.person for phrase in chain):
        return "person"
    if any(phrase.kind == NAME for phrase in chain):
        return "name"
    places = any(phrase.kind == NOMINAL and phrase.gender == "thing" for phrase in chain)
    return "place" if places else "other"


@dataclasses.dataclass(eq=False)
class Resolver:
    """A spaCy component that writes coreference chains into `doc.spans`.

    Chains are stored as `doc.spans["coref_clusters_1"]` and so on, the convention of
    spacy-experimental, and replace earlier ones. Ids of the spans keep the chains of several Docs
    apart that `Doc.from_docs` joins. If there is no chain, an empty
    `doc.spans["corefmem_resolver"]` marks the Doc as resolved. Whitespace tokens are ignored. The
    component needs a parser before it, with Universal Dependencies or spaCy's own labels, and
    nothing else: no model, no download.

    In a pipeline, its arguments are its configuration:
    `nlp.add_pipe("corefmem_resolver", config={"pronoun_distance": 2})`. `nlp.to_disk` saves it.

    Args:
        steps: the steps to apply, names from `STEPS`.
        pronoun_distance: greatest number of sentences between a pronoun and its antecedent.
        nominal_distance: the same for noun phrases.
        singletons: whether a mention that corefers with no other forms a chain too.
        kinds: the kinds of entities to keep, names from `KINDS`.

    Raises:
        ValueError: if there is no such step or kind, or a distance is negative; when called, if the
            Doc has no dependencies.

    Example:
        >>> import spacy
        >>> from keras_corefmem.graphs.coreference import Resolver
        >>> parse = {"heads": [1, 1, 3, 1], "deps": "nsubj ROOT nsubj ccomp".split()}
        >>> words, tags = "Mary said she left".split(), "PROPN VERB PRON VERB".split()
        >>> doc = spacy.tokens.Doc(spacy.blank("en").vocab, words, pos=tags, **parse)
        >>> [[(p.start, p.end) for p in chain] for chain in Resolver().chains(doc)]
        [[(0, 1), (2, 3)]]
    """

    steps: Sequence[str] = STEPS
    pronoun_distance: int = PRONOUN_DISTANCE
    nominal_distance: int = NOMINAL_DISTANCE
    singletons: bool = False
    kinds: Sequence[str] = KINDS

    def __post_init__(self) -> None:
        self.steps, self.kinds = tuple(self.steps), tuple(self.kinds)
        for argument, known in (("steps", STEPS), ("kinds", KINDS)):
            for name in getattr(self, argument):
                if name not in known:
                    raise ValueError(f"{name!r} is none of the {argument}, {', '.join(known)}.")
        distances = ("pronoun_distance", "nominal_distance")
        check_sizes(0, **{name: getattr(self, name) for name in distances})

    def chains(
        self, doc: Any, mentions: Iterable[tuple[int, int]] | None = None
    ) -> list[list[Phrase]]:
        """Resolves a Doc without changing it.

        Args:
            doc: a parsed `spacy.tokens.Doc`.
            mentions: known mentions, as pairs of the first token and the one after the last;
                `None` detects mentions.

        Returns:
            One list per entity, its mentions in the order of the text. Known mentions are all
            returned, whatever `singletons` and `kinds`, but without whitespace at their ends, and
            unless they are only whitespace.
        """
        parse = Parse.from_doc(doc)
        if mentions is None:
            phrases = detect(parse)
        else:
            spans = (parse.numbered(*mention) for mention in mentions)
            phrases = describe_spans(parse, [(start, end) for start, end in spans if start < end])
        chains = resolve(parse, phrases, self.steps, self.pronoun_distance, self.nominal_distance)
        if len(parse) < len(doc):
            chains = [[_placed(phrase, parse.places) for phrase in chain] for chain in chains]
        if mentions is not None:
            return chains
        least = 1 if self.singletons else 2
        return [chain for chain in chains if len(chain) >= least and kind_of(chain) in self.kinds]

    def __call__(self, doc: Any) -> Any:
        from spacy.tokens import Span

        chains = self.chains(doc)
        for key in (*span_groups(doc), NO_CHAINS):
            doc.spans.pop(key, None)
        if not chains:
            doc.spans[NO_CHAINS] = []
        for number, chain in enumerate(chains, 1):
            spans = [Span(doc, p.start, p.end, span_id=mark(number, len(chain))) for p in chain]
            doc.spans[f"{CLUSTERS}_{number}"] = spans
        return doc


def _placed(phrase, places):
    """Converts a mention to the token numbers of its Doc."""
    return dataclasses.replace(
        phrase,
        start=places[phrase.start],
        end=places[phrase.end - 1] + 1,
        head=places[phrase.head],
        possessor=None if phrase.possessor is None else places[phrase.possessor],
    )
