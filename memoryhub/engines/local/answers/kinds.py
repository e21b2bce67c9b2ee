"""Kinds of things that questions ask for and that no word of theirs need tell: who asks for a job
is told by "drives a lorry for Harlow", who asks what they can't eat by an allergy. Pure.

Searching looks for what tells such a kind of the one who is asked about, and answering lists it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from memoryhub.engines.local.answers.asked import find_asked_tense
from memoryhub.engines.local.wordlists import MEDICINE_NAME

_MOST_CHARACTERS = 200  # of a question


class AskedKind(NamedTuple):
    """The questions that are after all there is of it, what tells it, and what tells it also where
    it is said of somebody else. `tells` is read by PostgreSQL as well: it has no lookbehind.

    `beside`: it is the answer only where no fact states by its predicate what is asked.
    """

    asks: re.Pattern[str]
    tells: re.Pattern[str]
    of_others: re.Pattern[str] | None = None
    beside: bool = False


def find_asked_kind(question: str) -> AskedKind | None:
    """The kind that a question after what holds asks for, or None for no such question."""
    if len(question) > _MOST_CHARACTERS or not _asks_what_holds(question):
        return None
    return next((kind for kind in KINDS if kind.asks.search(question)), None)


# "When is my birthday" asks of no day that is past.
_ASKS_DAY = re.compile(r"^\W*(?:when(?:['’]?s| is)\b|what day is)|几号|哪天|什么时候", re.I)


def _asks_what_holds(question: str) -> bool:
    """Whether it is after what is so, and not after what was or happened."""
    tense = find_asked_tense(question)
    return tense == "now" or (tense == "" and bool(_ASKS_DAY.search(question)))


def _build_kind(asks: str, tells: str, of_others: str = "", *, beside: bool = False) -> AskedKind:
    others = re.compile(of_others, re.I) if of_others else None
    return AskedKind(re.compile(asks, re.I), re.compile(tells, re.I), others, beside)


# How words for what somebody does end: a list of all of them takes PostgreSQL forty times as long.
_JOB_WORDS = (
    r"(?:[a-z]+(?:er|or|ist|ian|ant|eer|man|woman)|nurse|chef|cook|vet|tech|sparky|clerk|guard|pilot"
    r"|coach|judge|host|intern|surgeon|architect)"
)
_CARS = (
    r"toyota|corolla|camry|hilux|ford|fiesta|focus|ranger|volkswagen|vw|golf|polo|passat|skoda|kia"
    r"|hyundai|subaru|jetta|tesla|bmw|audi|mercedes|opel|vauxhall|corsa|renault|clio|peugeot"
    r"|citroen|berlingo|fiat|honda|civic|mazda|nissan|suzuki|volvo|leon|dacia|jeep|chevy|yamaha"
    r"|vespa|ducati|kawasaki|pulsar|yaris|zafira|astra|micra|punto|panda|prius|qashqai|duster"
    r"|sandero|octavia|fabia|picanto|outback|forester|twingo|leaf"
)
# "What", in the words of those who ask.
_WHAT = r"(?:什么|啥子?|甚么|咩|哪些)"
_DOING = rf"[做干](?:的是)?(?:{_WHAT}|嘛)"

KINDS = (
    # What is not liked, not eaten, not borne.
    _build_kind(
        r"\b(?:what|which)\b.{0,40}?\b(?:hate|dislike|(?:not|n['’]?t) (?:like|stand|eat)|avoid)"
        r"|\bwhat\b.{0,20}? (?:can|do|does)(?:n['’]?t) .{1,20}? (?:stand|like|eat|have|drink)\b"
        r"|\b(?:allerg\w+|alergic|food (?:thing|issue|intolerance|restriction))\b"
        r"|\bfoods? (?:is|are) (?:dangerous|bad)|\bcan['’]?t .{1,20} eat\b",
        r"\b(?:hates?|dislikes?|detests?|loathes?|can ?(?:not|n['’]t) (?:stand|bear|eat|have|abide)"
        r"|(?:does|do) not (?:like|eat)|(?:does|do)n['’]t (?:like|eat)|never eats?|allerg\w+"
        r"|intolerant|coeliac|celiac|hives|itching|throat closes|swollen)\b",
    ),
    _build_kind(
        r"\bwho (?:am|is|was|are) .{1,20}? (?:engaged|married) to\b",
        r"\b(?:engaged|married|wife|husband|fianc[ée]e?)\b",
        of_others=r"\b(?:engaged|married)\b",
    ),
    _build_kind(
        r"\b(?:what|which|any|have|has|whats|what's) .{0,30}?\b(?:injur\w*|illness\w*"
        r"|(?:health|medical|skin) (?:problem|issue|condition|isue)s?)\b"
        r"|['’]s health\b|\bmy health\b|\bwhat(?:['’]?s| is) wrong with\b",
        r"\b(?:tore|torn|broken? (?:my|their|his|her|an?)|fractured?|sprained?|twisted|pulled|hurt"
        r"|injured|dislocated|ruptured|slipped disc|diagnosed|allergic|asthma|diabet\w*|migraines?"
        r"|arthritis|anaemi\w*|coeliac|celiac|epilep\w*|blood pressure|surgery|operation|stitches"
        r"|slipped|bad (?:back|knee|hip)|concussion|playing up|eczema|psoriasis|dermatologist"
        r"|cholesterol|thyroid|stent|sugar"
        r"|carpal tunnel|plantar|hearing aids?|intolerant)\b",
    ),
    _build_kind(
        r"\b(?:med(?:ication|icine|)s?|pills|tablets|drugs?)\b",
        r"^(?!.*\ballerg).*\b(?:tak(?:es?|ing) .{0,30}"
        r"(?:\d ?mg|pills?|tablets?|medic\w+|every|daily|for)"
        r"|(?:put|started|is|am|['’]m|im) (?:\w+ )?on [a-z]+(?:in|ol|il|ine|one|ide|am|an|ex)\b"
        r"|prescri\w+|\d ?mg|medications?|medicines?|antibiotics?|antidepressants?|inhaler|insulin"
        r"|statins?|steroids?|painkillers?|dose|blood thinners?|beta blockers?"
        rf"|{MEDICINE_NAME}|pills?)\b",
        beside=True,
    ),
    _build_kind(
        r"\b(?:single|in a relationship|seeing (?:some|any)(?:one|body)|dating|divorced|married"
        r"|engaged|widowed|separated|girlfriend|boyfriend|partner)\b.{0,15}$",
        r"\b(?:single|broke up|split up|breakup|dumped|seeing (?:some|any)(?:one|body)|dating"
        r"|divorced?|married|engaged|widow\w*|separated|girlfriend|boyfriend|partner|wife|husband"
        r"|take a break|taking a break|got back together)\b",
        beside=True,
    ),
    _build_kind(
        r"\bwho (?:do|does|am|is) .{1,20}? (?:liv(?:e|ing)|shar(?:e|ing) .{1,12}) with\b"
        r"|\bwho lives? with\b|\b(?:do|does) .{1,20}? live alone\b",
        r"\b(?:liv(?:es?|ing)|shar(?:es?|ing) .{1,20}|rooming) .{0,60}with\b"
        r"|\bmoved (?:in|out)\b(?! to)"
        r"|\b(?:flat|house|place) to (?:themself|themselves|myself)\b"
        r"|\bliv(?:es?|ing) alone\b|\b(?:flat|house|room)mates?\b",
        of_others=r"\bmoved (?:in|out)\b(?! to)|\b(?:flat|house|room)mate\b",
    ),
    _build_kind(
        rf"[我俺咱他她](?:不|讨厌)(?:能|喜欢|爱|可以)?(?:吃|喝)?{_WHAT}|讨厌(?:吃)?{_WHAT}"
        rf"|{_WHAT}(?:东西|菜|水果)?(?:是我)?.{{0,4}}(?:不(?:能)?(?:吃|喝|喜欢)|恶心|受不了|不舒服)"
        rf"|(?:吃不了|喝不了|不能吃|不吃){_WHAT}|吃{_WHAT}.{{0,3}}(?:不舒服|过敏)|过敏|忌口",
        r"不(?:能|敢)?(?:吃|喝|喜欢|爱|碰|耐受)|讨厌|过敏|忌口|恶心|反胃|起疹|吃不了|喝不了|受不了"
        r"|一口就|别放|intolerant",
    ),
    _build_kind(
        rf"(?:身体|健康|[脚腿腰胃手眼膝]).{{0,6}}(?:问题|毛病|情况|怎么样|怎样|咋了|怎么了)"
        rf"|(?:有|得了?)(?:{_WHAT}|没有)?.{{0,2}}(?:病|伤)|{_WHAT}病|受过?{_WHAT}伤",
        r"血压|血糖|血脂|尿酸|糖尿|胰岛素|查出|确诊|过敏|骨折|扭伤|拉伤|受伤|手术|失眠|近视|贫血|哮喘"
        r"|[胃鼻咽关节肺]炎|溃疡|间盘突出|甲减|甲亢|甲状腺|长期.{0,3}药|曲张|外翻|结石|撕裂|劳损|腰疼|腰痛|颈椎|痛风|偏头痛|崴|膏药"
        r"|膝盖|妈妈手|肩袖",
    ),
    _build_kind(
        r"(?:和|跟|同)谁(?:一起|合)?住|住在一起|谁跟我.{0,2}住|哪个.{0,4}跟我们住",
        r"(?:和|跟|同).{1,10}(?:一起|一块)?(?:住|合租)|搬(?:进来|走|出去)了?|合租|独居|一个人住|自己住",
        of_others=r"搬(?:进来|走|出去)了?|住(?:过来|一起)",
    ),
    # Where no fact states it by its predicate: work, home, school, age and days.
    _build_kind(
        r"\b(?:job|occupation|profession|career)\b|\bfor (?:a living|work)\b"
        r"|\bwhat (?:do|does) [\w'’-]+(?: [\w'’-]+)? do\W*$"
        r"|\bwhere(?:['’]?s| is| do| does| am)? .{1,25}\bwork(?:ing)?\b"
        r"|\bwho (?:do|does) .{1,20} work for\b",
        r"\b(?:works? (?:as|at|for|in|with|on)|working (?:as|at|for|in)|shifts?|employed|posted"
        r"|intern|self-employed|runs? (?:an?|the|my|their|his|her|our) |owns? an?|manages?"
        r"|teach(?:es)?|drives? .{1,30} for"
        rf"|retired (?:from|as)|(?:is|as) (?:an?|the) (?:[a-z-]+ )?{_JOB_WORDS}"
        rf"|{_JOB_WORDS} (?:at|in|for|with)"
        # How somebody presents themselves: "this is Rafael, software tester from Recife".
        rf"|(?:this is|i['’]?m|call me|name is) [a-z]+, (?:an? )?(?:[a-z-]+ ){{0,2}}{_JOB_WORDS})\b"
        r"|(?:hospital|clinic|haulage|pharmacy|bakery|studio|centre|center|depot|factory|warehouse"
        r"|restaurant|hotel|salon|garage|laundrette|launderette|nursery)\b",
        beside=True,
    ),
    _build_kind(
        r"\b(?:stud(?:y|ying|ies)|major(?:ing)?|degree|what grade|which (?:grade|year|school|uni)"
        r"|what (?:school|uni|college|year)\b|where .{1,20} (?:study|school))",
        r"\b(?:stud(?:ies|ying|ied)|(?:1st|2nd|3rd|4th|first|second|third|final)[ -]?y(?:ea)?r"
        r"|ph\.?d"
        r"|msc|bsc|bcom|degree|major(?:s|ing)?|junior|sophomore|freshman|senior|uni|university"
        r"|college|school|academy|prep|starts? at|graduated|train(?:s|ed|ing) as)\b",
        beside=True,
    ),
    _build_kind(
        r"\b(?:what|which) (?:car|bike|motorbike|van|truck|vehicle|ride)\b"
        r"|\b(?:car|bike|van) (?:model|make|brand)\b|\bwhat .{1,15}\b(?:drive|ride)\b",
        rf"\b(?:{_CARS})s?\b|\b(?:drives?|rides?|ha[sd]|have|got|bought|owns?|my|their|['’]s)"
        r" (?:[\w-]+ ){0,3}(?:car|van|truck|lorry|ute|motorbike|scooter|bike|tourer)\b",
        beside=True,
    ),
    _build_kind(
        r"\b(?:birthday|bday|b-day)\b|\bborn\b",
        r"\b(?:birthday|bday|born|date of birth)\b|\bturn(?:s|ed|ing)? \d+\b|\bnow since\b",
        beside=True,
    ),
    _build_kind(
        r"\bhow old\b|\b(?:my|his|her|['’]s) age\b",
        r"\b\d{1,3} years?\b|\bis (?:now |nearly |almost |only )?(?:\d{1,3}|[a-z]+teen"
        r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:-\w+)?|six|seven|eight|nine|ten"
        r"|eleven|twelve|one|two|three|four|five)(?:\.| now| and|,|$)|\bturn(?:s|ed|ing) \w+"
        r"|\bbecomes? \d",
        beside=True,
    ),
    _build_kind(
        r"\bwhere\b.{1,30}\b(?:live|living|stay|staying|based|home)\b"
        r"|\bwhere(?:['’]?s| is| are) .{1,25}\b(?:now|these days)\W*$|\bmy address\b"
        r"|\b(?:which|what) (?:city|town)\b",
        r"\b(?:lives?|living|stays?|staying|resides?|based|settled|moved|rents?)\b"
        r"|\b(?:is|are) (?:back |now |still )?(?:in|at|on|from) [a-z]"
        r"|\b(?:house|flat|home|address)\b",
        beside=True,
    ),
    _build_kind(
        r"\bwhere\b.{1,25}\b(?:from|originally|born|grow up|grew up)\b"
        r"|\b(?:home ?town|nationality)\b",
        r"\b(?:from [a-z]+|home ?town|born in|grew up|raised in|native of|originally)\b",
        beside=True,
    ),
    _build_kind(
        r"\b(?:which|what) (?:team|club)\b|\bwhat .{1,12} play\b.{0,20}$",
        r"\b(?:team|fan|nut|supports?|follows?|plays?|club|united|defence|striker|keeper"
        r"|goalie|corner back|curls?|netball|badminton)\b",
        beside=True,
    ),
    _build_kind(
        r"^(?!.*(?:周|星期|礼拜|上午|下午|晚上|早上|假期|放假|平时|去[做干]|要去))"
        rf"(?:.*?)(?:{_DOING}|{_WHAT}(?:工作|职业|职务|岗位)|职业|从事{_WHAT}|当{_WHAT}|在哪(?:一)?行|哪个科室"
        rf"|(?:在哪|在{_WHAT}).{{0,6}}(?:工作|上班|干活)|跑哪条线|工作是{_WHAT})",
        r"(?:是|当|做|任).{0,14}(?:员|师|工|老板|店长|经理|护士|医生|教练|教授|主任|会计|编辑|翻译|厨"
        r"|保安|站长|警察|律师|程序|月嫂|骑手|司机|生意|外贸|设计|老师|工程)|做.{1,8}的$|做.{1,8}的。"
        r"|上班|工作|带.{0,3}班|干了|送外卖|跑.{1,8}线|改跑|不跑|开.{0,6}(?:店|公司|厂|工作室|民宿"
        r"|粉店|餐厅|叉车|挖掘机|卡车|货车|公交|校车|出租|网约车|解放)|跑长途|跑运输|教.{1,4}文"
        r"|教.{1,3}[年书]|种.{1,4}[，。]|门诊|单位|经营"
        r"|接案|接单|自由职业|单干|创业|颠.{0,5}勺|实习|退休|搭档",
        beside=True,
    ),
    _build_kind(
        r"哪里人|哪儿?的?人|老家(?:在|是)?(?:哪|什么)|老家哪|籍贯|家(?:是|在)哪儿?的",
        r"老家|籍贯|祖籍|出生|[一-鿿]{2,3}人(?:[，。]|$|受不了)|在.{2,6}长大|家里，|本地|回.{2,4}[。，]",
        beside=True,
    ),
    _build_kind(
        r"住(?:在)?(?:哪|什么地方)|(?:哪里|哪儿|哪个区|哪个城市|什么地方).{0,4}(?:住|生活|定居)|住.{1,4}哪"
        r"|家住|家在哪|搬(?:到|去)(?:了)?(?:哪|什么)|地址",
        r"住|搬|租(?:的|了|在)|小区|花园|地址|公寓|宿舍|house",
        beside=True,
    ),
    _build_kind(
        r"生日|哪年出生|几号出生|哪年生",
        r"生日|\d月\d|出生|满.{1,2}岁|\d年.{0,3}[生的]",
        beside=True,
    ),
    _build_kind(
        r"多大(?!的)|几岁|多少岁|年龄|年纪",
        r"岁|年纪|年龄|个月大|属.{1}|[一二三四五六七八九]十[一二三四五六七八九]?(?:了|。|$)|今年都?\d\d",
        beside=True,
    ),
    _build_kind(
        rf"{_WHAT}车|开{_WHAT}|车.{{0,3}}(?:{_WHAT}|牌)|{_WHAT}牌子|会开车|有车没|有.{{0,2}}车没",
        r"车|驾照|拿了?本|开.{0,6}[A-Z][\w-]|骑.{0,6}[A-Z]\w|五菱|哈弗|解放|大众|丰田|本田|比亚迪|春风",
        beside=True,
    ),
    _build_kind(
        r"(?:狗|猫|宠物).{0,3}(?:叫|名)|养.{0,4}(?:宠物|狗|猫)|有.{0,3}宠物",
        r"[狗猫兔龟鱼鸟]|宠物|养了|边牧|金毛|柯基|泰迪|布偶|橘猫",
        beside=True,
    ),
    _build_kind(
        r"(?:孩子|娃|儿子|女儿|闺女|大女|小女).{0,8}(?:叫|名|几|多大|上学|事)|几个(?:孩子|娃)|关于我孩子",
        r"孩子|娃|儿子|女儿|闺女|双胞胎|[大小]的.{0,4}叫|叫.{2,4}[，。].{0,6}岁",
        of_others=r"岁|年级|小学|初[一二三]|高[一二三]|叫",
        beside=True,
    ),
    _build_kind(
        rf"几年级|上{_WHAT}学|{_WHAT}专业|哪个?学校|读的?{_WHAT}|在哪(?:里|儿|间)?.{{0,3}}(?:上学|读|念)"
        rf"|研究的?是?{_WHAT}|{_WHAT}课题",
        r"年级|高[一二三]|初[一二三]|大[一二三四]|研[一二三]|专业|学院|大学|小学|中学|考上|读[的博硕]"
        r"|MSc|PhD|论文|疲劳|课题|实验室|做.{2,8}的",
        beside=True,
    ),
    _build_kind(
        rf"{_WHAT}(?:乐器|语言)|会{_WHAT}|会不会",
        r"[琴笛鼓箫筝]|吉他|二胡|唢呐|吹|弹|会说|写[A-Z]\w|用[A-Z]\w",
        beside=True,
    ),
    # What somebody likes to do.
    _build_kind(
        r"\b(?:hobb(?:y|ies)|interests?|pastimes?)\b|\b(?:free|spare) time\b|\bfor fun\b"
        r"|\bwhat (?:do|does) [\w'’-]+ (?:like|love|enjoy)(?: (?:to do|doing))?\W*$",
        r"\b(?:likes?|loves?|enjoys?|adores?|into|keen on|fond of|hobby|hobbies|plays?)\b",
        beside=True,
    ),
    _build_kind(
        rf"喜欢(?:[做干玩]|的是)?{_WHAT}|爱好|兴趣|平时.{{0,4}}(?:喜欢|爱)[做干]{_WHAT}",
        r"喜欢|爱好|爱[打玩看听吃喝做跑跳唱画写读拍养种]|迷上|兴趣|热爱",
        beside=True,
    ),
    _build_kind(r"(?:租金|房租|月租)", r"租.{0,6}\d|\d.{0,4}租|月租", beside=True),
    _build_kind(
        r"(?:老婆|老公|先生|丈夫|女朋友|男朋友|女票|媳妇|对象|老板|老版).{0,3}(?:叫|名)",
        r"叫",
        beside=True,
    ),
)
