/* cue.c -- see cue.h.
 *
 * A phrase has at least three bytes: a letter or two of English more, or one character of Japanese,
 * Chinese or Korean.  The first three choose the phrases to compare with; most places of a text choose
 * none. */
#include "summary/cue.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

enum {
    DECISION = MAKI_CUE_DECISION,
    OPEN = MAKI_CUE_OPEN,
    NEXT = MAKI_CUE_NEXT,
    DONE = MAKI_CUE_DONE,
    FIXED = MAKI_CUE_FIXED | MAKI_CUE_DONE,
    NOT = MAKI_CUE_NOT,
    ERROR = MAKI_CUE_ERROR,
    SHOUT = MAKI_CUE_ERROR | MAKI_CUE_SHOUT,
    NO_ERROR = MAKI_CUE_NO_ERROR,
    COUNTS = MAKI_CUE_COUNTS,
    GENERIC = MAKI_CUE_ERROR | MAKI_CUE_GENERIC,
    EXIT = MAKI_CUE_EXIT
};

/* In lower case.  A star at an end: the phrase may go on there, as "error" does in "TypeError". */
static const struct {
    const char *text;
    unsigned bits;
} phrases[] = {
    /* English */
    { "decided", DECISION },
    { "decision:", DECISION },
    { "we will use", DECISION },
    { "we'll use", DECISION },
    { "let's use", DECISION },
    { "let's go with", DECISION },
    { "we go with", DECISION },
    { "going with", DECISION },
    { "agreed:", DECISION },
    { "agreed to", DECISION },
    { "we agree*", DECISION },
    { "rule:", DECISION },
    { "convention:", DECISION },
    { "settled on", DECISION },
    { "we keep", DECISION },
    { "must never", DECISION },
    { "todo", OPEN },
    { "todo:", OPEN },
    { "fixme", OPEN },
    { "still need*", OPEN },
    { "still has to", OPEN },
    { "still have to", OPEN },
    { "still missing", OPEN },
    { "still open", OPEN },
    { "still to do", OPEN },
    { "remains to", OPEN },
    { "remaining:", OPEN },
    { "left to do", OPEN },
    { "not done yet", OPEN },
    { "not yet", OPEN },
    { "follow-up", OPEN },
    { "follow up", OPEN },
    { "open question", OPEN },
    { "pending:", OPEN },
    { "later we", OPEN },
    { "we also need", OPEN },
    { "don't forget", OPEN },
    { "do not forget", OPEN },
    { "before the release", OPEN },
    { "next step", NEXT },
    { "next:", NEXT },
    { "next, ", NEXT },
    { "next i", NEXT },
    { "next we", NEXT },
    { "after that", NEXT },
    { "i'll now", NEXT },
    { "i will now", NEXT },
    { "done", DONE },
    { "finished", DONE },
    { "completed", DONE },
    { "is in place", DONE },
    { "fixed", FIXED },
    { "resolved", FIXED },
    { "solved", FIXED },
    { "works now", FIXED },
    { "work now", FIXED },
    { "passes now", FIXED },
    { "pass now", FIXED },
    { "no longer", FIXED },
    { "gone now", FIXED },
    { "is gone", FIXED },
    { "not fixed", NOT },
    { "not resolved", NOT },
    { "not solved", NOT },
    { "isn't fixed", NOT },
    { "not done", NOT },
    { "still fail*", NOT },
    { "still break*", NOT },
    { "still see*", NOT },
    { "should be fixed", NOT },
    { "until", NOT },
    { "unless", NOT },
    { "once ", NOT },
    { "not yet", NOT },
    { "must be", NOT },
    { "needs to be", NOT },
    { "*error:", SHOUT },
    { "error[", SHOUT },
    { "error ts*", SHOUT },
    { "*exception:", SHOUT },
    { "*panic:", SHOUT },
    { "panicked at", SHOUT },
    { "fatal:", SHOUT },
    { "segmentation fault", SHOUT },
    { "undefined reference", SHOUT },
    { "*error", ERROR },
    { "*exception", ERROR },
    { "fail", ERROR },
    { "failed", ERROR },
    { "failure", ERROR },
    { "cannot", ERROR },
    { "not found", ERROR },
    { "no such file", ERROR },
    { "permission denied", ERROR },
    { "timed out", ERROR },
    { "refused", ERROR },
    { "deadlock", ERROR },
    { "not ok", ERROR },
    { "0 errors", NO_ERROR },
    { "no errors", NO_ERROR },
    { "0 error(s)", NO_ERROR },
    { "0 failed", NO_ERROR },
    { "0 failures", NO_ERROR },
    { "errors: 0", NO_ERROR },
    { "failed: 0", NO_ERROR },
    { "failures: 0", NO_ERROR },
    { "fail 0", NO_ERROR },
    { "# fail 0", NO_ERROR },
    { "without errors", NO_ERROR },
    { "passed", COUNTS },
    { "failed", COUNTS },
    { "failures", COUNTS },
    { "failing", COUNTS },
    { "passing", COUNTS },
    { "tests", COUNTS },
    { "test result", COUNTS },
    { "errors", COUNTS },
    { "warnings", COUNTS },
    { "npm err!", GENERIC },
    { "make: ***", GENERIC },
    { "elifecycle", GENERIC },
    { "error: process completed", GENERIC },
    { "command failed", GENERIC },
    { "could not compile", GENERIC },
    { "error: aborting", GENERIC },
    { "build failed", GENERIC },
    { "test failed, to rerun", GENERIC },
    { "exit code", EXIT },
    { "exit status", EXIT },
    { "exited with", EXIT },
    { "exit_code", EXIT },
    { "終了コード", EXIT },
    { "退出码", EXIT },
    { "종료 코드", EXIT },
    /* Japanese */
    { "決定", DECISION },
    { "に決め", DECISION },
    { "と決め", DECISION },
    { "方針", DECISION },
    { "ことにし", DECISION },
    { "ことにする", DECISION },
    { "採用", DECISION },
    { "にしましょう", DECISION },
    { "でいきましょう", DECISION },
    { "で行きましょう", DECISION },
    { "で統一", DECISION },
    { "禁止", DECISION },
    { "まだ", OPEN },
    { "残り", OPEN },
    { "残って", OPEN },
    { "あとで", OPEN },
    { "後で", OPEN },
    { "未対応", OPEN },
    { "未実装", OPEN },
    { "未着手", OPEN },
    { "要対応", OPEN },
    { "要確認", OPEN },
    { "宿題", OPEN },
    { "忘れずに", OPEN },
    { "必要があります", OPEN },
    { "リリース前に", OPEN },
    { "次に", NEXT },
    { "次は", NEXT },
    { "続いて", NEXT },
    { "このあと", NEXT },
    { "完了", DONE },
    { "終わりました", DONE },
    { "済みです", DONE },
    { "できました", DONE },
    { "直りました", FIXED },
    { "直った", FIXED },
    { "解決しました", FIXED },
    { "解決済み", FIXED },
    { "修正済み", FIXED },
    { "解消", FIXED },
    { "通るようになりました", FIXED },
    { "未解決", NOT },
    { "直っていない", NOT },
    { "直っていません", NOT },
    { "解決していません", NOT },
    { "完了していません", NOT },
    { "終わっていません", NOT },
    { "まだ", NOT },
    { "したら", NOT },
    { "エラー", ERROR },
    { "失敗", ERROR },
    { "例外", ERROR },
    { "見つかりません", ERROR },
    { "エラー:", SHOUT },
    { "エラー：", SHOUT },
    { "エラーなし", NO_ERROR },
    { "エラーはありません", NO_ERROR },
    { "失敗 0", NO_ERROR },
    { "失敗: 0", NO_ERROR },
    { "0 件失敗", NO_ERROR },
    { "成功", COUNTS },
    { "失敗", COUNTS },
    /* Chinese */
    { "决定", DECISION },
    { "采用", DECISION },
    { "改用", DECISION },
    { "就用", DECISION },
    { "统一用", DECISION },
    { "统一使用", DECISION },
    { "约定", DECISION },
    { "方案定", DECISION },
    { "不允许", DECISION },
    { "待办", OPEN },
    { "还没", OPEN },
    { "还需要", OPEN },
    { "还要", OPEN },
    { "还剩", OPEN },
    { "剩下", OPEN },
    { "稍后", OPEN },
    { "以后再", OPEN },
    { "尚未", OPEN },
    { "未完成", OPEN },
    { "别忘了", OPEN },
    { "上线前", OPEN },
    { "发布前", OPEN },
    { "接下来", NEXT },
    { "下一步", NEXT },
    { "然后我", NEXT },
    { "完成了", DONE },
    { "已完成", DONE },
    { "做完了", DONE },
    { "搞定", DONE },
    { "已解决", FIXED },
    { "解决了", FIXED },
    { "修好了", FIXED },
    { "已修复", FIXED },
    { "修复了", FIXED },
    { "不再报错", FIXED },
    { "没有解决", NOT },
    { "未解决", NOT },
    { "没修好", NOT },
    { "还没", NOT },
    { "尚未", NOT },
    { "仍然", NOT },
    { "错误", ERROR },
    { "失败", ERROR },
    { "异常", ERROR },
    { "找不到", ERROR },
    { "错误:", SHOUT },
    { "错误：", SHOUT },
    { "没有错误", NO_ERROR },
    { "0 个错误", NO_ERROR },
    { "失败 0", NO_ERROR },
    { "0 个失败", NO_ERROR },
    { "通过", COUNTS },
    { "失败", COUNTS },
    /* Korean */
    { "결정", DECISION },
    { "하기로", DECISION },
    { "채택", DECISION },
    { "아직", OPEN },
    { "남은", OPEN },
    { "나중에", OPEN },
    { "할 일", OPEN },
    { "다음으로", NEXT },
    { "다음 단계", NEXT },
    { "완료", DONE },
    { "해결했", FIXED },
    { "해결됐", FIXED },
    { "고쳤", FIXED },
    { "아직", NOT },
    { "오류", ERROR },
    { "실패", ERROR },
    { "오류:", SHOUT },
    { "오류 없음", NO_ERROR },
    { "통과", COUNTS },
    { "실패", COUNTS },
};

enum { PHRASES = sizeof phrases / sizeof *phrases };
static_assert(PHRASES < 512, "maki_cues.next has room for fewer");

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

static bool is_word(char c)
{
    unsigned char l = lower(c);
    return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '_';
}

/* Of three bytes. */
static size_t slot_of(const char *at)
{
    uint32_t three = (uint32_t)lower(at[0]) << 16 | (uint32_t)lower(at[1]) << 8 | lower(at[2]);
    return (size_t)(three * 2654435761u >> 22);
}

static maki_str body_of(size_t phrase)
{
    maki_str text = maki_str_of(phrases[phrase].text);
    if (text.ptr[0] == '*') text = maki_str_from(text, 1);
    if (text.ptr[text.len - 1] == '*') text.len--;
    return text;
}

void maki_cues_init(maki_cues *cues)
{
    *cues = (maki_cues){ 0 };
    for (size_t i = 0; i < PHRASES; i++) {
        uint16_t *slot = &cues->first[slot_of(body_of(i).ptr)];
        cues->next[i] = *slot;
        *slot = (uint16_t)(i + 1);
    }
}

static bool same(const char *text, maki_str phrase)
{
    for (size_t i = 0; i < phrase.len; i++) {
        if (lower(text[i]) != (unsigned char)phrase.ptr[i]) return false;
    }
    return true;
}

static bool stands_at(maki_str text, size_t at, size_t phrase)
{
    const char *row = phrases[phrase].text;
    maki_str body = body_of(phrase);
    if (text.len - at < body.len || !same(text.ptr + at, body)) return false;
    size_t end = at + body.len;
    bool inside_left = at > 0 && is_word(text.ptr[at - 1]) && is_word(body.ptr[0]);
    bool inside_right = end < text.len && is_word(text.ptr[end]) && is_word(body.ptr[body.len - 1]);
    return !(inside_left && row[0] != '*') && !(inside_right && body.ptr[body.len] != '*');
}

unsigned maki_cues_in(const maki_cues *cues, maki_str text)
{
    unsigned bits = 0;
    for (size_t at = 0; at + 3 <= text.len; at++) {
        uint16_t phrase = cues->first[slot_of(text.ptr + at)];
        for (; phrase; phrase = cues->next[phrase - 1]) {
            if (stands_at(text, at, phrase - 1u)) bits |= phrases[phrase - 1].bits;
        }
    }
    return bits;
}
