from keras_corefmem.text import lexicons


def test_given_names_tell_one_gender():
    names = lexicons.given_names()
    assert len(names) > 7000 and set(names.values()) == {"masculine", "feminine"}
    assert names["john"] == "masculine" and names["mary"] == "feminine"
    assert "house" not in names and all(name == name.lower() for name in names)


def test_titles_are_known_with_and_without_their_full_stop():
    assert {"mr", "mr.", "dr", "dr.", "king"} <= lexicons.TITLES and "king." not in lexicons.TITLES
    assert lexicons.is_abbreviation("Mr") and lexicons.is_abbreviation("J")
    assert not lexicons.is_abbreviation("I") and not lexicons.is_abbreviation("king")
    # "No." is short for a number, but ends a sentence of tokens.
    assert lexicons.is_abbreviation("No")
    assert not lexicons.is_abbreviation("No", lexicons.ABBREVIATED_TITLES)
