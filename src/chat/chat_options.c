/* chat_options.c -- see chat_options.h. */
#include "chat/chat_options.h"

#include <stddef.h>
#include <string.h>

#include "base/err.h"

static const char usage[] =
    "maki chat [--session NAME] [--provider NAME] [--model NAME]     talk, in a terminal or a pipe\n"
    "maki chat -p TEXT [--json]                                      one message, one answer\n"
    "\n"
    "Every word is kept as a session, and what no longer fits the model's window is condensed.\n"
    "\n"
    "  --session NAME    go on with a session: its id or the beginning of it, its key, a path, or a name\n"
    "                    of your own, which is made if there is none.  Without it a new one begins\n"
    "  --provider NAME   one of `llm` in maki.yaml (llm.provider)\n"
    "  --model NAME      its model (llm.PROVIDER.model)\n"
    "  -p TEXT           say this and end; \"-\": what standard input has, all of it\n"
    "  --json            JSON lines: each piece of the answer, and at its end how it went\n"
    "  --config FILE     another maki.yaml\n"
    "\n"
    "In a terminal /help lists the commands; Ctrl-C stops an answer, Ctrl-D leaves.  In a pipe every line is\n"
    "a message, or a command.  A line that ends with a backslash goes on in the next.\n"
    "\n"
    "Example:\n"
    "  maki chat\n"
    "  maki chat -p 'What is nori?' --session cooking\n"
    "  git diff | maki chat -p - --json\n";

static const struct row {
    const char *name;
    size_t at;
} texts[] = {
    { "--config", offsetof(maki_chat_options, config) },
    { "--session", offsetof(maki_chat_options, session) },
    { "--provider", offsetof(maki_chat_options, provider) },
    { "--model", offsetof(maki_chat_options, model) },
    { "-p", offsetof(maki_chat_options, say) },
};

static const struct row *find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strlen(texts[i].name) == len && memcmp(texts[i].name, name, len) == 0) return &texts[i];
    }
    return NULL;
}

/* One option and its value, "--name value" or "--name=value"; *i moves on to the last argument used. */
static maki_status read_text(int argc, char **argv, int *i, maki_chat_options *out, maki_err *err)
{
    const char *name = argv[*i], *equals = strncmp(name, "--", 2) == 0 ? strchr(name, '=') : NULL;
    const struct row *row = find(name, equals ? (size_t)(equals - name) : strlen(name));
    if (!row && name[0] != '-')
        return maki_fail(err, MAKI_INVALID, "%.60s is no option; maki chat -p TEXT says something",
                         name);
    if (!row)
        return maki_fail(err, MAKI_INVALID, "not understood: %.60s; see maki chat --help", name);
    const char *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : "";
    if (!*value) return maki_fail(err, MAKI_INVALID, "a value is missing after %s", row->name);
    *(const char **)(void *)((char *)out + row->at) = value;
    return MAKI_OK;
}

maki_status maki_chat_options_read(int argc, char **argv, maki_chat_options *out, maki_err *err)
{
    maki_status st = MAKI_OK;
    *out = (maki_chat_options){ .json = false };
    for (int i = 1; i < argc && st == MAKI_OK; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            out->json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            out->help = true;
        } else {
            st = read_text(argc, argv, &i, out, err);
        }
    }
    return st;
}

void maki_chat_options_help(maki_sink out)
{
    maki_err err;
    out.write(out.ctx, (maki_str){ usage, sizeof usage - 1 }, &err);
}
