"""Closed word lists that several rules share."""

from __future__ import annotations

import re

ERASED_MARK = "█"  # what an erasure leaves of each character


def split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def compile_patterns(*patterns: str, flags: int = re.I) -> tuple[re.Pattern[str], ...]:
    """Several ways to say one thing; whatever the case, unless the `flags` say otherwise."""
    return tuple(re.compile(pattern, flags) for pattern in patterns)


JOBS = split_words("""
    accountant actor actress actuary acupuncturist advisor analyst animator anthropologist
    archaeologist architect archivist artist assistant astronaut astronomer attorney audiologist
    auditor author baker banker barber barista bartender beautician biologist blacksmith blogger
    bookkeeper bouncer brewer bricklayer builder butcher butler cabinetmaker cameraman captain
    caretaker carpenter cashier chauffeur chef chemist childminder chiropractor choreographer
    cleaner clerk coach cobbler comedian composer consultant contractor cook copywriter counsellor
    counselor courier curator dancer decorator dentist dermatologist designer detective developer
    dietitian director dispatcher doctor dressmaker driver ecologist economist editor electrician
    engineer entrepreneur epidemiologist estimator farmer filmmaker firefighter fisherman
    fishmonger florist foreman forester fundraiser gamekeeper gardener geographer geologist
    glazier goldsmith grocer groomer groundskeeper gynaecologist hairdresser handyman headmaster
    headmistress headteacher historian housekeeper illustrator inspector instructor intern
    interpreter janitor jeweler jeweller joiner journalist judge laborer labourer landscaper
    lawyer lecturer librarian lifeguard linguist lobbyist locksmith machinist manager marketer
    mason masseur masseuse mathematician mechanic mediator meteorologist midwife miner model
    mortician musician nanny neurologist notary novelist nurse officer oncologist optician
    optometrist osteopath paediatrician painter paralegal paramedic pastor pathologist
    pediatrician pharmacist photographer physicist physiotherapist pilot planner plasterer
    playwright plumber podiatrist poet policeman policewoman politician porter postman postwoman
    potter priest producer professor programmer prosecutor psychiatrist psychologist publisher
    radiographer radiologist ranger realtor receptionist recruiter reporter researcher roofer
    sailor salesman salesperson saleswoman scientist sculptor seamstress secretary shepherd
    shoemaker shopkeeper singer soldier solicitor sommelier sonographer statistician steward
    stewardess stonemason student stylist supervisor surgeon surveyor sysadmin tailor tattooist
    teacher technician teller tester therapist tiler toolmaker trainer translator trucker tutor
    typist undertaker upholsterer vet veterinarian videographer waiter waitress warden watchmaker
    weaver welder winemaker woodworker writer zookeeper zoologist anaesthetist anesthesiologist
    bookseller cabbie cardiologist carer hygienist obstetrician postie radiotherapist sparky tech
    deputy
""")
PEOPLE = split_words("""
    mother mom mum father dad parent sister brother sibling son daughter child kid wife husband
    spouse partner girlfriend boyfriend fiance fiancee fiancé fiancée grandmother grandma granny
    grandfather grandpa grandparent aunt uncle cousin niece nephew friend roommate flatmate
    neighbour neighbor boss colleague coworker teammate manager teacher coach mentor doctor
    therapist twin baby toddler landlord landlady assistant team family in-law stepmother stepfather
    grandson granddaughter buddy mate nan nana gran grandad granddad ex missus hubby sis bro lad
    stepmum stepdad stepson stepdaughter stepbrother stepsister lodger tenant housemate gf bf
    fiance carer supervisor tutor broker solicitor accountant apprentice dispatcher lass bff bestie
    granddaughter great-grandchild great-grandson great-granddaughter goddaughter godson abuela
    abuelo nonna nonno da mam mammy principal headteacher secretary childminder physio
    physiotherapist osteopath chiropractor dietitian nutritionist counsellor counselor psychologist
    psychiatrist midwife dentist optician lawyer hairdresser barber nanny babysitter cleaner
    gardener mechanic
""")
ANIMALS = split_words("""
    dog cat puppy kitten pet horse hamster rabbit parrot bird turtle tortoise snake fish guinea
    pig pup goldfish chicken lizard greyhound whippet labrador lab beagle collie terrier spaniel
    poodle corgi dachshund husky kelpie retriever lurcher pug bulldog tomcat mare pony budgie gecko
    hedgehog ferret gerbil
""")
COUNTABLE_NOUNS = (
    split_words(
        """
    kid child son daughter brother sister sibling grandchild cousin niece nephew car bike
    house bicycle tattoo guitar child job roommate
    """
    )
    | ANIMALS
)
EVENTS = split_words("""
    meeting appointment appt interview flight wedding exam test party concert surgery deadline trip
    presentation lesson class dinner lunch checkup match game recital graduation birthday call
    conference opening tournament competition delivery
""")
# Nouns that carry no fact by themselves.
VAGUE_NOUNS = split_words("""
    thing stuff way time lot bit kind sort something anything everything nothing everyone
    everybody someone somebody anyone people day moment place part fun one while blast love joy
    support feeling idea fact reason point chance sense difference experience inspiration
    motivation passion journey life world goal dream step challenge memory positivity kindness
    strength courage guy pic picture photo ton bunch couple few some any all most none matter
    case side type piece help hope happiness peace energy vibe power pride growth progress
    effort impact change heart mind soul beauty comfort bond connection opportunity success
    attitude mindset perspective resilience determination dedication reminder advice tip word
    thought view look glad pleasure mood best better start end luck boost future past present
    hour minute week month year weekend morning evening night today tomorrow yesterday tonight
    second decade ago man woman person guys y'all reality feedback compliment purpose importance
    process yeah okay cool deal break mess bummer shame smile laugh treat kick spark voice mix
    progress freedom courage accomplishment satisfaction talent skill spirit tranquility theme
    encouragement gratitude wonder favor favour question answer game-changer
""")
# What people say to each other and about anything: it is no subject of what they speak of.
COURTESIES = split_words("""
    thank thanks hey hi hello bye wow yeah sure congrats congratulation welcome please sorry good
    great nice fine awesome amazing cool happy glad fun sweet lovely right true much many more last
    next new big little whole own same other real super such special important lots others
""")
# Adjectives that state a lasting condition, not a feeling.
CONDITIONS = split_words("""
    vegetarian vegan pescatarian single married divorced engaged widowed pregnant allergic
    diabetic retired unemployed freelance self-employed left-handed bilingual deaf blind gay
    lesbian bisexual transgender queer catholic christian muslim jewish buddhist hindu atheist
    colourblind colorblind asthmatic autistic dyslexic celiac coeliac intolerant afraid adopted
    sober homeless
""")
# A pattern: breeds and kinds of pets in Chinese that do not say so by 狗 or 猫.
CHINESE_BREEDS = (
    "柯基|金毛|哈士奇|泰迪|布偶|英短|美短|暹罗|[边德]牧|拉布拉多|柴犬|萨摩耶|比熊|博美|吉娃娃"
    "|阿拉斯加|雪纳瑞|法斗|雪貂|龙猫|仓鼠|鹦鹉"
)
# A pattern: what opens a sentence and tells nothing.
LEAD = r"^\W*(?:(?:so|and|oh|well|also|anyway|btw|by the way|hey|ok|okay|plus),? )*"
# Patterns: departments that somebody works in, and hours that they work at.
DEPARTMENTS = (
    r"(?:customer )?support|qa|sales|marketing|(?:dev)?ops|operations|hr|finance|accounts|payroll"
    r"|product|infra|security|logistics|reception|dispatch|[a-z]+ team"
)
SHIFTS = r"(?:(?:the )?(?:night|day|early|late|back) shift|nights|days|earlies|lates)"
# A pattern: how most medicines are called.
MEDICINE_NAME = (
    r"\b[a-z]{2,}(?:pril|olol|statin|formin|sartan|mycin|cillin|azole|oxetine|prazole|dipine"
    r"|traline)"
)
_THEMES = {
    "family": (
        "mother mom dad father parent sister brother son daughter child kid husband wife "
        "family cousin aunt uncle grandma grandpa baby"
    ),
    "friends": "friend neighbour neighbor roommate party gang",
    "work": (
        "job work boss office colleague career company business client interview project "
        "meeting startup"
    ),
    "education": (
        "school university college exam class course degree teacher student lesson study graduation"
    ),
    "health": (
        "doctor hospital health therapy illness injury medicine diet yoga sleep stress "
        "surgery therapist"
    ),
    "sport": (
        "gym run race marathon football basketball soccer tennis swim bike hike game team "
        "match workout"
    ),
    "food": "food cook recipe dinner lunch restaurant cake bread coffee meal bake pizza kitchen",
    "travel": (
        "trip travel flight hotel beach vacation holiday tour abroad country city journey roadtrip"
    ),
    "music": "music song band concert guitar piano violin sing album festival",
    "art": "art paint painting draw drawing pottery gallery museum photography sculpture dance",
    "books and films": "book novel read movie film series author story library",
    "home": "home house apartment flat garden furniture move rent kitchen room",
    "animals": "dog cat pet puppy kitten horse bird turtle animal",
    "nature": "nature mountain forest lake park camping hike sea ocean river tree plant flower",
    "money": "money price loan salary budget invest bank savings mortgage",
    "technology": "computer app software phone code website internet game program laptop robot",
    "relationships": ("marriage wedding date girlfriend boyfriend partner divorce love engagement"),
    "community": "volunteer charity community donation shelter protest church campaign",
}
THEME_BY_WORD = {word: theme for theme, words in _THEMES.items() for word in words.split()}
