"""Text as PostgreSQL's English configuration is given it, in any script (spec E5).

That configuration stems English and passes Chinese words through, so one serves both, and a
turn that mixes scripts is found by either. What it can't do is find words in Chinese.
"""

from __future__ import annotations

import re

import rjieba

from memoryhub.dialogues.messages import normalise_text
from memoryhub.engines.local.language import HAN

# At most four digits, and only where they begin: a long number must not be read from each of them.
_HAN_RUN = re.compile(rf"(?<!\d)\d{{1,4}} ?[年月日号]|[{HAN}]+")
_FUNCTION_WORDS = """
的 了 着 过 地 得 我 你 您 他 她 它 我们 你们 他们 她们 是 在 有 和 与 及 也 都 就 还 又 很
吗 呢 吧 啊 呀 哦 嗯 这 那 这个 那个 什么 怎么 哪 哪些 哪个 谁 为什么 一 一个 会 要 把 被 对 给
跟 从 到 为 以 而 但 但是 所以 因为 如果 曾经 哪一天 哪天 什么时候 几 多少 怎样 怎么样
"""
_STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def build_lexical_text(text: str) -> str:
    """`text` folded, with Chinese cut into words and stripped of function words."""
    return _HAN_RUN.sub(lambda run: f" {' '.join(_split_run(run[0]))} ", normalise_text(text))


def _split_run(run: str) -> list[str]:
    if run[0].isdigit():
        return [run.replace(" ", "").replace("号", "日")]
    return [word for word in rjieba.cut_for_search(run) if word not in _STOP_WORDS]
