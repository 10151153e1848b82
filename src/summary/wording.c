/* wording.c -- see wording.h. */
#include "summary/wording.h"

#include "base/str.h"
#include "base/text.h"

static const char *const headings[MAKI_LANGS][MAKI_SECTIONS] = {
    { "Previous Conversation", "Current Work", "Key Technical Concepts", "Relevant Files and Code",
      "Problem Solving", "Pending Tasks" },
    { "これまでの会話", "現在の作業", "重要な技術概念", "関連ファイルとコード", "問題解決",
      "未完了のタスク" },
    { "之前的对话", "当前工作", "关键技术概念", "相关文件和代码", "问题解决", "待办任务" },
    { "이전 대화", "현재 작업", "핵심 기술 개념", "관련 파일과 코드", "문제 해결", "남은 작업" },
};

static const char *const labels[MAKI_LANGS][MAKI_LABELS] = {
    { "Messages and tool calls",
      "First request",
      "Newest request",
      "Newest answer",
      "Decisions",
      "Names",
      "Key points",
      "read",
      "edited",
      "written",
      "last change failed",
      "deleted",
      "Mentioned",
      "Code blocks",
      "lines",
      "Unresolved",
      "Solved",
      "Commands",
      "runs",
      "ok",
      "failed",
      "Unanswered" },
    { "メッセージ数とツール呼び出し数",
      "最初の依頼",
      "最新の依頼",
      "最新の回答",
      "決定事項",
      "名前",
      "要点",
      "読取",
      "編集",
      "書込",
      "最後の変更は失敗",
      "削除",
      "言及",
      "コードブロック",
      "行",
      "未解決",
      "解決済み",
      "コマンド",
      "回実行",
      "成功",
      "失敗",
      "未回答" },
    { "消息数和工具调用数",
      "最初的请求",
      "最新的请求",
      "最新的回答",
      "决定",
      "名称",
      "要点",
      "读取",
      "编辑",
      "写入",
      "最后的修改失败",
      "删除",
      "提到",
      "代码块",
      "行",
      "未解决",
      "已解决",
      "命令",
      "次运行",
      "成功",
      "失败",
      "未回答" },
    { "메시지 수와 도구 호출 수",
      "첫 요청",
      "최근 요청",
      "최근 답변",
      "결정 사항",
      "이름",
      "요점",
      "읽기",
      "편집",
      "쓰기",
      "마지막 변경 실패",
      "삭제",
      "언급",
      "코드 블록",
      "줄",
      "미해결",
      "해결됨",
      "명령",
      "회 실행",
      "성공",
      "실패",
      "미답변" },
};

const char *maki_heading(maki_lang lang, maki_section section)
{
    return headings[lang][section];
}

const char *maki_label_text(maki_lang lang, maki_label label)
{
    return labels[lang][label];
}

const char *maki_quote_open(maki_lang lang)
{
    return lang == MAKI_JA ? "「" : "“";
}

const char *maki_quote_close(maki_lang lang)
{
    return lang == MAKI_JA ? "」" : "”";
}

/* ---- reading back --------------------------------------------------------------------------------- */

static maki_str without(maki_str line, const char *set)
{
    while (line.len && line.ptr[0] && strchr(set, line.ptr[0]))
        line = maki_str_from(line, 1);
    return line;
}

/* "：" and ":" alike, with white space after. */
static bool after_colon(maki_str *line)
{
    maki_str rest = without(*line, " *");
    if (maki_str_starts(rest, MAKI_LIT("："))) {
        rest = maki_str_from(rest, 3);
    } else if (maki_str_starts(rest, MAKI_LIT(":"))) {
        rest = maki_str_from(rest, 1);
    } else {
        return false;
    }
    *line = without(rest, " *");
    return true;
}

maki_section maki_heading_of(maki_str line, maki_str *rest)
{
    maki_str bare = without(line, "#*0123456789. ");
    if (bare.len == line.len && line.len > 120) return MAKI_SECTIONS;
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        for (size_t s = 0; s < MAKI_SECTIONS; s++) {
            maki_str name = maki_str_of(headings[lang][s]);
            if (!maki_str_starts(bare, name)) continue;
            *rest = maki_str_from(bare, name.len);
            if (after_colon(rest)) return (maki_section)s;
            *rest = without(*rest, " *");
            if (rest->len == 0) return (maki_section)s;
        }
    }
    return MAKI_SECTIONS;
}

maki_label maki_label_of(maki_str line, maki_str *rest)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        for (size_t l = 0; l < MAKI_LABELS; l++) {
            maki_str name = maki_str_of(labels[lang][l]);
            if (!maki_str_starts(line, name)) continue;
            *rest = maki_str_from(line, name.len);
            if (after_colon(rest)) return (maki_label)l;
        }
    }
    return MAKI_LABELS;
}

static uint32_t number_at(maki_str text)
{
    uint32_t n = 0;
    text = without(text, " ");
    for (size_t i = 0; i < text.len && i < 6 && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(text.ptr[i] - '0');
    return n;
}

uint32_t maki_label_number(maki_str line, maki_label label)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        maki_str name = maki_str_of(labels[lang][label]);
        for (size_t i = 0; i + name.len < line.len; i++) {
            maki_str here = maki_str_from(line, i);
            uint32_t n = maki_str_starts(here, name) ? number_at(maki_str_from(here, name.len)) : 0;
            if (n) return n;
        }
    }
    return 0;
}

/* ---- languages -------------------------------------------------------------------------------------- */

void maki_letters_add(maki_letters *letters, maki_str text)
{
    bool inside = false;
    size_t len = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_char(text, at, &len);
        bool latin = (code | 32) >= 'a' && (code | 32) <= 'z';
        letters->words += latin && !inside;
        inside = latin;
        letters->kana += code >= 0x3041 && code <= 0x30FF;
        letters->han += code >= 0x4E00 && code <= 0x9FFF;
        letters->hangul += code >= 0xAC00 && code <= 0xD7A3;
    }
}

/* A word of Latin letters weighs two characters: code and names stand in every language. */
maki_lang maki_letters_lang(const maki_letters *l)
{
    uint64_t cjk = l->kana + l->han + l->hangul;
    if (cjk < l->words * 2 || cjk == 0) return MAKI_EN;
    if (l->hangul > l->kana + l->han) return MAKI_KO;
    return l->kana * 8 > l->kana + l->han ? MAKI_JA : MAKI_ZH;
}
