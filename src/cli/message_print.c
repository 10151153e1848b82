/* message_print.c -- print messages in the format of any provider, without reasoning; control characters become spaces. */
#include "message_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

void show_text(maki_str string, size_t max)
{
    char text[400];
    size_t n = maki_json_copy_text(string, text, max < sizeof text ? max : sizeof text);
    maki_utf8_one_line(text, n);
    printf("%.*s", (int)n, text);
}

bool show_field(maki_str object, const char *name, maki_str *value)
{
    *value = maki_json_field(object, name);
    return value->len > 0;
}

void show_string(maki_str object, const char *name, size_t max)
{
    maki_str value;
    if (maki_json_string_field(object, name, &value)) show_text(value, max);
}

static void print_bracketed(const char *word, maki_str name)
{
    printf("[%s", word);
    show_text(name, 40);
    printf("]");
}

static void show_block(maki_str block, size_t max)
{
    maki_str value;
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) {
        show_text(block, max);
    } else if (maki_json_string_field(block, "text", &value)) {
        show_text(value, max);
    } else if (maki_json_string_field(block, "name", &value)) {
        print_bracketed("calls ", value);
    } else if (maki_json_string_field(block, "content", &value)) {
        printf("[result] ");
        show_text(value, max);
    } else if (maki_json_string_field(block, "type", &value)) {
        print_bracketed("", value);
    }
}

void show_content(maki_str message, size_t max)
{
    maki_str content, calls, function, name;
    bool printed = false;
    if (maki_json_string_field(message, "content", &content)) {
        show_text(content, max);
        printed = content.len > 2;
    } else if (show_field(message, "content", &content)) {
        bool list = maki_json_kind_of(content) == MAKI_JSON_ARRAY;
        MAKI_JSON_EACH_WHILE(list, item, maki_json_items(content)) {
            if (maki_json_field_in(item.value, "type", "reasoning|thinking")) continue;
            if (printed) printf(" ");
            show_block(item.value, max);
            printed = true;
        }
    }
    if (!show_field(message, "tool_calls", &calls)) return;
    MAKI_JSON_EACH(item, maki_json_items(calls)) {
        if (!show_field(item.value, "function", &function)) continue;
        if (!maki_json_string_field(function, "name", &name)) continue;
        if (printed) printf(" ");
        print_bracketed("calls ", name);
        printed = true;
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

void show_message(const maki_message *m, const cli_style *s, double scale, size_t max)
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
    printf("%-10s%6.0f  ", name, ceil(m->tokens * scale - 1e-6));
    show_content(m->json, max);
    printf("%s\n", s->off);
}
