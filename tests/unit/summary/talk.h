/* talk.h -- messages as lines of JSON in a string literal, handed to a summarizer one by one. */
#ifndef MAKI_TESTS_TALK_H
#define MAKI_TESTS_TALK_H

#include <string.h>

#include "tap.h"

#include "base/json_access.h"
#include "base/str_util.h"
#include "history/summarizer.h"

static inline maki_status talk_each(const void *source, maki_message_fn fn, void *ctx,
                                    maki_err *err)
{
    maki_str rest = *(const maki_str *)source, value;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        st = maki_json_check(maki_str_prefix(rest, n), &value, err);
        if (st == MAKI_OK) st = fn(ctx, value, err);
        rest = maki_str_skip(rest, end ? n + 1 : n);
    }
    return st;
}

static inline maki_summary_request talk_request(const maki_str *lines)
{
    return (maki_summary_request){ .each = talk_each, .source = lines };
}

/* One message of each kind, as JSON. */
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}\n"
#define SAYS(text) \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}\n"
#define CALL(id, name, input)                                                  \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"" id \
    "\",\"name\":\"" name "\",\"input\":" input "}]}\n"
#define RESULT(id, text)                                                              \
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" id \
    "\",\"content\":\"" text "\"}]}\n"
#define FAILURE(id, text)                                                             \
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"" id \
    "\",\"is_error\":true,\"content\":\"" text "\"}]}\n"
/* OpenAI's shape; the arguments are JSON inside a string. */
#define CHAT_CALL(id, name, arguments)                                                        \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"" id                  \
    "\",\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments \
    "\"}}]}\n"
#define CHAT_RESULT(id, text) \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}\n"
#define SUMMARY(text)                                                                             \
    "{\"role\":\"assistant\",\"isSummary\":true,\"content\":[{\"type\":\"text\",\"text\":\"" text \
    "\"}]}\n"

#endif
