"""Registers `corefmem_resolver` with spaCy, which finds this module by its entry point."""

import dataclasses

from spacy.language import Language

from keras_corefmem.graphs.coreference.resolver import KINDS, STEPS, Resolver


@Language.factory(
    "corefmem_resolver",
    default_config={**dataclasses.asdict(Resolver()), "steps": list(STEPS), "kinds": list(KINDS)},
    requires=["token.dep", "token.head"],
    assigns=["doc.spans"],
)
def make_resolver(
    nlp: Language,
    name: str,
    steps: list[str],
    pronoun_distance: int,
    nominal_distance: int,
    singletons: bool,
    kinds: list[str],
) -> Resolver:
    """Makes the component `corefmem_resolver`, see `Resolver`."""
    return Resolver(steps, pronoun_distance, nominal_distance, singletons, kinds)
