/* keywords.c -- the phrases that mark rules, decisions, tasks, errors and the like in four languages, and the search for all
 * of them in one scan of a text.
 *
 * A phrase has at least three bytes: three letters of English, or one character of Japanese, Chinese or Korean.  The first
 * three select a slot of a hash table, with the phrases to compare; it is empty
 * for most positions of a text. */
#include "summary/keywords.h"

#include <assert.h>
#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "summary/summary_words.h"

/* In lower case, with a bar between.  "*" at an end: may be part of a longer word there, as "error" in
 * "TypeError"; "^" or "$" in front: only at the beginning or the end of the text. */
static const struct {
    unsigned bits;
    const char *phrases[MAKI_LANGS];
} rows[] = {
    { MAKI_KEYWORD_DECISION | MAKI_KEYWORD_SETTLED,
      { [MAKI_EN] = "decided|decision:|we will use|we'll use|let's use|let's go with|"
                    "we go with|going with|agreed:|agreed to|we agree*|rule:|convention:|"
                    "settled on|we keep|must never",
        [MAKI_JA] = "決定|に決め|と決め|方針|ことにし|ことにする|採用|にしましょう|"
                    "でいきましょう|で行きましょう|で統一|禁止",
        [MAKI_ZH] = "决定|采用|改用|就用|统一用|统一使用|约定|方案定|不允许",
        [MAKI_KO] = "결정|하기로|채택" } },
    { MAKI_KEYWORD_RULE,
      { [MAKI_EN] =
            "refrain|never|always|must|mustn't|musn't|shall not|shan't|may not|under no circumstances|"
            "on no account|in no case|by no means|no matter what|whatever happens|"
            "whatever you do|whatever comes|at all costs|at all times|at no time|at no point|"
            "without exception|no exceptions|forbid*|forbidden|prohibit*|not allowed|"
            "not permitted|isn't allowed|aren't allowed|not acceptable|unacceptable|won't accept|"
            "not okay|not ok|no-go|no go|off limits|off-limits|out of bounds|off the table|"
            "hands off|banned|ban on|taboo|sacred|untouchable|not to be touched|not negotiable|"
            "non-negotiable|nonnegotiable|from now on|from here on|from this point|going forward|"
            "from today on|henceforth|as a rule|hard rule|hard rules|ground rule|ground rules|"
            "golden rule|one rule|rule:|the rule is|rules:|house rule|house rules|strictly|"
            "mandatory|obligatory|compulsory|required to|is required|are required|requirement:|"
            "absolutely|categorically|zero tolerance|don't ever|do not ever|don't you dare|"
            "not ever|not once|not a single|not under any|under any circumstances|in any circumstances|"
            "on any account|nobody|no one|noone|nothing goes|nothing leaves|nothing may|"
            "nothing is to|no one else|nobody else|without asking|without my|without permission|"
            "without approval|without checking|without telling|without explicit|without written|"
            "unless i|unless you ask|unless told|unless explicitly|unless we|ask me before|"
            "ask me first|ask first|ask before|check with me|confirm with me|run it by me|"
            "run it past me|clear it with me|wait for my|get my|my approval|my permission|"
            "my explicit|my sign-off|my go-ahead|my consent|my say-so|guidelines|constraints|"
            "deal-breaker|dealbreaker|red line|hard limit|hard requirement|hard constraint|"
            "at most|no more than|no fewer than|no less than|not exceed|may exceed|keep out of|"
            "stay out of|stay away from|keep away from|steer clear|leave alone|stick to|"
            "stick with|every single|each and every|every time|promise me|i insist|i forbid|"
            "is final|law here|is law|policy:|our policy|keep your hands",
        [MAKI_JA] =
            "控え|まで待|読み取り専用|勘弁|ご法度|もってのほか|譲れ|絶対|必ず|かならず|禁止|禁じ|厳禁|厳守|禁物|てはいけ|"
            "ではいけ|てはなら|ではなら|てはダメ|てはだめ|ではダメ|"
            "ではだめ|ちゃダメ|ちゃだめ|じゃダメ|じゃだめ|ちゃいけ|"
            "じゃいけ|ては困|では困|ないでください|ないで下さい|"
            "ないで頂|ないでいただ|ないでほし|ないで欲し|ないでくれ|"
            "ないでね|ないように|ないこと|ないでお|なさいで|するな|"
            "触るな|使うな|消すな|書くな|入れるな|出すな|変えるな|"
            "送るな|見るな|言うな|やるな|上げるな|押すな|るな。|うな。|"
            "くな。|すな。|むな。|ぶな。|つな。|ぬな。|べからず|まじき|"
            "常に|つねに|決して|けっして|一切|いっさい|今後|これから先|"
            "これからは|いかなる|どんな場合|どんなとき|どんな時|"
            "どんなこと|どんな理由|何があっても|何が起き|何であれ|"
            "誰であ|誰にも|例外なく|例外は|例外な|以外は|以外に|以外の|"
            "以外を|許可なく|許可なし|許可無|許可を|許可が|無断|勝手に|"
            "勝手な|承認な|承認を|承認が|了承|同意な|同意を|断りなく|"
            "確認なし|確認せず|聞かず|のみ|限定|限る|べき|原則|ルール|"
            "規則|規約|掟|鉄則|約束|守って|遵守|厳格|不可|必須|義務|"
            "してはいか|許され|許さ|なければなら|なくてはなら|"
            "なければいけ|なくてはいけ|ねばなら|なきゃ|ないとダメ|"
            "ないとだめ|ないといけ|じゃないと|でないと|しか使|しか認|"
            "しか許|聞いてから|確認してから|了解を得|厳しく|立入|"
            "立ち入|触れない|触らない|手を付け|手をつけ|手を触|手出し|"
            "いじらない|いじるな|いじって|残さない|漏らさ|タブー|NG|"
            "に限り|に限る|$こと|$ように|$べし|$であること|$のこと|$厳守|"
            "$まで",
        [MAKI_ZH] =
            "插手|等我|说了算|之前先|说一声|绝对|绝不|绝无|决不|必须|须要|务必|禁止|严禁|禁用|禁区|不要|"
            "不得|不许|不准|不允许|不可以|不可|不应|不该|切勿|请勿|勿要|"
            "切忌|切记|别动|别碰|别用|别改|别把|别再|别在|别给|别让|别去|"
            "别删|别写|别提|别往|别乱|别随|千万|只能|只准|只许|只可|只用|"
            "只允许|一律|永远|永不|从不|从今|从现在|今后|往后|以后都|"
            "以后一|除非|未经|没有我|没经|没我|经我|我同意|我批准|"
            "我确认|我点头|先问我|问过我|先征|征得|任何情况|任何时候|"
            "任何人|任何理由|无论|不管|不论|谁都|谁也|规则|规定|规矩|"
            "原则|准则|底线|红线|铁律|铁则|纪律|硬性|强制|一定要|一定不|"
            "不接受|不碰|不再|不留|不超过|不得超|不少于|不低于|不高于|"
            "仅限|仅可|仅能|仅用|仅使用|避免|拒绝|杜绝|坚持|遵守|严格|"
            "必用|免谈|没商量",
        [MAKI_KO] =
            "곤란|보류|취급|읽기 전용|참아|허락할 때까지|예외 없이|절대|반드시|금지|금물|엄금|엄수|하지 마|하지마|지 마|지마|"
            "지 말|지말|해서는 안|해서는 아니|해선 안|하면 안|서는 안|"
            "으면 안|면 안|선 안|안 됩니다|안됩니다|안 된다|안된다|안 돼|"
            "안돼|안 되|말아|말 것|말것|마세요|마십시오|마라|항상|언제나|"
            "언제든|꼭|무조건|없이는|없이|어떤 경우|어떠한|어떤 일|"
            "어떤 이유|무슨 일|어느 누구|누구도|아무도|아무것도|절대로|"
            "결코|일절|일체|앞으로|이제부터|지금부터|오늘부터|규칙|원칙|"
            "규정|수칙|지침|방침|약속|지켜|지키|준수|필수|의무|허락|허가|"
            "승인|동의|먼저 물|물어보|물어봐|확인받|확인을 받|외에는|"
            "말고는|제외|오직|오로지|만 사용|만 써|만 쓰|만 허용|만 가능|"
            "만 해|만 하|만 할|만 답|만 읽|만 적|만 남|만 보|만 건|건드리|"
            "손대|손 대|삼가|자제|피하|피해 주|야만|상한|하한|넘지|초과|"
            "불가|못하게|반대입니다|용납|허용" } },
    { MAKI_KEYWORD_WISH,
      { [MAKI_EN] =
            "don't|do not|dont|avoid|refrain|refuse|make sure|be sure to|ensure|only|exclusively|"
            "keep|leave|prefer*|should|shouldn't|ought to|have to|stop|skip|limit|restrict*|"
            "exclude|want you to|i'd like you to|i would like you to|i'd rather|i would rather|"
            "expect|are to|you're to|treat|remember|bear in mind|without|until i|when in doubt|"
            "by default|if you ever|careful|ban|cap|maximum|minimum|respect|follow|obey|promise|"
            "beware|watch out|hate|can't stand|no new|allowed|rule|rules|important|crucial|"
            "critical|essential|as long as|no need to|reply in|answer in|respond in|write in|"
            "whenever|wherever|each time|every|everywhere|whichever|anything|anyone|anybody|any|"
            "exactly|we use|we do not|we don't|is to|not to|no need|all answers|all your|"
            "your answers|your replies|your answer",
        [MAKI_JA] =
            "ておいて|助かります|助かる|やめて|止めて|避けて|避け|控えて|控え|だけ|不要|注意|"
            "気をつけ|気を付け|忘れず|忘れない|優先|統一|維持|保って|"
            "残して|そのまま|せずに|せず、|以外|除いて|除く|方がい|"
            "ほうがい|困る|いけない|しないで|ないで|たびに|全て|すべて|"
            "以内|以下に|以上に|上限|下限|最低|認め|いつも|毎回|限り|"
            "肝心|大事|大切|いらない|要らない|ルール|しかし|しか使|しか|"
            "どこでも|どれも|どの|しません|使いません|使わない|"
            "書かない|入れない|置かない|出さない|変えない|全部|一律",
        [MAKI_ZH] = "要求|我要你|应该|记住|记得|注意|小心|尽量|统一|优先|保留|"
                    "维持|仅|勿|莫|不必|不用|停止|停用|限制|排除|允许|许可|批准|"
                    "以外|之外|不喜欢|讨厌|当心|最好|不能|所有|全部|每次|例外|"
                    "应当|总是|始终|保持|上限|下限|以内|至少|最多|不超过|必需|"
                    "遇到|凡是|重要|^别|，别|、别|请别|也别|都别|就别|可别|先别|"
                    "，只|我只|你只|请只|凡|都用|都要|都得|一概|处处|统统|不写|"
                    "不放|不加",
        [MAKI_KO] = "주의|조심|유의|명심|잊지|말고|우선|통일|유지|그대로|빼고|싫|"
                    "하라|할 것|할것|좋겠|해야|하여야|어야|아야|여야|야 합|야 해|"
                    "야 한|이하|이내|최대|최소|모든|전부|매번|중요|으로만|로만|"
                    "뿐|지 않|안 하셔도|필요 없|필요없|안 씁|안 써|안 쓰|안 합|"
                    "어디서나|어디서든|모두|하셔도|$기|$것|$할 것" } },
    { MAKI_KEYWORD_DECISION,
      { [MAKI_EN] =
            "on reflection|after all|on balance|come to think|decided|decision|decisions|"
            "we decide|let's decide|we will use|we'll use|let's use|lets use|let us use|let's go|"
            "lets go|let us go|let's do|let's stick|let's switch|let's make it|let's keep|"
            "let's call|let's take|let's move|let's pick|let's settle|let's drop|let's stay|"
            "let's run with|let's have it|we go with|go with|going with|went with|gone with|"
            "run with|we'll go|we will go|we'll take|we'll stay|we'll keep|we'll do|"
            "we'll be using|we're using|we are using|we're going|we are going|i'll take|i'll go|"
            "agreed:|agreed to|agreed on|agree on|we agree*|agreed|settled on|settle on|settled|"
            "settling on|settles it|we keep|must never|final call|final answer|final choice|"
            "final word|final version|finally, |finalised|finalized|finalise|finalize|"
            "final decision|final:|it's final|switch to|switching to|switched to|switch over|"
            "switch from|swap*|scrap that|scrap the|scratch that|strike that|change of plan|"
            "change of plans|plans changed|plan changed|changed my mind|change my mind|"
            "changed our mind|changed our minds|change that|changing that|changing to|"
            "change it to|changed to|change to|second thought|second thoughts|reconsider*|"
            "moving to|moved to|move away|migrate to|replace*|in favor of|in favour of|"
            "correction|revert to|back to|opt for|opted for|opting for|chose|choosing|picked|"
            "we pick|i pick|my pick|our pick|it is then|make that|make it|sticking with|"
            "our choice|the choice is|my choice|locked in|lock in|lock it in|locked|signed off|"
            "sign off on|postponed|rescheduled|pushed to|pushed back to|bumped to|"
            "brought forward|ignore what i said|disregard|never mind|nevermind|overrid*|overrul*|"
            "supersed*|revised|new plan|the plan is now|the verdict|verdict|conclusion|adopt|"
            "adopted|adopting|standardise on|standardize on|standardising|standardizing|"
            "end up with|all things considered|we drop|abandon*|no longer use|no longer using|"
            "instead of|will be called|name it|we call|renamed|instead|actually|made up my mind|"
            "made up our minds|mind made up|it is.|it is!|it is now|is what we want|"
            "is what i want|is now|are now|now, not|we want|take that back|doesn't count|"
            "does not count|forget what i|forget that|won the|wins|is out|is in,|let me take|"
            "preference is|will be|going to be|shall be|should be|i choose|we choose|i chose|"
            "we chose|i've chosen|we've chosen|i'd pick|my vote|put down|write down|note down|"
            "mark down|on record|let's say|it stays|stays with|stays as|won't work|"
            "talked it over|discussed it|spoke with|talked to|turns out",
        [MAKI_JA] = "決定|に決め|と決め|決めま|決めた|決まり|決まっ|決めて|方針|"
                    "ことにし|ことにす|ことに決|ことにな|採用|にしましょう|"
                    "にしよう|にします|にする。|にする！|にするよ|にするわ|"
                    "にするので|にするから|でいきましょう|で行きましょう|"
                    "でいこう|で行こう|でいきます|で行きます|で統一|に統一|"
                    "確定|最終|結論|に変更|へ変更|変更し|変更です|変更にな|"
                    "変えます|変えよう|変えま|に切り替え|へ切り替え|切替|"
                    "に切替|切り替え|乗り換え|やっぱり|やはり|やっぱ|ではなく|"
                    "じゃなく|でなく|代わりに|かわりに|に代えて|撤回|取り消|"
                    "取りやめ|見直し|考え直|気が変わ|白紙|に落ち着|を選び|"
                    "を選ぶ|を選ん|選択|を使うこと|を使いま|使いましょう|"
                    "使います|に戻し|に戻す|に戻り|改めて|訂正|延期|前倒し|"
                    "繰り上げ|後ろ倒し|固定し|に固定|で進め|合意|移行|置き換え|"
                    "差し替え|廃止|却下|没に|ボツ|に改め|呼ぶこと|名付け|命名|"
                    "で確|でいくこと|でいくよ|で行くこと|でいくわ|に変える|"
                    "でお願いします|なしで|忘れて|なかったことに|言い直|"
                    "言い間違|前言|心を決め|腹を決め|固まり|固まった|に直し|"
                    "にして|になりました|に選|を選|を推|ということで|"
                    "という方向|線で|に一本化|固める|書き留め|記録し|"
                    "と書いておい|で決|今のなし|のなし、|が正解|話し合|相談し|"
                    "話がつ",
        [MAKI_ZH] =
            "了，上|了，用|了，走|了，选|决定|挪到|想通|决议|敲定|拍板|定下|定为|定在|定成|定了|定案|就定|选定|"
            "选用|选择|选了|就选|我选|采用|采纳|改用|改成|改为|改到|改回|"
            "改在|改主意|换成|换到|换用|换回|就用|还是用|还是|最终|最后|"
            "统一用|统一使用|统一为|约定|方案|不允许|变更|变了|推翻|"
            "取消|撤回|撤销|作废|作罢|废弃|放弃|不再用|不用了|不要了|"
            "算了|代替|取代|替换|而不是|回到|退回|更正|纠正|推迟|延期|"
            "顺延|延后|切换|切到|迁移|迁到|转到|转向|那就|那么就|我们用|"
            "咱们用|我们选|咱们选|我们走|我们就|咱们就|我们改|咱们改|"
            "以此为准|为准|前面说的|之前说的|重新考虑|想了想|再想|"
            "考虑后|商量后|讨论后|命名为|叫做|定名|起名|确定用|确定为|"
            "确定是|最终确定|已确定|就这么定|定好|不算|说错了|收回|记为|"
            "记成|定的是|就它|就这个|吧。|吧！|想好了|想清楚|主意已定|"
            "等等|不对|计划有变|就按|按照|不用|就这样|就这么|选|记下|"
            "写下|记作|换|改|定.|就是|那就是|商量好|说好|谈好|谈妥|商定|"
            "讲好|说定|讨论过|而是",
        [MAKI_KO] =
            "로 가죠|으로 가죠|옮겼|옮긴|미뤘|당겼|정리됐|정리했|정리하|낙착|로 갈래|로 갑니다|로 해야겠|로 쓸게|로 쓰겠|로 씁니다|결정|바꿀게|하기로|쓰기로|가기로|사용하기로|두기로|로 하자|"
            "로 합시다|으로 합시다|로 갑시다|로 가자|로 가겠|로 간다|"
            "로 갈|로 할게|로 하겠|으로 하겠|로 합니다|으로 합니다|"
            "로 해요|으로 해요|로 정|으로 정|정했|정하|정해|정한|바꾸|"
            "바꿔|바꿨|바뀌|최종|확정|채택|선택|골랐|고릅|전환|교체|취소|"
            "철회|번복|아니라|합의|미루|미뤄|연기|당기|당겨|정정|되돌|"
            "돌아가|돌아갑|옮겨|이전하|갈아|폐기|접고|접기|마음이 바|"
            "생각이 바|생각해 보니|생각해보니|다시 생각|재검토|결론|"
            "낙점|방향으로|쪽으로|계획이 바|계획 변경|사용하겠|씁시다|"
            "쓰자|부르기로|이름은|대신에|대신 |변경합|변경하|변경했|"
            "변경해|으로 변경|로 변경|잊어|없던|취소하|아까 말|마음을 정|"
            "마음 정|잠깐|아니,|아니요,|로 부탁|으로 부탁|로 해 주|"
            "로 해주|로 바|로 갑|고르겠|고를게|고릅니다|골라|적어 두|"
            "적어 둬|적어두|기록해|메모해|은 이제|는 이제|로 진행|"
            "으로 진행|기준으로|로 해 두|로 두|로 하기|로 통일|얘기해서|"
            "이야기해서|상의해|의논해|얘기 끝" } },
    { MAKI_KEYWORD_CHANGE,
      { [MAKI_EN] =
            "now prefer|i'd now|i now|becomes|bump|raise|lower it|instead go|moving it|instead|actually|scrap|scratch|strike that|change|changed|changing|changes|"
            "no longer|switch*|replace*|rather|second thought|second thoughts|on reflection|"
            "correction|revert*|back to|overrid*|overrul*|supersed*|revised|disregard|forget|"
            "drop|dropped|abandon*|final|finally|finalise|finalize|not anymore|anymore|after all|"
            "in the end|new plan|hold on|reconsider*|migrate|postpone*|reschedul*|pushed|bumped|"
            "never mind|nevermind|update|settle*|latest|ignore what|now, not|is now|no, |wait, |"
            "take that back|forget what i|forget that|doesn't count|made up my mind|let's not|"
            "not do|is out|slips to|slipped to|shifts to|shifted to|moves to|moved to|takes over|taking over|took over",
        [MAKI_JA] =
            "増やし|減らし|に変わり|のほうがいい|さっきの|上書き|やっぱ|やはり|変更|変え|切り替え|切替|ではなく|じゃなく|"
            "でなく|代わり|かわり|撤回|取り消|取りやめ|やめて|やめま|"
            "見直|考え直|気が変|白紙|最終|改めて|改め|訂正|戻し|戻す|"
            "戻り|延期|前倒し|置き換え|差し替え|移行|廃止|却下|結局|"
            "確定|最新|乗り換え|忘れて|なかったことに|言い直|言い間違|"
            "前言|いや、|違う、|待って|今のなし|のなし、|引き継|ずらし|ずらす|振り出し|に延び",
        [MAKI_ZH] =
            "了，上|了，用|了，走|了，选|了，改|了，就|了，还|了，去|了，吃|了，找|了，直接|甭|想通|变成|变为|加到|减到|升到|降到|提到|搬到|弃用|更想用|接手|改由|刚才说的|到头来|改用|改成|改为|改到|改回|改主意|改在|换成|换到|换用|换回|"
            "还是|最终|最后|变更|变了|推翻|取消|撤回|撤销|作废|作罢|废弃|"
            "放弃|不再|不用了|不要了|算了|代替|取代|替换|而不是|回到|"
            "退回|恢复|更正|纠正|推迟|提前|延期|顺延|延后|切换|切到|迁移|"
            "迁到|转到|重新|想了想|再想|等等|敲定|拍板|不算|说错|收回|"
            "计划有变|不对|想好了|换|不用|而是|挪|推倒|接手|，不是|不，",
        [MAKI_KO] =
            "옮겼|옮긴|옮김|미뤘|당겼|늘렸|줄였|바꿔|으로 가죠|됐고|바꿀|바꾼|바꿉|옮길|옮깁|늘려|늘리|줄여|줄이|올려|내려|아니다|이제 |잊고|아무래도|바꾸|바꿔|바꿨|바뀌|변경|대신|최종|취소|철회|번복|역시|"
            "아니라|말고|미루|미뤄|연기|당기|당겨|정정|되돌|돌아가|"
            "돌아갑|옮기|옮겨|갈아|폐기|접고|접기|생각해 보니|"
            "생각해보니|다시 생각|재검토|전환|교체|결국|확정|이제는|"
            "더 이상|잠깐|잊어|없던|아니,|아까 말|밀렸|밀려|이어받|처음부터 다시|빼고" } },
    { MAKI_KEYWORD_POLITE,
      { [MAKI_EN] =
            "could you|can you|would you|will you|do you mind|i'd rather|i would rather|we'd rather|"
            "i'd prefer|i would prefer|we'd prefer|i prefer|we prefer|i'd appreciate|we'd appreciate|"
            "appreciate it|would appreciate|appreciated|grateful|thankful|be glad|be happy|be best|"
            "be better|be nice|be great|be good|be wise|be kind|so kind|kindly|favor|favour|i'd like|"
            "we'd like|would like|i'd love|i'd want|i'd hate|i hope|we hope|if possible|please|try not|"
            "try to|had better|better not|you'd better|best not|best to|i ask|i'm asking|we ask|ask you|"
            "i beg|request that|i suggest|may i ask|might i ask|i wish|happier if|help if|it'd be|"
            "would help|^don't|^do not|, don't|, do not|; don't|just don't|please don't|so don't|but don't|"
            "and don't|then don't|welcome to|i don't want|we don't want|i do not want|wouldn't want|"
            "really want|i'd feel",
        [MAKI_JA] =
            "いただけ|いただき|頂け|頂き|もらえ|もらい|くださ|下さ|助かり|助かる|ありがた|有難|"
            "有り難|うれしい|嬉しい|幸い|お願い|願い|ほしい|欲しい|望まし|ほうがい|方がい|"
            "ほうが良|方が良|ほうがよ|方がよ|ようにし|できれば|できたら|恐れ入|申し訳|無難",
        [MAKI_ZH] =
            "^别|，别|、别|就别|可别|先别|也别|都别|还是别|麻烦|请|拜托|希望|最好|能不能|可不可以|可否|能否|能别|劳驾|劳烦|烦请|建议|为好|"
            "比较好|更好|为宜|为妙|好吗|行吗|可以吗|求你|我想|不如|但愿|谢谢|感谢|感激",
        [MAKI_KO] =
            "주시면|주실|주세요|주시|주면|줄래|줬으면|고맙|감사|좋겠|좋을|바랍|바라|부탁|했으면|"
            "않았으면|될까|않을까|낫겠|나을|낫습|나아요|싶|가능하면|되도록|죄송|될까요" } },
    { MAKI_KEYWORD_DENY,
      { [MAKI_EN] =
            "not|*n't|refrain*|avoid*|never|stop|stopped|without|nobody|no one|noone|none|"
            "nothing|as is|as it is|as they are|the way it|the way they|alone|untouched|"
            "unchanged|intact|hands off|out of|away from|no more|cease|quit|hold back|hold off|"
            "skip|omit|drop the habit|anything but|nowhere|neither|spare",
        [MAKI_JA] =
            "ない|せずに|控え|避け|遠慮|やめ|止め|そのまま|なしで|抜きで|外して|除いて|触れ|"
            "現状のまま|今のまま|ずにお",
        [MAKI_ZH] =
            "不要|不碰|不改|不动|不写|不放|不加|不直接|不在|不往|不把|不让|不给|别|勿|避开|"
            "绕开|避免|免去|保持|原样|维持|停止|不再|少用|绕过|不做|不去|不用|不发|不提|不传",
        [MAKI_KO] = "지 않|지 말|지말|말아|말았|말고|빼 주|빼주|빼고|피해|피하|삼가|자제|그대로|"
                    "안 했|안 하|안 쓰|안 썼|없이|하지 않|멈춰|중단|제외|놔두|놔 두|내버려" } },
    { MAKI_KEYWORD_INQUIRE,
      { [MAKI_EN] =
            "why|what|how|explain|tell me|show me|know if|check if|see if|whether|help me|"
            "take a look|figure out|don't worry|don't mind|don't bother|don't know|wonder*|not working|doesn't work|fail*",
        [MAKI_JA] =
            "なぜ|どうして|何|どう|どこ|いつ|誰|どれ|教えて|説明|見て|調べ|でしょうか|動か|失敗",
        [MAKI_ZH] =
            "担心|客气|着急|为什么|什么|怎么|怎样|谁|哪|几|多少|讲讲|解释|看看|看一下|查一下|告诉|帮我|区别|失败",
        [MAKI_KO] =
            "왜|무엇|뭐|어떻게|어디|언제|누가|누구|어느|알려|설명|봐 주|찾아|확인해|차이|실패" } },
    { MAKI_KEYWORD_TALK,
      { [MAKI_EN] =
            "i never|i always|i've never|i have never|i've always|we never|we always|it never|it always|"
            "he never|he always|she never|she always|they never|they always|has never|had never|"
            "has always|have always|had always|was never|were never|was always|were always|never been|"
            "never seen|never knew|never liked|never gets|never stops|always gets|always been|as always|"
            "like always|my mother|my father|my mom|my mum|my dad|my sister|my brother|my wife|"
            "my husband|my son|my daughter|my kids|my grandmother|my grandfather|my grandma|my grandpa|"
            "my aunt|my uncle|my cousin|my neighbour|my neighbor|my cat|my dog|my friend|my flat|"
            "the weather|the kids|the cat|the dog|you must be|you must have|must be the|must have been",
        [MAKI_JA] =
            "祖母|祖父|母は|母が|父は|父が|姉|妹|兄は|兄が|弟|叔父|叔母|おばあ|おじい|友達|友人|"
            "うちの猫|うちの犬|猫は|猫が|犬は|犬が|天気|子ども|子供|近所",
        [MAKI_ZH] =
            "奶奶|爷爷|外婆|外公|我妈|我爸|妈妈|爸爸|姐姐|妹妹|哥哥|弟弟|我朋友|朋友|邻居|我家猫|"
            "我家狗|猫|我的狗|天气|孩子|老婆|老公",
        [MAKI_KO] =
            "할머니|할아버지|엄마|아빠|어머니|아버지|언니|누나|오빠|동생|이모|삼촌|친구|고양이|"
            "강아지|날씨|이웃|아이가|아이들|남편|아내" } },
    { MAKI_KEYWORD_RULE,
      { [MAKI_EN] =
            "have no business|has no business|don't want to see|do not want to see|"
            "don't want any|rather you didn't|rather we didn't|better not|best not|"
            "has to stay|have to stay|needs to stay|must stay|stays as|stay as|stays the way|"
            "nor may|until i|until we|may only|may be read|writing to it",
        [MAKI_JA] =
            "$ないで|ご遠慮|ご容赦|お控え|ないでもらえ|ないでおいて|ないでいて|ないほうが|"
            "ない方が|ないでおきた|見たくな|残るのは困|決まりです|決まりだ|決まりにな|お断り|"
            "やめてくだ|やめて下さ|やめてほし|やめていただ|やめてもら|止めてくだ|止めてほし|"
            "避けてくだ|避けて下さ|避けてほし|避けていただ|避けてもら|使わない|書かない|入れない|"
            "置かない|出さない|変えない|消さない|送らない|しない方|しないほう",
        [MAKI_ZH] = "最好不|最好别|不希望|不想看到|不想见到|不太想|尽量不|尽量别|不改为好|不动为好|"
                    "是不行|可不行|才行|才可以|才能|以前不|之前不|保持原样|保持现状|不许再|轮不到|"
                    "不在考虑|不予|概不|请避开|麻烦避开|别再",
        [MAKI_KO] =
            "라고 생각하고|라고 생각하세|로 다뤄|다뤄 주|다루세|다뤄요|는 늘 |은 늘 |을 늘 |를 늘 |도 늘 |않았으면|않으면 좋|않는 게|않는 것이|않는 편|않아 주|않아주|않아 줬|않도록|않게 해|"
            "싶지 않|않기를|않길|말아 줬|말았으면|안 했으면|안 하면 좋|두면 안|지양|사양|"
            "하면 곤란|안 될까|못 합니다|못합니다" } },
    { MAKI_KEYWORD_REFER,
      { [MAKI_EN] =
            "that rule|this rule|the rule|same rule|rule above|those rules|these rules|"
            "the same goes|same goes|the same applies|same applies|same holds|also applies|"
            "applies to|apply to|likewise|as i said|as i told|as mentioned|like i said|"
            "what i said|i said earlier|i mentioned|that decision|this decision|that restriction|"
            "that ban|that limit|that policy|that one|this one|the former|the latter|"
            "the exception|only exception|one exception|exception|the first option|"
            "the second option|ditto|as above|still holds|still stands|that applies|this applies",
        [MAKI_JA] = "その規則|この規則|そのルール|このルール|あのルール|"
                    "同じルール|さっきのルール|その決まり|この決まり|その約束|"
                    "その制限|この制限|その方針|この方針|その決定|この決定|"
                    "も同じ|同じく|同様|も適用|にも適用|が適用|前述|上記|例外|"
                    "ただし|言った通り|言ったとおり|述べた|そちらも|こちらも|"
                    "前者|後者|準じ",
        [MAKI_ZH] = "那条|这条|该规则|该规定|这个规则|那个规则|这个规定|"
                    "那个规定|那个决定|这个决定|这项|那项|同样|也一样|一样|同理|"
                    "也适用|适用于|同上|上述|前者|后者|照旧|也是如此|也算|"
                    "依然有效|仍然有效|例外",
        [MAKI_KO] = "그 규칙|이 규칙|저 규칙|그 원칙|이 원칙|같은 규칙|그 규정|"
                    "이 규정|그 결정|이 결정|그 제한|그 약속|마찬가지|똑같이|"
                    "동일하게|적용|위에서|말했듯|말한 대로|말씀드린|예외|다만|"
                    "단,|전자|후자|그것도|이것도" } },
    { MAKI_KEYWORD_REASON,
      { [MAKI_EN] =
            "because|except|exception|unless|otherwise|that's because|the reason|reason:|"
            "reason is|only if|only when|if you do|even if|even when|even for|even then|not even|"
            "this includes|that includes|including|this also|this applies|that applies|"
            "this means|that means|that goes for|i mean it|no excuses|no exceptions|since|"
            "last time|or else|in particular|the only|such as|for example|instead,|but|however|"
            "it breaks|it would|it is|it's|they are|they're|these are|those are|this is|that is|"
            "that would|this would",
        [MAKI_JA] = "ので|なぜなら|というのも|理由は|理由：|ただし|例外|但し|"
                    "さもないと|そうしないと|でないと|もし|たとえ|特に|つまり|"
                    "ですから|なので|だから|そうでない|これは|それは|前回|以前|"
                    "例えば|からです|ためです|のためです|含みます|含む",
        [MAKI_ZH] = "因为|原因|理由|除非|除了|例外|否则|不然|要不然|如果|即使|"
                    "哪怕|就算|尤其|特别是|包括|也就是|这是|那是|上次|之前|只有|"
                    "但是|但|不过|例如|比如|这样|毕竟",
        [MAKI_KO] = "왜냐하면|이유는|이유:|예외|다만|단,|그렇지 않으면|안 그러면|"
                    "아니면|만약|설령|특히|즉|그래야|지난번|저번|예를 들|"
                    "때문입니다|때문이에요|때문이다|포함|이건|그건|이것은|"
                    "그것은" } },
    { MAKI_KEYWORD_ABOUT,
      { [MAKI_EN] =
            "goal|goals|aim|aims|objective|purpose|mission|we want to build|i want to build|"
            "we're building|we are building|i'm building|i am building|we are making|"
            "we're making|trying to build|our task|the task is|the point is|is our|is my|"
            "is in charge|in charge of|responsible for|responsible|takes care of|take care of|"
            "looks after|leads|lead of|runs the|owns|owner of|manages|manager|handles|heads|"
            "head of|works on|working on|works for|works with|works in|works at|reports to|"
            "report to|my boss|my colleague|my coworker|my wife|my husband|my sister|my brother|"
            "my partner|my friend|my name|my team|my role|our client|our customer|our designer|"
            "our lead|our cto|our ceo|client|customer|stakeholder|contact|point of contact|"
            "reviewer|reviews|approves|maintainer|maintains|assigned to|teammate|colleague|"
            "codename|code name|code-named|codenamed|called|named|project|remember|note that|"
            "for the record|keep in mind|fyi|for your information|heads up|by the way|btw|"
            "background|context:|just so you know|so you know|good to know|allergic|birthday|"
            "deadline|password|budget|belongs to|stands for|not to be confused|don't confuse|"
            "do not confuse|different from|mix up|no relation|namesake",
        [MAKI_JA] = "目的|目標|ゴール|狙い|作りたい|作っています|"
                    "開発しています|開発中|目指|担当|責任者|リーダー|上司|部長|"
                    "課長|社長|先輩|後輩|同僚|部下|主任|窓口|連絡先|顧客|取引先|"
                    "お客様|クライアント|レビュー担当|所属|さん|氏|君は|ちゃん|"
                    "プロジェクト|案件|という名|と呼|別人|別の人|別物|違う人|"
                    "同姓|混同|間違え|覚えて|覚えといて|ちなみに|なお、|"
                    "念のため|参考まで|前提|背景|誕生日|締め切り|締切|期限|納期|"
                    "予算|パスワード|アレルギー|管理して|所有|様の|様が|様は|"
                    "メモして|名前は|の名前",
        [MAKI_ZH] = "目标|目的|宗旨|我们要做|我们在做|我在做|想做|打算做|"
                    "正在开发|负责|负责人|主管|经理|老板|领导|组长|同事|同学|"
                    "总监|客户|甲方|乙方|对接人|联系人|接口人|归谁|归他|归她|"
                    "由他|由她|先生|女士|小姐|老师|师傅|老王|老李|小王|小李|"
                    "工程师|设计师|项目|代号|名叫|叫作|叫做|名字|不是同一|"
                    "不要混|别混|别搞混|混淆|区分|两个人|不同的人|记住|记一下|"
                    "记得|备注|背景|前提|生日|截止|期限|预算|密码|过敏|属于",
        [MAKI_KO] = "목표|목적|만들고|만들려|개발하고|개발 중|담당|책임자|책임|"
                    "팀장|팀원|부장|과장|대표|사장|상사|동료|선배|후배|매니저|"
                    "리더|고객|고객사|거래처|연락처|담당자|맡고|맡습|맡아|맡은|"
                    "씨|님|프로젝트|코드명|라고 부|라고 합|다른 사람|동명이인|"
                    "혼동|헷갈|구분|기억|메모|참고로|참고|배경|전제|생일|마감|"
                    "기한|예산|비밀번호|알레르기|소속|관리합|관리하|이름은|"
                    "이름이" } },
    { MAKI_KEYWORD_DATE,
      { [MAKI_EN] =
            "monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|"
            "april|june|july|august|september|october|november|december|tomorrow|next week|"
            "next month|tonight|noon|midnight|o'clock|quarter|percent|million|thousand|hundred|"
            "dozen|twice",
        [MAKI_JA] = "月曜|火曜|水曜|木曜|金曜|土曜|日曜|明日|明後日|来週|来月|"
                    "再来|今週|今月|月末|年末|午前|午後|正午|時半|半年|毎週|毎月|"
                    "毎日",
        [MAKI_ZH] = "周一|周二|周三|周四|周五|周六|周日|星期|礼拜|明天|后天|下周|"
                    "下个月|下月|本周|本月|月底|年底|上午|下午|中午|凌晨|晚上|"
                    "每周|每月|每天|百分之|两个|三个|四个|五个|十个|一百|一千|"
                    "一万",
        [MAKI_KO] = "월요일|화요일|수요일|목요일|금요일|토요일|일요일|내일|모레|"
                    "다음 주|다음 달|이번 주|이번 달|월말|연말|오전|오후|정오|"
                    "자정|매주|매월|매일" } },
    { MAKI_KEYWORD_ANSWER,
      { [MAKI_EN] = "^yes|^yeah|^yep|^sure|^no,|^nope|^ok,|^okay,",
        [MAKI_JA] = "^はい|^うん|^ええ|^いいえ|^いや",
        [MAKI_ZH] = "^好|^行|^对|^不|^是",
        [MAKI_KO] = "^네|^예|^응|^아니|^좋아" } },
    { MAKI_KEYWORD_CHOICE,
      { [MAKI_EN] =
            "option|first one|second one|third one|the first|the second|the third|the former|"
            "the latter|the last one|both|neither",
        [MAKI_JA] = "案で|案に|一つ目|二つ目|三つ目|最初の|前者|後者|両方|のほうで|の方で",
        [MAKI_ZH] = "选|第一|第二|第三|前者|后者|方案|前一个|后一个|都要",
        [MAKI_KO] = "안으로|첫 번째|두 번째|세 번째|첫번째|두번째|전자|후자|둘 다|쪽으로" } },
    { MAKI_KEYWORD_LIST,
      { [MAKI_EN] = "rules|ground rules|guidelines|conventions|constraints|requirements|"
                    "preconditions|conditions|please note|please keep|things to|a few things|"
                    "before we start|dos and don'ts|boundaries|limits|expectations|preferences",
        [MAKI_JA] = "ルール|約束|前提|条件|注意|お願い|決まり|決め事|心得|気をつけ|気を付け|"
                    "守って|方針|要件|制約",
        [MAKI_ZH] = "规则|规矩|规定|约定|约束|要求|前提|条件|注意|请求|拜托|原则|守则|须知|"
                    "放在心上|几件事|几点",
        [MAKI_KO] = "규칙|약속|원칙|전제|조건|주의|부탁|지켜|요구|제약|유의|당부|몇 가지" } },
    { MAKI_KEYWORD_ASK,
      { [MAKI_EN] =
            "please|can you|could you|would you|will you|i want|i need|we need|help me|"
            "let me know|show me|give me|tell me|look into|look at|take a look|go ahead|fix|add|"
            "write|implement|create|make|build|change|update|remove|rename|refactor|run|check|"
            "explain|find|test|review|deploy|install|move|draft|summarize|translate|compare|"
            "design|plan",
        [MAKI_JA] = "ください|下さい|お願い|てほしい|て欲しい|てもらえ|"
                    "ていただけ|てくれ|を頼|調べて|直して|作って|書いて|見て|"
                    "教えて|追加|修正|作成|実装|確認して|インストール|実行|削除|"
                    "更新",
        [MAKI_ZH] = "请|帮我|帮忙|麻烦|给我|能不能|可以帮|看一下|看看|查一下|"
                    "修复|修改|添加|创建|实现|写一|检查|解释|运行|测试|部署|更新|"
                    "删除|做一",
        [MAKI_KO] = "주세요|줘|해 주|해주|부탁|주시|바랍니다|알려|고쳐|만들어|"
                    "추가|수정|작성|구현|확인해|설치|실행|삭제|찾아|봐 주|봐줘" } },
    { MAKI_KEYWORD_OPEN,
      { [MAKI_EN] = "todo|fixme|still need*|still has to|still have to|still missing|"
                    "still open|still to do|remains to|remaining:|left to do|not done yet|"
                    "not yet|follow-up|follow up|open question|pending:|later we|we also need|"
                    "don't forget|do not forget|before the release",
        [MAKI_JA] = "まだ|残り|残って|あとで|後で|未対応|未実装|未着手|要対応|要確認|宿題|"
                    "忘れずに|必要があります|リリース前に",
        [MAKI_ZH] = "待办|还没|还需要|还要|还剩|剩下|稍后|以后再|尚未|未完成|别忘了|上线前|"
                    "发布前",
        [MAKI_KO] = "아직|남은|나중에|할 일" } },
    { MAKI_KEYWORD_NEXT,
      { [MAKI_EN] = "next step|next:|next, |next i|next we|after that|i'll now|i will now",
        [MAKI_JA] = "次に|次は|続いて|このあと",
        [MAKI_ZH] = "接下来|下一步|然后我",
        [MAKI_KO] = "다음으로|다음 단계" } },
    { MAKI_KEYWORD_DONE,
      { [MAKI_EN] = "done|finished|completed|is in place",
        [MAKI_JA] = "完了|終わりました|済みです|できました",
        [MAKI_ZH] = "完成了|已完成|做完了|搞定",
        [MAKI_KO] = "완료" } },
    { MAKI_KEYWORD_FIXED | MAKI_KEYWORD_DONE,
      { [MAKI_EN] = "fixed|resolved|solved|works now|work now|passes now|pass now|no longer|"
                    "gone now|is gone",
        [MAKI_JA] = "直りました|直った|解決しました|解決済み|修正済み|解消|通るようになりました",
        [MAKI_ZH] = "已解决|解决了|修好了|已修复|修复了|不再报错",
        [MAKI_KO] = "해결했|해결됐|고쳤" } },
    { MAKI_KEYWORD_NOT,
      { [MAKI_EN] = "not fixed|not resolved|not solved|isn't fixed|not done|still fail*|"
                    "still break*|still see*|should be fixed|until|unless|once |not yet|"
                    "must be|needs to be",
        [MAKI_JA] = "未解決|直っていない|直っていません|解決していません|完了していません|"
                    "終わっていません|まだ|したら",
        [MAKI_ZH] = "没有解决|未解决|没修好|还没|尚未|仍然",
        [MAKI_KO] = "아직" } },
    { MAKI_KEYWORD_ERROR_LINE | MAKI_KEYWORD_ERROR,
      { [MAKI_EN] = "*error:|error[|error ts*|*exception:|*panic:|panicked at|fatal:|"
                    "segmentation fault|undefined reference",
        [MAKI_JA] = "エラー:|エラー：",
        [MAKI_ZH] = "错误:|错误：",
        [MAKI_KO] = "오류:" } },
    { MAKI_KEYWORD_ERROR,
      { [MAKI_EN] = "*error|*exception|fail|failed|failure|cannot|not found|no such file|"
                    "permission denied|timed out|refused|deadlock|not ok",
        [MAKI_JA] = "エラー|失敗|例外|見つかりません",
        [MAKI_ZH] = "错误|失败|异常|找不到",
        [MAKI_KO] = "오류|실패" } },
    { MAKI_KEYWORD_NO_ERROR,
      { [MAKI_EN] = "0 errors|no errors|0 error(s)|0 failed|0 failures|errors: 0|failed: 0|"
                    "failures: 0|fail 0|# fail 0|without errors",
        [MAKI_JA] = "エラーなし|エラーはありません|失敗 0|失敗: 0|0 件失敗",
        [MAKI_ZH] = "没有错误|0 个错误|失败 0|0 个失败",
        [MAKI_KO] = "오류 없음" } },
    { MAKI_KEYWORD_COUNTS,
      { [MAKI_EN] = "passed|failed|failures|failing|passing|tests|errors",
        [MAKI_JA] = "成功|失敗",
        [MAKI_ZH] = "通过|失败",
        [MAKI_KO] = "통과|실패" } },
    { MAKI_KEYWORD_GENERIC | MAKI_KEYWORD_ERROR,
      { [MAKI_EN] = "npm err!|make: ***|elifecycle|error: process completed|command failed|"
                    "could not compile|error: aborting|build failed|test failed, to rerun" } },
    { MAKI_KEYWORD_EXIT,
      { [MAKI_EN] = "exit code|exit status|exited with|exit_code|exited with code",
        [MAKI_JA] = "終了コード",
        [MAKI_ZH] = "退出码",
        [MAKI_KO] = "종료 코드" } },
};

static uint32_t lower_byte(char c)
{
    return (unsigned char)maki_lower(c);
}

/* The slot of a phrase, by its first three bytes. */
static size_t slot_of(const char *at)
{
    uint32_t prefix = lower_byte(at[0]) << 16 | lower_byte(at[1]) << 8 | lower_byte(at[2]);
    return (size_t)(prefix * 2654435761u >> 20);
}

static void add_phrase(maki_keywords *keywords, unsigned bits, maki_str text)
{
    maki_keyword *keyword = &keywords->all[keywords->count++];
    assert(keywords->count <= MAKI_KEYWORD_PHRASES);
    keyword->bits = bits;
    keyword->partial_left = text.ptr[0] == '*';
    keyword->at_start = text.ptr[0] == '^';
    keyword->at_end = text.ptr[0] == '$';
    if (keyword->partial_left || keyword->at_start || keyword->at_end)
        text = maki_str_skip(text, 1);
    keyword->partial_right = text.ptr[text.len - 1] == '*';
    if (keyword->partial_right) text.len--;
    uint16_t *slot = &keywords->slots[slot_of(text.ptr)];
    keyword->text = text;
    keyword->next = *slot;
    *slot = (uint16_t)keywords->count;
}

void maki_keywords_init(maki_keywords *keywords)
{
    *keywords = (maki_keywords){ .count = 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
            const char *phrases = rows[i].phrases[lang];
            for (maki_str phrase; phrases && maki_words_next(&phrases, &phrase);)
                add_phrase(keywords, rows[i].bits, phrase);
        }
    }
}

static bool equals_nocase(const char *text, maki_str phrase)
{
    for (size_t i = 0; i < phrase.len; i++) {
        if (maki_lower(text[i]) != phrase.ptr[i]) return false;
    }
    return true;
}

static bool matches_at(maki_str text, size_t at, const maki_keyword *keyword)
{
    maki_str body = keyword->text;
    if (keyword->at_start && at) return false;
    if (text.len - at < body.len || !equals_nocase(text.ptr + at, body)) return false;
    size_t end = at + body.len;
    if (keyword->at_end && text.len - end > 3) return false; /* a full stop may follow */
    bool inside_left =
        at > 0 && maki_is_word_char(text.ptr[at - 1]) && maki_is_word_char(body.ptr[0]);
    bool inside_right = end < text.len && maki_is_word_char(text.ptr[end]) &&
                        maki_is_word_char(body.ptr[body.len - 1]);
    return !(inside_left && !keyword->partial_left) && !(inside_right && !keyword->partial_right);
}

unsigned maki_keywords_each(const maki_keywords *keywords, maki_str text, maki_keyword_fn fn,
                            void *ctx)
{
    unsigned bits = 0;
    for (size_t at = 0; at + 3 <= text.len; at++) {
        const maki_keyword *keyword;
        if ((text.ptr[at] & 0xC0) == 0x80) continue; /* inside a character */
        for (uint16_t n = keywords->slots[slot_of(text.ptr + at)]; n; n = keyword->next) {
            keyword = &keywords->all[n - 1];
            if (!matches_at(text, at, keyword)) continue;
            bits |= keyword->bits;
            if (fn)
                fn(ctx, keyword->bits, maki_str_prefix(text, at),
                   maki_str_skip(text, at + keyword->text.len));
        }
    }
    return bits;
}

bool maki_keywords_demand(unsigned bits)
{
    const unsigned polite = MAKI_KEYWORD_POLITE | MAKI_KEYWORD_DENY;
    bool asks = (bits & polite) == polite && !(bits & (MAKI_KEYWORD_INQUIRE | MAKI_KEYWORD_OPEN));
    return (bits & MAKI_KEYWORD_RULE) || asks;
}

unsigned maki_keywords_in(const maki_keywords *keywords, maki_str text)
{
    return maki_keywords_each(keywords, text, NULL, NULL);
}
