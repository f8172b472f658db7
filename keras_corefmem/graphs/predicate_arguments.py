"""Events of a text: its predicates and their arguments."""

from keras_corefmem.graphs.universal import universal_label, universal_tag

# Universal relations of arguments; an oblique one depends on spaCy's prepositions, which depend on
# the predicate.
ARGUMENTS = frozenset(("nsubj", "csubj", "obj", "iobj", "obl"))
ADPOSITIONS = ("ADP", "PART")
ROLE = "ARG"


def predicate_arguments(annotation):
    """Pairs of a predicate and an argument of it.

    Predicates are verbs; arguments their subjects, objects and obliques, each the head of its
    phrase. A verb without a subject that completes another one (`xcomp`) has the object of that, or
    else its subject: "they wanted Jon to leave". Labels may be universal or spaCy's own.

    Where the annotation has relations whose type starts with `ARG`, from predicates to arguments,
    as those of a semantic role labeller, these are taken instead.

    Args:
        annotation: an `Annotation`.

    Returns:
        Sorted list of pairs of token numbers, from 0; empty where nothing was parsed.
    """
    roles = {(source, target) for source, target, kind in annotation.relations if is_role(kind)}
    if roles:
        return sorted(roles)
    labels = list(map(universal_label, annotation.labels))
    tags = list(map(universal_tag, annotation.tags)) or ["VERB"] * len(annotation)
    found, by_label = set(), {}

    def is_preposition(token):
        # spaCy calls that of a recipient a dative, like the recipient itself.
        return labels[token] == "prep" or labels[token] == "iobj" and tags[token] in ADPOSITIONS

    for token, (head, label) in enumerate(zip(annotation.heads, labels, strict=True)):
        by_label.setdefault((head, label), token)
        if label not in ARGUMENTS or is_preposition(token):
            continue
        # One preposition may depend on another: "out of".
        while is_preposition(head) and annotation.heads[head] != head:
            head = annotation.heads[head]
        if tags[head] == "VERB" and head != token:
            found.add((head, token))
    for token, (head, label) in enumerate(zip(annotation.heads, labels, strict=True)):
        if label == "xcomp" and tags[token] == "VERB" and (token, "nsubj") not in by_label:
            shared = by_label.get((head, "obj"), by_label.get((head, "nsubj")))
            found |= set() if shared is None else {(token, shared)}
    return sorted(found)


def is_role(kind):
    """Whether a relation is one between a predicate and its argument."""
    return kind.upper().startswith(ROLE)
