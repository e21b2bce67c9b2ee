"""What a claim is about, roughly, by the beginnings of English words and by Chinese characters.

Two claims that share a topic may speak of one slot. How many values a person has of one at a time
(homes, pets) is learned with the rest, not said here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

TOPICS: Mapping[str, tuple[str, str]] = {
    "work": (
        "work|job|employ|hire|staff|shift|career|company|firm|office|business|retire|freelanc"
        "|unemploy|layoff|sack|fired|nurse|teach|engineer|chef|cook|baker|driver|clerk|assistant"
        "|receptionist|develop|account|technician|mechanic|carpenter|plumber|electrician|waiter"
        "|waitress|barista|librarian|lawyer|guard|cleans?$|deliver|analyst|designer|consult|farm"
        "|foreman|operator|intern$|reporter|editor$|run$|runs$",
        "工作|上班|公司|职|岗|单位|就业|失业|退休|创业|单干|跳槽|工程师|老师|司机|护士|医生|厨"
        "|会计|保安|客服|经理|运营|开店|打工|当|干活|辞",
    ),
    "study": (
        "stud|school|college|uni$|universit|course|degree|major|class|grade|semester|phd|master"
        "|bachelor|apprentic|year$|enrol|graduat|campus|lesson|exam|thesis|undergrad|tutor",
        "读|学校|大学|学院|研[一二三究]|博士|硕士|本科|高[一二三中]|初[一二三中]|年级|专业|毕业|课|班|考|上学|大[一二三四]",
    ),
    "boss": (
        "boss|manager|supervis|report|lead|head$|director|principal|advisor|adviser|dispatch|coach"
        "|teacher|professor|mentor|trainer|instructor",
        "老板|领导|上司|主管|经理|导师|组长|总监|班主任|教练|老师|主任|护士长|归.{1,4}管|汇报",
    ),
    "home": (
        "live|living|home|house|flat|apartment|room|studio|condo|moved?$|move[sd]?$|moving|resid"
        "|street|road|lane|avenue|neighbou?rhood|based|settl|place$|roommate|flatmate|housemate",
        "住|搬|家在|房子|公寓|小区|宿舍|合租|租|楼|路|区|定居|室友|新房",
    ),
    "rent": ("rent|mortgage|lease|landlord|deposit|agen", "房租|租金|房贷|房东|押金|中介|月供"),
    "phone": ("phone|number|mobile|cell|call$|whatsapp|landline", "电话|手机|号码|号|微信"),
    "mail": ("e-?mail|mail|inbox|gmail", "邮箱|邮件|邮"),
    "transport": (
        "car$|cars$|driv|van$|truck|bike|bicycle|cycl|motor|scooter|bus$|train$|commut|ride|riding"
        "|tram|vehicle|licen[cs]e|walk",
        "车|开|骑|地铁|公交|驾|通勤|走路|摩托|电驴",
    ),
    "sport": (
        "gym|swim|run|running|yoga|climb|league|marathon|lift|fitness|workout|football|soccer|rugby"
        "|tennis|squash|pool|club|box|pilates|spin|jog|k$|team|plays?$|judo|karate",
        "运动|健身|跑|泳|瑜伽|球|锻炼|舞|练|太极|爬山|攀岩|俱乐部|私教|拳|滑",
    ),
    "bank": (
        "bank|account|credit|saving|loan|insur|pension|invest",
        "银行|账户|贷|保险|存款|卡|基金",
    ),
    "partner": (
        "boyfriend|girlfriend|husband|wife|partner|marri|engag|dating|single|divorc|split|fianc"
        "|wedding|together|ex$|relationship|couple|propos",
        "男朋友|女朋友|男友|女友|老公|老婆|丈夫|妻子|对象|结婚|离婚|订婚|分手|恋爱|单身|已婚|婚|谈|领证",
    ),
    "child": (
        "pregnan|bab|son$|daughter|born|expect|due$|child|kid|toddler|nursery|creche|twins?",
        "怀孕|宝宝|儿子|女儿|出生|孩子|娃|预产|托班|幼儿园|生了|胎|周岁",
    ),
    "pet": (
        "dog|cat$|cats$|pup|kitten|hamster|horse|parrot|rabbit|hens?$|snake|tortoise|pet"
        "|terrier|budgie|fish$|pony|goat|corgi|labrador|poodle|collie|beagle",
        "柯基|金毛|泰迪|哈士奇|布偶|英短|猫|狗|犬|养了|宠物|乌龟|兔|鱼|鸟|仓鼠|鹦鹉",
    ),
    "food": (
        "vegan|vegetarian|eat|ate$|meat|fish|diet|coffee|tea$|drink|drunk|alcohol|beer|wine|smok"
        "|vap|allerg|coeliac|celiac|gluten|dairy|sugar|sober|keto|bread|lunch|breakfast|dinner",
        "吃|喝|素|肉|烟|酒|咖啡|茶|糖|过敏|奶|饮食|减肥|生酮|辣|戒|斤",
    ),
    "coffee": (
        "coffee|espresso|latte|cappuccin|americano|mocha|cortado|macchiato|caffein|decaf",
        "咖啡|拿铁|美式|卡布奇诺|摩卡|浓缩",
    ),
    "alcohol": (
        "alcohol|beer|wine|whisk|vodka|gin$|rum$|cider|lager|ale$|ales$|pints?$|booz|sober|cocktail"
        "|brandy|prosecco|tequila",
        "酒|酗|喝高|喝醉",
    ),
    "tobacco": ("smok|cigar|fags?$|vap|tobacco|nicotine|rollies", "烟|抽|尼古丁"),
    "meat": (
        "meat|beef|pork|bacon|ham$|chicken|steak|lamb|sausage|burger|vegan|vegetarian|veggie",
        "肉|荤|吃素|素食|排骨|火腿",
    ),
    "health": (
        "doctor|diagnos|surger|knee|injur|medic|tablet|therap|pain|hospital|diabet|clinic|ill$|sick"
        "|blood|pressure|asthma|insulin|physio|recover|wrist|ankle|dentist"
        "|migraine|pill|gp$|wear|glasses|hearing|dose|mg$|kg$|weigh|depress",
        "医|病|手术|药|膝|腿|脚|受伤|住院|血|疼|康复|骨|胰岛素|诊|抑郁|助听器|体重|公斤|针|糖尿|感冒",
    ),
    "music": (
        "band$|bands$|guitar|bass|drum|piano|sing|choir|violin|cello|gig|song|album|orchestra",
        "乐队|吉他|鼓|钢琴|唱|合唱|琴|歌|演出",
    ),
    "language": (
        "spanish|french|german|italian|english|japanese|mandarin|chinese|portuguese|korean|welsh"
        "|level|[abc][12]$|clb|ielts|toefl|fluent|jlpt|n[1-5]$",
        "英语|日语|法语|德语|泰语|韩语|口语|级|N[1-5]|雅思|托福|四级|六级|普通话|西班牙语",
    ),
    "money": (
        "cost|price|charge|salar|earn|paid|pays?$|budget|fee|per$|wage|rate|thousand|grand|dollar"
        "|pound|euro|seat|month$|hour$|quid|sells?$|bonus",
        "价|钱|元|块|工资|薪|费|预算|报价|一斤|提成|收入|奖金|退休金|养老金|万|挣|赚|涨",
    ),
    "date": (
        "deadline|due|launch|releas|ship|date|exam|test$|appointment|meeting|schedul|monday|tuesday"
        "|wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august"
        "|september|october|november|december|weekend|flight|wedding|closed|opens?$|hours$",
        "截止|ddl|上线|发布|日期|定在|月.{1,3}[号日]|周[一二三四五六日末]|星期|考试|预约|婚礼|营业|答辩|开工|交稿|点",
    ),
    "device": (
        "laptop|editor|app$|software|uses?$|using|keyboard|iphone|pixel|android|tablet|camera"
        "|python|linux|mac$|macbook|windows|browser|vim|emacs|console",
        "电脑|笔记本|软件|用的|相机|键盘|平板|系统|编辑器|iPhone|安卓|苹果",
    ),
    "age": ("years?$|old$|turn(?:ed|s)?$|aged?$|birthday|born", "岁|生日|年纪|年龄|出生"),
    "taste": (
        "favou?rite|lov|lik|hat|prefer|best|enjoy|ador|opinion|think|fan$|support|can't|bear|dislik"
        "|into$|obsess",
        "喜欢|爱|讨厌|最|觉得|粉丝|迷|偏|不爱|支持",
    ),
    "plan": (
        "plan|going$|trip|travel|holiday|visit|apply|intend|want|hop|book|consider|think|look",
        "打算|计划|准备|想|旅|申请|报了|订",
    ),
    "name": ("called|name[ds]?$|known$", "叫|名字|名叫|外号|昵称"),
    "sale": ("sell|sold|sale|list|offer|bought|buy|buys", "卖|买|挂牌|成交|转让|中介"),
}  # fmt: skip
# Topics whose words all name the same kind of thing: who gives it up gives each of them up.
KINDS_OF_THINGS = frozenset({"coffee", "alcohol", "tobacco", "meat"})
_TOPIC_WORDS = {
    name: (re.compile(rf"^(?:{english})"), re.compile(chinese))
    for name, (english, chinese) in TOPICS.items()
}


def find_topics(words: Sequence[str], han: str) -> frozenset[str]:
    """The topics of folded English `words` and of Chinese characters in a row."""
    return frozenset(
        name
        for name, (english, chinese) in _TOPIC_WORDS.items()
        if any(english.match(word) for word in words) or (han and chinese.search(han))
    )
