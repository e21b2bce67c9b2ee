"""Short conversations to try the chat with, each told by one person over some weeks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

SAMPLE_SUBJECT_PREFIX = "sample-"
SAMPLE_CHANNEL = "sample"


@dataclass(frozen=True, slots=True)
class SampleConversation:
    """`days`: by how many days ago, what the person and the assistant said in turn.
    `example_messages` are messages to try afterwards: what changed, when something was, what to
    learn."""

    name: str
    person: str
    language: str
    title: StrOrPromise
    about: StrOrPromise
    days: Mapping[int, Sequence[str]]
    example_messages: Sequence[str]

    @property
    def subject(self) -> str:
        return f"{SAMPLE_SUBJECT_PREFIX}{self.name}"

    @property
    def count(self) -> int:
        return sum(map(len, self.days.values()))


SAMPLES: Sequence[SampleConversation] = (
    SampleConversation(
        "maya",
        "Maya",
        "en",
        _("A move and a new job"),
        _("A home and an employer that change: what was replaced, and by what."),
        {
            70: (
                "Hi, I'm Maya. I live in Porto and I work as a nurse at a children's clinic.",
                "Good to meet you, Maya. How do you like the clinic?",
                "The children are lovely, the night shifts less so. I have a cat called Figo.",
                "Figo is a fine name for a cat.",
            ),
            35: (
                "I live in Lisbon now, near the river.",
                "That is quite a change. Did Figo travel well?",
                "He slept all the way. I am allergic to shellfish.",
                "Then grilled vegetables it is.",
            ),
            6: (
                "I started a new job on Monday: I work as a school nurse now.",
                "Congratulations! No more night shifts, then.",
                "None. I joined a choir too, we rehearse on Thursdays.",
                "Which voice do you sing?",
            ),
        },
        (
            "Where do I live?",
            "What is my cat called?",
            "What am I allergic to?",
            "I live in Coimbra now.",
        ),
    ),
    SampleConversation(
        "tomas",
        "Tomas",
        "en",
        _("Training for a race"),
        _("Plans, dates and a preference that changes."),
        {
            50: (
                "I signed up for a half marathon. My coach is called Ingrid.",
                "Well done. How often do you run?",
                "I run three times a week, always in the morning. I love running on the beach.",
                "The sand will make you strong.",
            ),
            20: (
                "I hurt my knee last Tuesday, so I stopped running on the beach.",
                "I am sorry to hear that. What does Ingrid say?",
                "Ingrid says I should swim. I bought a pair of goggles.",
                "Water is kind to knees.",
            ),
            3: (
                "My knee is fine again. I ran ten kilometres yesterday.",
                "That is good news. And the swimming?",
                "I kept it: I swim every Friday with my brother Pavel.",
                "Pavel will keep you honest.",
            ),
        },
        (
            "Who is my coach?",
            "What happened to my knee?",
            "Who do I swim with?",
            "Remember that my race number is 4711.",
        ),
    ),
    SampleConversation(
        "xiaolin",
        "小林",
        "zh",
        _("In Chinese: a move and a new job"),
        _("A home and an employer that change: what was replaced, and by what."),
        {
            60: (
                "我叫小林，我住在成都，我是一名小学老师。",
                "很高兴认识你，小林。",
                "我喜欢爬山，周末常去青城山。",
                "青城山的空气一定很好。",
            ),
            25: (
                "上周我搬到了杭州。",
                "杭州的西湖很美。",
                "是的。我对花生过敏，点菜的时候要小心。",
                "好的，吃饭时要留意。",
            ),
            4: (
                "我养了一只狗，名字叫豆豆。",
                "豆豆几岁了？",
                "豆豆两岁。我每天早上带它去散步。",
                "听起来很幸福。",
            ),
        },
        ("我住在哪里？", "我对什么过敏？", "我的狗叫什么名字？", "请记住：我的门牌号是302。"),
    ),
    SampleConversation(
        "wenwen",
        "文文",
        "zh",
        _("Learning an instrument, and travels"),
        _("Likes, plans and places visited."),
        {
            45: (
                "我最近开始学钢琴，老师姓周。",
                "学琴需要耐心，加油。",
                "我最喜欢的作曲家是肖邦。",
                "肖邦的夜曲很动人。",
            ),
            12: (
                "上个月我去了云南旅行，在大理住了三天。",
                "大理的洱海怎么样？",
                "很美。我喜欢喝普洱茶，买了两饼回来。",
                "可以慢慢喝。",
            ),
        },
        ("我在学什么乐器？", "我去过哪里旅行？", "我喜欢喝什么茶？", "我现在喜欢喝咖啡了。"),
    ),
)


def find_sample(name: str) -> SampleConversation | None:
    return next((each for each in SAMPLES if each.name == name), None)


def find_sample_of_subject(subject: str) -> SampleConversation | None:
    return next((each for each in SAMPLES if each.subject == subject), None)


def ingest_sample(tenant_id: UUID, sample: SampleConversation, now: datetime) -> Space:
    """Put it into a space of its own, as if it had been said over the last weeks. Raises
    MemoryHubError. What was loaded before is not added again."""
    with tenant_scope(tenant_id):
        space = ensure_space(tenant_id, sample.subject, name=sample.person)
    for number, (days_ago, texts) in enumerate(sample.days.items()):
        said = []
        for at, text in enumerate(texts):
            role, speaker = ("assistant", "") if at % 2 else ("user", sample.person)
            when = now - timedelta(days=days_ago) + timedelta(minutes=at)
            name = f"{sample.subject}:{number}:{at}"
            said.append(Message(role, text, speaker, timestamp=when, external_id=name))
        request = IngestRequest(
            sample.subject, said, f"{sample.subject}-{number}", channel=SAMPLE_CHANNEL
        )
        ingest_messages(tenant_id, request, now)
    return space
