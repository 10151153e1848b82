/* request_thinking.c -- one scale of thinking, and what each provider calls it. */
#include "assemble/request_inside.h"

#include "base/err.h"
#include "base/str.h"

static const char *const level_names[] = { "", "off", "minimal", "low", "medium", "high" };

maki_status maki_thinking_named(maki_str name, maki_thinking *out, maki_err *err)
{
    for (size_t i = MAKI_THINKING_OFF; i <= MAKI_THINKING_HIGH; i++) {
        if (!maki_str_is(name, maki_str_of(level_names[i]))) continue;
        *out = (maki_thinking)i;
        return MAKI_OK;
    }
    return maki_fail(
        err, MAKI_INVALID,
        "no level of thinking is called '%.*s'; there are off, minimal, low, medium, high",
        (int)(name.len < 40 ? name.len : 40), name.ptr);
}

static maki_str level_of(const maki_request *r)
{
    return maki_str_of(level_names[r->thinking]);
}

static bool thinks(const maki_request *r)
{
    return r->thinking >= MAKI_THINKING_MINIMAL;
}

static bool begins(maki_str text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (maki_str_starts(text, maki_str_of(names[i]))) return true;
    }
    return false;
}

maki_reasoning maki_request_reasoning(const maki_request *r)
{
    static const char *const content[] = { "deepseek", "zai", "z.ai", "zhipu", "glm" };
    static const char *const refused[] = { "openai", "azure", "gpt-", "chatgpt", "o1", "o3", "o4" };
    maki_str who = r->provider.len ? r->provider : r->model;
    if (begins(who, content, 5)) return MAKI_REASONING_CONTENT;
    return begins(who, refused, 7) ? MAKI_REASONING_REFUSED : MAKI_REASONING_AS_IT_CAME;
}

/* ---- Anthropic ------------------------------------------------------------------------------------------- */

static unsigned number_at(maki_str *text)
{
    unsigned n = 0;
    while (text->len && text->ptr[0] >= '0' && text->ptr[0] <= '9' && n < 100000) {
        n = n * 10 + (unsigned)(text->ptr[0] - '0');
        *text = maki_str_from(*text, 1);
    }
    return n;
}

/* From 4.6 on the model decides how long it thinks, and is told how hard.  The name is claude-FAMILY-4-6, a
 * date may stand in the place of the second number; older ones are claude-3-7-FAMILY. */
static bool adapts(maki_str model)
{
    maki_str rest = MAKI_LIT("claude-");
    if (!maki_str_starts(model, rest)) return false;
    rest = maki_str_from(model, rest.len);
    while (rest.len && rest.ptr[0] >= 'a' && rest.ptr[0] <= 'z')
        rest = maki_str_from(rest, 1);
    if (rest.len == 0 || rest.ptr[0] != '-') return false;
    rest = maki_str_from(rest, 1);
    unsigned major = number_at(&rest);
    if (rest.len && rest.ptr[0] == '-') rest = maki_str_from(rest, 1);
    unsigned minor = number_at(&rest);
    if (minor >= 1000) minor = 0; /* a date */
    return major > 4 || (major == 4 && minor >= 6);
}

/* Half of the answer at most; under 1024 it is refused. */
static uint64_t budget_of(const maki_request *r)
{
    static const uint64_t budgets[] = { 0, 0, 1024, 4096, 10000, 20000 };
    uint64_t most = (r->max_tokens ? r->max_tokens : MAKI_REQUEST_MAX_TOKENS) / 2;
    uint64_t budget = budgets[r->thinking] < most ? budgets[r->thinking] : most;
    return budget >= 1024 ? budget : 0;
}

bool maki_request_thinks(const maki_request *r)
{
    if (!thinks(r) || maki_request_forces(r)) return false; /* it refuses both at once */
    return adapts(r->model) || budget_of(r) > 0;
}

static void anthropic(maki_jw *w, const maki_request *r)
{
    bool on = maki_request_thinks(r), adaptive = adapts(r->model);
    if (!on && r->thinking != MAKI_THINKING_OFF) return;
    maki_jw_key(w, MAKI_LIT("thinking"));
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("type"));
    if (on)
        maki_jw_string(w, adaptive ? MAKI_LIT("adaptive") : MAKI_LIT("enabled"));
    else
        maki_jw_string(w, MAKI_LIT("disabled"));
    if (on && !adaptive) {
        maki_jw_key(w, MAKI_LIT("budget_tokens"));
        maki_jw_int(w, (int64_t)budget_of(r));
    }
    maki_jw_end_object(w);
    if (!on || !adaptive) return;
    maki_jw_key(w, MAKI_LIT("output_config"));
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("effort"));
    maki_jw_string(w, r->thinking == MAKI_THINKING_MINIMAL ? MAKI_LIT("low") : level_of(r));
    maki_jw_end_object(w);
}

/* ---- the others ------------------------------------------------------------------------------------------ */

static void chat(maki_jw *w, const maki_request *r)
{
    if (maki_request_reasoning(r) == MAKI_REASONING_CONTENT) {
        maki_jw_key(w, MAKI_LIT("thinking"));
        maki_jw_object(w);
        maki_jw_key(w, MAKI_LIT("type"));
        maki_jw_string(w, thinks(r) ? MAKI_LIT("enabled") : MAKI_LIT("disabled"));
        maki_jw_end_object(w);
    } else if (thinks(r)) { /* no word for off is understood by all */
        maki_jw_key(w, MAKI_LIT("reasoning_effort"));
        maki_jw_string(w, level_of(r));
    }
}

/* The reasoning comes back encrypted, so that it can be sent again without being kept there. */
static void responses(maki_jw *w, const maki_request *r)
{
    if (!thinks(r)) return;
    maki_jw_key(w, MAKI_LIT("reasoning"));
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("effort"));
    maki_jw_string(w, level_of(r));
    maki_jw_end_object(w);
    maki_jw_key(w, MAKI_LIT("include"));
    maki_jw_array(w);
    maki_jw_string(w, MAKI_LIT("reasoning.encrypted_content"));
    maki_jw_end_array(w);
}

/* gpt-oss has levels, the others a switch. */
static void ollama(maki_jw *w, const maki_request *r)
{
    bool levels = maki_str_starts(r->model, MAKI_LIT("gpt-oss"));
    maki_jw_key(w, MAKI_LIT("think"));
    if (levels && thinks(r))
        maki_jw_string(w, r->thinking == MAKI_THINKING_MINIMAL ? MAKI_LIT("low") : level_of(r));
    else
        maki_jw_bool(w, thinks(r));
}

/* Gemini 3 has levels, 2.5 a number of tokens; 2.5 Pro cannot be told to stop. */
static void gemini(maki_jw *w, const maki_request *r)
{
    static const int64_t budgets[] = { 0, 0, 512, 1024, 8192, 24576 };
    bool levels = maki_str_starts(r->model, MAKI_LIT("gemini-3"));
    bool pro = maki_str_has(r->model, MAKI_LIT("-pro"));
    if (!thinks(r) && (levels || pro)) return;
    maki_jw_key(w, MAKI_LIT("thinkingConfig"));
    maki_jw_object(w);
    if (thinks(r)) {
        maki_jw_key(w, MAKI_LIT("includeThoughts"));
        maki_jw_bool(w, true);
    }
    if (levels) {
        maki_jw_key(w, MAKI_LIT("thinkingLevel"));
        maki_jw_string(w,
                       pro && r->thinking == MAKI_THINKING_MINIMAL ? MAKI_LIT("low") : level_of(r));
    } else {
        maki_jw_key(w, MAKI_LIT("thinkingBudget"));
        maki_jw_int(w, budgets[r->thinking]);
    }
    maki_jw_end_object(w);
}

void maki_request_thinking(maki_jw *w, const maki_request *r)
{
    if (r->thinking == MAKI_THINKING_UNSET) return;
    switch (r->protocol) {
    case MAKI_WIRE_ANTHROPIC: anthropic(w, r); break;
    case MAKI_WIRE_CHAT: chat(w, r); break;
    case MAKI_WIRE_RESPONSES: responses(w, r); break;
    case MAKI_WIRE_OLLAMA: ollama(w, r); break;
    case MAKI_WIRE_GEMINI: gemini(w, r); break;
    default: break;
    }
}
