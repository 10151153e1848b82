/* tool_kind.c -- classify tools, arguments and commands by tables of the words in their names. */
#include "summary/tool_kind.h"

#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "base/text.h"

/* ---- names ------------------------------------------------------------------------------------- */

static const struct {
    maki_tool_kind kind;
    const char *words; /* as part of the name, in small letters without separators */
} kinds[] = {
    /* the first match wins: "TodoWrite" is no file, "web_search" reads none */
    { MAKI_TOOL_TODO, "todo|updateplan" },
    { MAKI_TOOL_OTHER, "web|fetch" },
    { MAKI_TOOL_EDIT, "edit|replace|patch|applydiff|insert|modify" },
    { MAKI_TOOL_WRITE, "write|createfile|savefile" },
    { MAKI_TOOL_DELETE, "delete|removefile" },
    { MAKI_TOOL_RUN, "bash|shell|exec|command|terminal|runtests" },
    { MAKI_TOOL_SEARCH, "grep|glob|search|find|list" },
    { MAKI_TOOL_READ, "read|view|openfile|cat" },
    { MAKI_TOOL_RUN, "run" },
};

maki_tool_kind maki_tool_kind_of(maki_str name)
{
    char plain[64];
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < sizeof plain; i++) {
        if (maki_is_alnum(name.ptr[i])) plain[n++] = maki_lower(name.ptr[i]);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        maki_str word;
        for (const char *words = kinds[i].words; maki_words_next(&words, &word);) {
            if (maki_str_contains((maki_str){ plain, n }, word)) return kinds[i].kind;
        }
    }
    return MAKI_TOOL_OTHER;
}

/* ---- arguments ---------------------------------------------------------------------------------- */

enum { PATH, PATHS, COMMAND, PATCH, TODOS, FIELDS };

static const struct {
    unsigned char field, kinds; /* bits of maki_json_kind */
    const char *names;
} keys[] = {
#define STRING (1u << MAKI_JSON_STRING)
#define ARRAY  (1u << MAKI_JSON_ARRAY)
    { PATH, STRING,
      "path|file_path|filePath|filepath|filename|file|target_file|notebook_path|absolute_path|"
      "relative_workspace_path|uri" },
    { PATHS, ARRAY, "paths|files" },
    { COMMAND, STRING | ARRAY, "command|cmd" },
    { COMMAND, STRING, "script" },
    { PATCH, STRING, "patch|diff|input|patchText" },
    { TODOS, STRING | ARRAY, "todos|plan|todo_list|tasks" },
};
enum { KEYS = sizeof keys / sizeof *keys };

static maki_str *field_of(maki_tool_args *args, unsigned char field)
{
    maki_str *fields[FIELDS] = { &args->path, &args->paths, &args->command, &args->patch,
                                 &args->todos };
    return fields[field];
}

maki_tool_args maki_tool_args_of(maki_str input)
{
    maki_tool_args args = { 0 };
    maki_json_iter iter = maki_json_items(input);
    maki_json_item item;
    while (maki_json_kind_of(input) == MAKI_JSON_OBJECT && maki_json_next(&iter, &item)) {
        unsigned kind = 1u << maki_json_kind_of(item.value);
        for (size_t i = 0; i < KEYS; i++) {
            if ((keys[i].kinds & kind) && maki_json_key_in(item.key, keys[i].names))
                *field_of(&args, keys[i].field) = item.value;
        }
    }
    return args;
}

/* The string after `"key":` in JSON that may be truncated; false: absent or incomplete. */
static bool find_string(maki_str head, maki_str key, maki_str *value)
{
    for (size_t i = 0; i + key.len + 4 < head.len; i++) {
        maki_str here = maki_str_skip(head, i);
        if (here.ptr[0] != '"' || !maki_str_starts(maki_str_skip(here, 1), key)) continue;
        size_t at = key.len + 1;
        while (at < here.len && strchr("\": \t\r\n", here.ptr[at]) && here.ptr[at] != '\0') {
            if (here.ptr[at++] == '"' && at > key.len + 2) { /* the quote that opens the value */
                size_t n = maki_text_plain.skip_string(here.ptr + at, here.len - at);
                if (at + n >= here.len || here.ptr[at + n] != '"') return false;
                *value = (maki_str){ here.ptr + at - 1, n + 2 };
                return true;
            }
        }
    }
    return false;
}

maki_tool_args maki_tool_args_truncated(maki_str head)
{
    maki_tool_args args = { 0 };
    for (size_t i = 0; i < KEYS; i++) {
        maki_str name, value;
        if (!(keys[i].kinds & STRING) || keys[i].field == TODOS) continue;
        for (const char *names = keys[i].names; maki_words_next(&names, &name);) {
            if (find_string(head, name, &value)) *field_of(&args, keys[i].field) = value;
        }
    }
    return args;
}

maki_tool_kind maki_tool_kind_by_command(maki_tool_kind kind, maki_tool_args *args)
{
    static const struct {
        const char *verbs;
        maki_tool_kind kind;
    } verb_kinds[] = {
        { "view", MAKI_TOOL_READ },
        { "create", MAKI_TOOL_WRITE },
        { "str_replace|insert|undo_edit", MAKI_TOOL_EDIT },
    };
    if (args->path.len == 0 || args->command.len == 0) return kind;
    if (maki_json_kind_of(args->command) != MAKI_JSON_STRING) return kind;
    for (size_t i = 0; i < sizeof verb_kinds / sizeof *verb_kinds; i++) {
        if (!maki_json_text_in(args->command, verb_kinds[i].verbs)) continue;
        args->command = (maki_str){ "", 0 };
        return verb_kinds[i].kind;
    }
    return kind;
}

/* ---- commands ------------------------------------------------------------------------------------ */

/* Remove every "cd somewhere && " at the beginning. */
static maki_str without_cd(maki_str command)
{
    for (;;) {
        command = maki_str_trim(command);
        size_t end = maki_str_find_nocase(command, MAKI_LIT("&& "));
        if (!maki_str_starts(command, MAKI_LIT("cd ")) || end == command.len) return command;
        command = maki_str_skip(command, end + 3);
    }
}

size_t maki_command_name(maki_str command, char *out, size_t capacity)
{
    static const char *const ends[] = { " 2>", " | ", " > ",     " >> ", " || true",
                                        " &>", " < ", "; echo ", " <<",  " # " };
    const char *newline = memchr(command.ptr, '\n', command.len);
    if (newline) command = maki_str_prefix(command, (size_t)(newline - command.ptr));
    command = without_cd(command);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t at = maki_str_find_nocase(command, maki_str_of(ends[i]));
        if (at > 0) command = maki_str_prefix(command, at);
    }
    command = maki_utf8_truncate(maki_str_trim(command), capacity);
    size_t n = 0;
    for (size_t i = 0; i < command.len; i++) {
        char c = (unsigned char)command.ptr[i] < 0x20 ? ' ' : command.ptr[i];
        if (c != ' ' || (n && out[n - 1] != ' ')) out[n++] = c;
    }
    return n;
}

bool maki_command_includes(maki_str whole, maki_str part)
{
    if (whole.len == 0 || !maki_str_starts(part, whole)) return false;
    if (part.len == whole.len) return true;
    if (part.ptr[whole.len] != ' ') return false;
    maki_str rest = maki_str_skip(part, whole.len + 1);
    if (maki_str_starts(rest, MAKI_LIT("-- "))) return true;
    while (rest.len) { /* only options and paths narrow a command down; "make" is not "make test" */
        const char *space = memchr(rest.ptr, ' ', rest.len);
        size_t n = space ? (size_t)(space - rest.ptr) : rest.len;
        maki_str word = maki_str_prefix(rest, n);
        bool narrows =
            n && (word.ptr[0] == '-' || memchr(word.ptr, '/', n) || memchr(word.ptr, '.', n));
        if (!narrows) return false;
        rest = maki_str_skip(rest, space ? n + 1 : n);
    }
    return true;
}

bool maki_command_only_displays(maki_str name)
{
    const char *words =
        "cat |grep |rg |sed |head |tail |ls|find |git log|git diff|awk |less |echo |wc |"
        "git show|git status|tree|jq ";
    maki_str word;
    while (maki_words_next(&words, &word)) {
        if (maki_str_starts(name, word)) return true;
    }
    return false;
}
