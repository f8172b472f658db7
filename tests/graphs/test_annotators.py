import itertools

import pytest

from keras_corefmem.graphs import Mention
from keras_corefmem.graphs.annotators import annotate, load_pipeline
from keras_corefmem.text.truecase import Truecaser

TEXT = "Mary met Mr. Hall. Then John saw Mary. Then he left."


def words(annotation):
    return [[annotation.tokens[mention.head] for mention in chain] for chain in annotation.chains]


def test_exact_needs_no_model():
    (annotation,) = annotate([TEXT])
    assert annotation.tokens[:5] == ("Mary", "met", "Mr", ".", "Hall")
    assert annotation.sentences == (0, 6, 11)
    assert annotation.governors == annotation.labels == annotation.tags == ()
    # "Then" only begins sentences, "John" does not repeat.
    assert annotation.chains == ((Mention(0, 1, 0), Mention(9, 10, 9)),)


def test_exact_splits_clitics_as_the_text_has_them():
    (annotation,) = annotate(["  Don't, Mary!\tMary's dog."])
    assert annotation.tokens == ("Do", "n't", ",", "Mary", "!", "Mary", "'s", "dog", ".")
    assert annotation.starts == (2, 4, 7, 9, 13, 15, 19, 22, 25)
    assert words(annotation) == [["Mary", "Mary"]]


def test_exact_takes_tokens_between_spaces():
    (annotation,) = annotate(["`` Mary , ''  she said . Mary left"], tokenized=True)
    assert annotation.tokens[:4] == ("``", "Mary", ",", "''") and annotation.starts[4] == 14
    # Both begin a quotation or a sentence.
    assert annotation.chains == () and annotation.sentences == (0, 7)


def test_annotators_stream():
    endless = (f"Mary saw Mary {number}." for number in itertools.count())
    found = annotate(endless)
    assert [next(found).tokens[3] for _ in range(3)] == ["0", "1", "2"]


def test_sentences_of_text_in_lower_case_end_at_full_stops():
    text = "mary slept . `` why ? '' then mr. hall left ."
    for truecaser in (None, "novels"):
        (annotation,) = annotate([text], tokenized=True, truecaser=truecaser)
        assert annotation.sentences == (0, 3, 7)
    assert next(annotate(["Mary slept . then"], tokenized=True)).sentences == (0,)


def test_a_truecaser_sees_small_letters():
    truecaser = Truecaser({"mary": "Mary", "saw": "saw", "so": "so"})
    text = "so mary saw mary"
    for tokenized in (False, True):
        (annotation,) = annotate([text], tokenized=tokenized, truecaser=truecaser)
        assert annotation.text == text and annotation.tokens == tuple(text.split())
        assert words(annotation) == [["mary", "mary"]]
    assert next(annotate([text])).chains == ()


def test_bad_input_raises():
    with pytest.raises(ValueError, match="`texts` is one string, pass a list"):
        annotate("Mary left.")
    with pytest.raises(ValueError, match="Text 2 has no tokens, leave it out: ' '"):
        list(annotate(["Mary", " "]))


@pytest.mark.parametrize("annotator", ["exact", lambda texts: annotate(texts)])
def test_texts_are_strings(annotator):
    for text in (None, float("nan"), b"Mary"):
        with pytest.raises(ValueError, match="Text 2 is not a string, leave it out: "):
            list(annotate(["Mary", text], annotator))


def test_bad_pipelines_raise(tmp_path):
    spacy = pytest.importorskip("spacy")
    with pytest.raises(ValueError, match="No spaCy pipeline 'no_such_thing'.*download.*exact"):
        annotate(["Mary"], "no_such_thing")
    with pytest.raises(ValueError, match="the spaCy pipeline does not load"):
        load_pipeline(tmp_path)
    with pytest.raises(ValueError, match="no dependencies.*put a parser before corefmem_resolver"):
        list(annotate(["Mary left."], spacy.blank("en")))


def test_functions_annotate(tmp_path):
    seen, path = [], tmp_path / "truecaser.json"
    Truecaser({"mary": "Mary", "saw": "saw", "so": "so"}).save(path)

    def annotator(texts):
        seen.extend(texts)
        return annotate(texts, tokenized=True)

    texts = ["so mary saw mary", "John  saw John ."]
    for truecaser in (path, str(path), Truecaser.load(path)):
        first, second = annotate(texts, annotator, 1, tokenized=True, truecaser=truecaser)
        assert first.text == texts[0] and words(first) == [["mary", "mary"]]
        assert second.tokens == ("John", "saw", "John", ".")
    assert seen[:2] == ["So Mary saw Mary", "John  saw John ."]
    with pytest.raises(ValueError, match="The annotator cuts 'so mary' to other tokens"):
        list(annotate(["so mary"], lambda texts: annotate(["so ma"]), tokenized=True))
    for texts, message in (
        (["Mary ran", "He ran"], "The annotator gives 1 annotations of 2 texts"),
        (["Oh, Mary ran"], "the token 'Mary' for 'Oh, ' of 'Oh, Mary ran'"),
    ):
        with pytest.raises(ValueError, match=message):
            list(annotate(texts, lambda texts: annotate(["Mary ran"])))
    (one,) = annotate(["Mary ran"])
    none = "0 annotations of 1 texts"
    for result, wrong in ((None, none), (one, none), ([one.to_dict()], "{'text': 'Mary ran'")):
        with pytest.raises(ValueError, match=f"gives {wrong}.*: it must return a list with one"):
            list(annotate(["Mary ran"], lambda texts, result=result: result))
    with pytest.raises(ValueError, match="batch_size must be .* at least 1, got 0"):
        annotate(texts, annotator, 0)
    with pytest.raises(ValueError, match="or a function from texts to annotations; got 3"):
        annotate(["so mary"], 3)
    with pytest.raises(FileNotFoundError, match="none.json"):
        annotate(["so mary"], truecaser=tmp_path / "none.json")


@pytest.fixture(scope="module")
def ruled():
    """A pipeline that splits sentences and knows the chain of all capitalised words."""
    spacy = pytest.importorskip("spacy")

    @spacy.Language.component("capital_chains")
    def find(doc):
        doc.spans["coref_clusters_1"] = [doc[t.i : t.i + 1] for t in doc if t.text[0].isupper()]
        return doc

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("capital_chains")
    return nlp


def test_coreference_of_a_pipeline_is_taken_over(ruled):
    found = list(annotate([TEXT, "We saw Mary."] * 3, ruled, batch_size=4))
    assert [len(annotation) for annotation in found] == [14, 4] * 3
    assert words(found[1]) == [["We", "Mary"]] and found[0].sentences == (0, 5, 10)
    assert ruled.pipe_names == ["sentencizer", "capital_chains"]


def test_tokens_and_case_stay_as_they_were_given(ruled):
    text = "`` mary  , '' she said .\nthey 're in"
    truecaser = Truecaser({"mary": "Mary", "said": "said", "they": "they"})
    (annotation,) = annotate([text], ruled, tokenized=True, truecaser=truecaser)
    assert annotation.text == text and annotation.tokens == tuple(text.split())
    assert words(annotation) == [["mary", "she", "they"]]
    (untokenized,) = annotate(["so mary's  dog"], ruled, truecaser=truecaser)
    assert untokenized.text == "so mary's  dog"
    assert untokenized.tokens == ("so", "mary", "'s", "dog")


def test_a_truecaser_sees_no_spaces(ruled):
    seen = []

    def truecaser(tokens):
        seen.extend(tokens)
        return [token.title() for token in tokens]

    (annotation,) = annotate(["mary  saw\n mary"], ruled, truecaser=truecaser)
    assert seen == ["mary", "saw", "mary"] and words(annotation) == [["mary", "saw", "mary"]]
    for annotator in (ruled, "exact", lambda texts: annotate(texts)):
        with pytest.raises(ValueError, match="changes the number of tokens of 'mary saw'"):
            list(annotate(["mary saw"], annotator, truecaser=lambda tokens: tokens[1:]))


def test_tokens_that_a_pipeline_merges_are_refused(ruled):
    ruled.add_pipe("merge_entities", first=True)
    ruler = ruled.add_pipe("entity_ruler", first=True)
    ruler.add_patterns([{"label": "GPE", "pattern": "New York"}])
    try:
        assert next(annotate(["New York."], ruled)).tokens == ("New York", ".")
        with pytest.raises(ValueError, match="changes the tokens of 'New York .': .* merge_ent"):
            list(annotate(["New York ."], ruled, tokenized=True))
    finally:
        ruled.remove_pipe("merge_entities")
        ruled.remove_pipe("entity_ruler")


def test_a_real_pipeline(ud_pipeline):
    (annotation,) = annotate(["Mary told John that she slept. He left."], ud_pipeline)
    assert words(annotation) == [["Mary", "she"], ["John", "He"]]
    assert len(annotation.governors) == 10 and annotation.tags[0] == "NNP"
    text = "`` i saw john , '' mary said . he left"
    truecaser = Truecaser({"mary": "Mary", "john": "John", "i": "I", "saw": "saw", "said": "said"})
    (lower,) = annotate([text], ud_pipeline, tokenized=True, truecaser=truecaser)
    assert lower.text == text and ["i", "mary"] in words(lower)


@pytest.mark.parametrize("brackets", [("-lrb-", "-rrb-"), ("-LRB-", "-RRB-")])
def test_brackets_of_treebanks_are_no_names(ud_pipeline, brackets):
    text = "Mary ( the queen ) slept . She woke .".replace("(", brackets[0])
    (annotation,) = annotate([text.replace(")", brackets[1])], ud_pipeline, tokenized=True)
    assert words(annotation) == [["Mary", "queen", "She"]]
    assert annotation.tokens[1] == brackets[0] and annotation.tags[1] == "-LRB-"


def test_a_resolver_in_the_pipeline_is_not_run_twice(ud_pipeline):
    name = "corefmem_resolver"
    ud_pipeline.add_pipe(name, config={"steps": ["names"]})
    try:
        (annotation,) = annotate(["Mary said that she saw Mary."], ud_pipeline)
    finally:
        ud_pipeline.remove_pipe(name)
    assert words(annotation) == [["Mary", "Mary"]]
