"""Predicate-argument structure: which tokens are predicates, and which their arguments."""

from keras_corefmem.graphs.annotation import Annotation
from keras_corefmem.graphs.universal import universal_label, universal_tag

# Universal relations of arguments; an oblique one depends on spaCy's prepositions, which depend on
# the predicate.
ARGUMENTS = frozenset(("nsubj", "csubj", "obj", "iobj", "obl"))
ADPOSITIONS = ("ADP", "PART")
# How the types of relations begin that join a predicate to its arguments.
ROLE = "ARG"


def predicate_arguments(annotation: Annotation) -> list[tuple[int, int]]:
    """Pairs every predicate with each of its arguments.

    Predicates are verbs; arguments their subjects, objects and obliques, each the head of its
    phrase. A verb without a subject that completes another one (`xcomp`) has the object of that, or
    else its subject: "they wanted Jon to leave". Labels may be universal or spaCy's own.

    Where the annotation has typed edges whose type starts with `ARG`, from predicates to arguments,
    as those of a semantic role labeller, these are taken instead.

    Returns:
        Pairs of numbers of tokens, from 0.
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
        # spaCy calls that of a recipient a dative, like the recipient itself.
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
