/* inserted_text.c -- the table of inserted texts, and their lengths at both ends of a text. */
#include "wire/inserted_text.h"

#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define TAGS(name, ...)                                                                    \
    {                                                                                      \
        { "<" name ">", sizeof name + 1 }, { "</" name ">", sizeof name + 2 }, __VA_ARGS__ \
    }

/* clang-format off */
static const maki_inserted_tags tags[] = {
    TAGS("system-reminder", true), /* Claude Code, Qwen Code, opencode */
    /* Claude Code */
    TAGS("command-name", false), TAGS("command-message", false), TAGS("command-args", false), TAGS("command-contents", false),
    TAGS("local-command-stdout", false), TAGS("local-command-stderr", false), TAGS("local-command-caveat", false),
    TAGS("bash-input", false), TAGS("bash-stdout", false), TAGS("bash-stderr", false),
    TAGS("user-prompt-submit-hook", false), TAGS("ide_opened_file", false), TAGS("ide_selection", false),
    TAGS("task-notification", false),
    /* Codex */
    TAGS("environment_context", false), TAGS("user_instructions", false), TAGS("INSTRUCTIONS", false),
    TAGS("turn_aborted", false), TAGS("user_shell_command", false), TAGS("skill", false), TAGS("collaboration_mode", false),
    TAGS("subagent_notification", false),
    { { "<permissions instructions>", 26 }, { "</permissions instructions>", 27 }, false },
    { { "# AGENTS.md instructions", 24 }, { "</INSTRUCTIONS>", 15 }, false },
    /* Gemini CLI, Roo Code and Cline, Cursor, Copilot */
    TAGS("session_context", false), TAGS("environment_details", false), TAGS("environment_info", false),
    TAGS("workspace_info", false), TAGS("user_info", false), TAGS("additional_data", false), TAGS("attachments", false),
    TAGS("reminderInstructions", false), TAGS("reminder", false),
};

/* Around what a person wrote. */
static const maki_inserted_tags person[] = {
    TAGS("task", false), TAGS("user_message", false), TAGS("feedback", false), TAGS("user_query", false), TAGS("userRequest", false),
};
/* clang-format on */

const maki_inserted_tags *maki_inserted_table(size_t *count)
{
    *count = COUNT(tags);
    return tags;
}

static size_t spaces_at_start(maki_str text)
{
    size_t n = 0;
    while (n < text.len && maki_is_space(text.ptr[n]))
        n++;
    return n;
}

static size_t spaces_at_end(maki_str text)
{
    size_t n = 0;
    while (n < text.len && maki_is_space(text.ptr[text.len - 1 - n]))
        n++;
    return n;
}

/* The offset of the first `part`; SIZE_MAX: none. */
static size_t find(maki_str text, maki_str part)
{
    const char *at = memmem(text.ptr, text.len, part.ptr, part.len);
    return at ? (size_t)(at - text.ptr) : SIZE_MAX;
}

static size_t find_last(maki_str text, maki_str part)
{
    for (size_t i = text.len >= part.len ? text.len - part.len + 1 : 0; i-- > 0;) {
        if (memcmp(text.ptr + i, part.ptr, part.len) == 0) return i;
    }
    return SIZE_MAX;
}

/* The length of the block that `text` begins with; 0: none, or it has no end. */
static size_t block_at_start(maki_str text)
{
    for (size_t i = 0; i < COUNT(tags); i++) {
        if (!maki_str_starts(text, tags[i].open)) continue;
        size_t at = find(text, tags[i].close);
        if (at != SIZE_MAX) return at + tags[i].close.len;
    }
    return 0;
}

static size_t block_at_end(maki_str text)
{
    for (size_t i = 0; i < COUNT(tags); i++) {
        if (!maki_str_ends(text, tags[i].close)) continue;
        size_t at = find_last(text, tags[i].open);
        if (at != SIZE_MAX) return text.len - at;
    }
    return 0;
}

size_t maki_inserted_head(maki_str text)
{
    size_t head = 0;
    for (;;) {
        maki_str rest = maki_str_skip(text, head);
        size_t spaces = spaces_at_start(rest), n = block_at_start(maki_str_skip(rest, spaces));
        if (n == 0) return head ? head + spaces : 0;
        head += spaces + n;
    }
}

size_t maki_inserted_tail(maki_str text)
{
    size_t tail = 0;
    for (;;) {
        maki_str rest = maki_str_prefix(text, text.len - tail);
        size_t spaces = spaces_at_end(rest),
               n = block_at_end(maki_str_prefix(rest, rest.len - spaces));
        if (n == 0) return tail ? tail + spaces : 0;
        tail += spaces + n;
    }
}

maki_str maki_inserted_none(maki_str text)
{
    text = maki_str_skip(text, maki_inserted_head(text));
    text = maki_str_prefix(text, text.len - maki_inserted_tail(text));
    text = maki_str_skip(text, spaces_at_start(text));
    text = maki_str_prefix(text, text.len - spaces_at_end(text));
    for (size_t i = 0; i < COUNT(person); i++) {
        if (!maki_str_starts(text, person[i].open)) continue;
        maki_str words = maki_str_skip(text, person[i].open.len);
        size_t end = find(words, person[i].close);
        words = maki_str_prefix(words, end == SIZE_MAX ? words.len : end);
        words = maki_str_skip(words, spaces_at_start(words));
        return maki_str_prefix(words, words.len - spaces_at_end(words));
    }
    return text;
}
