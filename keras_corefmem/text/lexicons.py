"""Closed classes of English words, and the genders of given names, read from bundled tables."""

import functools
import importlib.resources
import tomllib
import typing


def _read(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text("utf-8")


_CLASSES = {
    name: frozenset(words.split()) for name, words in tomllib.loads(_read("english.toml")).items()
}
ABBREVIATED_TITLES = _CLASSES["abbreviated_titles"]
ABBREVIATIONS = ABBREVIATED_TITLES | _CLASSES["other_abbreviations"]
MALE_TITLES, FEMALE_TITLES, _OTHER_TITLES = (
    words | {f"{word}." for word in words & ABBREVIATED_TITLES}
    for words in (_CLASSES[f"{kind}_titles"] for kind in ("male", "female", "other"))
)
TITLES = MALE_TITLES | FEMALE_TITLES | _OTHER_TITLES
MALE, FEMALE, PEOPLE = _CLASSES["male"], _CLASSES["female"], _CLASSES["people"]
FAMILY, VOCATIVES, GROUPS = _CLASSES["family"], _CLASSES["vocatives"], _CLASSES["groups"]
PLACES, ORGANIZATIONS = _CLASSES["places"], _CLASSES["organizations"]
PERSON_ENDINGS = tuple(_CLASSES["person_endings"])
SPEECH = _CLASSES["speech"]
INDEFINITE, DEFINITE = _CLASSES["indefinite"], _CLASSES["definite"]


class Pronoun(typing.NamedTuple):
    """Agreement of a personal pronoun."""

    person: int
    number: str
    gender: str = ""
    reflexive: bool = False


def _pronouns(forms: str, *values: typing.Any, reflexive: str = "") -> dict[str, Pronoun]:
    pronoun = Pronoun(*values)
    table = dict.fromkeys(forms.split(), pronoun)
    return table | dict.fromkeys(reflexive.split(), pronoun._replace(reflexive=True))


PRONOUNS = {
    **_pronouns("i me my mine", 1, "one", reflexive="myself"),
    **_pronouns("we us our ours", 1, "many", reflexive="ourselves"),
    **_pronouns(
        "you your yours ye yeh yer ya thou thee thy thine", 2, "", reflexive="yourself thyself"
    ),
    **_pronouns("", 2, "many", reflexive="yourselves"),
    **_pronouns("he him his", 3, "one", "masculine", reflexive="himself"),
    **_pronouns("she her hers", 3, "one", "feminine", reflexive="herself"),
    **_pronouns("it its", 3, "one", "thing", reflexive="itself"),
    **_pronouns("they them their theirs 'em", 3, "many", reflexive="themselves"),
}


def is_abbreviation(word: str, words: typing.Container[str] = ABBREVIATIONS) -> bool:
    """Returns whether a full stop after a word need not end its sentence: "Mr", or an initial."""
    return word.lower() in words or (len(word) == 1 and word.isupper() and word != "I")


@functools.cache
def given_names() -> dict[str, str]:
    """Returns `"masculine"` or `"feminine"` by given name, in lower case."""
    genders = {"m": "masculine", "f": "feminine"}
    rows = (line.split("\t") for line in _read("given_names.tsv").splitlines() if "\t" in line)
    return {name: genders[gender] for name, gender in rows}
