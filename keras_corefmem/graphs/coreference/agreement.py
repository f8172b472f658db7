"""Agreement: what mentions say of gender, number and animacy, and whether two can corefer."""

from keras_corefmem.text import lexicons


def gender_of_name(title, name):
    """Gender of a name by its title, else by its first word, and whether it is a person.

    Args:
        title: string, in lower case.
        name: tuple of words, in lower case.

    Returns:
        Gender and whether it is a person, `None` if unknown.
    """
    parts = title.split() or name[:1]
    for part in parts:
        if part in lexicons.MALE_TITLES:
            return "masculine", True
        if part in lexicons.FEMALE_TITLES:
            return "feminine", True
    if name and (name[-1] in lexicons.PLACES or name[-1] in lexicons.ORGANIZATIONS):
        return "thing", False
    gender = lexicons.given_names().get(name[0] if name else "", "")
    return gender, True if gender or title else None


def gender_of_noun(noun):
    """Gender of a common noun and whether it is a person, `None` if unknown."""
    if noun in lexicons.MALE:
        return "masculine", True
    if noun in lexicons.FEMALE:
        return "feminine", True
    if noun in lexicons.PEOPLE:
        return "", True
    if noun in lexicons.PLACES:
        return "thing", False
    if noun.endswith(lexicons.PERSON_ENDINGS) and len(noun) > 4:
        return "", True
    return "", None


class Entities:
    """Mentions joined to entities, each with the agreement of all its mentions.

    Args:
        phrases: list of `Phrase`.
    """

    def __init__(self, phrases):
        self.phrases = phrases
        self._parents = list(range(len(phrases)))
        self.members = [[index] for index in range(len(phrases))]
        self.genders = [phrase.gender for phrase in phrases]
        self.numbers = [phrase.number for phrase in phrases]
        self.persons = [phrase.person for phrase in phrases]

    def find(self, index):
        """The entity of a mention, by the number of one of its mentions."""
        parents = self._parents
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    def merge(self, one, other):
        """Joins the entities of two mentions.

        Returns:
            The number of the joined entity.
        """
        one, other = self.find(one), self.find(other)
        if one == other:
            return one
        if len(self.members[one]) < len(self.members[other]):
            one, other = other, one
        self._parents[other] = one
        self.members[one] += self.members[other]
        self.genders[one] = self.genders[one] or self.genders[other]
        self.numbers[one] = self.numbers[one] or self.numbers[other]
        if self.persons[one] is None:
            self.persons[one] = self.persons[other]
        return one

    def can_corefer(self, one, other):
        """Whether two entities agree in gender, number and animacy."""
        genders = self.genders[one], self.genders[other]
        if genders[0] != genders[1] and all(genders):
            return False
        numbers = self.numbers[one], self.numbers[other]
        if numbers[0] != numbers[1] and all(numbers):
            return False
        persons = {self.persons[one], self.persons[other]} - {None}
        persons |= {gender != "thing" for gender in genders if gender}
        return len(persons) < 2

    def chains(self):
        """Lists of the numbers of mentions of each entity, in the order of the text."""
        roots = (i for i in range(len(self.phrases)) if self._parents[i] == i)
        return [sorted(self.members[root]) for root in roots]
