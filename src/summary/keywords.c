/* keywords.c -- see keywords.h.
 *
 * A phrase has at least three bytes: a letter or two of English more, or one character of Japanese,
 * Chinese or Korean.  The first three choose the phrases to compare with; most places of a text choose
 * none. */
#include "summary/keywords.h"

#include <assert.h>
#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "summary/summary_words.h"

/* In lower case, with a bar between.  A star at an end: the phrase may go on there, as "error" does in
 * "TypeError". */
static const struct {
    unsigned bits;
    const char *phrases[MAKI_LANGS];
} rows[] = {
    { MAKI_KEYWORD_DECISION,
      { [MAKI_EN] = "decided|decision:|we will use|we'll use|let's use|let's go with|"
                    "we go with|going with|agreed:|agreed to|we agree*|rule:|convention:|"
                    "settled on|we keep|must never",
        [MAKI_JA] = "決定|に決め|と決め|方針|ことにし|ことにする|採用|にしましょう|"
                    "でいきましょう|で行きましょう|で統一|禁止",
        [MAKI_ZH] = "决定|采用|改用|就用|统一用|统一使用|约定|方案定|不允许",
        [MAKI_KO] = "결정|하기로|채택" } },
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
    { MAKI_KEYWORD_SHOUT | MAKI_KEYWORD_ERROR,
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

static uint32_t byte(char c)
{
    return (unsigned char)maki_lower(c);
}

/* Of three bytes. */
static size_t slot_of(const char *at)
{
    uint32_t three = byte(at[0]) << 16 | byte(at[1]) << 8 | byte(at[2]);
    return (size_t)(three * 2654435761u >> 22);
}

static void add_phrase(maki_keywords *cues, unsigned bits, maki_str text)
{
    maki_keyword *cue = &cues->all[cues->count++];
    assert(cues->count <= MAKI_KEYWORD_PHRASES);
    cue->bits = bits;
    cue->goes_on_left = text.ptr[0] == '*';
    if (cue->goes_on_left) text = maki_str_from(text, 1);
    cue->goes_on_right = text.ptr[text.len - 1] == '*';
    if (cue->goes_on_right) text.len--;
    uint16_t *slot = &cues->first[slot_of(text.ptr)];
    cue->text = text;
    cue->next = *slot;
    *slot = (uint16_t)cues->count;
}

void maki_keywords_init(maki_keywords *cues)
{
    *cues = (maki_keywords){ .count = 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
            const char *phrases = rows[i].phrases[lang];
            for (maki_str phrase; phrases && maki_words_next(&phrases, &phrase);)
                add_phrase(cues, rows[i].bits, phrase);
        }
    }
}

static bool same(const char *text, maki_str phrase)
{
    for (size_t i = 0; i < phrase.len; i++) {
        if (maki_lower(text[i]) != phrase.ptr[i]) return false;
    }
    return true;
}

static bool stands_at(maki_str text, size_t at, const maki_keyword *cue)
{
    maki_str body = cue->text;
    if (text.len - at < body.len || !same(text.ptr + at, body)) return false;
    size_t end = at + body.len;
    bool inside_left = at > 0 && maki_is_word(text.ptr[at - 1]) && maki_is_word(body.ptr[0]);
    bool inside_right =
        end < text.len && maki_is_word(text.ptr[end]) && maki_is_word(body.ptr[body.len - 1]);
    return !(inside_left && !cue->goes_on_left) && !(inside_right && !cue->goes_on_right);
}

unsigned maki_keywords_each(const maki_keywords *cues, maki_str text, maki_keyword_fn fn, void *ctx)
{
    unsigned bits = 0;
    for (size_t at = 0; at + 3 <= text.len; at++) {
        const maki_keyword *cue;
        for (uint16_t n = cues->first[slot_of(text.ptr + at)]; n; n = cue->next) {
            cue = &cues->all[n - 1];
            if (!stands_at(text, at, cue)) continue;
            bits |= cue->bits;
            if (fn)
                fn(ctx, cue->bits, maki_str_to(text, at), maki_str_from(text, at + cue->text.len));
        }
    }
    return bits;
}

unsigned maki_keywords_in(const maki_keywords *cues, maki_str text)
{
    return maki_keywords_each(cues, text, NULL, NULL);
}
