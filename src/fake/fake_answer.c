/* fake_answer.c -- select the text, the reasoning or the tool call of an answer.
 *
 * In:    the request and its scenario.
 * Out:   text, reasoning, tool call.
 * Never: random: the same request gives the same answer.
 *
 * A text answer repeats the user's message, in phrases of the user's language, so that a test can identify
 * the answer; after a tool call it repeats the result. */
#include "fake/fake_answer.h"

#include "base/str_util.h"
#include "base/text.h"
#include "fake/fake_write.h"

enum { ECHO_MAX = 200 }; /* bytes of the user's message that are repeated */

#define FILLER_64  "The fake provider goes on and on, as it was asked to do again. "
#define FILLER_512 FILLER_64 FILLER_64 FILLER_64 FILLER_64 FILLER_64 FILLER_64 FILLER_64 FILLER_64
const maki_str fake_filler = { FILLER_512 FILLER_512, 2 * (sizeof FILLER_512 - 1) };

bool fake_next_chunk(maki_str text, unsigned *nth, maki_str *chunk)
{
    unsigned count = text.ptr == fake_filler.ptr ? 1 : 3;
    if (text.len == 0 || *nth == count) return false;
    *chunk = fake_chunk(text, (*nth)++, count);
    return true;
}

typedef enum language { ENGLISH, JAPANESE, CHINESE, KOREAN } language;

static const struct phrases {
    const char *before, *after;           /* around the user's message */
    const char *tool_before, *tool_after; /* around the tool's result */
    const char *before_call;              /* before a call */
    const char *reasoning;
} phrases_of[] = {
    [ENGLISH] = { "You said: ", "", "The tool says: ", "", "Let me look.",
                  "The user wants an answer. I give one." },
    [JAPANESE] = { "「", "」ですね。わかりました。🍣", "ツールの答えは「", "」です。",
                   "確認します。", "ユーザーは答えを求めている。" },
    [CHINESE] = { "你说的是“", "”，明白了。", "工具的回答是“", "”。", "我看一下。",
                  "用户想要一个答案。" },
    [KOREAN] = { "“", "”라고 하셨네요. 알겠습니다.", "도구의 답은 “", "”입니다.",
                 "확인해 보겠습니다.", "사용자가 답을 원한다." },
};

/* Kana make a text Japanese, whatever else it contains; Han characters alone make it Chinese. */
static language detect_language(maki_str text)
{
    language found = ENGLISH;
    for (size_t i = 0; i + 2 < text.len; i++) {
        unsigned char a = (unsigned char)text.ptr[i], b = (unsigned char)text.ptr[i + 1];
        if (a == 0xE3 && b >= 0x81 && b <= 0x83) return JAPANESE;
        if (a >= 0xEA && a <= 0xED && (a > 0xEA || b >= 0xB0)) return KOREAN;
        if (a >= 0xE4 && a <= 0xE9) found = CHINESE;
    }
    return found;
}

static maki_str join(const char *before, maki_str middle, const char *after, maki_arena *arena)
{
    return maki_arena_print(arena, "%s%.*s%s", before, (int)middle.len, middle.ptr, after);
}

/* %E6%B5%B7 as 海; "?" if the result is not valid UTF-8, which JSON cannot contain. */
static maki_str decode_percent(maki_str text, maki_arena *arena)
{
    char *out = maki_arena_get(arena, text.len);
    maki_str decoded = { out, out ? fake_unescape(text, out, text.len) : 0 };
    return out && maki_utf8_valid(decoded, NULL) ? decoded : MAKI_LIT("?");
}

/* ---- the tool that reads files, by its name in each agent -------------------------------------- */

static const char *const reading_tools[] = { "Read", "read_file", "read" };
static const char *const path_parameters[] = { "file_path", "filePath", "absolute_path", "path" };

/* Codex has a tool that runs scripts, which call its other tools as functions. */
static bool call_script(const fake_request *request, maki_str path, maki_arena *arena,
                        fake_answer *out)
{
    maki_str definition;
    if (request->protocol != MAKI_WIRE_RESPONSES ||
        !fake_request_find_tool(request, MAKI_LIT("exec"), &definition))
        return false;
    out->tool = MAKI_LIT("exec");
    out->custom = true;
    out->arguments = join("const r = await tools.exec_command({cmd: \"cat '", path,
                          "'\"}); text(r.output);", arena);
    return true;
}

static void call_reader(const fake_request *request, maki_str path, maki_arena *arena,
                        fake_answer *out)
{
    maki_str definition;
    if (call_script(request, path, arena, out)) return;
    for (size_t i = 0; i < sizeof reading_tools / sizeof reading_tools[0]; i++) {
        if (!fake_request_find_tool(request, maki_str_of(reading_tools[i]), &definition)) continue;
        for (size_t k = 0; k < sizeof path_parameters / sizeof path_parameters[0]; k++) {
            if (!fake_tool_has_parameter(definition, maki_str_of(path_parameters[k]))) continue;
            out->tool = maki_str_of(reading_tools[i]);
            out->arguments = maki_arena_print(arena, "{\"%s\":\"%.*s\"}", path_parameters[k],
                                              (int)path.len, path.ptr);
            return;
        }
    }
}

/* ---- the answer ---------------------------------------------------------------------------------- */

maki_status fake_answer_make(const fake_request *request, const fake_scenario *scenario,
                             maki_arena *arena, fake_answer *out, maki_err *err)
{
    const struct phrases *phrases = &phrases_of[detect_language(request->user_text)];
    fake_answer answer = { 0 };
    if (scenario->think || request->thinks) answer.reasoning = maki_str_of(phrases->reasoning);
    if (!request->has_result && scenario->action == FAKE_TOOL) {
        answer.tool = scenario->tool;
        answer.arguments = scenario->arguments;
    }
    if (!request->has_result && scenario->action == FAKE_AGENT)
        call_reader(request, scenario->arguments, arena, &answer);
    if (answer.tool.len) {
        answer.text = maki_str_of(phrases->before_call);
    } else if (request->wants_json) {
        answer.text = MAKI_LIT("{\"title\":\"A fake title\",\"complexity_reasoning\":\"simple\","
                               "\"complexity_score\":10}");
    } else if (scenario->huge) {
        answer.text = fake_filler;
    } else if (request->has_result) {
        answer.text =
            join(phrases->tool_before, maki_utf8_truncate(maki_str_trim(request->result), ECHO_MAX),
                 phrases->tool_after, arena);
    } else {
        answer.text = join(phrases->before, maki_utf8_truncate(request->user_text, ECHO_MAX),
                           phrases->after, arena);
    }
    answer.stop = scenario->stop;
    answer.cached = fake_input_tokens(request) * (int64_t)scenario->cached / 100;
    if (scenario->say.len) answer.text = decode_percent(scenario->say, arena);
    *out = answer;
    return maki_arena_status(arena, err);
}

int64_t fake_input_tokens(const fake_request *request)
{
    return (int64_t)(request->body.len / 4 + 1);
}

int64_t fake_output_tokens(const fake_answer *answer)
{
    return (int64_t)((answer->reasoning.len + answer->text.len + answer->arguments.len) / 4 + 1);
}
