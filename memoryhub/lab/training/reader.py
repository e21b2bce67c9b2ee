"""`lab train-reader`: MiniLM learns to read a question and a text in one, and to say how sure it is
that the text answers it.

A cross-encoder (Nogueira and Cho 2019). Of each question some texts are shown together, with one
more in mind, that nothing answers it: what a text scores is the logarithm of how much likelier it
is than that. Wrong are other sentences of the same person, those near the question more often.
Word vectors stay as they are; what was learned otherwise is kept as corrections of low rank.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from memoryhub.engines.embedding.minilm_graph import (
    LAYERS,
    PRODUCT_NAMES,
    Correction,
    PairReading,
)
from memoryhub.engines.embedding.model_files import MINILM_TOKENIZER
from memoryhub.engines.local.answers.decide import list_pieces, tell_as_successor
from memoryhub.engines.local.answers.evidence import SENTENCE, parse_question, rank_sentences
from memoryhub.engines.local.chinese.glosses import gloss_text
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.reranking.packaged import MOST_TOKENS
from memoryhub.engines.types import Embedder
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.lab.training.asked import AskedStatement
from memoryhub.lab.truth.dialogues import EverydayQuestion, TruthDialogue, is_matching
from memoryhub.lab.truth.everyday import is_right
from memoryhub.lab.truth.run import tell_dialogue
from memoryhub.recall.answers import load_quotes_for_question

if TYPE_CHECKING:
    import torch

ROUNDS, PACE, WARM_UP = 3, 1e-4, 60
# Where what was learned before is gone on with: so often, and with so much of that again.
FURTHER_ROUNDS, _OF_EARLIER = 1, 0.08
HEAD_PACE = 5.0  # times the others'
RANK = 32  # of the corrections
QUESTIONS, TEXTS = 16, 8  # of a step, and of each question
# Of another's sentences so many are drawn, and the nearest of them are wrong answers; and of a
# dialogue's own the nearest are taken first.
_DRAWN, _NEAREST = 40, 14
# How often what answers a question is kept from it: of messages without, and of dialogues, of whose
# questions many have no answer anyhow.
_KEPT_BACK, _KEPT_BACK_OF_DIALOGUES = 0.25, 0.15
_WHOLE_MESSAGES = 0.25  # how often a message is shown whole, not a sentence of it
_WHOLE_CHARACTERS = 300
_SHORT_ANSWER = 60  # characters
# As the packaged file calls what the library calls without it.
_PREFIX = "inner."
_PRODUCTS = dict(
    zip(
        PRODUCT_NAMES,
        (
            *(f"attention.self.{name}" for name in ("query", "key", "value")),
            *(f"{name}.dense" for name in ("attention.output", "intermediate", "output")),
        ),
        strict=True,
    )
)


class ReadQuestion(NamedTuple):
    """`right` texts answer it, `wrong` ones do not; `others`: of a message whose author tells no
    more, where wrong ones are drawn from. Whether a text answers, tells the text alone."""

    text: str
    right: Sequence[str]
    wrong: Sequence[str]
    others: str = ""
    whole: str = ""


# A question with the texts shown, those that answer it first, and how many these are.
_Shown = tuple[str, list[str], int]


def split_sentences(text: str) -> list[str]:
    """As answers are taken from memories."""
    return [said for each in SENTENCE.findall(text) if re.search(r"\w", said := each.strip())]


def read_asked(asked: Sequence[AskedStatement]) -> Iterator[ReadQuestion]:
    """What was asked of single messages."""
    for each in asked:
        told = split_sentences(each.message)
        right = [s for s in told if each.clause in s or s in each.clause] or [each.clause]
        wrong = [sentence for sentence in told if sentence not in right]
        language = detect_language(each.message)
        yield ReadQuestion(each.question, right, wrong, language, each.message)


def read_dialogue_questions(dialogue: TruthDialogue) -> Iterator[ReadQuestion]:
    """Those that have an answer in a sentence or message, and those that have none anywhere. What
    was so once is neither right nor wrong: when it was told is not in the words."""
    told: dict[str, None] = {}
    for turn in dialogue.turns:
        if turn.role == "user":
            sentences = split_sentences(turn.text)
            short = len(sentences) > 1 and len(turn.text) <= _WHOLE_CHARACTERS
            told |= dict.fromkeys([*sentences, *([turn.text] if short else [])])
    for question in dialogue.questions:
        yield from _tell_right_from_wrong(question, list(told))


def read_successions(dialogue: TruthDialogue) -> Iterator[ReadQuestion]:
    """The same questions with what would have answered each earlier, if it is known what holds now:
    what was told later either answers it in its stead or is about something else. What was told
    last of what is asked for has no successor."""
    told = list(_list_told_texts(dialogue))
    for question in dialogue.questions:
        if question.kind != "current":
            continue
        values = [match for match in (question.right, question.outdated) if match]
        right = [each for each in told if is_right(question, each.text)]
        outdated = [each for each in told if is_matching(question.outdated, each.text)]
        outdated = [each for each in outdated if each not in right] if question.outdated else []
        first_right = min((each.turn for each in right), default=0)
        before = [each for each in outdated if each.turn < first_right]
        for earlier in before[:1] + before[1:][-1:] or right[-1:]:
            later = [each for each in told if each.turn > earlier.turn]
            wrong = [e for e in later if not any(is_matching(match, e.text) for match in values)]
            if wrong:
                yield ReadQuestion(
                    question.text,
                    [tell_as_successor(e.text, earlier.text) for e in right if before],
                    [tell_as_successor(e.text, earlier.text) for e in wrong],
                )


class _ToldText(NamedTuple):
    """A sentence, or a short message whole; `turn`: its place in the dialogue."""

    text: str
    turn: int


def _list_told_texts(dialogue: TruthDialogue) -> Iterator[_ToldText]:
    """What the user tells, a short answer with what was asked as well, as a claim of it has it."""
    asked = ""
    for at, turn in enumerate(dialogue.turns):
        if turn.role == "user":
            sentences = split_sentences(turn.text)
            whole = len(sentences) > 1 and len(turn.text) <= _WHOLE_CHARACTERS
            short = asked and len(turn.text) <= _SHORT_ANSWER
            yield from (_ToldText(each, at) for each in sentences)
            if whole or short:
                said = f'Asked "{asked}", the user said: {turn.text}'
                yield _ToldText(said if short else turn.text, at)
        asked = turn.text if turn.role == "assistant" and turn.text.endswith(("?", "？")) else ""


def find_dialogue_questions(
    dialogues: Iterable[TruthDialogue], progress: Callable[[str], None]
) -> Iterator[ReadQuestion]:
    """The same questions over the pieces that an answer is chosen from of the memories that a hub
    makes of a dialogue: claims and notes beside messages, as they are read later."""
    for number, dialogue in enumerate(dialogues, 1):
        with open_throwaway_tenant() as tenant:
            space, at = tell_dialogue(tenant, dialogue)
            for question in dialogue.questions:
                quotes = load_quotes_for_question(space, question.text, now=at)
                asked = parse_question(question.text, quotes, space.display_name)
                _, texts = list_pieces(asked, quotes, rank_sentences(asked, quotes))
                told = dict.fromkeys(text[:_WHOLE_CHARACTERS] for text in texts)
                yield from _tell_right_from_wrong(question, list(told))
        if number % 10 == 0:
            progress(f"{number} dialogues searched")


def choose_further_questions(
    new: Sequence[ReadQuestion], known: Sequence[ReadQuestion]
) -> list[ReadQuestion]:
    """What is learned from where the `known` ones were learned from before."""
    chance = np.random.default_rng(0)
    return [*new, *(each for each in known if chance.random() < _OF_EARLIER)]


def _tell_right_from_wrong(
    question: EverydayQuestion, texts: Sequence[str]
) -> Iterator[ReadQuestion]:
    known = question.kind != "unknown"
    right = [text for text in texts if known and is_right(question, text)]
    values = [match for match in (question.right, question.outdated) if match]
    wrong = [text for text in texts if not any(is_matching(match, text) for match in values)]
    if wrong and (right or not known):
        yield ReadQuestion(question.text, right, wrong)


def train_pair_reading(
    asked: Sequence[ReadQuestion],
    embedder: Embedder,
    progress: Callable[[str], None],
    start: PairReading | None = None,
    *,
    rounds: int | None = None,
    pace: float = PACE,
    texts: int = TEXTS,
    frozen: int = 0,
) -> PairReading:
    """`embedder` tells which wrong texts are near a question. `start`: what is known already.
    `texts`: of each question; `frozen`: so many of the lowest layers stay as they are. The same
    questions give the same, but for the last bits. Takes hours on two cores with all of
    `benchmarks`."""
    import torch  # heavy, and needed by whoever trains
    from transformers import AutoModel, AutoTokenizer

    folder = str(MINILM_TOKENIZER.locate().parent)
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder)
    begun = {name: held.detach().clone() for name, held in model.named_parameters()}
    fixed = ("embeddings", *(f"layer.{layer}." for layer in range(frozen))) if frozen else ()
    for name, held in model.named_parameters():
        held.requires_grad = is_learned(name) and not any(part in name for part in fixed)
    learned = [held for held in model.parameters() if held.requires_grad]
    head = torch.nn.Linear(model.config.hidden_size, 1)
    if start is not None:
        _begin_with(start, model, head)
    steps = torch.optim.AdamW(
        [{"params": learned, "share": 1.0}, {"params": head.parameters(), "share": HEAD_PACE}],
        weight_decay=0.01,
    )

    def score(questions: Sequence[str], texts: Sequence[str]) -> torch.Tensor:
        batch = tokenizer(
            [gloss_text(each) for each in questions],
            [gloss_text(each) for each in texts],
            padding=True,
            truncation="only_second",
            max_length=MOST_TOKENS,
            return_tensors="pt",
        )
        batch.pop("token_type_ids", None)  # all are of the first kind, as packaged
        with _compute_shortened():
            hidden = model(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None].float()
        scores: torch.Tensor = head((hidden.float() * mask).sum(1) / mask.sum(1))
        return scores.squeeze(-1)

    model.train()
    rounds = rounds or ROUNDS
    count, done = rounds * -(-len(asked) // QUESTIONS), 0
    pool = _SentencePool(asked, embedder)
    for number in range(1, rounds + 1):
        total = 0.0
        for batch in _batch_shown(pool, asked, texts, np.random.default_rng(number)):
            for group in steps.param_groups:
                share = min(1, (done + 1) / WARM_UP) * max(0.02, 1 - done / count)
                group["lr"] = pace * group["share"] * share
            said = [text for _, shown, _ in batch for text in shown]
            scores = score([question for question, shown, _ in batch for _ in shown], said)
            loss = compute_doubt(scores, [(len(shown), right) for _, shown, right in batch])
            steps.zero_grad()
            cast("Any", loss).backward()  # which torch gives no type
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            steps.step()
            total, done = total + float(loss.detach()), done + 1
        progress(f"round {number}: {total / max(1, done // number):.3f}")
    made = dict(model.named_parameters())
    weight, bias = head.weight.detach().numpy()[0], float(head.bias.detach())
    return build_reading(begun, made, weight, bias)


def _begin_with(start: PairReading, model: torch.nn.Module, head: torch.nn.Linear) -> None:
    import torch  # heavy, and needed by whoever trains

    held = dict(model.named_parameters())
    with torch.no_grad():
        for name, values in start.given.items():
            held[name.removeprefix(_PREFIX)].copy_(torch.tensor(values))
        for (layer, product), (down, up) in start.corrections.items():
            learned = down.astype(np.float32) @ up.astype(np.float32)
            name = f"encoder.layer.{layer}.{_PRODUCTS[product]}.weight"
            held[name].add_(torch.tensor(learned.T))
        head.weight.copy_(torch.tensor(start.head[None]))
        head.bias.fill_(start.bias)


def is_learned(name: str) -> bool:
    """Of a parameter of the library's model: all but tables of words and places, and its pooler."""
    return not name.startswith("pooler") and not name.endswith("_embeddings.weight")


def compute_doubt(scores: torch.Tensor, shown: Sequence[tuple[int, int]]) -> torch.Tensor:
    """The mean over questions of how unlikely their right texts are made, one or another, beside
    the wrong ones and that none is right, which scores 0. `shown`: of each question in turn how
    many texts, and how many of the first of them are right."""
    import torch  # heavy, and needed by whoever trains

    none, losses, at = torch.zeros(1), [], 0
    for count, right in shown:
        own = scores[at : at + count]
        at += count
        told = torch.logsumexp(own[:right], 0) if right else none[0]
        losses.append(torch.logsumexp(torch.cat([none, own]), 0) - told)
    return torch.stack(losses).mean()


def _compute_shortened() -> AbstractContextManager[object]:
    import torch  # heavy, and needed by whoever trains

    # Where a processor does not know this format, each product of it is put together by hand.
    knows = bool(torch.cpu.get_capabilities().get("avx512_bf16", False))
    made: AbstractContextManager[object] = torch.autocast(
        "cpu", dtype=torch.bfloat16, enabled=knows
    )
    return made


class _SentencePool:
    """All sentences of messages by language, with their vectors and those of all questions."""

    def __init__(self, asked: Sequence[ReadQuestion], embedder: Embedder) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._embedder = embedder
        self.sentences = dict[str, list[str]]()
        for language in sorted({each.others for each in asked} - {""}):
            own = (each for each in asked if each.others == language)
            told = {text for each in own for text in (*each.right, *each.wrong)}
            self.sentences[language] = sorted(told)
        self._embed([text for told in self.sentences.values() for text in told])
        self._embed([text for each in asked for text in (each.text, *each.wrong)])

    def sort_by_nearness(self, question: str, texts: Sequence[str]) -> list[str]:
        """Nearest first."""
        near = np.stack([self._vectors[text] for text in texts]) @ self._vectors[question]
        return [texts[at] for at in np.argsort(-near, kind="stable")]

    def _embed(self, texts: Collection[str]) -> None:
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        if new:
            rows = self._embedder.embed([gloss_text(text) for text in new])
            self._vectors |= dict(zip(new, np.asarray(rows), strict=True))


def _batch_shown(
    pool: _SentencePool, asked: Sequence[ReadQuestion], texts: int, chance: Generator
) -> Iterator[list[_Shown]]:
    """All questions once, like lengths together, so that little is padding."""
    shown = [_choose_shown(pool, asked[at], texts, chance) for at in chance.permutation(len(asked))]
    shown = [each for each in shown if len(each[1]) > 1]
    block = QUESTIONS * 16
    for at in range(0, len(shown), block):
        part = sorted(shown[at : at + block], key=lambda each: max(map(len, each[1])))
        batches = [part[n : n + QUESTIONS] for n in range(0, len(part), QUESTIONS)]
        yield from (batches[n] for n in chance.permutation(len(batches)))


def _choose_shown(pool: _SentencePool, each: ReadQuestion, texts: int, chance: Generator) -> _Shown:
    right = _draw(each.right, 2, chance)
    if not each.others:
        right = [] if chance.random() < _KEPT_BACK_OF_DIALOGUES else right
        near = pool.sort_by_nearness(each.text, each.wrong)[:_NEAREST]
        left = texts - len(right)
        first, rest = near[: left // 2], near[left // 2 :]
        return each.text, [*right, *first, *_draw(rest, left - len(first), chance)], len(right)
    beside = _draw(each.wrong, 2, chance)
    if chance.random() < _WHOLE_MESSAGES:
        right, beside = [each.whole[:_WHOLE_CHARACTERS]], []
    if chance.random() < _KEPT_BACK:
        right = []
    own = {*each.right, *each.wrong}
    drawn = _draw(pool.sentences[each.others], _DRAWN, chance)
    near = pool.sort_by_nearness(each.text, [text for text in drawn if text not in own])
    return each.text, [*right, *beside, *near][:texts], len(right)


def _draw(texts: Sequence[str], most: int, chance: Generator) -> list[str]:
    if not texts:
        return []
    drawn = chance.choice(len(texts), min(most, len(texts)), replace=False)
    return [texts[at] for at in drawn]


def build_reading(
    begun: Mapping[str, torch.Tensor],
    made: Mapping[str, torch.Tensor],
    head: NDArray[np.float32],
    bias: float,
    rank: int = RANK,
) -> PairReading:
    """What was learned between `begun` and `made`, parameters by the library's names: of matrices
    the best correction of that rank (Eckart and Young 1936)."""
    given = {
        _PREFIX + name: held.detach().numpy()
        for name, held in made.items()
        if is_learned(name) and (name.endswith("bias") or "LayerNorm" in name)
    }
    corrections = dict[tuple[int, str], Correction]()
    for layer in range(LAYERS):
        for product, place in _PRODUCTS.items():
            name = f"encoder.layer.{layer}.{place}.weight"
            learned = (made[name] - begun[name]).detach().numpy().T
            left, sizes, right = np.linalg.svd(learned, full_matrices=False)
            root = np.sqrt(sizes[:rank])
            down, up = left[:, :rank] * root, root[:, None] * right[:rank]
            corrections[layer, product] = Correction(down.astype(np.float16), up.astype(np.float16))
    return PairReading(given, corrections, head, bias)
