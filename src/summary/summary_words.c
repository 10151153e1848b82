/* summary_words.c -- headings, labels and quotation marks as tables by language, and reading them back. */
#include "summary/summary_words.h"

#include "base/str_util.h"
#include "base/text.h"

/* Each in English, Japanese, Chinese and Korean. */
static const char *const headings[MAKI_SECTIONS][MAKI_LANGS] = {
    [MAKI_SEC_PREVIOUS] = { "Previous Conversation", "これまでの会話", "之前的对话", "이전 대화" },
    [MAKI_SEC_CURRENT] = { "Current Work", "現在の作業", "当前工作", "현재 작업" },
    [MAKI_SEC_CONCEPTS] = { "Key Technical Concepts", "重要な技術概念", "关键技术概念",
                            "핵심 기술 개념" },
    [MAKI_SEC_FILES] = { "Relevant Files and Code", "関連ファイルとコード", "相关文件和代码",
                         "관련 파일과 코드" },
    [MAKI_SEC_PROBLEMS] = { "Problem Solving", "問題解決", "问题解决", "문제 해결" },
    [MAKI_SEC_PENDING] = { "Pending Tasks", "未完了のタスク", "待办任务", "남은 작업" },
};

static const char *const labels[MAKI_LABELS][MAKI_LANGS] = {
    [MAKI_LABEL_MESSAGES] = { "Messages and tool calls", "メッセージ数とツール呼び出し数",
                              "消息数和工具调用数", "메시지 수와 도구 호출 수" },
    [MAKI_LABEL_FIRST] = { "First request", "最初の依頼", "最初的请求", "첫 요청" },
    [MAKI_LABEL_LAST] = { "Newest request", "最新の依頼", "最新的请求", "최근 요청" },
    [MAKI_LABEL_ANSWER] = { "Newest answer", "最新の回答", "最新的回答", "최근 답변" },
    [MAKI_LABEL_RULES] = { "Rules", "ルール", "规则", "규칙" },
    [MAKI_LABEL_OVERRIDDEN] = { "overridden", "後の決定で取り消し", "已被取代",
                                "이후 결정으로 번복됨" },
    [MAKI_LABEL_ABOUT] = { "Goals and people", "目的と関係者", "目标和人员", "목표와 사람" },
    [MAKI_LABEL_REPLIES] = { "Replies", "返答", "答复", "응답" },
    [MAKI_LABEL_DECISIONS] = { "Decisions", "決定事項", "决定", "결정 사항" },
    [MAKI_LABEL_NAMES] = { "Names", "名前", "名称", "이름" },
    [MAKI_LABEL_POINTS] = { "Key points", "要点", "要点", "요점" },
    [MAKI_LABEL_SAID] = { "Decisions and key points", "決定と要点", "决定与要点", "결정과 요점" },
    [MAKI_LABEL_READ] = { "read", "読取", "读取", "읽기" },
    [MAKI_LABEL_EDITED] = { "edited", "編集", "编辑", "편집" },
    [MAKI_LABEL_WRITTEN] = { "written", "書込", "写入", "쓰기" },
    [MAKI_LABEL_FAILED] = { "last change failed", "最後の変更は失敗", "最后的修改失败",
                            "마지막 변경 실패" },
    [MAKI_LABEL_DELETED] = { "deleted", "削除", "删除", "삭제" },
    [MAKI_LABEL_MENTIONED] = { "Mentioned", "言及", "提到", "언급" },
    [MAKI_LABEL_CODE] = { "Code blocks", "コードブロック", "代码块", "코드 블록" },
    [MAKI_LABEL_LINES] = { "lines", "行", "行", "줄" },
    [MAKI_LABEL_OPEN_ERRORS] = { "Unresolved", "未解決", "未解决", "미해결" },
    [MAKI_LABEL_SOLVED] = { "Solved", "解決済み", "已解决", "해결됨" },
    [MAKI_LABEL_COMMANDS] = { "Commands", "コマンド", "命令", "명령" },
    [MAKI_LABEL_RUNS] = { "runs", "回実行", "次运行", "회 실행" },
    [MAKI_LABEL_OK] = { "ok", "成功", "成功", "성공" },
    [MAKI_LABEL_NOT_OK] = { "failed", "失敗", "失败", "실패" },
    [MAKI_LABEL_QUESTION] = { "Unanswered", "未回答", "未回答", "미답변" },
};

const char *maki_heading(maki_lang lang, maki_section section)
{
    return headings[section][lang];
}

const char *maki_label_text(maki_lang lang, maki_label label)
{
    return labels[label][lang];
}

const char *maki_quote(maki_lang lang, bool closing)
{
    static const char *const marks[2][2] = { { "“", "”" }, { "「", "」" } };
    return marks[lang == MAKI_JA][closing];
}

/* ---- reading back --------------------------------------------------------------------------------- */

static maki_str skip_chars(maki_str line, const char *set)
{
    while (line.len && line.ptr[0] && strchr(set, line.ptr[0]))
        line = maki_str_skip(line, 1);
    return line;
}

/* Skip "：" or ":" and the white space around it; false: there is none. */
static bool skip_colon(maki_str *line)
{
    maki_str rest = skip_chars(*line, " *");
    if (maki_str_starts(rest, MAKI_LIT("："))) {
        rest = maki_str_skip(rest, 3);
    } else if (maki_str_starts(rest, MAKI_LIT(":"))) {
        rest = maki_str_skip(rest, 1);
    } else {
        return false;
    }
    *line = skip_chars(rest, " *");
    return true;
}

maki_section maki_heading_of(maki_str line, maki_str *rest)
{
    maki_str bare = skip_chars(line, "#*0123456789. ");
    if (bare.len == line.len && line.len > 120) return MAKI_SECTIONS;
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        for (size_t s = 0; s < MAKI_SECTIONS; s++) {
            maki_str name = maki_str_of(headings[s][lang]);
            if (!maki_str_starts(bare, name)) continue;
            *rest = maki_str_skip(bare, name.len);
            if (skip_colon(rest)) return (maki_section)s;
            *rest = skip_chars(*rest, " *");
            if (rest->len == 0) return (maki_section)s;
        }
    }
    return MAKI_SECTIONS;
}

maki_label maki_label_of(maki_str line, maki_str *rest)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        for (size_t l = 0; l < MAKI_LABELS; l++) {
            maki_str name = maki_str_of(labels[l][lang]);
            if (!maki_str_starts(line, name)) continue;
            *rest = maki_str_skip(line, name.len);
            if (skip_colon(rest)) return (maki_label)l;
        }
    }
    return MAKI_LABELS;
}

static uint32_t number_at(maki_str text)
{
    uint32_t n = 0;
    text = skip_chars(text, " ");
    for (size_t i = 0; i < text.len && i < 6 && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(text.ptr[i] - '0');
    return n;
}

uint32_t maki_label_number(maki_str line, maki_label label)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        maki_str name = maki_str_of(labels[label][lang]);
        for (size_t i = 0; i + name.len < line.len; i++) {
            maki_str here = maki_str_skip(line, i);
            uint32_t n = maki_str_starts(here, name) ? number_at(maki_str_skip(here, name.len)) : 0;
            if (n) return n;
        }
    }
    return 0;
}

/* ---- languages -------------------------------------------------------------------------------------- */

void maki_script_counts_add(maki_script_counts *letters, maki_str text)
{
    bool inside = false;
    size_t len = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_decode(text, at, &len);
        bool latin = (code | 32) >= 'a' && (code | 32) <= 'z';
        letters->words += latin && !inside;
        inside = latin;
        letters->kana += code >= 0x3041 && code <= 0x30FF;
        letters->han += code >= 0x4E00 && code <= 0x9FFF;
        letters->hangul += code >= 0xAC00 && code <= 0xD7A3;
    }
}

/* A word of Latin letters counts as two characters: code and names are in texts of every language. */
maki_lang maki_script_counts_lang(const maki_script_counts *l)
{
    uint64_t cjk = l->kana + l->han + l->hangul;
    if (cjk < l->words * 2 || cjk == 0) return MAKI_EN;
    if (l->hangul > l->kana + l->han) return MAKI_KO;
    return l->kana * 8 > l->kana + l->han ? MAKI_JA : MAKI_ZH;
}
