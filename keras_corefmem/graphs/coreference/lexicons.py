"""Closed classes of English words that rules of coreference need."""

import functools
import importlib
import typing


class Pronoun(typing.NamedTuple):
    """What a personal pronoun says of its referent.

    Args:
        person: 1, 2 or 3.
        number: `"one"`, `"many"`, or `""` for either.
        gender: `"masculine"`, `"feminine"`, `"thing"`, or `""`.
        reflexive: whether its antecedent is in its own clause.
    """

    person: int
    number: str
    gender: str = ""
    reflexive: bool = False


def _pronouns(forms, *values, reflexive=""):
    table = {form: Pronoun(*values) for form in forms.split()}
    return table | {form: Pronoun(*values, reflexive=True) for form in reflexive.split()}


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
POSSESSIVES = frozenset(
    "my mine our ours your yours thy thine his her hers its their theirs".split()
)

MALE_TITLES = frozenset(
    "mr mr. sir lord monsieur m. master father brother uncle king prince duke count baron "
    "emperor herr signor signore don captain colonel major general lieutenant sergeant admiral "
    "squire bishop abbot friar esq esquire".split()
)
FEMALE_TITLES = frozenset(
    "mrs mrs. miss ms ms. lady madame mme mme. mademoiselle mlle madam mother sister aunt queen "
    "princess duchess countess baroness empress frau fraulein signora signorina dona dame".split()
)
TITLES = (
    MALE_TITLES
    | FEMALE_TITLES
    | frozenset(
        "dr dr. doctor prof. professor rev. reverend hon. st. saint judge president governor "
        "senator capt. col. gen. lt. sgt. st justice".split()
    )
)
MALE = frozenset(
    "man men boy boys gentleman gentlemen father fathers son sons brother brothers husband "
    "husbands uncle uncles nephew nephews grandfather grandson grandpa papa dad daddy pa "
    "stepfather king kings prince princes duke dukes lord lords sir baron count emperor monk "
    "monks priest priests fellow fellows lad lads chap widower bachelor waiter actor hero "
    "godfather salesman businessman policeman policemen fisherman sailor sailors soldier "
    "soldiers squire boyfriend footman butler clergyman parson vicar postman coachman workman "
    "workmen seaman seamen nobleman noblemen statesman tradesman groom landlord bridegroom "
    "wizard guy guys bishop".split()
)
FEMALE = frozenset(
    "woman women girl girls lady ladies mother mothers daughter daughters sister sisters wife "
    "wives aunt aunts niece nieces grandmother granddaughter grandma mamma mama mum mom mummy ma "
    "stepmother queen queens princess princesses duchess countess baroness empress nun nuns "
    "widow maid maids maiden maidens lass actress heroine waitress hostess mistress bride "
    "godmother housewife housekeeper governess nurse witch landlady girlfriend madam actresses "
    "housemaid spinster schoolgirl dame".split()
)
# Nouns that a family uses as names.
FAMILY = frozenset(
    "father mother papa mamma mama mum mom dad daddy pa ma pop grandpa grandma grandfather "
    "grandmother uncle aunt auntie".split()
)
# Nouns that an addressee is called by.
VOCATIVES = frozenset("sir madam ma'am miss dear darling boy lad sweetheart friend mister".split())
# Nouns for people of either gender.
PEOPLE = frozenset(
    "person people child children baby babies infant friend friends companion companions cousin "
    "cousins parent parents relative relatives guest guests visitor visitors stranger strangers "
    "servant servants doctor doctors physician surgeon lawyer judge teacher teachers student "
    "students pupil pupils author writer poet artist painter musician singer player players "
    "leader captain colonel major general lieutenant sergeant officer officers president "
    "minister governor master neighbour neighbours neighbor neighbors enemy enemies lover lovers "
    "passenger passengers prisoner prisoners peasant peasants farmer farmers clerk merchant "
    "merchants engineer director manager secretary detective inspector crew crowd family "
    "families couple pair party company folk folks host tenant owner owners savage savages "
    "native natives negro slave slaves thief robber villain creature creatures beggar orphan "
    "heir twin twins speaker reader witness professor scholar editor cook driver hunter hunters "
    "traveller travellers rider shepherd miner scout guard guards warrior chief chiefs nobody "
    "everybody somebody anybody someone anyone everyone rogue rascal wretch fool genius citizen "
    "citizens inhabitant inhabitants member members agent agents spy pirate pirates steward "
    "tutor coward darling dear fellow-creature acquaintance patient ancestor ancestors youth "
    "gang mob troop army race tribe nation population audience".split()
)
GROUPS = frozenset(
    "family families couple pair party company crew crowd people folk folks police army team "
    "band gang mob troop group government committee tribe class race audience public population "
    "congregation court jury regiment nation board staff press clan house".split()
)
# Nouns for places, buildings and vehicles.
PLACES = frozenset(
    "house houses home homes room rooms chamber chambers kitchen parlour parlor hall bedroom "
    "study library cottage cottages castle palace mansion hotel inn tavern church churches "
    "chapel abbey cathedral school college university shop store office building buildings barn "
    "stable cabin hut tent prison jail hospital theatre museum station street streets road roads "
    "lane path avenue square bridge garden gardens park yard court courtyard field fields farm "
    "meadow lawn village villages town towns city cities country countries land lands county "
    "province state states kingdom colony region district neighbourhood neighborhood world earth "
    "island islands sea ocean lake river rivers stream brook creek pond valley hill hills "
    "mountain mountains cave forest woods wood desert plain prairie coast shore beach bay "
    "harbour harbor port cliff rock ship ships boat boats vessel steamer yacht canoe raft train "
    "carriage coach cart wagon waggon cab car wheel attic cellar corridor passage gallery "
    "balcony terrace drawing-room dining-room sitting-room apartment apartments lodgings "
    "premises estate grounds place places spot nursery south north west east quarter quarters "
    "camp fort trail ranch saloon market wharf dock pier cemetery churchyard grave tower gate "
    "parish settlement continent nation firm bank club army company regiment universe moon "
    "planet staircase stairs porch verandah veranda lobby bar".split()
)
# Last words of the names of organizations.
ORGANIZATIONS = frozenset(
    "university college school party club company inc corporation corp ltd band league council "
    "ministry department news times association society institute academy museum orchestra "
    "committee court church agency service services foundation group union championship "
    "championships cup games award awards festival series show act".split()
)
PERSON_ENDINGS = (
    *("man", "men", "woman", "women", "boy", "girl", "ist", "ists", "ian", "ians", "eer", "eers"),
    *("keeper", "keepers", "maker", "makers", "holder", "owner", "ess", "father", "mother"),
)
SPEECH = frozenset(
    "say says said saying ask asks asked asking reply replies replied replying answer answers "
    "answered answering cry cries cried crying exclaim exclaimed exclaiming whisper whispered "
    "whispering mutter muttered murmur murmured shout shouted call called add added adding "
    "continue continued return returned remark remarked observe observed inquire inquired "
    "enquire enquired demand demanded declare declared begin began repeat repeated interrupt "
    "interrupted think thought tell told scream screamed sob sobbed gasp gasped groan groaned "
    "growl growled laugh laughed sigh sighed suggest suggested explain explained insist insisted "
    "agree agreed announce announced respond responded rejoin rejoined retort retorted resume "
    "resumed ejaculate ejaculated protest protested pursue pursued proceed proceeded echo echoed "
    "urge urged beg begged plead pleaded admit admitted persist persisted quoth speak spoke "
    "write wrote read wonder wondered snap snapped drawl drawled bellow bellowed roar roared "
    "yell yelled hiss hissed snarl snarled grin grinned smile smiled nod nodded grunt grunted "
    "breathe breathed warn warned order ordered command commanded assure assured conclude "
    "concluded".split()
)
INDEFINITE = frozenset("a an some any no every each another many several few most".split())
DEFINITE = frozenset("the this that these those".split())

# Locales whose first names are written in Latin letters; they also serve other languages.
_LOCALES = (
    *("en_US", "en_GB", "en_IE", "en_IN", "en_NZ", "de_DE", "fr_FR", "es_ES", "it_IT", "pl_PL"),
    *("nl_NL", "sv_SE", "pt_BR", "fi_FI", "da_DK", "no_NO", "hu_HU", "ro_RO", "hr_HR", "cs_CZ"),
    "tr_TR",
)


@functools.cache
def given_names():
    """Genders of given names, from the lists of the package `faker`; names of both are left out.

    Returns:
        Dictionary from a name in lower case to `"masculine"` or `"feminine"`.
    """
    male, female = set(), set()
    for locale in _LOCALES:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        male.update(name.lower() for name in provider.first_names_male)
        female.update(name.lower() for name in provider.first_names_female)
    names = dict.fromkeys(male - female, "masculine")
    return names | dict.fromkeys(female - male, "feminine")
