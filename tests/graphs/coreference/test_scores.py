import pytest

from keras_corefmem.graphs.coreference.scores import Score, score_chains

# The example of Pradhan et al. (2014): key {a, b, c}, {d, e, f, g}; response {a, b}, {c, d},
# {f, g, h, i}.
KEY = ["abc", "defg"]
RESPONSE = ["ab", "cd", "fghi"]


def percents(score):
    return tuple(round(100 * value, 2) for value in (score.recall, score.precision, score.f1))


def test_the_worked_example_of_the_reference_scorer():
    scores = score_chains([(KEY, RESPONSE)])
    assert percents(scores["muc"]) == (40.0, 40.0, 40.0)
    assert percents(scores["b3"]) == (41.67, 50.0, 45.45)
    assert percents(scores["ceafe"]) == (65.0, 43.33, 52.0)
    assert percents(scores["mentions"]) == (85.71, 75.0, 80.0)
    assert round(100 * scores["conll"], 2) == round((40 + 45.4545 + 52) / 3, 2)


# Bagga and Baldwin (1998): five, two and five mentions; the response joins two of the clusters.
TWELVE = [range(5), range(5, 7), range(7, 12)]


@pytest.mark.parametrize(
    ("response", "muc", "b3", "ceafe"),
    [
        # The first error links the large entities, the second a large and the small one.
        ([[*range(5), *range(7, 12)], range(5, 7)], 0.9, 0.58333, (2 / 3 + 1) / 2),
        ([range(5), range(5, 12)], 0.9, 0.76190, (1 + 10 / 12) / 2),
    ],
)
def test_the_worked_example_of_b_cubed(response, muc, b3, ceafe):
    scores = score_chains([(TWELVE, response)])
    assert scores["muc"].precision == pytest.approx(muc) and scores["muc"].recall == 1
    assert scores["b3"].precision == pytest.approx(b3, abs=1e-5) and scores["b3"].recall == 1
    assert scores["ceafe"].precision == pytest.approx(ceafe)
    assert scores["ceafe"].recall == pytest.approx(ceafe * 2 / 3)


def test_the_best_alignment_is_found():
    # Each response entity is best with the first key entity; only one can have it.
    scores = score_chains([(["abcd", "ef"], ["abe", "cdf"])])
    assert scores["ceafe"].recall == pytest.approx((2 * 2 / 7 + 2 * 1 / 5) / 2)


def test_what_is_right_scores_one():
    scores = score_chains([(KEY, KEY), ([["x"], "yz"], [["x"], "yz"])])
    assert {score.f1 for name, score in scores.items() if name != "conll"} == {1.0}
    assert scores["conll"] == 1.0


def test_sums_run_over_documents():
    one, two = (["abc"], ["ab", "c"]), (["ab", "cd"], ["abcd"])
    both = score_chains([one, two])
    # Links: 1 of 2 and 2 of 2 are found; 1 of 1 and 2 of 3 are right.
    assert both["muc"] == Score(precision=3 / 4, recall=3 / 4)
    assert both["b3"].recall == pytest.approx((5 / 3 + 4) / 7)


def test_singletons_count_or_not():
    pair = (["ab", "c", "d"], ["ab", "cd"])
    assert score_chains([pair])["b3"].recall == 1
    without = score_chains([pair], singletons=False)
    for name in ("mentions", "b3", "ceafe"):
        assert without[name] == Score(precision=0.5, recall=1.0)


def test_nothing_scores_nothing():
    for documents in ([], [([], [])], [(["ab"], [])], [([], ["ab"])]):
        assert score_chains(documents)["conll"] == 0


def test_a_mention_in_two_chains_raises():
    with pytest.raises(ValueError, match="document 2, response: mention b is in 2 chains"):
        score_chains([(["a"], ["a"]), (["ab"], ["ab", "bc"])])


def test_numbers_of_litbank(real_data):
    from keras_corefmem.graphs.formats.conll import read_conll

    path = sorted(real_data("litbank/conll").glob("*.conll"))[0]
    ((_, annotation),) = read_conll(path)
    singles = [[mention] for chain in annotation.chains for mention in chain]
    scores = score_chains([(annotation.chains, singles)])
    # Mentions alone: no link is found, and each mention is one of the k in its entity.
    assert scores["muc"].recall == 0 and scores["b3"].precision == 1
    assert scores["b3"].recall == pytest.approx(len(annotation.chains) / len(singles))
