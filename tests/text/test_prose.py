import pytest

from keras_corefmem.text import prose


def texts(book):
    return [text for _, text in prose.paragraphs(book)]


def test_paragraphs_keep_their_place_and_headings_are_empty():
    book = "CHAPTER I\n\nThe Return\n\nIt was late.\nHe came.\n\n“Well,” he said:\n\nAnd then\n"
    found = list(prose.paragraphs(book))
    assert [text for _, text in found] == ["", "", "It was late.\nHe came.", "“Well,” he said:", ""]
    assert [book[start:][:2] for start, _ in found] == ["CH", "Th", "It", "“W", "An"]


@pytest.mark.parametrize(
    "heading",
    [
        *("CHAPTER I.", "_Chapter I_", "Chapter 12. The Storm.", "Chapter the Last."),
        "BOOK FIRST.",
        *("XIV.", "3.", "MISS BROOKE.", "THE END.", "Loomings", "[ 14 ]", "Finis."),
        "CHAPTER I IN WHICH I AM LIKE TO REPENT AT LEISURE",
        "Chapter Twenty-One. In which much is said, and little done, by all who are concerned.",
        "    Old longings nomadic leap,\n    Chafing at custom's chain.",
    ],
)
def test_headings_and_verse_are_no_prose(heading):
    assert texts(f"He came.\n\n{heading}\n\nShe left.") == ["He came.", "", "She left."]


@pytest.mark.parametrize(
    "paragraph",
    [
        *("I.e. he came.", "Part of it was lost.", "I came.", '"NO!" he said--', "He wrote:"),
        "Act as you please, he said.",
        "A page ends here, in the middle of a sentence which is long enough to be no heading at "
        "all, for it goes on and on, and ends upon the next page, where we shall find it",
    ],
)
def test_prose_stays(paragraph):
    assert texts(f"{paragraph}\n\nShe left.") == [paragraph, "She left."]


def test_what_gutenberg_adds_is_left_out():
    book = (
        "Title: A Book.\n\n*** START OF THE PROJECT GUTENBERG EBOOK A BOOK ***\n\nHe came.\n\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK A BOOK ***\n\nPlease donate."
    )
    assert texts(book) == ["He came."]
    assert book[next(prose.paragraphs(book))[0] :].startswith("He came.")
    assert texts("He came.\n\nEnd of Project Gutenberg's A Book\n\nDonate.") == ["He came."]


def test_long_lines_are_paragraphs():
    line = "He came and went and came again. " * 5
    assert texts(f"{line}\n{line}\n") == [line, line]
    assert texts("He came\nand went.\n") == ["He came\nand went."]


@pytest.mark.parametrize(
    "paragraph, count",
    [
        ("He came. She left.", 2),
        ("Mr. Smith met Dr. J. B. Jones of St. James's. He left.", 2),
        ("“Is it?” he asked. “No!” she cried; “never!”", 2),
        ('"Stop!" He stopped. "Why?"', 3),
        ("So do I. But he does not.", 2),
        ("He came ... But no. . . . And yet no.", 1),
        ("‘It is.’ ‘It is not.’", 2),
        ("(It is so.) He knew.", 2),
        ("About 2 p.m. on that day, etc. and so on.", 1),
        ("It was 1881. 20 men came.", 2),
        ("He came.", 1),
    ],
)
def test_sentences_end_before_capital_letters(paragraph, count):
    found = list(prose.sentences(paragraph))
    assert len(found) == count
    assert all(paragraph.startswith(text, start) and text for start, text in found)
    assert "".join(text for _, text in found).replace(" ", "") == paragraph.replace(" ", "")


@pytest.mark.parametrize(
    "sentence, tokens",
    [
        ("“Well,” said J. Smith, “don’t.”", "`` Well , '' said J. Smith , `` do n't . ''"),
        ("\"I can't--won't go,\" he cried.", "`` I ca n't -- wo n't go , '' he cried ."),
        ("'Edith!' said she, 'Edith!'", "` Edith ! ' said she , ` Edith ! '"),
        ("‘’Tis the boys’ hats.’", "` 'Tis the boys ' hats . '"),
        ("'I saw 'em at five o'clock, ma'am.'", "` I saw 'em at five o'clock , ma'am . '"),
        ("`Oh,´ said he.", "` Oh , ' said he ."),
        ("“‘Never’—he said—”", "`` ` Never ' -- he said -- ''"),
        ('"He is--" "No."', "`` He is -- '' `` No . ''"),
        ("He--'tis he--is _old_.", "He -- 'tis he -- is old ."),
        ("The mother-in-law's (only) hat. . .", "The mother-in-law 's -LRB- only -RRB- hat ..."),
        ("WE'RE HERE, AND I'LL STAY.", "WE 'RE HERE , AND I 'LL STAY ."),
        ("Mr. D'Arcy paid £1,000 at 2 p.m.", "Mr. D'Arcy paid £ 1,000 at 2 p.m."),
        ("So do I.", "So do I ."),
        ("Was it X.", "Was it X ."),
        ("café…", "café ..."),
    ],
)
def test_tokens_are_those_of_treebanks(sentence, tokens):
    assert " ".join(prose.tokenize(sentence)) == tokens


def test_tokens_of_lambada_stay_what_they_are(real_data):
    path = real_data("lambada/lambada_development_plain_text.txt")
    known, same, count = set("`` '' ` '".split()), 0, 0
    for line in path.read_text().split("\n")[:500]:
        tokens = [t for t in line.split() if t not in known]
        count += len(tokens)
        again = prose.tokenize(" ".join(tokens).replace("-lrb-", "(").replace("-rrb-", ")"))
        same += len(set(tokens) & {token.lower() for token in again}) == len(set(tokens))
    assert count > 30_000 and same / 500 > 0.9
