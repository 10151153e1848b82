/* summary_prompt.c -- the built-in prompts as a table by language; a configured one is split at {messages}. */
#include "summary/summary_prompt.h"

#include "base/str_util.h"

enum { STANDARD, BRIEF, TASK, BUILT_IN };

/* The headings of the standard one are those of summary_words.c, so that the next summary can read this one. */
static const char *const systems[MAKI_LANGS][BUILT_IN] = {
    [MAKI_EN] = {
        [STANDARD] =
            "You condense conversations between a person and an assistant that works with tools. Write a "
            "summary from which the assistant can go on without the conversation. Use these headings:\n"
            "1. Previous Conversation: what was asked and what happened, in order.\n"
            "2. Current Work: what was being done last.\n"
            "3. Key Technical Concepts: technologies, conventions and decisions, decisions word for word.\n"
            "4. Relevant Files and Code: every path that matters and why, with the code that is needed.\n"
            "5. Problem Solving: errors met, how each was solved, and what is still broken.\n"
            "6. Pending Tasks: what remains, with the next step in the words of the newest request.\n"
            "Keep names, paths, numbers and identifiers exactly. Write in the language of the conversation, "
            "in at most 500 words, and nothing but the summary.",
        [BRIEF] =
            "You summarise conversations between a person and an assistant that works with tools. "
            "Write a short summary from which the work can go on:\n"
            "- the main task or goal\n"
            "- the decisions that were made, word for word\n"
            "- what else must be remembered: paths, names and numbers exactly as they are\n"
            "- where things stand now, and the next steps\n"
            "Be brief and leave out nothing that is needed. Write nothing but the summary.",
        [TASK] =
            "You summarise the history of a task that an assistant works on with tools. Be concise and "
            "complete, and report:\n"
            "1. what was decided\n"
            "2. which code was changed, with its paths\n"
            "3. which problems came up and how each was solved\n"
            "4. what remains to be done\n"
            "Keep names, paths and numbers exactly. Aim at 30 to 40 % of the length of the original. "
            "Write nothing but the summary.",
    },
    [MAKI_JA] = {
        [STANDARD] =
            "あなたは、人とツールを使うアシスタントとの会話を要約します。会話そのものがなくても作業を続けられる"
            "要約を、次の見出しで日本語で書いてください。\n"
            "1. これまでの会話：依頼された内容と起きたことを順に。\n"
            "2. 現在の作業：最後に行っていたこと。\n"
            "3. 重要な技術概念：使用技術、規約、決定事項。決定は原文のまま引用する。\n"
            "4. 関連ファイルとコード：重要なパスすべてとその理由、必要なコード。\n"
            "5. 問題解決：発生したエラー、それぞれの解決方法、未解決のもの。\n"
            "6. 未完了のタスク：残っていること。次の一歩は最新の依頼の言葉で。\n"
            "名前、パス、数値、識別子は一字一句そのまま残すこと。1000文字程度以内で、要約だけを書いてください。",
        [BRIEF] =
            "あなたは、人とツールを使うアシスタントとの会話を要約します。作業を続けられる短い要約を日本語で書いてください。\n"
            "- 主な課題または目標\n"
            "- 決定事項（原文のまま）\n"
            "- 覚えておくべきこと（パス、名前、数値は正確に）\n"
            "- 現在の状態と次の手順\n"
            "簡潔に、しかし必要なことは落とさずに。要約だけを書いてください。",
        [TASK] =
            "あなたは、アシスタントがツールを使って進めている作業の履歴を要約します。簡潔かつ漏れなく、次を日本語で書いて"
            "ください。\n"
            "1. 決まったこと\n"
            "2. 行ったコードの変更とそのパス\n"
            "3. 起きた問題とそれぞれの解決\n"
            "4. 残っている作業\n"
            "名前、パス、数値は正確に残すこと。元の30〜40%の長さを目安に、要約だけを書いてください。",
    },
    [MAKI_ZH] = {
        [STANDARD] =
            "你的工作是压缩用户与使用工具的助手之间的对话。请用中文写一份摘要，使助手无需原对话也能继续工作，"
            "并使用以下标题：\n"
            "1. 之前的对话：用户的要求和发生的事情，按顺序。\n"
            "2. 当前工作：最后正在做的事。\n"
            "3. 关键技术概念：技术、约定和决定，决定须逐字引用。\n"
            "4. 相关文件和代码：每个重要的路径及原因，以及需要的代码。\n"
            "5. 问题解决：遇到的错误、各自的解决办法，以及仍未解决的。\n"
            "6. 待办任务：尚未完成的事，下一步用最新要求的原话。\n"
            "名称、路径、数字和标识符必须原样保留。不超过800字，只写摘要本身。",
        [BRIEF] =
            "你的工作是总结用户与使用工具的助手之间的对话。请用中文写一份简短的摘要，使工作可以继续：\n"
            "- 主要任务或目标\n"
            "- 已做出的决定（逐字引用）\n"
            "- 需要保留的重要信息（路径、名称、数字保持准确）\n"
            "- 当前状态和下一步\n"
            "简短但不遗漏必要内容。只写摘要本身。",
        [TASK] =
            "你的工作是总结助手使用工具处理一项任务的历史。请用中文简洁而完整地写出：\n"
            "1. 重要的决定\n"
            "2. 做过的代码修改及其路径\n"
            "3. 出现的问题及其解决办法\n"
            "4. 剩余的任务\n"
            "名称、路径和数字必须原样保留。长度以原文的30%至40%为目标，只写摘要本身。",
    },
    [MAKI_KO] = {
        [STANDARD] =
            "당신은 사람과 도구를 쓰는 어시스턴트의 대화를 압축합니다. 대화 없이도 작업을 이어 갈 수 있는 요약을 "
            "다음 제목으로 한국어로 쓰십시오.\n"
            "1. 이전 대화: 요청받은 것과 일어난 일을 순서대로.\n"
            "2. 현재 작업: 마지막으로 하고 있던 일.\n"
            "3. 핵심 기술 개념: 기술, 규칙, 결정. 결정은 원문 그대로 인용.\n"
            "4. 관련 파일과 코드: 중요한 경로 모두와 그 이유, 필요한 코드.\n"
            "5. 문제 해결: 발생한 오류, 각각의 해결 방법, 아직 해결되지 않은 것.\n"
            "6. 남은 작업: 남아 있는 일. 다음 단계는 가장 최근 요청의 말로.\n"
            "이름, 경로, 숫자, 식별자는 그대로 남기십시오. 500단어 이내로 요약만 쓰십시오.",
        [BRIEF] =
            "당신은 사람과 도구를 쓰는 어시스턴트의 대화를 요약합니다. 작업을 이어 갈 수 있는 짧은 요약을 한국어로 쓰십시오.\n"
            "- 주요 과제 또는 목표\n"
            "- 내려진 결정(원문 그대로)\n"
            "- 기억해야 할 것(경로, 이름, 숫자는 정확하게)\n"
            "- 현재 상태와 다음 단계\n"
            "간결하되 필요한 것은 빠뜨리지 마십시오. 요약만 쓰십시오.",
        [TASK] =
            "당신은 어시스턴트가 도구로 진행 중인 작업의 이력을 요약합니다. 간결하고 빠짐없이 다음을 한국어로 쓰십시오.\n"
            "1. 결정된 것\n"
            "2. 변경한 코드와 그 경로\n"
            "3. 발생한 문제와 각각의 해결\n"
            "4. 남은 작업\n"
            "이름, 경로, 숫자는 그대로 남기십시오. 원문의 30~40% 길이를 목표로, 요약만 쓰십시오.",
    },
};

static const char *const before[MAKI_LANGS] = {
    [MAKI_EN] = "=== The conversation ===\n\n",
    [MAKI_JA] = "=== 要約する会話 ===\n\n",
    [MAKI_ZH] = "=== 要总结的对话 ===\n\n",
    [MAKI_KO] = "=== 요약할 대화 ===\n\n",
};

/* Without it models answer the conversation's last question. */
#define END        "=== End of the conversation ===\n\nSummarise it as your instructions say"
#define ANSWER_NOT ". Do not answer it and call no tools."
static const char *const after[MAKI_LANGS] = {
    [MAKI_EN] = (END ANSWER_NOT),
    [MAKI_JA] =
        "=== 会話の終わり ===\n\n指示に従って上の会話を要約してください。会話に返答したり、ツールを呼び出したりしないでください。",
    [MAKI_ZH] =
        "=== 对话结束 ===\n\n请按照指示总结以上对话。不要回答对话中的问题，也不要调用工具。",
    [MAKI_KO] =
        "=== 대화 끝 ===\n\n지시에 따라 위 대화를 요약하십시오. 대화에 답하거나 도구를 호출하지 마십시오.",
};
static const char in_english[] = END ", in English" ANSWER_NOT;

static const char *const merge[MAKI_LANGS] = {
    [MAKI_EN] =
        "What follows are summaries of the parts of one long conversation, oldest first. Make one "
        "summary of them; what a later one says about the same thing holds.\n\n",
    [MAKI_JA] =
        "以下は一つの長い会話を分けて要約したもので、古い順に並んでいます。これらを一つの要約にまとめてください。"
        "同じことについては後のものが正しいとします。\n\n",
    [MAKI_ZH] =
        "以下是一段长对话各部分的摘要，按时间先后排列。请把它们合并成一份摘要；关于同一件事，以后面的为准。\n\n",
    [MAKI_KO] =
        "다음은 하나의 긴 대화를 나누어 요약한 것으로, 오래된 순서입니다. 이것들을 하나의 요약으로 합치십시오. "
        "같은 일에 대해서는 나중 것이 맞습니다.\n\n",
};

static maki_prompt built_in(size_t n, maki_lang lang, bool configured)
{
    bool english = configured && lang == MAKI_EN;
    return (maki_prompt){ .system = maki_str_of(systems[lang][n]),
                          .before = maki_str_of(before[lang]),
                          .after = maki_str_of(english ? in_english : after[lang]) };
}

maki_prompt maki_prompt_of(maki_str prompt, maki_lang lang, bool configured)
{
    const maki_str mark = MAKI_LIT("{messages}");
    size_t n = maki_str_index(prompt, "standard|brief|task");
    if (n < BUILT_IN) return built_in(n, lang, configured);
    size_t at = maki_str_find_nocase(prompt, mark);
    maki_prompt own = { .system = { "", 0 },
                        .before = maki_str_prefix(prompt, at),
                        .after = { "", 0 } };
    if (at < prompt.len) own.after = maki_str_skip(prompt, at + mark.len);
    return own;
}

maki_str maki_prompt_focus(maki_lang lang)
{
    static const char *const texts[MAKI_LANGS] = {
        [MAKI_EN] = "Above all, keep everything about the following in full detail: ",
        [MAKI_JA] = "特に、次のことに関する内容はすべて詳しく残してください: ",
        [MAKI_ZH] = "最重要的是，请完整保留与以下内容有关的一切: ",
        [MAKI_KO] = "무엇보다도 다음에 관한 내용은 모두 자세히 남겨 주세요: ",
    };
    return maki_str_of(texts[lang]);
}

maki_str maki_prompt_merge(maki_lang lang)
{
    return maki_str_of(merge[lang]);
}
