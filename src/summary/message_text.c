/* message_text.c -- see message_text.h. */
#include "summary/message_text.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "history/blocks.h"
#include "history/make.h"

enum {
    DATA_RUN = 400, /* characters of base64 in a row: no word, path or hash is that long */
    NAME_MOST = 80
};

/* ---- the text on its way out ------------------------------------------------------------------------ */

typedef struct page {
    maki_sink out;
    maki_err *err;
    maki_status status; /* the first failure sticks */
    maki_letters
        *letters; /* of what is said: NULL while it is not people or the model who say it */
    bool any;     /* something was written */
    size_t fill;
    char waiting[4096];
    uint64_t run; /* characters that may be data, the first of them in `held` */
    char held[DATA_RUN];
} page;

static void flush(page *p)
{
    if (p->fill && p->status == MAKI_OK)
        p->status = p->out.write(p->out.ctx, (maki_str){ p->waiting, p->fill }, p->err);
    p->fill = 0;
}

static void put(page *p, maki_str bytes)
{
    while (bytes.len) {
        size_t room = sizeof p->waiting - p->fill;
        size_t n = bytes.len < room ? bytes.len : room;
        memcpy(p->waiting + p->fill, bytes.ptr, n);
        p->fill += n;
        bytes = maki_str_from(bytes, n);
        if (p->fill == sizeof p->waiting) flush(p);
    }
}

static void end_run(page *p)
{
    char note[60];
    if (p->run < DATA_RUN) {
        put(p, (maki_str){ p->held, (size_t)p->run });
    } else {
        snprintf(note, sizeof note, "[%llu characters of data stood here]",
                 (unsigned long long)p->run);
        put(p, maki_str_of(note));
    }
    p->run = 0;
}

static bool may_be_data(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '=' || c == '-' || c == '_';
}

/* Text of a message; may be handed over in any pieces. */
static maki_status add(void *ctx, maki_str text, maki_err *err)
{
    page *p = ctx;
    (void)err; /* p->err is told */
    if (p->letters) maki_letters_add(p->letters, text);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (may_be_data(c)) {
            if (p->run < DATA_RUN) p->held[p->run] = c;
            p->run++;
            continue;
        }
        if (p->run) end_run(p);
        if (c == '\r') continue;
        if (((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = ' ';
        put(p, (maki_str){ &c, 1 });
    }
    return p->status;
}

static void add_string(page *p, maki_str string)
{
    maki_sink sink = { add, p };
    (void)maki_json_text_to(maki_json_inside(string), sink, p->err); /* p->status has it */
}

/* A string as its text, anything else as JSON. */
static void add_value(page *p, maki_str value)
{
    if (maki_json_kind_of(value) == MAKI_JSON_STRING)
        add_string(p, value);
    else
        (void)add(p, value, p->err);
}

/* "[label]: ", and what belongs to it until end_line. */
static void begin_line(page *p, const char *label, const char *more)
{
    p->any = true;
    put(p, MAKI_LIT("["));
    put(p, maki_str_of(label));
    put(p, maki_str_of(more));
    put(p, MAKI_LIT("]: "));
}

static void end_line(page *p)
{
    if (p->run) end_run(p);
    put(p, MAKI_LIT("\n"));
}

static void note_line(page *p, const char *label, const char *note)
{
    begin_line(p, label, "");
    put(p, maki_str_of(note));
    end_line(p);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

/* A name from outside, on one line. */
static void copy_name(maki_str string, char out[NAME_MOST])
{
    size_t n = string.len ? maki_json_copy_text(string, out, NAME_MOST - 1) : 0;
    out[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)out[i] < 0x20) out[i] = ' ';
    }
}

static void say(page *p, const char *label, maki_str string)
{
    if (maki_json_inside(string).len == 0) return;
    begin_line(p, label, "");
    add_string(p, string);
    end_line(p);
}

/* An object as lines "name: value"; OpenAI's arguments come as a string. */
static void render_call(page *p, const char *label, maki_str name, maki_str input)
{
    char tool[NAME_MOST + 8] = " calls ";
    maki_json_item item;
    p->letters = NULL;
    copy_name(name, tool + strlen(tool));
    begin_line(p, label, tool);
    if (input.len && maki_json_kind_of(input) == MAKI_JSON_OBJECT) {
        maki_json_iter iter = maki_json_items(input);
        for (const char *gap = ""; maki_json_next(&iter, &item); gap = "\n") {
            (void)add(p, maki_str_of(gap), p->err);
            (void)maki_json_text_to(item.key, (maki_sink){ add, p }, p->err);
            (void)add(p, MAKI_LIT(": "), p->err);
            add_value(p, item.value);
        }
    } else if (input.len) {
        add_value(p, input);
    }
    end_line(p);
}

/* What blocks of other media are called. */
static const struct medium {
    const char *type, *note;
} media[] = {
    { "image", MAKI_IMAGE_PLACEHOLDER },
    { "image_url", MAKI_IMAGE_PLACEHOLDER },
    { "input_image", MAKI_IMAGE_PLACEHOLDER },
    { "input_audio", "[A sound stood here]" },
    { "audio", "[A sound stood here]" },
    { "document", "[A document stood here]" },
    { "file", "[A document stood here]" },
    { "input_file", "[A document stood here]" },
    { "video", "[A film stood here]" },
    { "thinking", NULL },
    { "redacted_thinking", NULL },
    { "reasoning", NULL },
};

/* False: it is no medium that we know. */
static bool render_medium(page *p, const char *label, maki_str block)
{
    for (size_t i = 0; i < sizeof media / sizeof media[0]; i++) {
        if (!maki_block_is(block, maki_str_of(media[i].type))) continue;
        if (media[i].note) note_line(p, label, media[i].note);
        return true;
    }
    return false;
}

static void render_result(page *p, maki_str block);

static void render_block(page *p, const char *label, maki_str block)
{
    maki_str text, name = { "", 0 }, input = { "", 0 };
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) {
        say(p, label, block);
    } else if (maki_block_is(block, MAKI_LIT("tool_use")) ||
               maki_block_is(block, MAKI_LIT("server_tool_use"))) {
        (void)maki_block_string(block, MAKI_LIT("name"), &name);
        (void)maki_json_get(block, MAKI_LIT("input"), &input);
        render_call(p, label, name, input);
    } else if (maki_block_is(block, MAKI_LIT("tool_result"))) {
        render_result(p, block);
    } else if (!render_medium(p, label, block) &&
               maki_block_string(block, MAKI_LIT("text"), &text)) {
        say(p, label, text);
    }
}

static void render_content(page *p, const char *label, maki_str content)
{
    maki_blocks blocks = maki_content_blocks(content);
    maki_str block;
    while (maki_blocks_next(&blocks, &block)) {
        maki_letters *letters = p->letters;
        render_block(p, label, block);
        p->letters = letters;
    }
}

/* Its blocks hold no results: nothing nests deeper. */
static void render_result(page *p, maki_str block)
{
    maki_str content = { "", 0 }, error, inner;
    bool failed = maki_json_get(block, MAKI_LIT("is_error"), &error) && maki_json_true(error);
    const char *label = failed ? "tool, failed" : "tool";
    if (!maki_json_get(block, MAKI_LIT("content"), &content)) return;
    p->letters = NULL;
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &inner)) {
        if (!maki_block_is(inner, MAKI_LIT("tool_result"))) render_block(p, label, inner);
    }
}

/* ---- messages --------------------------------------------------------------------------------------- */

static void render_calls(page *p, const char *label, maki_str calls)
{
    maki_json_iter iter = maki_json_items(calls);
    maki_json_item item;
    while (maki_json_next(&iter, &item)) {
        maki_str function, name = { "", 0 }, input = { "", 0 };
        if (!maki_json_get(item.value, MAKI_LIT("function"), &function) ||
            maki_json_kind_of(function) != MAKI_JSON_OBJECT)
            continue;
        (void)maki_block_string(function, MAKI_LIT("name"), &name);
        (void)maki_json_get(function, MAKI_LIT("arguments"), &input);
        render_call(p, label, name, input);
    }
}

maki_status maki_message_text(maki_str json, maki_letters *letters, maki_sink out, maki_err *err)
{
    char label[NAME_MOST] = "summary";
    maki_str role, content, calls, flag;
    page p = { .out = out, .err = err, .status = MAKI_OK };
    if (maki_json_kind_of(json) != MAKI_JSON_OBJECT) return MAKI_OK;
    if (!maki_block_string(json, MAKI_LIT("role"), &role)) return MAKI_OK;
    if (!maki_json_get(json, MAKI_LIT("isSummary"), &flag) || !maki_json_true(flag))
        copy_name(role, label);
    if (maki_role_of(role) == MAKI_ROLE_USER || maki_role_of(role) == MAKI_ROLE_ASSISTANT)
        p.letters = letters;
    if (maki_json_get(json, MAKI_LIT("content"), &content)) render_content(&p, label, content);
    if (maki_json_get(json, MAKI_LIT("tool_calls"), &calls)) render_calls(&p, label, calls);
    if (p.any) put(&p, MAKI_LIT("\n"));
    flush(&p);
    return p.status;
}
