"""What is told by its change and not by its state: a new landlord, a first day at work, a thing
given for another.

Each is told as the state that it leads to, which the ordinary rules then read like anything else
the person said: "We have a new landlord, Mrs Lindqvist" is "My landlord is Mrs Lindqvist now."
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.claims.couples import read_couples
from memoryhub.engines.local.claims.given_names import read_given_names
from memoryhub.engines.local.claims.medicine import read_medicine
from memoryhub.engines.local.claims.short_answers import CompletedStatement
from memoryhub.engines.local.claims.whereabouts import is_passing
from memoryhub.engines.local.dates.calendar import DAY_AND_MONTH_NAMES, MONTHS, WEEKDAYS
from memoryhub.engines.local.grammar.scene import ParsedTurn
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.local.grammar.verbs import find_lemma, is_dictionary_word, is_past_form
from memoryhub.engines.local.wordlists import (
    ANIMALS,
    CONDITIONS,
    DEPARTMENTS,
    EVENTS,
    JOBS,
    LEAD,
    PEOPLE,
    SHIFTS,
    split_words,
)

_HAVE = (
    r"(?:(?:(?:i|we)(?:['’]ve| have)?|ive|weve) )?(?:just |finally |also )*(?:have|got|found|hired)"
)
_NAME = r"\b[A-Z][\w'’-]*(?: [A-Z][\w'’-]*){0,3}"
_ROLES = split_words("""
    boss manager supervisor landlord landlady doctor gp dentist coach teacher tutor trainer
    therapist physio vet hairdresser accountant lawyer cleaner nanny babysitter childminder
    flatmate roommate housemate neighbour neighbor colleague coworker assistant apprentice
    girlfriend boyfriend partner cat dog puppy kitten
""")
_NEW_ROLE = re.compile(
    rf"{LEAD}(?i:(?:{_HAVE}|(?:i|we)['’]ve|i|we have|there['’]s|there is)) (?i:a (?P<new>new"
    rf" (?P<role>[a-z]+))(?: now| again| at last| finally)?)(?:,| (?i:called|named)|:| -| –)"
    rf" (?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{_NAME})(?=\W|$)",
)
_HAS_NAMED = re.compile(
    rf"{LEAD}(?i:(?:(?:i|we)(?:['’]ve| have)? )?(?:just |finally |also |ended up )*"
    r"(?:have|got|getting|adopted|adopting|rescued|bought|keep) an? (?:[a-z-]+ ){0,2}?)"
    r"(?P<animal>[a-z-]+)"
    rf"(?:,? (?i:called|named)|,? (?i:and )?(?i:his|her|its|their) name(?: is|['’]s)"
    r"|,? (?i:(?:and )?(?:he|she|it|they)(?:['’]s| is|['’]re| are) (?:called|named))"
    r"|(?P<comma>,)(?= [A-Z][\w'’-]+\W*$)) "
    rf"(?P<name>{_NAME})(?=\W*$|[,.;!] | (?i:and)\b)",
)
# "Got a dog from the shelter, pitbull mix, named her Biscuit".
_NAMED_LATER = re.compile(
    rf"{LEAD}(?i:(?:(?:i|we)(?:['’]ve| have)? )?(?:just |finally |also |ended up )*"
    r"(?:have|got|getting|adopted|adopting|rescued|bought)) an? (?:[\w-]+ ){0,3}?"
    rf"(?P<animal>(?i:{'|'.join(sorted(ANIMALS, key=len, reverse=True))}))\b[^.!?]{{0,60}}?"
    r"(?i:(?:and|we|i|['’]ve|have|,) ?)*\b(?i:named|naming|called|calling) (?i:him|her|it|them) "
    rf"(?P<name>{_NAME})(?=\W*$|[,.;!]| (?i:and)\b)"
)
_BIRTHDAY = re.compile(
    rf"{LEAD}it(?:['’]s| is) my birthday (?P<day>(?:on|in) [^.!?,]{{3,40}}?)\W*$", re.I
)
# Who goes from a post: "my manager Priya left", "Dr Mistry is retiring".
_GOES = (
    r"\b(?i:left|leaving|leaves|quit|resign\w+|retir(?:ed|es|ing)|gone|died|fired|sacked|sold up"
    r"|moved (?:on|away|back)|moving (?:on|away)|dropped out)\b"
)
_LEAVES = re.compile(
    rf"\b(?i:my|our|the) (?:old |last |former |previous )?(?P<role>[a-z]+)\b[^.!?]*?{_GOES}"
    rf"|\b(?P<doctor>Dr\.?) [A-Z][^.!?]*?{_GOES}"
)
_TITLED_NAME = rf"(?:(?:Mr|Mrs|Ms|Dr)\.? )?{_NAME}"
# "My manager Priya left, now it's Tom", "My boss quit. Tom took over", "the old landlord sold up,
# the new one is a Mrs Vance".
_FOLLOWED = re.compile(
    rf"(?:.*(?:,|;| and| so) )?(?P<how>(?:(?i:and |so |now |then )*(?:(?i:it(?:['’]s| is))(?: now)?"
    rf"|(?i:the new one(?:['’]s| is))(?: an?| called| named)?) (?P<now>{_TITLED_NAME})"
    rf"|(?P<next>{_NAME}) (?:has )?(?:taken|took) over)"
    r"(?: now| instead| then)?)\W*$"
)
# "Dr Mistry is retiring. The new one is a young woman, Dr Osei".
_NEW_ONE = re.compile(
    rf"{LEAD}(?i:(?:the|my|our) new one(?:['’]s| is| will be)) (?:(?i:called|named) "
    r"|(?i:an?) (?:[^.!?]{2,40}?,? )?(?:(?i:called|named) )?)?"
    rf"(?P<name>{_TITLED_NAME})(?=\W*$|[,.;!]| (?:and|so|from)\b)"
)
# "We moved to Leeds, before that we were in Hull", "I'm at Aldi, before that I was at Lidl".
_BEFORE_THAT = re.compile(
    r"[,;.] (?:and )?(?P<told>before that,? (?:i|we) (?:was|were|lived|worked)"
    r" (?P<rest>(?P<way>in|at|for|with|as) [^,.;!?]+))",
    re.I,
)
_HOME_TOLD = re.compile(r"\b(?:live|living|lived|moved?|moving|based|rent(?:ing)?)\b", re.I)
# "Got a new number, it's 0770 …", "New address: 3 Station Road", "my new email is …".
_VALUE = r"(?P<value>[^\s,;!?](?:[^;!?\n]|[?!](?=\S)){0,60}?)"
_THING = r"(?P<thing>[a-z][a-z-]*(?: [a-z][a-z-]*){0,2})"
_ASIDE = re.compile(r",? (?:btw|by the way|again|too|today|yesterday|last \w+)(?=[,:.]| -)", re.I)
_NEW_VALUE = re.compile(
    rf"{LEAD}(?:(?:(?:i|we)(?:['’]ve| have)? )?(?:just |finally )?(?:got|have|changed to) (?:a"
    rf"|my|our) new"
    rf" {_THING}(?:,|:| -| –)? ?(?:and )?(?:it(?:['’]s| is)|the number is|which is|:) {_VALUE}"
    rf"|(?:my |our |the )?new {_THING.replace('thing', 'label')}(?: is|['’]s|:) ?"
    rf"{_VALUE.replace('value', 'told')}"
    rf"|(?:(?:i|we)(?:['’]ve| have)? )?(?:just )?changed (?:my|our)"
    rf" {_THING.replace('thing', 'old')}(?:,|:| -| –| to|\.) ?(?:and )?"
    rf"(?:it(?:['’]s| is)(?: now)? |use |please use |now it['’]s )?"
    rf"{_VALUE.replace('value', 'use')})"
    r"(?: now| from now on| instead)?\s*[.!]*$",
    re.I,
)
# "Brian has a new number, it's 0770 …": somebody else's.
_THEIR_NEW_VALUE = re.compile(
    rf"{LEAD}(?P<who>(?i:my|our) [a-z]+?|{_NAME})(?i:['’]s got|is got| has got| has| got) (?i:a)"
    r" new (?P<thing>[a-z][a-z-]*(?: [a-z]+)?)(?:,|:| -| –)? (?i:and )?(?i:it(?:['’]?s| is))"
    rf" {_VALUE}(?: now| from now on)?\s*[.!]*$"
)
_VALUED_THINGS = split_words("""
    number phone mobile cell email e-mail mail address password passcode username landline extension
    name car phone laptop bike gym school job
""")
# "He's not my manager any more, it's Imran now", "so I'm with Dr Okafor now".
_NO_LONGER_IS = re.compile(
    rf"(?:(?:he|she|they|{_NAME})(?:['’]s| is|['’]re| are) not|(?:he|she|they|{_NAME}) (?:is"
    rf"|are)n['’]t)"
    rf" my (?P<role>[a-z]+) any ?more\W+(?:and )?(?:it['’]s|it is|now it['’]s"
    rf"|that['’]s) (?P<name>{_NAME})"
    r"(?: now)?\W*$"
)
_WITH_DOCTOR = re.compile(
    r"(?:^|\b(?:so|and|now|but),? )(?i:i['’]m|i am"
    r"|im) (?i:now )?with (?P<name>(?i:dr)\.? [A-Z][\w'’-]+)"
    r"(?: now| instead)?\W*$"
)
_NOT_ANY_MORE = re.compile(
    r"(?:^\W*|(?:,|;| so| and|\.) (?:so )?(?:i['’]m |im |i am )?)"
    r"(?P<told>(?:not|no longer) (?:an? )?"
    r"(?P<what>(?!(?:at|in|on|with|for|to|going|if|sure|that|now|any) )(?-i:[a-z])[a-z-]+"
    r"(?: [a-z-]+){0,2})(?: any ?more)?)\W*$",
    re.I,
)
_FIRST_DAY = re.compile(
    rf"{LEAD}(?:today (?:is|was) |it(?:['’]s| is| was) |had )?(?:my |the )?"
    r"first (?P<time>day|week|shift)(?: today)? (?:(?P<role>as an? [\w -]{2,40}?)"
    r"|(?P<place>(?:at|with) (?!(?:the|my|a) (?:new )?(?:job|work|place|office)\b)"
    r"[\w'’& -]{2,40}?))(?: (?:today|done|over|finished|complete|went\b[^,;]*|was\b[^,;]*))?"
    r"(?:\W*$|[,;] (?P<rest>.+))",
    re.I,
)
_SWAPPED = re.compile(
    rf"{LEAD}(?:i|we)(?:['’]ve| have)? (?:just |finally |also )?(?:swapped|traded|exchanged) "
    r"(?:in )?(?P<whose>my|our|the)(?P<old>(?: [\w'’-]+){1,3}?)(?: in)? for "
    r"(?P<new>(?:an?|the) [\w'’ -]{2,40}?)(?=\W*$|[,.;!] )",
    re.I,
)


# "I'm Dana, 34", "two kids, Ella (7) and Max (4)": how old who is named is, beside the name.
_OWN_AGE = re.compile(
    r"\b(?:i['’]?m|i am) (?P<name>[A-Za-z][\w'’-]{1,30}), (?P<age>[1-9]\d)(?=\W*$|[,.;!]| and\b)",
    re.I,
)
# "our two cats, Miso and Tofu", "my kids are Tom (7) and Ella".
_ONE_LISTED = r"[A-Z][\w'’-]+(?: ?\(\d{1,2}\)|,? who(?:['’]?s| is) \d{1,2}|,? (?:aged )?\d{1,2}\b)?"
_ONE_OF = {
    "cats": "cat", "dogs": "dog", "kids": "kid", "children": "child", "sons": "son", "boys": "son",
    "daughters": "daughter", "girls": "daughter", "sisters": "sister", "brothers": "brother",
    "rabbits": "rabbit", "kittens": "kitten", "puppies": "puppy", "flatmates": "flatmate",
    "housemates": "housemate", "roommates": "roommate", "guinea pigs": "guinea pig", "hens": "hen",
    "hamsters": "hamster", "ponies": "pony", "horses": "horse", "budgies": "budgie",
    "ferrets": "ferret", "gerbils": "gerbil", "parrots": "parrot", "lizards": "lizard",
    "geckos": "gecko", "snakes": "snake", "goats": "goat", "pups": "pup", "nieces": "niece",
    "nephews": "nephew", "cousins": "cousin",
}  # fmt: skip
_LISTED = re.compile(
    r"(?:(?i:\b(?:my|our|have|got|['’]ve|adopted|bought|rescued)) "
    r"|(?i:\b(?:me|my|us)\b[^.!?]{0,60}\bthe) (?=(?i:two|three|four|five|[2-5]|girls|boys|kids) )"
    r"|^\W*(?=(?i:flat|house|room)mates))"
    r"(?:(?:got|two|three|four|five|[2-5]|both|young|little|lovely|new|more) )*"
    rf"(?P<kind>(?i:{'|'.join(_ONE_OF)}))(?: now| at last| last \w+| today)?"
    r"(?:,|:| -| –| are| called| named)* "
    rf"(?P<names>{_ONE_LISTED}(?:, {_ONE_LISTED}){{0,4}},? (?:and|&) {_ONE_LISTED})"
)
_CHILDREN = re.compile(
    r"\b(?:kids?|child(?:ren)?|sons?|daughters?|twins|boys?|girls?|grandkids|grandchildren)\b", re.I
)
# "Milo (9)", "Milo who's 9 and Edie, 6".
_AGE_BESIDE = re.compile(
    r"\b(?P<name>[A-Z][\w'’]{1,30})"
    r"(?: ?\((?:aged )?|,? (?:who(?:['’]?s| is) |aged )|(?P<comma>, ))(?P<age>\d{1,2})"
    r"(?=\)|\W*$|[,.;]| and | &)"
)
# "The two girls, Maisie 7 and Orla 3": one such alone may be a room or a bus.
_ONE_AGED = r"[A-Z][\w'’-]{1,30},? \d{1,2}"
_AGED = re.compile(
    rf"\b{_ONE_AGED}(?:, {_ONE_AGED}){{0,4}},? (?:and|&) {_ONE_AGED}"
    r"(?=\W*$|[,.;!)]| (?:and|but|all|both|are|go|who)\b)"
)
# "Kayleigh's 7 and Mason's 3", where the parser knows the "'s" as "is".
_TWO_AGES = re.compile(
    r"\b(?P<name>[A-Z][\w-]*?)(?:['’]s|is) (?P<age>[1-9]\d?)(?:,| and) "
    r"(?P<other>[A-Z][\w-]*?)(?:['’]s| ?is) (?P<next>[1-9]\d?)(?=\W*$|[,.;!])"
)
_DIET = r"veggie|vegetarian|vegan|pescatarian|teetotal|sober|gluten[- ]free|dairy[- ]free"
# "no dairy bc im lactose intolerant", "im coeliac so no gluten please": what is told of oneself as
# the reason of something else.
_CONDITION = (
    rf"(?:[a-z]+ly )?(?:[a-z]+[ -]intolerant|allergic to [^,.;:!?()]{{2,40}}?|{_DIET}|"
    + "|".join(sorted(CONDITIONS - {"afraid", "adopted", "intolerant", "allergic"}))
    + ")"
)
# "3 yrs vegan this month": since when, and no more.
_SO_LONG = re.compile(
    rf"{LEAD}(?P<long>(?:\d+|an?|one|two|three|four|five|six|ten) (?:years?|yrs?|months?|mths?))"
    rf" (?P<what>{_DIET}|clean|smoke[- ]free|married|divorced|single)"
    r"(?=\W*$|[,.;!]| (?:this|today|now|on|in|next|as of)\b)",
    re.I,
)
_REASON = re.compile(
    rf"\b(?:because|bc|b/c|cos|coz|cuz|since|as) (?:i['’]?m|i am) (?P<what>{_CONDITION})\b"
    r"|^\W*(?:(?:also|and|but|btw|by the way|oh|well|fyi|plus)\W+)*(?:i['’]?m|i am)"
    rf" (?P<before>{_CONDITION}),? so\b",
    re.I,
)
# "Owen got a job in Glasgow so we're moving there in June".
_MOVING_THERE = re.compile(
    rf"\bin (?P<place>{_NAME})\b[^.!?]{{0,80}}?\b(?:so|and) (?P<told>(?:I|i|we)"
    r"(?P<way>(?:['’]re|['’]m| are| am| will be)? moving|['’]ll move| will move| moved) there"
    r"(?P<when> [^.,;!?]{2,30})?)(?=\W*$|[.,;!])",
)
# What is given away is not had any more, whatever else is told of it.
_GIVEN_AWAY = re.compile(
    rf"{LEAD}(?:i|we)(?:['’]ve| have)? (?:just |finally )?(?:had to |decided to )?"
    r"(?:rehomed?|(?:give|gave|given) (?:away|up)|got rid of|get rid of)"
    r" (?P<what>(?:the|my|our) [\w'’-]+)",
    re.I,
)


# "Tom, 52,", or "jess 23" in small letters, where only the age tells a name.
_NAMED = rf"(?:{_NAME}, (?:(?P<age>[1-9]\d),? )?|[a-z]{{2,20}},? (?P<age_3>[1-9]\d),? )"
# "I'm Petra, vet nurse up in Inverness": what one is, and where, beside the name.
_TRADE = re.compile(
    rf"(?:\b(?i:i['’]?m|i am|this is|my name['’]?s|my name is) {_NAMED}"
    rf"|^\W*(?:(?i:hi|hey|hello)\b\W*)?{_NAME} here, (?:(?P<age_2>[1-9]\d),? )?"
    rf"|^\W*(?i:hi|hey|hello) there, {_NAME}, "
    # "58, long haul trucker out of Amarillo", behind who it is.
    r"|^\W*(?P<age_4>[1-9]\d), )(?:an? |the )?"
    r"(?P<role>(?:[A-Z]{2,3} )?[a-z][a-z-]*(?: [a-z-]+){0,2}?)"
    rf"(?: (?:at|for|with) (?P<firm>{_NAME}))?"
    r"(?:,?(?: (?:up|down|out|over|here|based|living|working))*"
    rf" (?:(?:in|out of) (?P<place>{_NAME}|[a-z]{{4,}}(?=\W*$|[.!]))|from (?P<origin>{_NAME})))?"
    r"(?=\W*$|[,.;!]| (?:and|at|for|with)\b)"
)
# "I'm 21, in Guelph, stocking shelves at Zehrs": what somebody is, one behind the other.
_OWN_LIST = re.compile(
    rf"{LEAD}(?i:i['’]?m|i am) (?:[A-Z][\w'’-]+, )?(?P<age>[1-9]\d)(?P<parts>(?:,| and) [^.!?;\n]+)"
)
_IN_LIST = tuple(
    (re.compile(rf"(?:and )?{pattern}$", re.I), told)
    for pattern, told in (
        (rf"(?:now |based |living )*in (?-i:(?P<place>{_NAME}|[a-z]{{4,}}))", "I live in {place}."),
        (r"an? (?P<what>[a-z][\w -]+)", "I am a {what}."),
        (r"(?P<what>(?:live|work|study|teach|drive|run) [^,]+)", "I {what}."),
        (r"(?P<what>[a-z]{3,}ing (?:at|in|for|with|on|up|[a-z]+) [^,]+)", "I am {what}."),
        (r"(?P<what>(?:\d|one|two|three|four|five) (?:young )?(?:kids|children|boys|girls|cats"
         r"|dogs|kid|child|cat|dog|sons?|daughters?))", "I have {what}."),
        (r"(?P<what>single|married|engaged|divorced|widowed|retired|vegan|vegetarian|unemployed"
         r"|self-employed|pregnant)", "I am {what}."),
    )
)  # fmt: skip
# "Im Tamsin, 34, mum of two, live in Truro": what goes on as if with "I".
_GOES_ON = re.compile(
    r"\b(?:i['’]?m|i am) [^.!?\n]{2,100}?(?:,|,? and) (?P<told>(?P<does>live|living|based|work"
    r"|working)(?: (?:here|just|now|currently|part[- ]time))* (?P<where>(?:in|at|for|near|as|with)"
    r" (?![^.,;!?]*\b(?:is|are|was|were|has|have|makes?|can|will|would)\b)[^.,;!?]{2,40}?))"
    r"(?=\W*$|[.,;!]| (?:and|but|with)\b)",
    re.I,
)
# "Officially sick of poutine, it's all ramen now": what came after it is told with it.
_HAD_ENOUGH = re.compile(
    rf"{LEAD}(?P<told>(?:officially |completely |totally |so |really )*(?:sick|tired|bored|fed"
    r" up|done|finished) (?:of|with) [^,.;!?]{2,40}),? (?:and |so )?"
    r"(?P<rest>it(?:['’]?s| is) [^.!?]+)",
    re.I,
)
# "895 a month", after a home was told of.
_RENT = re.compile(
    r"\W*(?:(?:it['’]?s|that['’]?s|for|at) )?"
    r"(?P<sum>[£$€]?\d[\d,.]*(?: ?(?:quid|pounds|dollars|euros?))?)"
    r" ?(?P<each>(?:a|per|/) ?(?:month|week)|pcm|pw)\W*$",
    re.I,
)
_RENTED = re.compile(
    r"\b(?:flat|apartment|studio|room|rent(?:ing|al)?|landlord|landlady|lease)\b", re.I
)
_BOUGHT = re.compile(r"\b(?:bought|buy(?:ing)?|mortgage|parking|garage|bills?)\b", re.I)
# "My sister Anjali had her baby on Saturday, a boy called Rohan".
_BORN = re.compile(
    rf"{LEAD}(?P<who>(?i:my|our) (?:[\w'’-]+ ){{1,3}}?|(?i:i|we) |{_NAME} )"
    r"(?i:(?:has |have |['’]ve )?(?:just )?(?:had|gave birth to|welcomed) "
    r"(?:an? |her |his |their |our |my )(?:\w+ )?baby)\b[^.!?]*?"
    rf"\b(?i:called|named)(?i: him| her)? (?P<name>{_NAME}|[a-z]{{3,}}(?=\W*$))"
)
# "Senior analyst now", all of a sentence.
_POST_NOW = re.compile(
    rf"{LEAD}(?:now )?(?:an? |the )?(?P<role>(?:[a-z-]+ ){{0,3}}?(?P<post>[a-z]+)) now\W*$", re.I
)
# "Starting 1 October at Saltmarsh": the day before the place.
_STARTS_AT = re.compile(
    rf"{LEAD}(?i:i(?:['’]?m| am|['’]ve)? )?(?P<way>(?i:start(?:s|ed|ing)?))"
    r" (?P<when>(?:(?i:on|in|from|next|this|the)|\d|[A-Za-z]+day|tomorrow|"
    rf"(?i:{DAY_AND_MONTH_NAMES}))[\w ]{{0,20}}?) (?i:at|with) (?P<firm>(?i:the )?{_NAME})"
    r"(?=\W*$|[,.;!]| (?:and|as|so)\b)"
)
# "I take the 16 instead of the 49 now": what was done before is not done any more.
_INSTEAD = re.compile(
    r"\bi(?P<way>['’]?m| am|['’]?ve)? (?P<before>now )?(?P<verb>[a-z]+) [^,.;!?]{2,40}? instead of "
    r"(?P<old>(?!(?:that|this|it|them|going|just|having|being)\b)[\w'’ -]{2,30}?)"
    r"(?P<now> now| these days| nowadays| from now on)?(?=\W*$|[,.;!]| (?:and|but|so|because)\b)",
    re.I,
)
# Where one lives by what one got there, or by where home is.
_HOME = re.compile(
    r"\b(?i:(?:i|we|me|and \w+)(?:['’]ve| have)? (?:just |finally )?got (?:a|an|our own|my own)"
    r" (?:\w+ ){0,2}?(?:place|house|cottage|bungalow)(?: together| of (?:my|our) own)? in"
    r"|(?:^\W*|\b(?:i|we)(?:['’]m| am|['’]re| are) )(?:back |now |finally |safely )*home in)"
    rf" (?P<place>{_NAME})"
    # "We finally moved! New house in Harrogate".
    rf"|^\W*(?i:(?:our |my )?new (?:house|flat|home|apartment) in) (?P<new>{_NAME})"
)
_MOVED_FOR_JOB = re.compile(
    r"(?i:(?:^\W*|\b(?:i|we)(?:['’]ve| have)? )(?:just |recently |finally )*moved)"
    rf" to (?P<place>{_NAME}) (?i:for (?:a|my|the) (?:new )?job (?:at|with)) "
    r"(?P<work>[\w'’& -]{2,40}?)(?=\W*$|[,.;!])"
)
_OFFICES = split_words("head lead leader chief captain chair chairman chairwoman principal")
_MADE = re.compile(
    r"\b(?:(?:i['’]ve been|i have been|i was|i got|i['’]m being) (?:made|named|appointed)"
    r"|they(?:['’]ve)? (?:made|named|appointed) me) (?P<role>(?:[a-z-]+ ){0,3}?(?P<post>[a-z]+))"
    r"(?P<when> (?:from|as of|starting|since) [^.!?,]{3,20}?)?(?=\W*$|[,.;!])",
    re.I,
)
_WORK_FOR = re.compile(
    r"(?i:(?:^\W*|\bi(?:['’]m| am)? )(?:gonna|going to|will)(?: be)? |\bi['’]ll be "
    r"|\bi(?:['’]m| am|['’]ve been)(?: now)? )(?P<doing>[a-z]+ing)"
    rf" (?:[a-z]+ ){{0,3}}for (?P<firm>{_NAME})(?P<when> (?i:from|in|on|starting)"
    r" [^.,!?;]{3,20})?(?=\W*$|[.,!?;])"
)
_WORKING_VERBS = split_words("""
    driving working coding designing cleaning cooking teaching writing consulting delivering selling
""")
_TEACHES = re.compile(
    r"\bi teach (?!my|her|him|them|you|myself)[^.,;!?]{2,40}? (?:at|in|for)"
    r" (?P<work>(?:an?|the) (?:[\w'’-]+ ){0,2}(?:school|college|university|academy|nursery))\b",
    re.I,
)
_CAN_NOT_EAT = re.compile(
    r"\b(?:i|we) (?:can['’]?t|can ?not|don['’]?t) (?:do|tolerate|stomach|handle|digest)"
    r" (?P<food>(?:any )?(?:dairy|gluten|lactose|wheat|nuts|peanuts|shellfish|seafood|eggs?|meat"
    r"|fish|soy|sugar|caffeine|alcohol|spicy food|milk|cheese|onions?|garlic))\b",
    re.I,
)
_GONE_DIET = re.compile(
    rf"\b(?:i|we)(?:['’]ve| have)? (?:gone|went|turned) (?P<diet>{_DIET})\b", re.I
)
_END_OF_DIET = re.compile(
    rf"\b(?:that['’]?s the end of (?:the|my|this) (?:whole )?(?P<diet>{_DIET})"
    rf"|not (?P<other>{_DIET}) any ?more)\b",
    re.I,
)
# "New boss there is someone called Priya", "Marcus left so the new head chef is Elena".
_NEW_HOLDER = re.compile(
    r"(?i:(?:^\W*|\b(?:the|my|our) )new (?P<role>[a-z]+(?: (?!there|here|is)[a-z]+)?)"
    r"(?: there| here)?(?: is|['’]s| will be)(?: now)? "
    r"(?:(?:some(?:one|body)|an? \w+|this \w+) (?:called|named) )?)"
    rf"(?P<name>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{_NAME})(?=\W*$|[,.;!]| (?:and|so|from)\b)"
)
_SAID_GOODBYE = re.compile(
    rf"\b(?i:(?:had|have) to say (?:our |my )?(?:final |last )?goodbyes? to) (?P<name>{_NAME})"
)
# "Dr Whitfield is supervising me from June": who does so is one's supervisor.
_DOES_FOR_ME = re.compile(
    rf"(?P<name>(?:(?:Mr|Mrs|Ms|Dr|Prof|Professor)\.? )?{_NAME})"
    r"(?i:(?: is|['’]s|(?P<ahead> will(?: be)?))?(?: now)? "
    r"(?P<does>supervis|manag|coach|tutor)(?:ing|es?) (?:me|us)\b)"
)
_DOER = {
    "supervis": "supervisor", "manag": "manager", "coach": "coach", "tutor": "tutor",
}  # fmt: skip
# "My flight to Lisbon is on 14 March", "Abby's wedding is on 5 September in Savannah": where it is
# stays so when the day is moved.
_OCCASION_PLACE = re.compile(
    rf"\b(?P<whose>(?i:my|our)(?: [\w-]+['’]s)?|{_NAME}['’]s) "
    rf"(?:(?P<event>(?:[a-z]+ )?(?:{'|'.join(sorted(EVENTS))}))(?: is|['’]s) [^.!?]{{0,40}}?"
    rf"\b(?:in|at) (?P<place>{_NAME})|(?P<ride>flight|trip|train|ferry) to (?P<to>{_NAME}))\b"
)
_TELLS_DAY = re.compile(rf"\d|\b(?:{DAY_AND_MONTH_NAMES})\b", re.I)
_REPORTS_TO = re.compile(
    r"\b(?i:(?:i|we)(?:['’]m| am|['’]re| are)? (?:now )?report(?:ing)? (?:directly |straight )?to) "
    rf"(?P<boss>(?:(?:Mr|Mrs|Ms|Dr)\.? )?{_NAME})"
    r"(?: now| instead| these days)?(?=\W*$|[,.;!]| (?:and|till|until|while|from)\b)"
)
_IN_THE_ROOM = re.compile(
    rf"\bthere(?:['’]s| is) (?:an? )?(?:\w+ ){{0,2}}called (?P<name>{_NAME}) in"
    r" (?:her|his|their|the (?:spare|other|empty)) (?:old )?room\b"
)
# "Met someone, her name is Aoife, she's a vet nurse": who it is, and what else is told of them.
_MET = re.compile(
    r"(?i:(?:^\W*|\b(?:i|i['’]ve|i have|im|i['’]m|and|but) )(?:just |finally |also |actually )*"
    r"(?P<way>met|been seeing|been dating|seeing|dating|started seeing|started dating)"
    r" (?:someone|somebody|this|an?)(?: (?:new|nice|lovely|great|special))?"
    r"(?: (?:girl|guy|man|woman|lad|lass|bloke|boy|person))?,?"
    r"(?: (?:and )?(?:her|his|their) name(?:['’]s| is)| (?:who['’]s |who is )?(?:called|named)))"
    rf" (?P<name>{_NAME})"
    r"(?:(?:,| and|\.)+ (?i:she|he|they)(?P<being>['’]s|['’]re| is| are) (?P<what>[^.!?;]{3,80}))?"
)
# "They let me go on Friday": from a job, where nothing says what for.
# As one says in India for a resignation.
_PAPERS_IN = re.compile(
    r"(?:^|\bi(?:['’]ve| have)?(?: just| finally)? )put (?:down|in) my papers\b"
    r"(?P<when> (?:(?:on|last|this|yesterday|today|in)\b(?:(?! to )[^,.;!?]){0,20}?))?"
    r"(?=\W*$|[,.;!])",
    re.I | re.M,
)
_LET_GO = re.compile(
    r"\b(?:they|work|the (?:firm|company|boss)|my (?:boss|manager|work|firm|company))"
    r"(?:['’]ve| have| has)?(?: just| finally| also)? let me go"
    r"(?P<when> (?:(?:on|last|this|yesterday|today|in)\b(?:(?! to )[^,.;!?]){0,20}?))?"
    r"(?=\W*$|[,.;!]| (?:after|because|and|so|but)\b)",
    re.I,
)
# "No more bowls for me, knee is shot", which is more than to do without it this time.
_NO_MORE = re.compile(
    rf"{LEAD}no more (?P<what>(?!(?:of|than|questions?|excuses)\b)[a-z][\w-]+(?: [a-z][\w-]+)?)"
    r" for me(?=\W*$|[,.;:!]| (?:now|since|because|after|i|my|the)\b)",
    re.I,
)
_FOR_NOW = re.compile(
    r"\b(?:thanks|thank you|cheers|please|today|tonight|for now|this \w+|until|till?|for (?:a|the)"
    r" \w+|weeks?|months?|days?|next \w+)\b",
    re.I,
)
# "Use ana@parkside.org instead, the old one is dead", "ring me on 07700 900456 from now on".
_REACHED_AT = re.compile(
    r"\b(?:(?:(?P<use>use)|(?:write(?: to)?|e-?mail|reach|contact) (?:me|us) (?:at|on)"
    r"|send (?:it|them|everything) to|(?:switched|changed)(?: my [\w-]+| it)? to"
    r"|i['’]?m (?:now )?(?:on|at)) (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"
    r"|(?:ring|call|text|reach|phone|message|whatsapp) me (?:on|at)"
    r" (?P<phone>\+?\d[\d ()-]{5,}\d))",
    re.I,
)
_OLD_ONE = r"from now on|(?:the|my) old (?:one|address|number|e-?mail|account)"
_REACHED_ANEW = re.compile(
    rf"(?P<old>\b(?:{_OLD_ONE})\b)|\b(?:instead(?! of)|now)\b",
    re.I,
)
_ANOTHERS = re.compile(r"\b(?:his|her|their|\w+['’]s) (?:new )?(?:e-?mail|address|number)\b", re.I)
# "Moved to support", which is no place that anybody lives in.
_MOVED_TEAM = re.compile(
    rf"(?:{LEAD}|\bi(?:['’]ve| have|['’]m| am|['’]ve been)? )(?:just |been |now )*"
    r"(?:moved|moving|switched|transferred|put) (?:over )?(?:to|on|onto) "
    rf"(?P<team>(?:the )?(?:{DEPARTMENTS})|{SHIFTS})(?: now| instead)?"
    r"(?=\W*$|[,.;!]| (?:now|at work|from|on|last|this)\b)",
    re.I,
)
_TO_COME = re.compile(r"gonna|going to|will|['’]ll", re.I)
# Wider than what makes a sentence hypothetical: these patterns look for words anywhere in it.
_IMAGINED = re.compile(
    r"\b(?:if|unless|wish|might|maybe|perhaps|would|could|hop(?:e|ing)|want(?:ed)?"
    r"|dream(?:t|ed|ing|s (?:of|about))?|imagine|pretend|suppose|joking|almost|nearly)\b|[\"“”]",
    re.I,
)


_GREETING = re.compile(r"\W*(?:(?:hi|hey|hello|hiya|morning|evening)\b[ \w]{0,8}\W*)?", re.I)


def _read_told_otherwise(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(a state, where the words that tell it stand) of what a sentence says on the way. Words at
    its beginning stand for the sentence, others beside it."""
    if _IMAGINED.search(text):
        return
    if found := _SO_LONG.match(text):
        yield f"I have been {found['what']} for {found['long']}.", found.span()
    if (found := _TRADE.search(text)) and found["role"].split()[-1] in JOBS:
        begins = 0 if _GREETING.fullmatch(text[: found.start()]) else found.start()
        where = (begins, found.end())
        yield f"I am {_give_article(found['role'])}.", where
        if found["firm"]:
            yield f"I work at {found['firm']}.", where
        place = found["place"] or ""
        if place and not (place.islower() and is_dictionary_word(place)):
            yield f"I live in {place.title() if place.islower() else place}.", where
        if found["origin"]:
            yield f"I am from {found['origin']}.", where
        age = found["age"] or found["age_2"] or found["age_3"] or found["age_4"]
        if age and not _OWN_AGE.search(text):
            yield f"I am {age} years old.", where
        if found["age_4"] and not _SAYS_NO_MORE.match(text, found.end()):
            yield text[found.end() :].lstrip(" ,;"), (found.end(), len(text))
    listed = [*_read_own_list(text)]
    yield from listed
    yield from read_medicine(text)
    yield from read_couples(text)
    if found := _LET_GO.search(text):
        yield f"I was let go{found['when'] or ''}.", found.span()
    if found := _PAPERS_IN.search(text):
        yield f"I handed in my notice{found['when'] or ''}.", found.span()
    if (found := _NO_MORE.match(text)) and not _FOR_NOW.search(text):
        yield f"I have given up {found['what']}.", found.span()
    if (found := _REACHED_AT.search(text)) and _is_reached_anew(text, found):
        thing = "email" if found["email"] else "phone number"
        yield f"My {thing} is {(found['email'] or found['phone']).strip()} now.", found.span()
    if found := _MOVED_TEAM.search(text):
        yield f"I am on {found['team']} now.", found.span()
    if not listed and (found := _GOES_ON.search(text)):
        does = "work" if found["does"].lower().startswith("work") else "live"
        yield f"I {does} {found['where']}.", found.span("told")
    if (found := _POST_NOW.match(text)) and found["post"].lower() in JOBS - PEOPLE:
        yield f"I am {_give_article(found['role'])} now.", found.span("role")
    if found := _HAD_ENOUGH.match(text):
        yield f"I am {found['told']}, and {found['rest']}.", found.span()
    if found := _STARTS_AT.match(text):
        when = found["when"]
        when = f"on {when}" if re.match(rf"\d|{DAY_AND_MONTH_NAMES}", when, re.I) else when
        did = "started" if found["way"].lower() == "started" else "start"
        whole = _SAYS_NO_MORE.match(text, found.end())
        yield f"I {did} at {found['firm']} {when}.", found.span(0 if whole else "when")
    if (found := _INSTEAD.search(text)) and (habit := _find_habit(found)):
        yield f"I do not {habit} any more.", found.span("old")
    if (found := _HOME.search(text)) and not is_passing(text):
        yield f"I live in {found['place'] or found['new']} now.", found.span()
    if (found := _NEW_HOLDER.search(text)) and _is_post(found["role"]):
        yield f"My {found['role']} is {found['name']} now.", found.span("name")
    if found := _DOES_FOR_ME.search(text):
        ahead = found["ahead"] and "now" not in found[0]
        way = f"will be {found['name']}" if ahead else f"is {found['name']} now"
        yield f"My {_DOER[found['does'].lower()]} {way}.", found.span("name")
    if (found := _OCCASION_PLACE.search(text)) and _TELLS_DAY.search(text):
        place = found["place"] or found["to"]
        if place.lower() not in MONTHS | WEEKDAYS:
            told = f"{found['event']} is in" if found["event"] else f"{found['ride']} is to"
            part = "place" if found["place"] else "to"
            yield f"{found['whose']} {told} {place}.", found.span(part)
    if found := _SAID_GOODBYE.search(text):
        yield f"{found['name']} is gone.", found.span("name")
    if found := _MOVED_FOR_JOB.search(text):
        yield f"I live in {found['place']} now.", found.span()
        yield f"I work at {found['work']}.", found.span()
    if (found := _MADE.search(text)) and found["post"].lower() in JOBS | _OFFICES:
        way = "will be" if found["when"] and "since" not in found["when"] else "is"
        yield f"My job {way} {_give_article(found['role'])}{found['when'] or ''}.", found.span()
    if (found := _WORK_FOR.search(text)) and found["doing"].lower() in _WORKING_VERBS:
        way = "am going to work" if _TO_COME.search(found[0]) else "work"
        yield f"I {way} for {found['firm']}{found['when'] or ''}.", found.span("firm")
    if found := _TEACHES.search(text):
        yield f"I work at {found['work']}.", found.span("work")
    if found := _CAN_NOT_EAT.search(text):
        yield f"I can not eat {found['food']}.", found.span("food")
    if found := _GONE_DIET.search(text):
        yield f"I am {found['diet']} now.", found.span()
    if found := _END_OF_DIET.search(text):
        yield f"I am not {found['diet'] or found['other']} any more.", found.span()
    if found := _REASON.search(text):
        told = "what" if found["what"] else "before"
        yield f"I am {found[told].strip()}.", found.span(told)
    if found := _TWO_AGES.search(text):
        for name, age in (("name", "age"), ("other", "next")):
            told = f"{found[name]} is {found[age]} years old."
            yield told, (found.start(name), found.end(age))
    if (found := _REPORTS_TO.search(text)) and not found["boss"].isupper():  # "to HR"
        yield f"My manager is {found['boss']} now.", found.span()
    if found := _MET.search(text):
        way = "met" if found["way"].lower() == "met" else "am seeing"
        yield f"I {way} {found['name']}.", found.span()
        if found["what"]:
            yield f"{found['name']} is {found['what']}.", found.span("what")
    if found := _IN_THE_ROOM.search(text):
        yield f"My flatmate is {found['name']} now.", found.span()


def _read_own_list(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """What each part of a list of what somebody is tells; nothing where one of them is no such."""
    found = _OWN_LIST.match(text)
    parts = [*re.finditer(r"[^,]+", found["parts"])] if found else []
    told = [_tell_own_part(part[0].strip(" .")) for part in parts if part[0].strip()]
    if found is None or not told or not all(told):
        return
    begins = found.start("parts")
    yield f"I am {found['age']} years old.", (0, begins)
    for part, each in zip(parts, told, strict=True):
        yield each, (begins + part.start(), begins + part.end())


def _tell_own_part(part: str) -> str:
    for pattern, told in _IN_LIST:
        if said := pattern.match(part):
            named = {key: value for key, value in said.groupdict().items() if value}
            place = named.get("place", "")
            if place.islower():
                if is_dictionary_word(place):
                    return ""
                named["place"] = place.title()
            return told.format(**named)
    return ""


def _list_aged(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(how old, where that stands) of children that are named one by one with their ages."""
    for run in _AGED.finditer(text):
        told = list(re.finditer(r"(?P<name>[A-Z][\w'’-]+),? (?P<age>\d{1,2})\b", run[0]))
        names = {each["name"] for each in told}
        if len(names) < len(told) or any(name.lower() in WEEKDAYS | MONTHS for name in names):
            continue  # "Year 3 and Year 5", "May 7 and June 3"
        for each in told:
            where = (run.start() + each.start(), run.start() + each.end())
            yield f"{each['name']} is {each['age']} years old.", where


def _is_reached_anew(text: str, found: re.Match[str]) -> bool:
    """Whether it is the speaker's, and in the place of another: whose is to be "used instead" may
    be anybody's."""
    anew = [*_REACHED_ANEW.finditer(text)]
    sure = any(each["old"] for each in anew) if found["use"] else bool(anew)
    return sure and not _ANOTHERS.search(text)


def _find_habit(found: re.Match[str]) -> str:
    """What was done till now where something else is done by now; "" for what was done once."""
    verb, way = found["verb"].lower(), (found["way"] or "").lstrip("'’ ").lower()
    if not (found["before"] or found["now"]) or way == "ve":
        return ""
    lemma = find_lemma(verb)
    goes_on = bool(way) and verb.endswith("ing")
    if not goes_on and (way or lemma != verb or is_past_form(verb)):
        return ""
    done = re.match(r"(?P<verb>\w{2,}ing)\b(?P<rest>.*)", found["old"])  # "instead of driving"
    return f"{find_lemma(done['verb'])}{done['rest']}" if done else f"{lemma} {found['old']}"


def _is_post(role: str) -> bool:
    return role in _ROLES or role.split()[-1] in JOBS | PEOPLE


def _give_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


_ANY_MORE = re.compile(r"no longer|any ?more", re.I)


_SAYS_NO_MORE = re.compile(r"\W*$")


# "My new number is 0770 900456, the old phone went in the lake".
_GOES_ON_TELLING = re.compile(
    r",? (?:and |but |so |because |cos )?(?=(?:the|my|i|we|it|old|don['’]?t)\b)", re.I
)


def _find_post_left(text: str) -> str:
    """The post of somebody who goes ("my manager Priya left" → "manager"); "" where nobody does."""
    found = _LEAVES.search(text)
    role = "" if found is None else "doctor" if found["doctor"] else found["role"]
    return role if role in _ROLES else ""


def _read_new_value(text: str) -> str:
    """What has a new value, as a state: ("New address: 3 Mill Road") → "My address is 3 Mill Road
    now."; of somebody else: ("Brian has a new number, it's 0770") → "Brian's phone number is 0770
    now."; "" where none is told."""
    told = _ASIDE.sub("", text)
    if (theirs := _THEIR_NEW_VALUE.match(told)) and theirs["who"].lower() not in ("i", "we"):
        return _tell_value(f"{theirs['who']}'s", theirs["thing"], theirs["value"])
    found = _NEW_VALUE.match(told)
    if found is None:
        return ""
    value = _GOES_ON_TELLING.split(found["value"] or found["told"] or found["use"])[0]
    return _tell_value("My", found["thing"] or found["label"] or found["old"], value)


def _tell_value(whose: str, thing: str, value: str) -> str:
    thing, value = thing.lower(), value.strip(" .")
    if thing.split()[-1] not in _VALUED_THINGS or not re.search(r"[\dA-Z@]", value):
        return ""
    return f"{whose} {'phone number' if thing == 'number' else thing} is {value} now."


def read_changes(turn: ParsedTurn) -> Iterator[CompletedStatement]:
    """The states that the sentences of what a person said lead to, each with where it was said."""
    if turn.utterance.role != "user":
        return
    before = ""
    for offset, span in turn.iter_sentences():
        text, earlier = span.text, before
        before = text
        if is_question(text):
            continue
        start, end = offset + span.start_char, offset + span.end_char
        for told, (begun, done) in _read_told_otherwise(text):
            yield CompletedStatement(told, start + begun, start + done)
        if found := _BEFORE_THAT.search(text):
            home = found["way"].lower() == "in" and _HOME_TOLD.search(text[: found.start()])
            did = "lived" if home else "worked"
            begun, done = start + found.start("told"), start + found.end("told")
            yield CompletedStatement(f"I {did} {found['rest']} before.", begun, done)
        if (found := _NOT_ANY_MORE.search(text)) and _ANY_MORE.search(found["told"]):
            at = start + found.start("told")
            yield CompletedStatement(
                f"I am not {found['what']} any more.", at, start + found.end("told")
            )
        said = turn.utterance.text[:start]
        heard = " ".join(piece.doc.text for piece in turn.before)
        for named, (begun, done) in read_given_names(text, f"{heard} {said}"):
            yield CompletedStatement(named, start + begun, start + done)
        if (found := _RENT.match(text)) and _RENTED.search(said) and not _BOUGHT.search(said):
            told = f"My rent is {found['sum']} {found['each']}."
            yield CompletedStatement(told, start, end)
        if found := _BORN.match(text):
            sex = re.search(r"\b(?:boy|girl|son|daughter)\b", found[0])
            child = {"boy": "son", "girl": "daughter"}.get(sex[0], sex[0]) if sex else "child"
            who = found["who"].strip()
            whose = "my" if who.lower() in ("i", "we") else f"{who}'s"
            yield CompletedStatement(
                f"{found['name'].title()} is {whose} {child}.",
                start + found.start("name"),
                start + found.end("name"),
            )
        if found := _OWN_AGE.search(text):
            at = start + found.start("age")
            yield CompletedStatement(f"I am {found['age']} years old.", at, start + found.end())
        for found in _AGE_BESIDE.finditer(text) if _CHILDREN.search(text) else ():
            if found["comma"] and found["name"].lower() in WEEKDAYS | MONTHS:
                continue  # "on Sunday, 6 of them"
            at = start + found.start("name")
            told = f"{found['name']} is {found['age']} years old."
            yield CompletedStatement(told, at, start + found.end("age"))
        for told, (begun, done) in _list_aged(text) if _CHILDREN.search(text) else ():
            yield CompletedStatement(told, start + begun, start + done)
        if found := _LISTED.search(text):
            for name in re.finditer(r"[A-Z][\w'’-]+", found["names"]):
                at = start + found.start("names") + name.start()
                told = f"{name[0]} is my {_ONE_OF[found['kind'].lower()]}."
                yield CompletedStatement(told, at, at + len(name[0]))
        if found := _MOVING_THERE.search(text):
            at = start + found.start("told")
            way = "moved" if found["way"].strip() == "moved" else "am moving"
            told = f"I {way} to {found['place']}{found['when'] or ''}."
            yield CompletedStatement(told, at, start + found.end("told"))
        if found := _GIVEN_AWAY.match(text):
            at = start + found.start("what")
            told = f"I do not have {found['what']} any more."
            yield CompletedStatement(told, at, start + found.end("what"))
        if found := _NO_LONGER_IS.search(text):
            at = start + found.start("name")
            told = f"My {found['role']} is {found['name']} now."
            yield CompletedStatement(told, at, start + found.end("name"))
        if found := _WITH_DOCTOR.search(text):
            at = start + found.start("name")
            yield CompletedStatement(
                f"My doctor is {found['name']} now.", at, start + found.end("name")
            )
        if new_value := _read_new_value(text):
            yield CompletedStatement(new_value, start, end)
        elif (found := _NEW_ROLE.match(text)) and found["role"] in _ROLES:
            # What the sentence goes on to say is read as well.
            at = start if _SAYS_NO_MORE.match(text, found.end()) else start + found.start("new")
            told = f"My {found['role']} is {found['name']} now."
            yield CompletedStatement(told, at, start + found.end("name"))
        elif (found := _HAS_NAMED.match(text)) and (
            not found["comma"]
            or (found["animal"].lower() in ANIMALS and found["name"].lower() not in PEOPLE)
        ):
            # Beside the sentence itself, which tells of getting it.
            at = start + found.start("animal")
            yield CompletedStatement(
                f"My {found['animal']} is called {found['name']}.", at, start + found.end("name")
            )
        elif found := _NAMED_LATER.match(text):
            told = f"My {found['animal'].lower()} is called {found['name']}."
            yield CompletedStatement(told, start + found.start("name"), start + found.end("name"))
        elif found := _BIRTHDAY.match(text):
            yield CompletedStatement(f"My birthday is {found['day']}.", start, end)
        elif found := _FIRST_DAY.match(text):
            where = found["role"] or f"working {found['place']}"
            when = "this week" if found["time"].lower() == "week" else "today"
            done = start + found.start("rest") if found["rest"] else end
            yield CompletedStatement(f"I started {where} {when}.", start, done)
            if found["rest"]:
                yield CompletedStatement(found["rest"], done, end)
        elif (found := _NEW_ONE.match(text)) and (role := _find_post_left(earlier)):
            yield CompletedStatement(f"My {role} is {found['name']} now.", start, end)
        elif found := _FOLLOWED.match(text):
            if role := _find_post_left(earlier + text[: found.start("how")]):
                who = found["now"] or found["next"]
                at = start + found.start("how")
                yield CompletedStatement(f"My {role} is {who} now.", at, end)
        elif found := _SWAPPED.match(text):
            # Beside what the sentence itself tells, which is that there was a swap.
            whose = "the" if found["whose"].lower() == "the" else "my"
            at = start + found.start("whose")
            yield CompletedStatement(f"I do not have {whose}{found['old']} any more.", at, end)
            yield CompletedStatement(f"I have {found['new']} now.", at, end)
