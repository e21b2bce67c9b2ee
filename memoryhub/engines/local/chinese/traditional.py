"""Traditional characters read as the simplified ones that the rules are written in.

Each stands for one, so that what is found in the folded text stands at the same place in the text
as it was written; what is told of it is put back into the writer's own characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# A traditional character and the simplified one behind it: those of everyday talk.
_PAIRS = (
    "並并乾干亂乱亞亚來来係系俠侠倉仓個个們们倫伦偉伟側侧傑杰備备傳传債债傷伤傾倾僅仅價价儀仪"
    "億亿償偿優优儲储兇凶兒儿內内兩两冊册凍冻凱凯別别則则剛刚創创劃划劇剧劉刘劑剂動动務务勝胜"
    "勞劳勢势勵励區区卻却參参叢丛吳吴員员問问啞哑啟启喚唤喪丧單单喲哟嗎吗嘆叹嘍喽嘗尝噴喷嚇吓"
    "嚴严囉啰國国圍围園园圓圆圖图團团執执堅坚場场塊块壓压壞坏壢坜壯壮壽寿夠够夢梦夥伙奪夺奮奋"
    "娛娱婦妇媽妈嬰婴嬸婶孫孙學学實实寧宁審审寫写寬宽寵宠將将專专尋寻對对導导屆届層层屬属"
    "岡冈島岛峽峡嶺岭帥帅師师帳账帶带幫帮幹干幾几庫库廁厕廚厨廠厂廢废廣广廳厅張张強强彈弹後后"
    "徑径從从復复徵征惡恶惱恼愛爱慘惨慣惯慶庆憂忧憶忆應应懶懒懷怀戀恋戰战戲戏戶户拋抛捨舍掃扫"
    "掙挣掛挂採采揀拣換换損损搖摇搶抢撥拨撫抚撿捡擁拥擇择擊击擔担據据擠挤擴扩擺摆攜携攝摄攤摊"
    "敗败敘叙數数斷断於于昇升時时暈晕暫暂曆历曬晒書书會会東东柵栅桿杆梘枧條条棄弃棟栋棧栈業业"
    "極极構构槍枪樂乐樓楼標标樣样樹树橋桥機机橫横檔档檢检檸柠櫃柜櫻樱欄栏權权歐欧歡欢歲岁歷历"
    "歸归殘残殺杀殼壳毀毁氈毡氣气氫氢決决沒没況况涼凉淨净減减測测渾浑湊凑湯汤準准溫温滅灭滿满"
    "漁渔漢汉漲涨漸渐潑泼潔洁澆浇濕湿濟济濫滥灘滩灣湾災灾為为無无煙烟煩烦熱热燈灯燒烧營营爐炉"
    "爭争爺爷爾尔牆墙牠它犧牺狀状獅狮獎奖獨独獲获獸兽現现瑪玛環环瓊琼產产甦苏畢毕畫画異异"
    "當当疊叠瘋疯瘡疮療疗癢痒發发盡尽監监盤盘盧卢睜睁瞭了矚瞩硯砚碩硕確确碼码礙碍礦矿祕秘"
    "禍祸禦御禮礼稅税種种稱称穀谷積积穩稳穫获窮穷競竞筆笔節节範范築筑簡简簽签籃篮糧粮紀纪約约"
    "紅红納纳純纯紙纸紛纷紮扎細细紹绍終终組组結结絕绝絡络給给統统絲丝綁绑經经綠绿維维網网緊紧"
    "緒绪線线緣缘編编緩缓練练縣县縮缩縱纵總总績绩織织繞绕繪绘繳缴繼继續续罰罚羅罗義义習习聖圣"
    "聞闻聯联聰聪聲声職职聽听腦脑腫肿腳脚腸肠膚肤膠胶臉脸臟脏臨临臺台舊旧艦舰艱艰華华萬万葉叶"
    "蓮莲蔣蒋蕭萧藝艺藥药蘇苏蘋苹蘭兰處处號号虧亏蝦虾蟲虫術术衛卫裏里補补裝装裡里製制複复襪袜"
    "襯衬見见規规視视親亲覺觉覽览觸触訂订計计訊讯討讨訓训託托記记訪访設设許许評评詞词詢询試试"
    "話话該该詳详誇夸認认語语誤误說说誰谁課课調调談谈請请論论諾诺謀谋謊谎講讲謝谢證证識识譚谭"
    "譜谱譯译議议護护讀读變变讓让讚赞豬猪貓猫貝贝負负財财貢贡貧贫貨货責责貴贵買买貸贷費费貼贴"
    "貿贸賀贺資资賈贾賓宾賞赏賠赔賢贤賣卖賤贱質质賬账賴赖購购賽赛贈赠贏赢趕赶趙赵跡迹踐践蹤踪"
    "躍跃車车軌轨軍军軟软較较載载輔辅輕轻輛辆輩辈輪轮輯辑輸输轉转辦办辭辞農农這这連连週周進进"
    "遊游運运過过達达違违遞递遠远適适遲迟遷迁選选邁迈還还邊边郵邮鄉乡鄒邹鄧邓鄭郑鄰邻醫医醬酱"
    "釋释釐厘針针釣钓鈴铃銀银銅铜銘铭銷销鋪铺鋼钢錄录錢钱錯错錶表鍋锅鍵键鍾钟鎖锁鎮镇鏡镜鐘钟"
    "鐵铁鑰钥長长閃闪閉闭開开閒闲間间閱阅閻阎闆板關关陣阵陰阴陳陈陸陆陽阳隊队階阶際际隨随險险"
    "隱隐隻只雖虽雙双雜杂雞鸡離离難难雲云電电靈灵靜静韌韧韓韩響响頁页頂顶項项順顺須须預预頓顿"
    "頗颇領领頭头頻频題题額额顏颜願愿類类顧顾顯显風风颱台飛飞飯饭飲饮飽饱養养館馆饅馒馬马馮冯"
    "駐驻駕驾騎骑騙骗驗验驚惊髒脏體体髖髋髮发鬆松鬧闹鬱郁魚鱼鮮鲜鳥鸟鳳凤鴨鸭麥麦麵面麼么黃黄"
    "點点齊齐齒齿龍龙龔龚龜龟"
)
_SIMPLIFIED = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
_ADDED = {"现": "現", "妈": "媽", "岁": "歲", "们": "們", "号": "號", "机": "機"}
_TABLE = str.maketrans(_SIMPLIFIED)
_TRADITIONAL = re.compile(f"[{''.join(_SIMPLIFIED)}]")


def fold_traditional(text: str) -> str:
    """The text in simplified characters, of the same length."""
    return text.translate(_TABLE) if has_traditional(text) else text


def has_traditional(text: str) -> bool:
    return _TRADITIONAL.search(text) is not None


def list_written_forms(texts: Iterable[str]) -> dict[int, str]:
    """For `str.translate`: the traditional characters that stand in some of the `texts`, by the
    simplified ones; nothing of what is written in these as well. With words that rules add."""
    written = {char for text in texts for char in text}
    forms = {ord(simple): char for simple, char in _ADDED.items() if simple not in written}
    for char in sorted(written & _SIMPLIFIED.keys()):
        simple = _SIMPLIFIED[char]
        if simple not in written:
            forms.setdefault(ord(simple), char)
    return forms
