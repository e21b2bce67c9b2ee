"""What somebody takes, told by who gives it or by what it does: "the doctor put me on amlodipine",
"melatonin gave me bad dreams so I quit taking it"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoryhub.engines.local.wordlists import LEAD, MEDICINE_NAME, split_words

# "The doctor stopped the ramipril and put me on amlodipine": what a doctor gives is taken.
_DOCTOR = re.compile(
    r"\b(?:doctor|doc|dr|gp|consultant|nurse|psychiatrist|specialist|hospital|clinic|pharmacist"
    r"|\w+ologist)\b",
    re.I,
)
_MEDICINE = (
    r"(?:my |some )?(?P<drug>(?:the )?(?!(?:hold|leave|nights?|the|my|some|waiting|list)\b)"
    r"[a-z][\w-]{3,})"
)
_PUT_ON = re.compile(
    rf"\b(?:put|started|switched|moved|changed|swapped) me (?:over |back )?"
    rf"(?:from {_MEDICINE.replace('drug', 'old')} )?(?:on|onto|to) {_MEDICINE}"
    r"(?=\W*$|[,.;!]| (?:instead|now|because|and|for|but|which|so|last|today|twice|once|\d))",
    re.I,
)
_TAKEN_OFF = re.compile(
    rf"\b(?:(?:took|taken) me off|(?:stopped|discontinued)(?= (?:the|my)\b)) {_MEDICINE}", re.I
)
# How most medicines are called.
_IS_DRUG = re.compile(rf"{MEDICINE_NAME}$|\b(?:insulin|aspirin|ibuprofen|paracetamol)$", re.I)
_GIVES_OTHER = re.compile(r"(?:switched|moved|changed|swapped)\b", re.I)
_HARM = (
    rf"{LEAD}(?P<thing>(?:(?:the|my) )?[\w-]+) (?:gave|gives|made|makes|was|is|kept|keeps|did"
    r"|didn['’]?t|does|doesn['’]?t|upset|messed)\b"
)
_DOES_HARM = re.compile(_HARM, re.I)
# "Melatonin gave me bad dreams so I quit taking it".
_STOPPED_IT = re.compile(
    rf"{_HARM}[^.!?]*?\b(?:so|and) (?P<told>i(?:['’]?ve| have)?"
    r" (?:just )?(?:quit|stopped|gave up|given up) (?P<doing>\w+ing) it)\b",
    re.I,
)
_POINTING = split_words("it that this these those he she they i we you there which what who")


def read_medicine(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """(a state, where the words that tell it stand) of what is taken by now, or no longer."""
    given = _DOCTOR.search(text) is not None
    if (found := _TAKEN_OFF.search(text)) and (given or _IS_DRUG.search(found["drug"])):
        drug = found["drug"].removeprefix("the ")
        yield f"I do not take {drug} any more.", found.span("drug")
    if (found := _PUT_ON.search(text)) and (given or _IS_DRUG.search(found["drug"])):
        ill = _DOES_HARM.match(text) if _GIVES_OTHER.match(found[0]) else None
        old = found["old"] or (ill["thing"] if ill and _IS_DRUG.search(ill["thing"]) else "")
        if old:
            yield f"I do not take {old.lower()} any more.", found.span("old" if found["old"] else 0)
        yield f"I take {found['drug']} now.", found.span("drug")
    if (found := _STOPPED_IT.search(text)) and found["thing"].lower() not in _POINTING:
        yield f"I stopped {found['doing']} {found['thing']}.", found.span("told")
