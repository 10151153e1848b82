/* request.c -- the body of a request, field by field; see request.h. */
#include "assemble/request_inside.h"

#include "base/behind.h"
#include "base/err.h"
#include "base/str.h"

typedef struct writing {
    const maki_env *env;
    maki_conv *conv; /* NULL: the messages are those of request.before */
    const maki_view *view;
    maki_request request;
    maki_jw w;
    maki_err *err;
} writing;

static void put_text(maki_jw *w, const char *name, maki_str text)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_string(w, text);
}

static void put_number(maki_jw *w, const char *name, uint64_t number)
{
    if (number == 0) return;
    maki_jw_key(w, maki_str_of(name));
    maki_jw_int(w, (int64_t)number);
}

static void put_flag(maki_jw *w, const char *name, bool flag)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_bool(w, flag);
}

static void put_temperature(maki_jw *w, const maki_request *r)
{
    if (!r->has_temperature) return;
    maki_jw_key(w, MAKI_LIT("temperature"));
    maki_jw_double(w, r->temperature);
}

/* ---- messages -------------------------------------------------------------------------------------------- */

static maki_wire_style style_of(const maki_request *r)
{
    return (maki_wire_style){ .protocol = r->protocol,
                              .reasoning = maki_request_reasoning(r),
                              .functions = r->functions,
                              .sign_calls = maki_str_starts(r->model, MAKI_LIT("gemini-3")) };
}

/* System texts that stand among the messages. */
static void write_system_messages(writing *wr)
{
    const maki_request *r = &wr->request;
    for (size_t i = 0; i < r->system_count; i++) {
        if (r->system[i].len == 0) continue;
        maki_jw_object(&wr->w);
        put_text(&wr->w, "role", MAKI_LIT("system"));
        put_text(&wr->w, "content", r->system[i]);
        maki_jw_end_object(&wr->w);
    }
}

static maki_status write_messages(writing *wr, const char *name)
{
    const maki_wire_style style = style_of(&wr->request);
    bool any = false,
         among = style.protocol == MAKI_WIRE_CHAT || style.protocol == MAKI_WIRE_OLLAMA;
    maki_jw_key(&wr->w, maki_str_of(name));
    maki_jw_array(&wr->w);
    if (among) write_system_messages(wr);
    maki_status st =
        wr->conv
            ? maki_render(wr->conv, wr->view, &style, wr->request.before, &wr->w, &any, wr->err)
            : maki_render_rows(wr->env, wr->request.before, &style, &wr->w, &any, wr->err);
    maki_jw_end_array(&wr->w);
    if (st == MAKI_OK && !any)
        st = maki_refuse(wr->err, "NOTHING_TO_SEND",
                         "the conversation shows no message but the system's: append one first");
    return st;
}

/* System texts that stand in a field of their own: those given, then those of the log. */
static maki_status write_system_items(writing *wr)
{
    const maki_request *r = &wr->request;
    bool found;
    maki_status st = MAKI_OK;
    maki_jw_array(&wr->w);
    for (size_t i = 0; i < r->system_count; i++) {
        if (r->system[i].len == 0) continue;
        maki_jw_object(&wr->w);
        if (r->protocol == MAKI_WIRE_ANTHROPIC) put_text(&wr->w, "type", MAKI_LIT("text"));
        put_text(&wr->w, "text", r->system[i]);
        maki_jw_end_object(&wr->w);
    }
    if (wr->conv) st = maki_render_system(wr->conv, wr->view, r->protocol, &wr->w, &found, wr->err);
    maki_jw_end_array(&wr->w);
    return st;
}

static bool given_system(const maki_request *r)
{
    for (size_t i = 0; i < r->system_count; i++) {
        if (r->system[i].len) return true;
    }
    return false;
}

static maki_status has_system(writing *wr, bool *has)
{
    *has = given_system(&wr->request);
    if (*has || !wr->conv) return MAKI_OK;
    return maki_render_system(wr->conv, wr->view, wr->request.protocol, NULL, has, wr->err);
}

/* ---- the protocols --------------------------------------------------------------------------------------- */

static maki_status write_anthropic(writing *wr)
{
    const maki_request *r = &wr->request;
    bool system;
    put_text(&wr->w, "model", r->model);
    put_number(&wr->w, "max_tokens", r->max_tokens ? r->max_tokens : MAKI_REQUEST_MAX_TOKENS);
    if (r->stream) put_flag(&wr->w, "stream", true);
    if (!maki_request_thinks(r)) put_temperature(&wr->w, r);
    maki_request_thinking(&wr->w, r);
    maki_status st = has_system(wr, &system);
    if (st == MAKI_OK && system) {
        maki_jw_key(&wr->w, MAKI_LIT("system"));
        st = write_system_items(wr);
    }
    if (st == MAKI_OK) st = write_messages(wr, "messages");
    maki_request_tools(&wr->w, r);
    return st;
}

/* OpenAI's newer models refuse max_tokens; other servers know nothing else. */
static const char *limit_name(maki_str model)
{
    static const char *const newer[] = { "o1", "o3", "o4", "gpt-5" };
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        if (maki_str_starts(model, maki_str_of(newer[i]))) return "max_completion_tokens";
    }
    return "max_tokens";
}

static maki_status write_chat(writing *wr)
{
    const maki_request *r = &wr->request;
    put_text(&wr->w, "model", r->model);
    put_number(&wr->w, limit_name(r->model), r->max_tokens);
    if (r->stream) {
        put_flag(&wr->w, "stream", true);
        maki_jw_key(&wr->w, MAKI_LIT("stream_options")); /* else nothing is said about tokens */
        maki_jw_object(&wr->w);
        put_flag(&wr->w, "include_usage", true);
        maki_jw_end_object(&wr->w);
    }
    put_temperature(&wr->w, r);
    maki_request_thinking(&wr->w, r);
    maki_status st = write_messages(wr, "messages");
    maki_request_tools(&wr->w, r);
    return st;
}

static maki_status write_responses(writing *wr)
{
    const maki_request *r = &wr->request;
    bool any = false;
    put_text(&wr->w, "model", r->model);
    put_number(&wr->w, "max_output_tokens", r->max_tokens);
    put_flag(&wr->w, "store", false); /* the log keeps it */
    if (r->stream) put_flag(&wr->w, "stream", true);
    put_temperature(&wr->w, r);
    maki_request_thinking(&wr->w, r);
    if (given_system(r)) {
        maki_jw_key(&wr->w, MAKI_LIT("instructions"));
        maki_jw_begin_value(&wr->w);
        maki_jw_bytes(&wr->w, MAKI_LIT("\""));
        for (size_t i = 0; i < r->system_count; i++) {
            if (any && r->system[i].len) maki_jw_escaped(&wr->w, MAKI_LIT("\n\n"));
            maki_jw_escaped(&wr->w, r->system[i]);
            any |= r->system[i].len > 0;
        }
        maki_jw_bytes(&wr->w, MAKI_LIT("\""));
    }
    maki_status st = write_messages(wr, "input");
    maki_request_tools(&wr->w, r);
    return st;
}

static maki_status write_ollama(writing *wr)
{
    const maki_request *r = &wr->request;
    put_text(&wr->w, "model", r->model);
    put_flag(&wr->w, "stream", r->stream); /* it streams unless told otherwise */
    maki_request_thinking(&wr->w, r);
    if (r->max_tokens || r->window || r->has_temperature) {
        maki_jw_key(&wr->w, MAKI_LIT("options"));
        maki_jw_object(&wr->w);
        put_number(&wr->w, "num_ctx", r->window);
        put_number(&wr->w, "num_predict", r->max_tokens);
        put_temperature(&wr->w, r);
        maki_jw_end_object(&wr->w);
    }
    maki_status st = write_messages(wr, "messages");
    maki_request_tools(&wr->w, r);
    return st;
}

static maki_status write_gemini(writing *wr)
{
    const maki_request *r = &wr->request;
    bool system;
    maki_status st = has_system(wr, &system);
    if (st == MAKI_OK && system) {
        maki_jw_key(&wr->w, MAKI_LIT("systemInstruction"));
        maki_jw_object(&wr->w);
        maki_jw_key(&wr->w, MAKI_LIT("parts"));
        st = write_system_items(wr);
        maki_jw_end_object(&wr->w);
    }
    if (st == MAKI_OK) st = write_messages(wr, "contents");
    maki_request_tools(&wr->w, r);
    if (r->max_tokens || r->has_temperature || r->thinking != MAKI_THINKING_UNSET) {
        maki_jw_key(&wr->w, MAKI_LIT("generationConfig"));
        maki_jw_object(&wr->w);
        put_number(&wr->w, "maxOutputTokens", r->max_tokens);
        put_temperature(&wr->w, r);
        maki_request_thinking(&wr->w, r);
        maki_jw_end_object(&wr->w);
    }
    return st;
}

static const struct protocol_row {
    maki_protocol protocol;
    maki_status (*write)(writing *wr);
} protocol_rows[] = {
    { MAKI_WIRE_ANTHROPIC, write_anthropic }, { MAKI_WIRE_CHAT, write_chat },
    { MAKI_WIRE_RESPONSES, write_responses }, { MAKI_WIRE_OLLAMA, write_ollama },
    { MAKI_WIRE_GEMINI, write_gemini },
};
enum { PROTOCOLS = sizeof protocol_rows / sizeof protocol_rows[0] };

maki_status maki_request_protocol(maki_str name, maki_protocol *out, maki_err *err)
{
    for (size_t i = 0; i < PROTOCOLS; i++) {
        *out = protocol_rows[i].protocol;
        if (maki_str_is(name, maki_str_of(maki_protocol_name(*out)))) return MAKI_OK;
    }
    return maki_fail(
        err, MAKI_UNSUPPORTED,
        "no request is written in the protocol '%.*s'; there are anthropic, openai, responses, "
        "ollama, gemini",
        (int)(name.len < 40 ? name.len : 40), name.ptr);
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static maki_status write_all(writing *wr, maki_sink sink)
{
    maki_behind behind;
    const maki_alloc *alloc =
        wr->conv ? maki_log_env(maki_conv_log(wr->conv))->alloc : wr->env->alloc;
    maki_request *r = &wr->request;
    size_t i = 0;
    r->functions &= r->protocol == MAKI_WIRE_CHAT;
    while (i < PROTOCOLS && protocol_rows[i].protocol != r->protocol)
        i++;
    if (i == PROTOCOLS)
        return maki_request_protocol(maki_str_of(maki_protocol_name(r->protocol)), &r->protocol,
                                     wr->err);
    maki_status st = maki_behind_begin(&behind, alloc, !r->behind, sink, wr->err);
    if (st != MAKI_OK) return st;
    maki_behind_init(&behind, &wr->w, wr->err);
    maki_jw_object(&wr->w);
    st = protocol_rows[i].write(wr);
    maki_jw_end_object(&wr->w);
    maki_status written = maki_jw_end(&wr->w);
    return maki_behind_end(&behind, st == MAKI_OK ? written : st, wr->err);
}

maki_status maki_request_write(maki_conv *conv, const maki_view *view, const maki_request *request,
                               maki_sink sink, maki_err *err)
{
    writing wr = { .conv = conv, .view = view, .request = *request, .err = err };
    return write_all(&wr, sink);
}

maki_status maki_request_write_rows(const maki_env *env, const maki_request *request,
                                    maki_sink sink, maki_err *err)
{
    writing wr = { .env = env, .request = *request, .err = err };
    return write_all(&wr, sink);
}

static maki_status count(void *ctx, maki_str bytes, maki_err *err)
{
    uint64_t *size = ctx;
    (void)err;
    *size += bytes.len;
    return MAKI_OK;
}

maki_status maki_request_size(maki_conv *conv, const maki_view *view, const maki_request *request,
                              uint64_t *size, maki_err *err)
{
    maki_request counted = *request;
    counted.behind = false;
    *size = 0;
    return maki_request_write(conv, view, &counted, (maki_sink){ count, size }, err);
}
