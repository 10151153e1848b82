/* message_text.c -- write the parts of a message as lines "[role]: text"; long runs of base64 become a note. */
#include "summary/message_text.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "summary/message_parts.h"

enum {
    DATA_RUN = 400, /* characters of base64 in a row: no word, path or hash is that long */
    NAME_MAX = 80
};

/* ---- writing text ----------------------------------------------------------------------------------- */

typedef struct text_writer {
    maki_jw w; /* the first failure sticks */
    maki_script_counts
        *letters; /* counted in texts of people and the model; NULL: in other parts */
    bool written; /* anything */
    uint64_t run; /* pending characters that may be data, the first of them in `buffer` */
    char buffer[DATA_RUN];
} text_writer;

static void put(text_writer *p, maki_str bytes)
{
    maki_jw_bytes(&p->w, bytes);
}

static void end_run(text_writer *p)
{
    char note[60];
    if (p->run < DATA_RUN) {
        put(p, (maki_str){ p->buffer, (size_t)p->run });
    } else {
        snprintf(note, sizeof note, "[%llu characters of data stood here]",
                 (unsigned long long)p->run);
        put(p, maki_str_of(note));
    }
    p->run = 0;
}

static bool may_be_data(char c)
{
    return maki_is_word_char(c) || c == '+' || c == '/' || c == '=' || c == '-';
}

/* A sink for the text of a message, in chunks of any size. */
static maki_status add(void *ctx, maki_str text, maki_err *err)
{
    text_writer *p = ctx;
    (void)err; /* the sink's error is in p->w.err */
    if (p->letters) maki_script_counts_add(p->letters, text);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (may_be_data(c)) {
            if (p->run < DATA_RUN) p->buffer[p->run] = c;
            p->run++;
            continue;
        }
        if (p->run) end_run(p);
        if (c == '\r') continue;
        if (((unsigned char)c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = ' ';
        put(p, (maki_str){ &c, 1 });
    }
    return p->w.status;
}

static void add_string(text_writer *p, maki_str string)
{
    maki_sink sink = { add, p };
    (void)maki_json_unescape_to(maki_json_strip_quotes(string), sink,
                                p->w.err); /* p->w.status has it */
}

/* A string as its text, anything else as JSON. */
static void add_value(text_writer *p, maki_str value)
{
    if (maki_json_kind_of(value) == MAKI_JSON_STRING)
        add_string(p, value);
    else
        (void)add(p, value, p->w.err);
}

/* Write "[label]: "; its text follows, then end_line. */
static void begin_line(text_writer *p, const char *label, const char *more)
{
    p->written = true;
    put(p, MAKI_LIT("["));
    put(p, maki_str_of(label));
    put(p, maki_str_of(more));
    put(p, MAKI_LIT("]: "));
}

static void end_line(text_writer *p)
{
    if (p->run) end_run(p);
    put(p, MAKI_LIT("\n"));
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

/* Copy a name of the message, with control characters as spaces. */
static void copy_name(maki_str string, char out[NAME_MAX])
{
    size_t n = string.len ? maki_json_copy_text(string, out, NAME_MAX - 1) : 0;
    out[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)out[i] < 0x20) out[i] = ' ';
    }
}

/* An object as lines "name: value"; OpenAI's arguments come as a string. */
static void render_call(text_writer *p, const char *label, const maki_message_part *call)
{
    char tool[NAME_MAX + 8] = " calls ";
    maki_str input = call->value;
    maki_json_item item;
    p->letters = NULL;
    copy_name(call->name, tool + strlen(tool));
    begin_line(p, label, tool);
    if (input.len && maki_json_kind_of(input) == MAKI_JSON_OBJECT) {
        maki_json_iter iter = maki_json_items(input);
        for (const char *separator = ""; maki_json_next(&iter, &item); separator = "\n") {
            (void)add(p, maki_str_of(separator), p->w.err);
            (void)maki_json_unescape_to(item.key, (maki_sink){ add, p }, p->w.err);
            (void)add(p, MAKI_LIT(": "), p->w.err);
            add_value(p, item.value);
        }
    } else if (input.len) {
        add_value(p, input);
    }
    end_line(p);
}

static void render_result(text_writer *p, const maki_message_part *result);

static void render_part(text_writer *p, const char *label, const maki_message_part *part)
{
    switch (part->kind) {
    case MAKI_PART_CALL: render_call(p, label, part); break;
    case MAKI_PART_RESULT: render_result(p, part); break;
    case MAKI_PART_MEDIUM:
        begin_line(p, label, "");
        put(p, maki_str_of(part->placeholder));
        end_line(p);
        break;
    case MAKI_PART_TEXT:
        if (maki_json_strip_quotes(part->value).len == 0) break;
        begin_line(p, label, "");
        add_string(p, part->value);
        end_line(p);
    }
}

/* Its blocks hold no results: nothing nests deeper. */
static void render_result(text_writer *p, const maki_message_part *result)
{
    maki_blocks blocks = maki_content_blocks(result->value);
    maki_str block;
    maki_message_part part;
    p->letters = NULL;
    while (maki_blocks_next(&blocks, &block)) {
        if (maki_message_part_of_block(block, &part) && part.kind != MAKI_PART_RESULT)
            render_part(p, result->failed ? "tool, failed" : "tool", &part);
    }
}

maki_status maki_message_text(maki_str json, maki_script_counts *letters, maki_sink out,
                              maki_err *err)
{
    char label[NAME_MAX] = "summary";
    text_writer p;
    maki_message_parts parts;
    maki_message_part part;
    if (!maki_message_parts_of(json, &parts)) return MAKI_OK;
    maki_jw_init(&p.w, out, err);
    p.written = false;
    p.run = 0;
    if (!parts.is_summary) copy_name(parts.role_text, label);
    bool dialogue = parts.role == MAKI_ROLE_USER || parts.role == MAKI_ROLE_ASSISTANT;
    while (maki_message_parts_next(&parts, &part)) {
        p.letters = dialogue ? letters : NULL;
        render_part(&p, label, &part);
    }
    if (p.written) put(&p, MAKI_LIT("\n"));
    return maki_jw_end(&p.w);
}
