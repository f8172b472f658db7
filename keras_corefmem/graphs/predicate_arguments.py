"""Predicate-argument structure, from dependencies or semantic roles."""

from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.universal import universal_label, universal_tag

# Universal relations of arguments. In spaCy's scheme, an oblique depends on its preposition, which
# depends on the predicate.
ARGUMENTS = frozenset(("nsubj", "csubj", "obj", "iobj", "obl"))
ADPOSITIONS = ("ADP", "PART")
# Prefix of the edge types that join a predicate to its arguments.
ROLE = "ARG"


def predicate_arguments(annotation: Annotation) -> list[tuple[int, int]]:
    """Pairs every predicate with each of its arguments.

    Predicates are verbs; their arguments are the heads of their subjects, objects and obliques. A
    verb without a subject that complements another verb (`xcomp`) takes the object of that verb, or
    else its subject: "Jon" leaves in "they wanted Jon to leave". Labels may be universal or spaCy's
    own.

    If the annotation has typed edges whose type starts with `ARG`, such as those of a semantic role
    labeller from predicates to arguments, these are used instead.

    Returns:
        Sorted pairs of predicate and argument, as token numbers from 0.
    """
    edges = annotation.typed_edges
    roles = {(source - 1, target - 1) for source, target, t in edges if t.upper()[:3] == ROLE}
    if roles:
        return sorted(roles)
    governors, labels = annotation.governors, list(map(universal_label, annotation.labels))
    tags = list(map(universal_tag, annotation.tags)) or ["VERB"] * len(annotation)
    pairs: set[tuple[int, int]] = set()
    dependents: dict[tuple[int, str], int] = {}

    def is_preposition(token: int) -> bool:
        # spaCy labels both a recipient and its preposition as a dative.
        return labels[token] == "prep" or labels[token] == "iobj" and tags[token] in ADPOSITIONS

    for token, (governor, label) in enumerate(zip(governors, labels, strict=True)):
        dependents.setdefault((governor, label), token)
        if label not in ARGUMENTS or is_preposition(token):
            continue
        # One preposition may depend on another: "out of".
        while is_preposition(governor) and governors[governor] != governor:
            governor = governors[governor]
        if tags[governor] == "VERB" and governor != token:
            pairs.add((governor, token))
    for token, (governor, label) in enumerate(zip(governors, labels, strict=True)):
        if label == "xcomp" and tags[token] == "VERB" and (token, "nsubj") not in dependents:
            shared = dependents.get((governor, "obj"), dependents.get((governor, "nsubj")))
            if shared is not None:
                pairs.add((token, shared))
    return sorted(pairs)
