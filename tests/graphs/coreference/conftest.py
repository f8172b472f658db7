import pytest


@pytest.fixture(scope="session")
def parsed():
    """A function from tokens written `word/tag/head/label`, heads from 0, to a Doc."""
    spacy = pytest.importorskip("spacy")
    vocab = spacy.blank("en").vocab

    def make(text):
        words, tags, heads, labels = zip(*(t.rsplit("/", 3) for t in text.split()), strict=True)
        heads = list(map(int, heads))
        return spacy.tokens.Doc(vocab, list(words), tags=tags, heads=heads, deps=labels)

    return make


@pytest.fixture(scope="session")
def chains(parsed):
    """A function from such tokens to the chains of two or more, lists of their words."""
    from keras_corefmem.graphs.coreference import Resolver

    def resolve(text, mentions=None, **options):
        doc = parsed(text)
        found = Resolver(**options).chains(doc, mentions)
        return [[doc[p.start : p.end].text for p in c] for c in found if len(c) > 1]

    return resolve
