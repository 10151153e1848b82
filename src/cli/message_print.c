/* message_print.c -- see message_print.h. */
#include "message_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void show_text(maki_str string, size_t capacity)
{
    char text[400];
    size_t n = maki_json_copy_text(string, text, capacity < sizeof text ? capacity : sizeof text);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) text[i] = ' ';
    }
    printf("%.*s", (int)n, text);
}

bool show_field(maki_str object, const char *name, maki_str *value)
{
    return maki_json_kind_of(object) == MAKI_JSON_OBJECT &&
           maki_json_get(object, (maki_str){ name, strlen(name) }, value);
}

void show_string(maki_str object, const char *name, size_t capacity)
{
    maki_str value;
    if (maki_json_string_field(object, name, &value)) show_text(value, capacity);
}

static void in_brackets(const char *word, maki_str name)
{
    printf("[%s", word);
    show_text(name, 40);
    printf("]");
}

/* Thoughts are passed over: they are long and not meant to be read. */
static bool is_thought(maki_str block)
{
    return maki_json_field_in(block, "type", "reasoning") ||
           maki_json_field_in(block, "type", "thinking");
}

static void show_block(maki_str block, size_t capacity)
{
    maki_str value;
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) {
        show_text(block, capacity);
    } else if (maki_json_string_field(block, "text", &value)) {
        show_text(value, capacity);
    } else if (maki_json_string_field(block, "name", &value)) {
        in_brackets("calls ", value);
    } else if (maki_json_string_field(block, "content", &value)) {
        printf("[result] ");
        show_text(value, capacity);
    } else if (maki_json_string_field(block, "type", &value)) {
        in_brackets("", value);
    }
}

void show_content(maki_str message, size_t capacity)
{
    maki_str content, calls, function, name;
    maki_json_item item;
    bool any = false;
    if (maki_json_string_field(message, "content", &content)) {
        show_text(content, capacity);
        any = content.len > 2;
    } else if (show_field(message, "content", &content)) {
        maki_json_iter blocks = maki_json_items(content);
        while (!blocks.object && maki_json_next(&blocks, &item)) {
            if (is_thought(item.value)) continue;
            if (any) printf(" ");
            show_block(item.value, capacity);
            any = true;
        }
    }
    if (!show_field(message, "tool_calls", &calls)) return;
    maki_json_iter each = maki_json_items(calls);
    while (maki_json_next(&each, &item)) {
        if (!show_field(item.value, "function", &function)) continue;
        if (!maki_json_string_field(function, "name", &name)) continue;
        if (any) printf(" ");
        in_brackets("calls ", name);
        any = true;
    }
}

static void show_time(int64_t ms)
{
    char text[32] = "";
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    if (ms > 0 && localtime_r(&seconds, &tm)) strftime(text, sizeof text, "%m-%d %H:%M:%S", &tm);
    printf("%-14s ", text);
}

void show_message(const maki_message *m, const cli_style *s, size_t capacity)
{
    char name[12];
    maki_json_text_field(m->json, "role", name, sizeof name);
    printf("%s", m->hidden ? s->dim : m->seq == 0 ? s->yellow : "");
    if (m->seq)
        printf("%6" PRIu64 " ", m->seq);
    else
        printf("   e%-3" PRIu64 " ", m->ev);
    printf("%s ", m->hidden ? "·" : m->pinned ? "*" : m->seq == 0 ? "▸" : " ");
    show_time(m->ts);
    printf("%-10s%6u  ", name, m->tokens);
    show_content(m->json, capacity);
    printf("%s\n", s->off);
}
