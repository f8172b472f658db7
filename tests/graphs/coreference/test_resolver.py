import cProfile

import pytest

from keras_corefmem.graphs import coreference as resolver
from keras_corefmem.graphs.coreference import Resolver
from keras_corefmem.graphs.coreference.resolver import kind_of
from keras_corefmem.graphs.formats.spacy_docs import chains_of, from_doc, span_groups

# Mary told John that she slept. He left.
TOLD = (
    "Mary/NNP/1/nsubj told/VBD/1/root John/NNP/1/obj that/IN/5/mark she/PRP/5/nsubj "
    "slept/VBD/1/ccomp ././1/punct He/PRP/8/nsubj left/VBD/8/root ././8/punct"
)


# Mrs. Hall met the man of Iping. He saw her.
NAMES = (
    "Mrs./NNP/1/compound Hall/NNP/2/nsubj met/VBD/2/root the/DT/4/det man/NN/2/obj of/IN/6/case "
    "Iping/NNP/4/nmod ././2/punct He/PRP/9/nsubj saw/VBD/9/root her/PRP/9/obj"
)


def test_pronouns_agree_with_names(chains):
    assert chains(TOLD) == [["Mary", "she"], ["John", "He"]]
    assert chains(TOLD, steps=["names"]) == []
    # "He" is a sentence further on.
    assert chains(TOLD, pronoun_distance=0) == [["Mary", "she"]]


def test_names_and_their_parts(chains):
    text = (
        "Jane/NNP/1/compound Bennet/NNP/2/nsubj met/VBD/2/root Mr./NNP/4/compound "
        "Bennet/NNP/2/obj ././2/punct Miss/NNP/7/compound Bennet/NNP/8/nsubj sat/VBD/8/root "
        "Bennet/NNP/10/nsubj stood/VBD/10/root"
    )
    found = chains(text)
    assert ["Jane Bennet", "Miss Bennet"] in [chain[:2] for chain in found]
    assert not any({"Mr. Bennet", "Miss Bennet"} <= set(chain) for chain in found)
    assert sum("Bennet" in chain for chain in found) == 1


def test_titles_are_the_same_with_a_full_stop_and_without(chains):
    text = "Mr./NNP/1/nmod:desc Hall/NNP/2/nsubj sat/VBD/2/root Mr/NNP/4/compound Hall/NNP/5/nsubj"
    assert chains(f"{text} ran/VBD/5/root") == [["Mr. Hall", "Mr Hall"]]
    other = text.replace("Mr/", "Mrs/")
    assert chains(f"{other} ran/VBD/5/root") == []


def test_clauses_bind_reflexives_and_free_pronouns(chains):
    himself = "John/NNP/1/nsubj saw/VBD/1/root himself/PRP/1/obj"
    assert chains(himself) == [["John", "himself"]]
    assert chains(himself.replace("himself", "him")) == []
    sat = "Peter/NNP/1/nsubj sat/VBD/1/root ././1/punct"
    assert chains(f"{sat} John/NNP/4/nsubj saw/VBD/4/root him/PRP/4/obj") == [["Peter", "him"]]


def test_noun_phrases_refer_back_if_they_are_definite(chains):
    text = (
        "A/DT/2/det tall/JJ/2/amod man/NN/3/nsubj came/VBD/3/root ././3/punct The/DT/6/det "
        "man/NN/7/nsubj sat/VBD/7/root ././7/punct A/DT/10/det man/NN/11/nsubj left/VBD/11/root"
    )
    assert chains(text) == [["A tall man", "The man"]]
    assert chains(text, nominal_distance=0) == []
    # What the second is called, the first is not.
    new = (
        "A/DT/1/det man/NN/2/nsubj came/VBD/2/root ././2/punct The/DT/6/det old/JJ/6/amod "
        "man/NN/7/nsubj sat/VBD/7/root"
    )
    assert chains(new) == []
    assert chains(new.replace("old/JJ/6/amod", "the/DT/6/det")) == [["A man", "The the man"]]


def test_appositions_and_predicates(chains):
    text = (
        "Bates/NNP/6/nsubj ,/,/3/punct a/DT/3/det surgeon/NN/0/appos ,/,/3/punct was/VBD/6/cop "
        "friend/NN/6/root"
    )
    assert chains(text) == [["Bates", "a surgeon", "friend"]]
    assert chains(text, steps=["appositions"]) == [["Bates", "a surgeon"]]
    assert chains(text, steps=["predicates"]) == [["Bates", "friend"]]
    assert chains(f"{text} not/RB/6/advmod", steps=["predicates"]) == []
    own = "Bates/NNP/1/nsubj was/VBD/1/ROOT a/DT/3/det friend/NN/1/attr"
    assert chains(own) == [["Bates", "a friend"]]


# "I know you," said Mary. "I know you too," said John.
SPEECH = (
    "\"/``/3/punct I/PRP/2/nsubj know/VBP/2/root you/PRP/2/obj ,/,/2/punct \"/''/2/punct "
    "said/VBD/2/parataxis Mary/NNP/6/nsubj ././2/punct "
    '"/``/11/punct I/PRP/11/nsubj know/VBP/11/root you/PRP/11/obj too/RB/11/advmod ,/,/11/punct '
    "\"/''/11/punct said/VBD/11/parataxis John/NNP/16/nsubj ././11/punct"
)


def test_speakers_are_i_and_addressees_you(chains):
    assert chains(SPEECH) == [["I", "Mary", "you"], ["you", "I", "John"]]
    # Without quotations, all are one narrator and one reader.
    assert chains(SPEECH, steps=["names"]) == [["I", "I"], ["you", "you"]]
    for opening, closing in (("\u201c", "\u201d"), ("``", "''"), ("\u2018", "\u2019")):
        text = SPEECH.replace('"/``', f"{opening}/``").replace("\"/''", f"{closing}/''")
        assert chains(text) == [["I", "Mary", "you"], ["you", "I", "John"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Possessors tell possessed apart.
        (
            "Mary/NNP/1/nsubj saw/VBD/1/root her/PRP$/3/nmod:poss house/NN/1/obj ././1/punct "
            "John/NNP/6/nsubj saw/VBD/6/root his/PRP$/8/nmod:poss house/NN/6/obj ././6/punct "
            "He/PRP/11/nsubj left/VBD/11/root his/PRP$/13/nmod:poss house/NN/11/obj",
            [["Mary", "her"], ["John", "his", "He", "his"], ["his house", "his house"]],
        ),
        # Who speaks does not speak of itself: "He left," said John. Peter ...
        (
            'Peter/NNP/1/nsubj sat/VBD/1/root ././1/punct "/``/5/punct He/PRP/5/nsubj '
            "left/VBD/5/root ,/,/5/punct \"/''/5/punct said/VBD/5/parataxis John/NNP/8/nsubj",
            [["Peter", "He"]],
        ),
        # Names that are called are addressees.
        (
            '"/``/2/punct You/PRP/2/nsubj know/VBP/2/root ,/,/2/punct Mary/NNP/2/vocative '
            ",/,/2/punct \"/''/2/punct said/VBD/2/parataxis John/NNP/7/nsubj",
            [["You", "Mary"]],
        ),
        # Speakers go on or act before they speak.
        (
            "\"/``/1/punct No/UH/4/discourse ,/,/4/punct \"/''/4/punct said/VBD/4/root "
            'John/NNP/4/nsubj ././4/punct "/``/9/punct I/PRP/9/nsubj left/VBD/9/root ././9/punct '
            "\"/''/9/punct Mary/NNP/13/nsubj sat/VBD/13/root ././13/punct \"/``/17/punct "
            "I/PRP/17/nsubj stay/VBP/17/root ././17/punct \"/''/17/punct",
            [["John", "I"], ["Mary", "I"]],
        ),
        # Terms of address are you.
        (
            '"/``/1/punct Stay/VB/1/root ,/,/1/punct sir/NN/1/vocative ,/,/1/punct you/PRP/6/nsubj '
            "know/VBP/1/conj \"/''/1/punct",
            [["sir", "you"]],
        ),
        # Family names repeat.
        (
            "papa/NN/1/nsubj sat/VBD/1/root ././1/punct papa/NN/4/nsubj left/VBD/4/root "
            "././4/punct He/PRP/7/nsubj ran/VBD/7/root",
            [["papa", "papa", "He"]],
        ),
        # Possessors bind inside their noun phrase: He learned of her nickname for him.
        (
            "Peter/NNP/1/nsubj learned/VBD/1/root of/IN/4/case her/PRP$/4/nmod:poss "
            "nickname/NN/1/obl for/IN/6/case him/PRP/4/nmod",
            [["Peter", "him"]],
        ),
        # Subjects that follow their clause.
        (
            "In/IN/2/case his/PRP$/2/nmod:poss youth/NN/5/obl ,/,/2/punct John/NNP/5/nsubj "
            "sang/VBD/5/root",
            [["his", "John"]],
        ),
        # spaCy's own labels.
        (
            "Mary/NNP/1/nsubj spoke/VBD/1/ROOT to/IN/1/prep John/NNP/2/pobj about/IN/1/prep "
            "him/PRP/4/pobj ././1/punct She/PRP/8/nsubj left/VBD/8/ROOT with/IN/8/prep "
            "her/PRP$/11/poss dog/NN/9/pobj",
            [["Mary", "She", "her"]],
        ),
    ],
)
def test_chains(chains, text, expected):
    assert chains(text) == expected


def test_given_mentions_are_all_returned(parsed):
    doc = parsed(TOLD)
    found = Resolver().chains(doc, [(0, 1), (2, 3), (7, 8)])
    assert [[(p.start, p.end) for p in chain] for chain in found] == [[(0, 1)], [(2, 3), (7, 8)]]


def test_kinds_and_singletons(parsed):
    doc = parsed(
        "Iping/NNP/1/nsubj saw/VBD/1/root the/DT/3/det house/NN/1/obj of/IN/5/case joy/NN/3/nmod"
    )
    found = Resolver(singletons=True).chains(doc)
    assert [kind_of(chain) for chain in found] == ["name", "place", "other"]
    assert len(Resolver(singletons=True, kinds=["place"]).chains(doc)) == 1
    assert Resolver().chains(doc) == []


def test_chains_are_spans_of_the_doc(parsed):
    doc = Resolver()(parsed(TOLD))
    assert sorted(doc.spans) == ["coref_clusters_1", "coref_clusters_2"]
    assert chains_of(doc) == [[(0, 1, None), (4, 5, None)], [(2, 3, None), (7, 8, None)]]


def test_docs_without_chains_are_marked(parsed):
    doc = parsed(TOLD)
    doc.spans["coref_clusters_1"] = [doc[0:3]]
    assert chains_of(Resolver(steps=["names"])(doc)) == [] and "coref_clusters_1" not in doc.spans
    assert len(chains_of(Resolver()(doc))) == 2 and "corefmem_resolver" not in doc.spans


def test_chains_of_joined_docs_stay_apart(parsed):
    told, names = Resolver()(parsed(TOLD)), Resolver()(parsed(NAMES))
    docs, join = [told, told, names], type(told).from_docs
    joined, starts = join(docs), (0, len(told), 2 * len(told))
    expected = [
        [(start + a, start + b, None) for a, b, _ in chain]
        for doc, start in zip(docs, starts, strict=True)
        for chain in chains_of(doc)
    ]
    copies = joined.copy(), type(told)(told.vocab).from_bytes(joined.to_bytes())
    for doc in (joined, *copies, join([join(docs[:2]), names])):
        assert sorted(chains_of(doc)) == sorted(expected)
    # Chains that somebody changes are one: a mention less, a mention more, two made one.
    spans, others = (list(joined.spans[f"coref_clusters_{number}"]) for number in (1, 2))
    for changed in (spans[1:], [*spans, joined[3:4]], [*spans, *others], [*others, *spans]):
        joined.spans["coref_clusters_1"] = changed
        assert len(chains_of(joined)[0]) == len(changed)
    assert len(chains_of(Resolver()(joined))) < len(expected)


def with_spaces(doc):
    """The Doc with a name of spaces before each token, which governs it and depends for it."""
    words, tags, heads, deps = [], [], [], []
    for token in doc:
        root = token.head.i == token.i
        words += ["\n ", token.text]
        tags += ["NNP", token.tag_]
        heads += [2 * token.i if root else 2 * token.head.i + 1, 2 * token.i]
        deps += [token.dep_, "dep" if root else token.dep_]
    return type(doc)(doc.vocab, words, [False] * len(words), tags=tags, heads=heads, deps=deps)


@pytest.mark.parametrize("text", [TOLD, SPEECH, NAMES], ids=["told", "speech", "names"])
def test_spaces_count_for_nothing(parsed, text):
    doc = parsed(text)
    spaced, resolver = with_spaces(doc), Resolver(singletons=True, pronoun_distance=1)
    assert [token.text for token in spaced][1::2] == [token.text for token in doc]
    for mentions in (None, [(0, 1), (2, 4)]):
        expected = [
            [(2 * p.start + 1, 2 * p.end, 2 * p.head + 1, p.kind) for p in chain]
            for chain in resolver.chains(doc, mentions)
        ]
        # The second has spaces at both ends, the last has nothing else.
        known = mentions and [(1, 2), (4, 9), (2, 3)]
        found = resolver.chains(spaced, known)
        assert [[(p.start, p.end, p.head, p.kind) for p in chain] for chain in found] == expected
    annotations = [from_doc(resolver(each)) for each in (doc, spaced)]
    for name in ("tokens", "sentences", "governors", "chains"):
        assert getattr(annotations[0], name) == getattr(annotations[1], name)


def test_spaces_are_sentences_of_no_distance(parsed):
    vocab = parsed(TOLD).vocab
    words, tags = ["Mary", "slept", " ", "\n", "She", "left"], "NNP VBD NNP NNP PRP VBD".split()
    doc = spacy_doc(vocab, words, tags, [1, 1, 2, 3, 5, 5])
    found = Resolver(pronoun_distance=1).chains(doc)
    assert [[(p.start, p.end, p.sentence) for p in c] for c in found] == [[(0, 1, 0), (4, 5, 1)]]
    nothing = spacy_doc(vocab, [" ", "\n"], ["NNP", "NNP"], [0, 1])
    assert Resolver().chains(nothing) == [] and chains_of(Resolver()(nothing)) == []


def spacy_doc(vocab, words, tags, heads):
    from spacy.tokens import Doc

    deps = ["ROOT" if head == token else "nsubj" for token, head in enumerate(heads)]
    return Doc(vocab, words, tags=tags, heads=heads, deps=deps)


def test_spaces_of_a_real_pipeline_are_no_mentions(ud_pipeline):
    text = "  Mary\n\n met  John . \n She saw   him . "
    docs = [Resolver()(ud_pipeline(each)) for each in (text, " ".join(text.split()))]
    assert any(token.is_space for token in docs[0])
    words = [[[s.text for s in docs[0].spans[key]] for key in span_groups(docs[0])]]
    assert words == [[["Mary", "She"], ["John", "him"]]]
    spaced, single = map(from_doc, docs)
    assert spaced.tokens == single.tokens and spaced.chains == single.chains


def test_merged_names_are_read_word_by_word(parsed):
    text = (
        "Mr./NNP/1/compound Bennet/NNP/2/nsubj saw/VBD/2/root Mary/NNP/4/compound Smith/NNP/2/obj "
        "././2/punct She/PRP/7/nsubj liked/VBD/7/root Bennet/NNP/7/obj ././7/punct"
    )
    merged = parsed(text)
    with merged.retokenize() as retokenizer:
        retokenizer.merge(merged[0:2])
        retokenizer.merge(merged[3:5])
    for doc in map(Resolver(), (parsed(text), merged)):
        words = [[span.text for span in doc.spans[key]] for key in span_groups(doc)]
        assert sorted(words) == [["Mary Smith", "She"], ["Mr. Bennet", "Bennet"]]


def test_older_chains_are_replaced(parsed):
    doc = parsed(TOLD)
    for number in (2, 5):
        doc.spans[f"coref_clusters_{number}"] = [doc[0:3]]
    doc.spans["sc"] = [doc[0:1]]
    assert sorted(Resolver()(doc).spans) == ["coref_clusters_1", "coref_clusters_2", "sc"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": ["guess"]}, "'guess' is none of the steps, names, appositions"),
        ({"kinds": ["thing"]}, "'thing' is none of the kinds, person, name, place, other"),
        ({"pronoun_distance": -1}, "pronoun_distance must be .* at least 0, got -1"),
        ({"nominal_distance": -2}, "nominal_distance must be .* at least 0, got -2"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        Resolver(**options)


def test_it_is_found_and_saved_with_its_pipeline(tmp_path):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    component = nlp.add_pipe("corefmem_resolver", config={"pronoun_distance": 2})
    assert isinstance(component, Resolver) and component.steps == resolver.STEPS
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline").get_pipe("corefmem_resolver")
    assert loaded.pronoun_distance == 2 and loaded.kinds == resolver.KINDS


# Two processes each import spaCy and load the pipeline.
@pytest.mark.slow
def test_it_works_in_several_processes_and_after_saving(ud_pipeline, tmp_path):
    texts = ["Mary told John that she slept.", "John slept. He woke.", "It rained."] * 2
    ud_pipeline.add_pipe("corefmem_resolver", config={"steps": ["pronouns"]})
    try:
        ud_pipeline.to_disk(tmp_path / "pipeline")
        expected = [chains_of(doc) for doc in ud_pipeline.pipe(texts)]
    finally:
        ud_pipeline.remove_pipe("corefmem_resolver")
    loaded = pytest.importorskip("spacy").load(tmp_path / "pipeline")
    docs = list(loaded.pipe(texts, n_process=2, batch_size=2))
    assert [doc.text for doc in docs] == texts and expected[0] and expected[2] == []
    assert [chains_of(doc) for doc in docs] == expected


def test_work_is_linear_in_length(parsed):
    # Windows bound the work for each mention: ten times the text is not a hundred times the work.
    def count_calls(copies):
        tokens = [token.rsplit("/", 2) for token in TOLD.split()] * copies
        text = " ".join(f"{t[0]}/{int(t[1]) + n // 10 * 10}/{t[2]}" for n, t in enumerate(tokens))
        doc, profile = parsed(text), cProfile.Profile()
        profile.runcall(Resolver().chains, doc)
        return sum(entry.callcount for entry in profile.getstats())

    assert 5 < count_calls(200) / count_calls(20) < 15
