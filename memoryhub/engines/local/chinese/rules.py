"""Chinese word patterns: speech acts of sentences, and the predicates of the English table."""

from __future__ import annotations

import re
from typing import NamedTuple

import rjieba

from memoryhub.engines.local.chinese.clauses import split_sentences
from memoryhub.engines.local.chinese.endings import (
    Predicate,
    extract_continuation,
    find_ended_predicate,
    has_ended,
    is_about_others,
)
from memoryhub.engines.local.chinese.people import KIN, ROLES
from memoryhub.engines.types import FactKind, Polarity, SpeechAct

# What is done to what is known, and what no longer is to be done with it; both to the listener.
_FORGETTING = re.compile(
    r"(?:忘(?:了|掉|记|却)|删(?:了|掉|除|去)?|抹(?:了|掉|去|除)(?!药|得)|清(?:掉|除|空|一清|了$)|(?:你|把|给我|那边).{0,8}清了|去掉|擦掉|划掉|丢掉|消掉"
    r"|移除|勾掉|勾销|涂掉|撤(?:掉|了)|拿(?:掉|走)|(?:关于|[跟和对]你|我(?:说|写|讲)).*扔(?:了|掉)|扔(?:了|掉)吧|销毁|去除|剔除"
    r"|(?:别|不要|不用|不必|不该|不许|不希望你?|(?:宁可|希望|最好|想|能|可以|还是)你?不|莫|勿|甭|唔好|唔使|没必要|不是该?你)(?:再|给我|往)?.{0,3}?(?:记|写下|留(?!下|言|学|意|心)|存(?!储)|保存|保留|收(?!拾|到|入)|进(?=你的?(?:记|脑|档))|提(?!他|她|了|到))(?!得|错|仇|恨|挂|忆|者)"
    r"|不(?:该|必|用|要|许|希望).{0,6}?(?:留|存|记)在|(?:当|权当|算).{0,6}?(?:没|不|冇)(?:有)?(?:听|讲|说|提|晓得|知道|这|那|发生|看|过|开口|开过口)|让它消失|不想.{0,6}留.{0,8}(?:记录|痕迹))"
)
# Something told, noted or known; "that thing" and its likes.
_TOLD = re.compile(
    r"我.{0,12}?(?:说|讲|提|聊|告诉|透露|嘴)|(?:[跟和对]你(?:说|讲|提|聊)|告诉过?你)|我的|刚才|之前|上[次回趟]|前面|先前"
    r"|(?:那|这)(?:个|件|茬|段|档子?|回|些|点|桩|码|茬儿|番|条).{0,3}|提到|笔记|秘密|的?事(?:情|儿)?|那茬|话|记录|脑|记忆|底|存|档案"
    r"|关于|情况|内容|你(?:那|知道|记)|我(?=[住在给是有赚挣])|谁.{1,2}我|我(?:儿子|女儿|妈|爸|家|弟|妹|哥|姐|前|老)|(?:名字|号码?|提示|地址|生日|密码)"
)
_OTHERS_WISH = (
    r"(?:要求|命令)(?!你)|(?:叫|逼|求|劝|要|让|请|说)(?:我们?|[他她]们?)(?!说|讲|提|的)"
    r"|[说叫嘱](?:[：:]|我应该)"
)
_FORGET_IDLE = re.compile(
    r"(?:别|不要)再?[跟和]我提|(?:别|不要|不会|没|没有|不能|莫|永远不|千万别|差点|要是你|如果你|万一你)(?:让我|再)?忘|(?<![给帮替])我(?:们)?(?:永远|从|自己|都|又|也|就|差点|经常|总是?|老是?|常常|已经|刚|终于)*"
    r"(?:不会|没有?|会)?(?:忘|删|清|抹)|[让使][你人]忘|忘(?:却|不|带|拿|记带|了(?:带|拿|说|问|告诉|我(?!说|讲|刚|之前|提)))|[他她]们?.{0,4}?(?:忘|删)"
    r"|(?<![给帮替])我(?:们)?(?:想|要|得|能|该|应该|必须|可以|打算|准备|赶紧)+(?:忘|删|清|抹)(?!.*(?:你|记录|记忆))"
    r"|留(?:现金|胡子|长发|短发|头发|级|宿|学|后路|遗憾|疤)"  # what is kept is no word
    rf"|我不想再?(?:记起|想起|记得)|为什么|怎么(?:删|清|忘)|已经(?:删|清)|已(?:删|清)|误删|{_OTHERS_WISH}"
    # Who is no listener does it, to things of his own.
    r"|^(?!.*(?:你|请|麻烦|拜托|帮|给我|能|可以|就|快|希望|关于))[^把，]{1,8}(?<!我)把[^，]*[了过]"
    # Texts and devices, and not what is known of anybody.
    r"|(?:逗号|标点|演讲|作文|论文|信[里中]|照片|应用|账[号户]|软件|代码|表格|图片|文字|电脑|手机)(?!号|丢)(?!.*(?:跟你|你知道|记录|记忆))"
)
_QUESTION = re.compile(
    r"[？?]\s*$|[吗么]\W*$|(?<!着)呢[？?]|^\W*(?:请问|为什么|怎么|什么|谁|哪|多少|几点)"
    r"|(?:能不能|可不可以|有没有|是不是|要不要|该不该|好不好|会不会|是否)|(?:怎么办|怎么样|怎样才)"
    r"|(?:几|多少|哪|什么|啥|怎么|咋).{0,6}(?:合适|好|划算|靠谱|正常)\W*$|还是.{1,8}(?:好|划算|合适)\W*$"
    r"|(?<![没算点么不都])(?:哪[个里儿家种款些年天]?|多少|咋\w?|怎么样?)(?:呢|啊|呀)?\W*$|该(?:选|买|去|学)(?:哪|什么|啥|不该)"
    r"|不知道.{0,12}(?:什么|怎么|怎样|哪|谁|如何|有没有|是否)|该(?:怎么|怎样|如何|从)"
    r"|(?:在|去|到|从)哪[里儿个]?[^，。！都也]{1,5}\W*$"
    r"|是[做干学教卖搞](?:什么|啥)的\W*$|^\W*(?:该|要)?咋|[做干](?:什么|啥)工作的?\W*$|叫(?:什么|啥)(?:名字)?(?:来着)?\W*$"
)
_REQUEST = re.compile(
    r"^\W*(?:请(?![了过到来假客])|麻烦|帮我|给我|告诉我|推荐|教我|提醒我|替我|代我)|(?:能|可以)(?:帮|给|教|告诉)我"
    r"|^\W*(?:你?以后|你|就|所以)*(?:别|不要|不用|甭)再?(?:给|跟|对|向|帮)我"
)
_HYPOTHETICAL = re.compile(r"如果|要是|假如|假设|倘若|万一|假使|的话(?:$|[，,])|就好了|早知道")
_CHITCHAT = re.compile(
    r"谢谢|感谢|多谢|不客气|再见|拜拜|晚安|早安|你好|您好|^\W*(?:嗨|嘿|哈哈|嗯|好的?|是的|没错|当然|哇)\W*$"
    r"|我(?:也|还|一定|真的)*会(?:再|认真|好好|继续|尽量|多)*(?:考虑|思考|尝试|试|参考|努力|注意|记住|看看|想想|加油)|早上好|晚上好|下午好|辛苦了|再聊|下次聊|保持联系|聊天|聊聊|没关系|没问题|太好了|好主意"
)
# What says that one said, wrote or took a thing wrongly.
SLIP_WORDS = r"[说打写记搞弄看]错|[打写说]反|口误|手滑"
_CORRECTION = re.compile(
    SLIP_WORDS + r"|更正|纠正一下|不对[，,]|其实(?:不是|没有)|不是.{1,12}(?:[，,]|而)是"
    r"|我(?:从来|从)?没(?:有)?说过|我(?:的意思)?是说"
)
GREETING = re.compile(
    r"^\W*(?:你好|您好|嗨|嘿|早上好|早安|晚上好|下午好|好久不见|对了|话说|换个话题|说起来)"
)


_TITLE = re.compile(r"《[^》\n]{0,80}》")
_WISH_CLAUSE = re.compile(r"[^，,、。！？!?；;]{1,200}")
# What anybody may say who wants something gone.
_LIKELY_FORGETTING = re.compile(
    r"(?:别|不要|不想|不希望|不愿意?|不用|不必|不许|不能|不该|不是|勿|莫)(?:再|让|被|给|往|把|你|人|别人|任何人|它|这|那)*"
    r".{0,8}?(?:记|留|存|提|说出|讲出|外传|传出|知道|用|翻出|跟踪|写)"
    r"|撤回|收回|作废|保密|隐去|屏蔽|抠掉|拿走|甩掉|烂在|当我没|就当没|当我从|不留|抹|消失|你(?:别|不)记得|私事|秘密|后悔"
)
# In one of these a wish is said, and much else: what is weighed has one.
_WISH_WORD = re.compile(
    rf"{_LIKELY_FORGETTING.pattern}|[忘删擦清划销除移涂剔丢扔漂撤抠消]|拿开|去[掉了]|洗掉"
    r"|(?:drop|delete|unlearn|forget|remove)(?![a-z])"
)


def may_ask_to_forget(text: str) -> bool:
    """Whether some clause may want something done away with, whatever it is: the least that a
    wish is said in that a model has found."""
    return _has_words(text, _LIKELY_FORGETTING)


def may_be_wish(sentence: str) -> bool:
    """Whether some clause has a word in which a wish to forget may be said."""
    return _has_words(sentence, _WISH_WORD)


def _has_words(text: str, words: re.Pattern[str]) -> bool:
    return any(
        (_FORGETTING.search(each) or words.search(each)) and not _FORGET_IDLE.search(each)
        for sentence in list_sentences(text)
        for each in _split_clauses(sentence)
    )


def list_sentences(text: str) -> list[str]:
    return [sentence for _, sentence in split_sentences(text)]


def _split_clauses(sentence: str) -> list[str]:
    """Without titles, which ask for nothing; what goes on without a comma is cut."""
    return _WISH_CLAUSE.findall(_TITLE.sub("", sentence))


def find_forget_wish(text: str, around: str = "") -> str:
    """The sentences of a message that ask for something told to be forgotten, "" for none.
    `around`: the whole message, where `text` is a part of it."""
    sentences = list_sentences(text)
    told = bool(_TOLD.search(around or text))
    return "".join(each for each in sentences if _is_forget_wish(each, told))


def _is_forget_wish(sentence: str, told: bool) -> bool:
    clauses = _split_clauses(sentence)
    asked = [each for each in clauses if _FORGETTING.search(each) and not _FORGET_IDLE.search(each)]
    return told and bool(asked)


# Where something is kept, and that somebody has told it: neither says what is meant.
_KEPT_IN = (
    r"(?:从|在|往|到|给)?你?(?:那边|那儿|那里|这边)?的?(?:记录|脑(?:袋|子|壳|海|瓜)?|记忆|本子?|小本本|系统|档案|笔记|数据)"
    r"[库里头中上内边面]*"
)
_SAID_BEFORE = (
    r"(?:我|之前|刚才|刚刚|上[次回趟]|前面|先前|以前|早先|[跟和对]你|嘴[瓢快贱]?|不该|不小心|还|都|也|曾经?|已经?)+"
    r"(?:说|讲|提|聊|告诉|透露)(?:过|起|到|的|了|你)*"
)
_WISH_FRAME = re.compile(
    rf"^\W*(?:那个|嗯+|哦+对?|对了|对{{2,}}|唉+|哎呀?|欸|还有|另外|顺便|求你个事|想了想|话说|[啊呀])+\W*(?!人|方|象)"
    rf"|{_KEPT_IN}|{_SAID_BEFORE}|{_FORGETTING.pattern}|留底|留着|[跟和对]你(?:说|讲|提|聊)过?的?"
    r"|我?(?:之前|刚才|上[次回趟]|前面|先前)"
    r"|(?:那|这)(?:个|件|茬|段|档子?|回|些|点|桩|码|会)儿?数?|(?<![心婚丧喜])的?事(?:情|儿)?|麻烦|拜托|(?<!被)请|帮我|把"
    r"|你(?:就|还是|那边|给我)?|不想.*|免得.*|以后|[哈吧嘛啊呢哦]+$"
)
_WISH_SCRAPS = re.compile(
    r"^[了过着也的给就再被，\s]+|(?:[了过着也它的给就再在从嘛吧都先，\s]|(?<=.)我(?=$))+$"
)
# Fewer characters name nothing, nor does "还有吗".
_LEAST_NAMED = 2
_ONLY_ASKS = re.compile(
    r"(?:[还有没吗我就了是的呢那这个都先千万一条切全部统所请从在您你给它们儿里留清去删不要说漏过到此为止能也]"
    r"|难为情|丢人|帮忙|一下|[一个两]+[句字处点]|劳驾|务必|马上|所以|我想|好吗|行吗|可以|底|干净|好不好|懂|收[回走]|取消|撤[回下来]*|销掉|delete|别再?记得|摘除)*"
)
_OF_SOMETHING = re.compile(
    r"(?:那|这)(?:个|件|次|回|段|茬|档|笔|点|些|桩|条)|的?事|关于|[跟和对]你"
)
_KEPT_PART = re.compile(
    r"[^，,。！？\s]*(?:可以留|照旧|还是记|留着没事|记着没|可以记|(?:的|那个|可以)(?:随便|无所谓|不用管|不管|留着))[^，,。！？\s]*"
)
# As a clause of a wish, and where many leave out the comma.
_NAMING_CLAUSE = re.compile(r"[^，,、。！？!?；;\s]{1,200}")


def strip_wish_frame(wish: str) -> str:
    """What a wish says of the thing that is meant, without what makes it a wish; "" where it only
    says "that"."""
    clauses = [_KEPT_PART.sub("", each) for each in _NAMING_CLAUSE.findall(wish)]
    named = [_name_meant(each) for each in clauses]
    asked = [at for at, each in enumerate(clauses) if _FORGETTING.search(each)]
    asked = asked or [at for at, each in enumerate(clauses) if _WISH_WORD.search(each)][-1:]
    # What is meant is named where it is asked, else before; what follows says why.
    near = {_find_named(clauses, named, at) for at in asked} - {-1}
    return "，".join(named[at] for at in sorted(near or range(len(clauses))) if named[at])


def _find_named(clauses: list[str], named: list[str], asked: int) -> int:
    """The place of the clause that names what another asks for: itself, or of those before it the
    last that speaks of "that thing", or the first; -1 for none."""
    if named[asked]:
        return asked
    before = [at for at in range(asked) if named[at]]
    told = [at for at in before if _OF_SOMETHING.search(clauses[at])]
    return told[-1] if told else next(iter(before), -1)


def _name_meant(clause: str) -> str:
    """ "" where it names nothing."""
    named = _WISH_SCRAPS.sub("", _WISH_FRAME.sub("", clause).strip())
    return named if len(named) >= _LEAST_NAMED and not _ONLY_ASKS.fullmatch(named) else ""


def classify_act(sentence: str) -> SpeechAct:
    """The speech act of one sentence with its closing mark."""
    if find_forget_wish(sentence):
        return "forget"
    if is_question(sentence):
        return "question"
    if _REQUEST.search(sentence):
        return "request"
    if _HYPOTHETICAL.search(sentence):
        return "hypothetical"
    return "chitchat" if _CHITCHAT.search(sentence) else "assertion"


def is_question(text: str) -> bool:
    return bool(_QUESTION.search(text))


def is_chitchat(text: str) -> bool:
    return bool(_CHITCHAT.search(text))


def is_request(text: str) -> bool:
    return bool(_REQUEST.search(text))


def is_hypothetical(text: str) -> bool:
    return bool(_HYPOTHETICAL.search(text))


_SCHEDULED_EVENTS = {"面试": "interview", "考试": "exam", "会议": "meeting", "生日": "birthday",
              "航班": "flight", "婚礼": "wedding", "比赛": "match", "手术": "surgery"}  # fmt: skip
_CORRECTED_VALUE = re.compile(
    r"(?:上次|之前|刚才|刚刚|前面)?我?(?:说过?的|提到的|讲的|我的)(?P<thing>[^，。,是]{1,8}?)"
    r"(?:其实|应该|实际上)?是(?:在)?(?P<new>[^，。,]{1,10})[，,]?(?:而)?不是(?:在)?(?P<old>[^，。,]{1,10})"
)
_DAY_NAME = re.compile(r"(?:周|星期|礼拜)[一二三四五六日天]|[\d一二三四五六七八九十]+[月号日]")


class ParsedCorrection(NamedTuple):
    """What is put right in a sentence of its own; `key` is empty unless it is a date."""

    thing: str
    new: str
    old: str
    key: str


def parse_correction(sentence: str) -> ParsedCorrection | None:
    """("上次说的面试其实是周四，不是周三") → the interview, Thursday, Wednesday."""
    found = _CORRECTED_VALUE.search(sentence) if is_correction(sentence) else None
    if not found or is_question(sentence):
        return None
    thing, new = found["thing"], found["new"]
    noun = next((known for known in _SCHEDULED_EVENTS if thing.endswith(known)), thing)
    key = f"scheduled_{_SCHEDULED_EVENTS.get(noun, noun)}" if _DAY_NAME.search(new) else ""
    return ParsedCorrection(thing, new, found["old"], key)


def is_correction(text: str) -> bool:
    return bool(_CORRECTION.search(text))


_ENDED = re.compile(
    r"^.{0,6}(?:以前|曾经|原来)(?!的)|^.{0,6}(?<![搬送开走跟跑飞拿寄带赶])过去(?![的了]|$)"
    r"|^\w{0,4}之前(?:一直|都|也|还)?(?:是|在|住|做|当|干|开|用|养)|不再|再也不|已经不|现在不|早就不"
    r"|不(?:喜欢|爱|养|住|去|吃|喝|学|玩|弹|抽|打|跑|当|做|是|画|骑|开|教|在)(?!得|到|过|好|下).{0,10}了$"
)
_DENIED = re.compile(
    r"(?:不(?!仅|但|只|过|错|同|少|久|断|禁|得不|由|管|论|知不觉|好意思)|没(?!错|关系|问题)|从未|从不|未曾)"
)
_PLANNED = re.compile(
    r"打算|计划|准备|考虑|将(?:要|会|于)?(?!来)|想(?:要|去|学|买|找|尝试|换|搬|养|戒|辞|卖|退|离|分)|决定|要(?:去|搬|参加|开始|结婚)"
    r"|即将|快要|目标是|梦想是|理想是|愿望是|(?<![不只需重主没还也])要(?![是不么求紧点死命好了强])"
)
_GIVEN_UP = re.compile(
    r"(?:本来|原本|原来|之前|以前|一度)(?:还|是|都|也)?(?:想(?!到)|打算|计划|准备|说好|要)"
)
# "抽了三十年了" is so still; "抽了三十年" need not be.
GOES_ON = re.compile(
    r"了(?:快|都|有|得有|大概|差不多|将近|整整)*[\d一二两三四五六七八九十几半好多]+个?(?:多|半)?"
    r"(?:年|月|天|周|星期|礼拜|小时|辈子)多?了$"
)
_HABITUAL = re.compile(r"每|天天|一直|必须|老是|总是|经常|常常")
# What somebody has another do or be is no state of theirs.
_HAVING_OTHERS = re.compile(r"(?:让|叫|要|催|劝|逼|希望|盼着?|求|请|拉)(?:着)?(?:我|俺|他|她|咱)")
_FUTURE_TIME = re.compile(r"(?<!一)下(?:个?月|周|个?星期)|明(?:天|年|晚)|(?<!前)后天")
_PREFERENCE = re.compile(
    r"喜欢|喜爱|热爱|最爱|爱(?:吃|喝|看|听|玩|好)|讨厌|偏爱|迷上|着迷|感兴趣|不爱|痴迷|害怕"
)


def derive_polarity(clause: str, head: str) -> Polarity:
    """What a clause says of its predicate; `head` is its part up to the main verb."""
    if _GIVEN_UP.search(clause):
        return "ended"
    if is_planned(head) and not re.search(r"了(?!解)", clause):
        return "planned"
    over = has_ended(clause) or find_ended_predicate(clause) is not None
    if _ENDED.search(clause) or (over and not _match_predicate(extract_continuation(clause)).key):
        return "ended"
    if _DENIED.search(head):
        return "denied"
    return "planned" if is_planned(head) or _FUTURE_TIME.search(clause) else "holds"


def is_planned(head: str) -> bool:
    return bool(_PLANNED.search(head)) and not _HABITUAL.search(head)


def has_others_do(clause: str) -> bool:
    """ "My mother wants me to teach": what follows is no state of the mother's."""
    return bool(_HAVING_OTHERS.search(clause))


def derive_kind(clause: str, head: str, key: str, dated: bool) -> FactKind:
    if _PREFERENCE.search(head) or key.startswith("favourite_"):
        return "preference"
    if derive_polarity(clause, head) == "planned":
        return "plan"
    if key in ("age", "marital_status", "name"):
        return "attribute"
    if not dated and GOES_ON.search(clause):
        return "state"
    return "event" if dated or re.search(r"了(?!解)|过(?![敏年程节去期])", clause) else "state"


_FAVOURITE_THINGS = {
    "颜色": "colour", "电影": "film", "书": "book", "食物": "food", "菜": "dish", "水果": "fruit",
    "歌": "song", "歌手": "singer", "运动": "sport", "动物": "animal", "季节": "season",
    "城市": "city", "作家": "author", "饮料": "drink", "科目": "subject", "音乐": "music",
    "游戏": "game", "花": "flower", "乐队": "band", "演员": "actor", "小说": "novel",
}  # fmt: skip
_MARITAL_STATUSES = {"结婚": "married", "已婚": "married", "离婚": "divorced", "离异": "divorced",
            "订婚": "engaged", "单身": "single", "未婚": "single", "丧偶": "widowed"}  # fmt: skip
_PLACE = r"(?P<place>[^，。,的了过]{2,12}?)"
_WORKPLACE = (
    r"(?:公司|医院|学校|大学|银行|中学|小学|幼儿园|局|店|厂|集团|事务所|研究所|研究院|出版社|工作室|部门|机构"
    r"|餐厅|诊所|酒店|图书馆|博物馆|报社|电视台|政府|法院|律所|书店|咖啡馆|[A-Za-z]+)"
)
_ROLE = (
    r"(?P<role>[^，。,的《在]{0,10}?(?:医生|护士|老师|教师|律师|工程师|程序员|设计师|会计师?|编辑|记者|作家|画家|厨师|司机|警察"
    r"|学生|研究生|大学生|博士生|经理|教授|演员|歌手|翻译|教练|职员|公务员|摄影师|销售|店长|老板|科学家|研究员|导游|理发师"
    r"|建筑师|飞行员|药剂师|兽医|消防员|农民|工人|音乐家|舞者|顾问|分析师|秘书|助理|主管|总监|主任|组长|部长|院长|校长|科长|处长"
    r"|保安|保姆|骑手|主播|博主|导演|客服|出纳|文员|电工|焊工|(?<![老大导法])师(?!傅|[父母兄弟姐妹生])|(?<![成人会党团队动学裁减满复全])员(?![工外])))"
)
# "前端程序员一枚", "大二学生": who one is, without the "am".
_BARE_ROLE = re.compile(rf"(?:一[个名枚位])?{_ROLE}(?P<counted>一[个名枚位])?")
_JESTING_ROLE = re.compile(r"[\u4e00-\u9fff]{1,6}(?:一枚|[狗党族控](?:一[个只]))")
_BARE_STATUS = re.compile(
    r"(?:目前|现在|还)?(?:单身|未婚|已婚|全职(?:妈妈|爸爸|太太)|家庭主妇|[宝奶][妈爸])"
)
_BEFORE_ROLE = ("n", "a", "m", "b", "vn", "eng", "s", "f", "j", "l")
_HOME = re.compile(
    rf"(?:住(?:在|进|到|回)|租(?:住)?在|搬(?:家)?(?:到|去|回|进|来)了?|定居(?:在|于|到)?|移居(?:到)?|居住在|落户(?:在|到)?){_PLACE}"
    r"(?=了|的|[，。,]|越来越|快|很|都|[\d一二三四五六七八九十几半]+个?[年天月周]|生活|住|居住|工作|上班|已经|有|去|$)"
)
# "我现在在杭州": where one is by now, and lives, unless it is a visit. "回老家长沙了" too.
_BY_NOW = re.compile(
    r"(?:(?:现在|如今|目前|眼下|这阵子|最近|已经|(?<=[，,])人|^人)(?:人|我|搬|住|都|是)?在(?P<place>[^，。,的了过]{2,8}?)"
    r"(?=$|[，。,]|了|这边|那边|生活|住|工作|上班|安家|打工)"
    r"|(?:还|一直|都|住)在(?P<old>[^，。,的了过]{2,8}?)老家"
    r"|回(?:到)?了?(?:我)?老家(?P<home>[^，。,的了过]{2,8}?)(?=$|[，。,]|了|住|生活|发展|工作|上班))"
)
_VISITING = re.compile(
    r"出差|旅[游行]|度假|玩|开会|培训|参加|路过|转机|机场|高铁|火车|飞机|酒店|宾馆|医院|过年|过节|看[望病]|办事|几天|[一两二三]天|周末|明天|后天|今天|回去|待[到一两几]"
)
# "现在住通州梨园": a town behind the verb, and not 住院 or 住三楼.
_HOME_TOWN = re.compile(
    r"(?<![居入借留记])住(?P<place>[\u4e00-\u9fff]{2,10}?)(?=$|[，。,了的都]|\d|[一二两三四五六七八九十几半]+个?[年天月周])"
)
# "在长安区租了一室一厅": one lives where one has rented rooms.
_RENTED_HOME = re.compile(
    rf"在(?!一起|哪|那|这|网上){_PLACE}(?:那边|这边|附近)?租了?(?:一|[两二]|个|间|套|了|的|单)*"
    r"(?:房子?|单间|公寓|房间|[一两二三]?室[一两二]厅|[一两二三]居)"
)
_NO_HOME = re.compile(r"[给帮替]|开店|办公|仓库|工作室|店面|铺")
# "在杭州住到2016年": what follows is no place.
_HOME_UNTIL = re.compile(
    r"(?:在(?P<place>[^，。,的了过住]{2,10}))?(?:一直)?住到了?"
    r"(?=\d|[一二三四五六七八九十]+月|[去今明前后]年|[上下这]个?[月周星礼]|年[底初]|月[底初]|[春夏秋冬]天|毕业|退休|结婚|现在)"
)
_EMPLOYER = re.compile(
    rf"(?:在|到|去|入职|加入)(?:了)?(?!一家|一间|一所|这家|那家|某)(?P<firm>[^，。,做当]{{0,14}}?{_WORKPLACE})(?:里|内)?(?:做|当|担任|工作|上班|任职|就职|实习|任教|教书|入职|$)"
)
_AT_WORK = re.compile(
    r"(?:(?<!现)在|[去到进]了?)(?!家|哪|一|这|那|外|里|某|公司)(?P<firm>[^，。,的了]{2,12}?)(?:上班|任职|就职)"
    r"|(?<!现)在(?!家|哪|一|这|那|外|里|某|公司)(?P<doing>[^，。,的了上里中下外]{2,8})(?:做事?|干活?)$"
)
# "在字节做前端", "入职小红书了": a firm by its name alone.
TRADES = (
    "前端|后端|开发|研发|产品|运营|测试|算法|设计|销售|市场|财务|会计|人事|行政|客服|编辑|程序|数据|采购|法务"
    "|公关|策划|文员|出纳|审计|咨询|代码|保安|翻译"
)
_NAMED_FIRM = re.compile(
    rf"(?<!现)在(?!家|哪|一|这|那|外|里|某|公司)(?P<firm>[^，。,的了上里中下外]{{2,8}}?)[做写搞当](?:{TRADES})(?=$|[，。,的了])"
    r"|(?:入职|跳槽到|跳槽去)了?(?!一|新|这|那|公司|单位|体检|以来|培训|手续|第|[的后前时半两三快不])"
    r"(?P<hired>[^，。,的了\d]{2,12}?)了?(?=$|[，。,做当]|[一两三四五六七八九十半几\d]+个?(?:[天周年月]|星期))"
)
# "在美团送外卖", "去顺丰开车": by what only who works there does.
_WORKING_FOR = re.compile(
    r"(?:(?<!现)在|[去进]了?)(?!家|哪|一|这|那|外|里|某|公司)(?P<firm>[^，。,的了上里中下外给帮]{2,8}?)(?<![店场站库校口边路])"
    r"(?:[送跑]外卖|送快递|送货|送水|开(?:货|大|卡|公交|出租|网约|校|班)?车|跑(?:业务|运输|滴滴)|当(?:保安|保洁|司机|学徒)"
    r"|看大门|端盘子|打螺丝|站柜台|收银|分拣|搬货)(?=$|[，。,了的])"
)
# "公司叫云栖科技": what somebody's firm is called.
_FIRM_CALLED = re.compile(r"(?:公司|单位|东家)(?:名字)?(?:叫做?|是)(?P<firm>[^，。,的]{2,14})$")
# "去了一家宠物店做助理", "换到实验小学了": the workplace by its kind.
_NEW_EMPLOYER = re.compile(
    rf"(?:(?:去|进|到|换|在)了?|在[\u4e00-\u9fff]{{2,4}}?(?<!看)|[换调转跳](?:到|去|进)了?|跳槽(?:到|去)了?)(?:一[家间所个])"
    rf"(?P<firm>[^，。,了]{{1,12}}?{_WORKPLACE})(?:里|内|那边)?(?:做|当|担任|工作|上班|写|画|教|实习|打工|帮忙|$|了)"
    rf"|(?:[调转跳](?:到|去|进)|跳槽(?:到|去)|换到)了?(?P<moved>[^，。,了]{{1,12}}?{_WORKPLACE})(?:里|内|那边)?(?:了|$|做|当|工作|上班|教)"
)
_JOB = re.compile(
    rf"(?:(?:是|当|(?<!叫)做|成为|担任|从事|升任|转行做|改行做)(?:了|上了)?(?:一|两)?(?:名|个|位|家)?){_ROLE}(?!的(?!工作))(?=[，。,]|了|工作|$|的工作|已经|多年)"
)
# "我是跑外卖的": the trade of who does it.
_TRADE = re.compile(
    r"^(?:我|他|她)?(?:以前|现在|一直)?(?:是|在\w{2,4})?(?P<trade>跑(?:外卖|出租|滴滴|网约车|运输|长途|货运|快递|业务|销售|船|车)|送(?:外卖|快递|货|水)"
    r"|开(?:出租车?|货车|大车|卡车|公交|网约车|滴滴|挖机|挖掘机|吊车|校车)|教\w{1,4}|修(?:车|手机|电脑|空调)|写代码"
    r"|[做搞干](?:销售|设计|开发|前端|后端|运营|外贸|会计|财务|装修|电商|翻译|产品|测试|美容|程序|教培|行政|人事|工程|家政"
    r"|餐饮|物流|金融|保险|房产|科研|技术|美术|后期|剪辑|自媒体|芯片|硬件|软件|跨境|医疗|建材|服装|教育|培训|直播|咨询|律所))的$"
)
_NAMED_ROLE = re.compile(r"\w(?:老师|医生|经理|律师|教练|总监|主任)")
_AGE = re.compile(
    r"(?:今年|已经|刚满|刚|快|是|满|我|^(?=(?:\d{2}|[二三四五六七八九]?十[一二三四五六七八九]?)岁了?$))"
    r"要? ?(?P<age>\d{1,3}|[一二两三四五六七八九十百]{1,5}) ?岁了?(?!的时候|时|那年|开始|就)"
)
_NAME = re.compile(r"(?:我叫做?|我的名字(?:是|叫做?))(?P<name>[\u4e00-\u9fffA-Za-z·]{1,12})")
_FAVOURITE = re.compile(
    r"最(?:喜欢|喜爱|爱)(?:[吃喝看听玩])?的(?P<thing>[^，。,]{1,6}?)(?:就)?(?:是|叫)(?P<value>[^，。,]+)"
    r"|最(?:喜欢|喜爱)的是(?P<bare>[^，。,]+)"
)
_MARRIED = re.compile(
    rf"(?P<state>{'|'.join(_MARITAL_STATUSES)})(?!证|纪念|典礼|礼|照|戒指|请|率|多久)"
)

# A wish, a fear or a near miss says nothing of the state one is in; a plan and a denial do.
_NOT_MARRIED = re.compile(
    r"想(?!到)|考虑|犹豫|怕|担心|差点|差一点|险些|希望|期待|催|劝|逼|没想过|商量|讨论|闹|如果|别人"
)


def is_bare_role(clause: str, *, alone: bool) -> bool:
    """Whether a clause only names what somebody is; `alone`: nobody was named for it to tell of,
    so that one word may as well address somebody."""
    if _JESTING_ROLE.fullmatch(clause) or _BARE_STATUS.fullmatch(clause):
        return True
    if (
        3 <= len(clause) <= 6
        and clause[0] != "外"
        and clause.endswith("人")
        and _is_town(clause[:-1])
    ):
        return True
    found = _BARE_ROLE.fullmatch(clause)
    if not found or _NAMED_ROLE.fullmatch(found["role"]):
        return False
    words = rjieba.tag(found["role"], False)
    if alone and len(words) == 1 and not found["counted"]:
        return False
    return all(tag.startswith(_BEFORE_ROLE) and tag != "nr" for _, tag in words)


def classify_predicate(clause: str) -> Predicate:
    """The predicate a clause states and its value; both empty when the table has none.

    What it goes on to say after an ending ("辞职去了报社上班") says more than the ending.
    """
    new, ended = _match_predicate(extract_continuation(clause)), find_ended_predicate(clause)
    if ended and not new.key:
        return ended
    return new if new.key else _match_predicate(clause)


def _match_predicate(clause: str) -> Predicate:
    for rule in (
        _match_favourite,
        _match_age_or_name,
        _match_home,
        _match_role,
        _match_employer,
        _match_marital_status,
    ):
        found = rule(clause)
        if found:
            return found
    return Predicate("", "")


def _match_favourite(clause: str) -> Predicate | None:
    match = _FAVOURITE.search(clause)
    if not match or not match["thing"]:
        return None
    thing = _FAVOURITE_THINGS.get(match["thing"], match["thing"])
    return Predicate(f"favourite_{thing}", match["value"])


def _match_age_or_name(clause: str) -> Predicate | None:
    for key, pattern in (("age", _AGE), ("name", _NAME)):
        if match := pattern.search(clause):
            return Predicate(key, match[key])
    return None


def _match_home(clause: str) -> Predicate | None:
    if lasted := _HOME_UNTIL.search(clause):
        return Predicate("lives_in", lasted["place"]) if lasted["place"] else None
    match = _HOME.search(clause)
    if not match and (found := _BY_NOW.search(clause)) and not _VISITING.search(clause):
        place = found["place"] or found["home"] or found["old"]
        at_home = not found["place"]
        return Predicate("lives_in", place) if at_home or _is_town(place) else None
    rented = None if match else _RENTED_HOME.search(clause)
    if rented and not (_VISITING.search(clause) or _NO_HOME.search(clause)):
        return Predicate("lives_in", rented["place"])
    town = None if match else _HOME_TOWN.search(clause)
    if town and rjieba.tag(town["place"])[0][1].startswith("ns"):
        return Predicate("lives_in", town["place"])
    if not match or re.match(
        r"一?(?:起|家|个|些)|当地|哪|家里|那|这|酒店|医院|宾馆|.*(?:[年月]底|[年月天])$",
        match["place"],
    ):
        return None
    return Predicate("lives_in", match["place"])


def _is_town(place: str) -> bool:
    return all(tag.startswith("ns") for _, tag in rjieba.tag(place))


def _match_role(clause: str) -> Predicate | None:
    if trade := _TRADE.search(clause):
        return Predicate("works_as", trade["trade"])
    match = _JOB.search(clause)
    if not match and re.search(r"辞了?职|离职|退休", clause) and _PLANNED.search(clause):
        return Predicate("works_as", "")
    named = match and _NAMED_ROLE.fullmatch(match["role"])
    return Predicate("works_as", match["role"]) if match and not named else None


def _match_employer(clause: str) -> Predicate | None:
    bare = _AT_WORK.search(clause)
    firm = (bare["firm"] or bare["doing"]) if bare else ""
    if any(not tag.startswith(("ns", "s", "f")) for _, tag in rjieba.tag(firm)):
        return Predicate("works_at", firm)
    named = _NAMED_FIRM.search(clause)
    if named and (named["hired"] or not _is_town(named["firm"])):
        return Predicate("works_at", named["hired"] or named["firm"])
    doing = _WORKING_FOR.search(clause)
    if doing and not _is_town(doing["firm"]):
        return Predicate("works_at", doing["firm"])
    if moved := _NEW_EMPLOYER.search(clause):
        return Predicate("works_at", moved["firm"] or moved["moved"])
    match = _EMPLOYER.search(clause)
    if not match or not re.search(r"工作|上班|职|实习|教|加入|做|当|担任", clause):
        return None
    return Predicate("works_at", match["firm"])


def find_named_firm(clause: str) -> Predicate | None:
    """ "公司叫云栖科技": the firm of whoever's it is."""
    called = _FIRM_CALLED.search(clause)
    return Predicate("works_at", called["firm"]) if called else None


def _match_marital_status(clause: str) -> Predicate | None:
    match = _MARRIED.search(clause)
    before = clause[: match.start()] if match else ""
    if not match or _NOT_MARRIED.search(before) or is_about_others(before):
        return None
    return Predicate("marital_status", _MARITAL_STATUSES[match["state"]])


def is_single_valued(key: str) -> bool:
    """As in the English table: one value at a time."""
    known = ("lives_in", "address", "works_as", "works_at", "marital_status", "age")
    return key in known or key.startswith(("favourite_", "scheduled_"))


# What somebody does at a time is no trade.
_NOT_THEN = (
    r"^(?!.*(?:周|星期|礼拜|[上下中]午|晚上|早上|假|[今明昨]天|平时|有空|没事|喜欢|爱|想|打算))"
)
_QUESTION_PATTERNS = (
    (
        r"住(?:在)?(?:哪|什么地方)|(?:哪里|哪儿|哪个城市|什么地方).{0,4}(?:住|生活|定居)"
        r"|搬(?:到|去)(?:了)?(?:哪|什么)|家在哪",
        "lives_in",
    ),
    (r"地址|住址|门牌", "address"),
    (
        r"什么工作|做什么的|(?:以前|之前|原来|曾经)(?:都|是|在)?[做干](?:什么|啥)|职业|从事什么"
        r"|什么职位|工作是什么|靠什么(?:谋生|生活)|当什么",
        "works_as",
    ),
    (r"(?:以前|之前|原来|曾经).{0,4}(?:什么工作|[做干](?:什么|啥))", "works_at"),
    (rf"{_NOT_THEN}.*[做干](?:什么|啥|嘛)(?:活儿?)?的?\W*$", "works_as"),
    (rf"{_NOT_THEN}.*[做干](?:什么|啥|嘛)(?:活儿?)?的?\W*$", "works_at"),
    (rf"(?:{KIN}|{ROLES})(?:现在|目前|如今|人)*在哪(?:里|儿|呢)*\W*$", "lives_in"),
    (
        r"(?:在哪|在什么).{0,6}(?:工作|上班|任职|就职)|哪(?:家|个|一家|间)(?:公司|医院|单位|厂)|什么公司|公司叫什么|雇主",
        "works_at",
    ),
    (r"结婚|已婚|单身|离婚|婚姻|订婚|未婚|对象了吗", "marital_status"),
    (r"多大(?:了|年纪|岁数)|几岁|多少岁|年龄|多大\W*$", "age"),
    (r"叫什么(?:名字)?\W*$|名字是", "name"),
)  # fmt: skip
_FAVOURITE_QUESTION = re.compile(
    r"最(?:喜欢|喜爱|爱)(?:[吃喝看听玩])?(?:的|(?:什么|哪\S{0,2}?)(?:样的|种)?)(?P<thing>[^，。？?是]{1,4}?)(?:是|叫|[？?]|$)"
)


def find_word_for_thing(thing: str) -> str:
    """The Chinese word for the thing in a key: ("colour") → "颜色", "" where none is known."""
    words = {**_FAVOURITE_THINGS, **_SCHEDULED_EVENTS}
    return next((word for word, known in words.items() if known == thing), "")


def find_question_predicates(question: str) -> tuple[str, ...]:
    """The keys a Chinese question asks for: ("她住在哪里？") → ("lives_in",)."""
    keys = [key for pattern, key in _QUESTION_PATTERNS if re.search(pattern, question)]
    asked = _FAVOURITE_QUESTION.search(question)
    if asked:
        keys.append(f"favourite_{_FAVOURITE_THINGS.get(asked['thing'], asked['thing'])}")
    return tuple(dict.fromkeys(keys))
