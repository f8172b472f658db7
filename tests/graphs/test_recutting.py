"""Structure that is moved to the tokens of another tokenizer."""

import pytest

from keras_corefmem.graphs import Annotation
from keras_corefmem.graphs.recutting import recut
from keras_corefmem.text import get_tokenizer

TEXT = "\u201cAnn\u2019s well-known (old) dog,\u201d she said\u2014once."
TOKENS = "\u201c Ann \u2019s well - known ( old ) dog , \u201d she said \u2014 once .".split()
NEW = "`` Ann 's well-known -LRB- old -RRB- dog , '' she said -- once .".split()


def annotated(text=TEXT, tokens=TOKENS, **fields):
    starts, end = [], 0
    for token in tokens:
        starts.append(text.index(token, end))
        end = starts[-1] + len(token)
    return Annotation(text, tokens, starts, **fields)


def test_structure_moves_to_the_tokens_of_prose():
    assert get_tokenizer("prose").cased(TEXT) == NEW
    # "well" and "-" depend on "known", which depends on "dog".
    governors = [1, 9, 1, 5, 5, 9, 9, 9, 9, 13, 9, 9, 13, 13, 13, 13, 13]
    labels = [f"{token}!" for token in TOKENS]
    found = recut(
        annotated(
            sentences=(0, 12),
            governors=governors,
            labels=labels,
            tags=labels,
            named_entities=["", "PERSON", *[""] * 15],
            chains=[[(0, 3, 1), (12, 13, 12)], [(3, 10, 9), (6, 7, 6)]],
            typed_edges=[(4, 10, "near"), (4, 6, "inside"), (17, 2, "far")],
        ),
        NEW,
    )
    assert found.tokens == tuple(NEW) and found.text == " ".join(NEW)
    assert [NEW[n] for n in found.governors] == (
        "Ann dog Ann dog dog dog dog said dog dog said said said said said".split()
    )
    kept = ("known!", *(f"{t}!" for t in TOKENS[6:]))
    assert found.labels == found.tags == (*labels[:3], *kept)
    assert found.named_entities == ("", "PERSON", *[""] * 13)
    mentions = [[" ".join(NEW[m.start : m.end]) for m in chain] for chain in found.chains]
    assert mentions == [["`` Ann 's", "she"], ["well-known -LRB- old -RRB- dog", "-LRB-"]]
    heads = [[NEW[mention.head] for mention in chain] for chain in found.chains]
    assert heads == [["Ann", "she"], ["dog", "-LRB-"]]
    ends = [(NEW[a - 1], NEW[b - 1], kind) for a, b, kind in found.typed_edges]
    assert sorted(ends) == [(".", "Ann", "far"), ("well-known", "dog", "near")]
    assert [NEW[n] for n in found.sentences] == ["``", "she"]
    assert found.to_dict() == recut(found, NEW).to_dict()


def test_a_token_may_become_several():
    text, tokens = "Ann cannot go", ("Ann", "cannot", "go")
    chains = [[(0, 1, 0), (1, 2, 1)]]
    one = annotated(text, tokens, governors=[2, 2, 2], labels=["a", "b", "c"], chains=chains)
    new = ["Ann", "can", "not", "--", "go", "!"]
    found = recut(one, new)
    assert found.governors == (4, 4, 1, 2, 4, 4) and found.labels == ("a", "b", "b", "", "c", "")
    assert found.chains == (((0, 1, 0), (1, 3, 1)),)
    assert recut(annotated(text, tokens), new).governors == ()


def test_tokens_of_another_text_are_refused():
    with pytest.raises(ValueError, match=r"\['Bob'\] are no tokens of 'Ann'"):
        recut(annotated("Ann", ["Ann"]), ["Bob"])
