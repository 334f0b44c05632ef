"""Names that are common enough to be told from words: given names of English, surnames and given names of Japanese.

Written down from general knowledge for this check; they need not be complete, since most names are found by what stands
around them. Words of everyday texts that are also names (Will, May, Grace, Hope; 森, 愛) are left out on purpose.
"""

from __future__ import annotations

ENGLISH_GIVEN = frozenset(
    """
    aaron abby abigail adam adrian aiden alan albert alex alexa alexander alexandra alice alicia alison allison
    alyssa amanda amber amelia amy ana andrea andrew angela anita ann anna anne annie anthony antonio april arthur
    ashley audrey austin barbara beatrice becky ben benjamin beth betty beverly bianca bill billy bob bobby brad
    bradley brandon brenda brett brian brittany bruce bryan caitlin caleb cameron carl carla carlos carmen carol
    caroline carolyn carrie casey catherine cathy charles charlie charlotte chelsea cheryl chloe chris christina
    christine christopher cindy claire clara cody colin colleen connor courtney craig crystal cynthia daisy dale
    dan dana daniel danielle danny darren dave david dawn dean debbie deborah debra denise dennis derek diana diane
    diego dominic donald donna doris dorothy doug douglas dylan ed eddie edward eileen elaine eleanor elena eli
    elijah elizabeth ella ellen emily emma eric erica erik erin ethan eugene eva evan evelyn fatima felix fiona
    frances francis fred gabriel gabriella gary gavin george gerald gina glenn gloria gordon greg gregory hannah
    harold harriet harry heather heidi helen henry holly howard hugo ian isaac isabel isabella ivan jack jackie
    jacob jacqueline jake james jamie jane janet janice jared jasmine jason jay jean jeff jeffrey jenna jennifer
    jenny jeremy jerry jesse jessica jessie jill jim jimmy joan joanna joe joel john johnny jon jonathan jordan
    jorge jose joseph josh joshua joyce juan judith judy julia julian julie june justin karen karl kate katherine
    kathleen kathryn kathy katie kayla keith kelly ken kenneth kevin kim kimberly kristen kristin kristina kurt
    kyle larry laura lauren laurie lawrence leah lee leo leon leonard leslie lewis liam lillian lily linda lindsay
    lisa logan lois lori louis louise lucas lucy luis luke lydia lynn madeline madison maggie marcus margaret maria
    marie marilyn mario marissa marjorie mark martha martin marvin mary mason matt matthew maureen megan melanie
    melissa mia michael michele michelle miguel mike mildred mohamed mohammed molly monica morgan nancy naomi
    natalie natasha nathan neil nicholas nick nicole nina noah nora norma oliver olivia omar oscar owen pam pamela
    patricia patrick paul paula peggy peter phil philip phillip phyllis rachel ralph randy raymond rebecca renee
    rhonda ricardo richard rick ricky rita rob robert roberta robin rodney roger ron ronald rosa rosalind rosemary
    ross roy russell ruth ryan sally sam samantha samuel sandra sara sarah scott sean seth shane shannon sharon
    shawn sheila shelby sherry shirley simon sofia sophia sophie stacy stanley stella stephanie stephen steve
    steven stuart sue susan suzanne sydney sylvia tamara tammy tanya tara taylor teresa terry theresa thomas
    tiffany tim timothy tina todd tom tommy toni tony tracy travis trevor tristan troy tyler valerie vanessa vera
    veronica vicki victor victoria vincent virginia vivian walter wanda wayne wendy wesley wendell whitney yasmin
    yolanda yvonne zachary zoe ada bea rosie mei yuki hiroshi kenji hanako taro sanjay
    """.split()
)

JAPANESE_SURNAMES = frozenset(
    """
    佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 渡部 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 清水 山崎 阿部
    池田 橋本 山下 石川 中島 前田 藤田 後藤 小川 岡田 村上 長谷川 近藤 石井 斉藤 斎藤 齋藤 坂本 遠藤 藤井 青木 福田
    三浦 西村 藤原 太田 松田 原田 岡本 中野 中川 小野 田村 竹内 金子 和田 中山 石田 上田 森田 柴田 酒井 工藤 横山
    宮崎 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 武田 村田 上野 杉山 増田 平野 大塚 千葉 久保 松井 小島
    岩崎 桜井 野口 松尾 野村 木下 菊地 菊池 佐野 大西 杉本 新井 浜田 市川 古川 水野 小松 島田 小山 山内 西田 菅原
    高野 吉川 山中 西川 五十嵐 北村 安田 中田 川口 平田 川崎 飯田 本田 久保田 沢田 辻 関口 吉村 渡会 中西 岩田 服部
    樋口 福島 川上 永井 松岡 田口 山本 松下 小池 荒木 大橋 尾崎 栗原 片山 富田 秋山 黒田 東野 広瀬 大島 森本 石原
    望月 岡崎 早川 荒井 熊谷 矢野 西山 大久保 奥村 川村 大石 小西 須藤 三宅 河野 須田 堀内 成田 宇野 平山 岡村 星野
    土屋 吉岡 浅野 白石 児玉 関根 本間 内藤 馬場 松村 野田 上村 大谷 黒川 大森 横田 今村 村山 堀田 中谷 天野 小沢
    石橋 坂口 田島 宮田 三好 桑原 植田 下田 萩原 篠原 松永 富永 古賀 小田 吉野 徳永 根本 鎌田 西岡 大川 榎本 柳沢
    岩本 宮下
    """.split()
)

JAPANESE_GIVEN = frozenset(
    """
    健太 翔太 大輔 拓也 健一 健二 健 翔 直樹 直人 和也 達也 哲也 雄太 裕太 裕介 祐介 雄介 陽介 圭介 亮太 亮 涼太 駿
    隼人 颯太 悠斗 悠太 悠真 陽翔 陽太 蓮 湊 樹 大翔 大和 蒼 律 朝陽 太郎 一郎 二郎 次郎 三郎 浩 浩二 浩一 隆 隆史
    誠 修 聡 徹 剛 茂 勝 進 清 博 豊 稔 正 実 明 真一 真司 慎一 慎吾 信二 孝 学 智也 智之 康介 康平 洋介 洋平 恭平
    航 航平 優斗 優太 海斗 拓海 匠 拓真 美咲 美穂 美香 美紀 美奈 美和 美樹 美優 美月 愛美 愛子 花子 恵子 洋子 陽子
    幸子 和子 節子 京子 久美子 由美子 由美 由紀 裕子 優子 智子 直子 直美 真由美 麻衣 麻美 舞 彩 彩香 綾 綾香 綾子
    香織 詩織 沙織 早紀 早苗 千尋 千夏 千春 千佳 七海 葵 結衣 結愛 結菜 陽菜 莉子 凛 杏 咲良 紬 芽依 桜 心春 楓 遥
    遥香 菜々子 菜摘 奈々 奈緒 奈津子 理恵 理沙 里奈 里美 梨花 玲奈 典子 紀子 悦子 文子 敏子 弘子 百合子 小百合
    明美 朋美 友美 知美 朋子 友香 瞳 恵美 絵美 絵里 亜美 亜紀 亜由美 晴美 さくら ひなた ひなの ゆう なお なな みな
    すず めぐ ももこ みゆき まき はな まな ちはる ゆたか れい よしお ようこ あき しんご ちか かずみ かずや かつや
    きみこ けい けんた こうじ さちこ しずか じゅんこ すみれ せいこ たかこ つよし としお ななみ のぞみ のりこ はるか
    はるな ひでき ひとみ ひろ ふみこ まさと まさみ みお みか みさと みずき みち みちこ みつき みのり みゆ むつみ
    もえ やすこ ゆうか ゆうこ ゆうすけ ゆうと ゆり ゆりこ よしみ りか りく りこ りん るみ れいこ わかな あかね
    あすか あみ いずみ えいじ えみこ かおる かずえ かずこ かのん きょうこ あかり あおい あやか あや あゆみ えみ
    えり かおり かな くみ けいこ けんじ けんた こうた さおり さき さとし さやか しおり しょうた たかし たくや
    たけし たろう ちひろ ともこ なおき なおこ なつみ はなこ はると ひろし ひろみ まい まこと まさし まゆみ まり
    みき みさき みほ めぐみ もも ゆい ゆうた ゆうき ゆか ゆき ゆみ よしこ りえ りさ りな れいな タカシ ケンジ
    ケンタ タロウ ヒロシ マサシ サトシ ユウキ ユウタ ダイスケ ショウタ アキラ マコト ツヨシ リョウ ユミ ユキ ユカ
    リナ リサ エミ エリ ミカ ミキ ミホ マリ マイ アヤ アヤカ アユミ サキ サオリ サヤカ カオリ ナオミ メグミ ハナコ
    モモ ユイ アオイ ヒナ レイ
    """.split()
)
