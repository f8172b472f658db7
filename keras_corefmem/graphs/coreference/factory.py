"""Registers `corefmem_resolver` with spaCy, which finds this module by its entry point."""

from spacy.language import Language

from keras_corefmem.graphs.coreference.resolver import (
    KINDS,
    NOMINAL_DISTANCE,
    PRONOUN_DISTANCE,
    STEPS,
    Resolver,
)


@Language.factory(
    "corefmem_resolver",
    default_config={
        "steps": list(STEPS),
        "pronoun_distance": PRONOUN_DISTANCE,
        "nominal_distance": NOMINAL_DISTANCE,
        "singletons": False,
        "kinds": list(KINDS),
    },
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
