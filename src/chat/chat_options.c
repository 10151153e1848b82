/* chat_options.c -- see chat_options.h. */
#include "chat/chat_options.h"

#include <stddef.h>

#include "base/command_line.h"
#include "base/err.h"

static const char usage[] =
    "maki chat [--session NAME] [--provider NAME] [--model NAME]     talk, in a terminal or a pipe\n"
    "maki chat -p TEXT [--json]                                      one message, one answer\n"
    "\n"
    "Every word is kept as a session, and what no longer fits the model's window is condensed.\n"
    "\n";

static const char notes[] =
    "\n"
    "In a terminal /help lists the commands; Ctrl-C stops an answer, Ctrl-D leaves.  In a pipe every line is\n"
    "a message, or a command.  A line that ends with a backslash goes on in the next.\n"
    "\n"
    "Example:\n"
    "  maki chat\n"
    "  maki chat -p 'What is nori?' --session cooking\n"
    "  git diff | maki chat -p - --json\n";

#define AT(member) offsetof(maki_chat_options, member)
static const maki_option flags[] = {
    { "--session NAME", AT(session),
      "go on with a session: its id or the beginning of it, its key, a path, or a name\n"
      "of your own, which is made if there is none.  Without it a new one begins" },
    { "--provider NAME", AT(provider), "one of `llm` in maki.yaml (llm.provider)" },
    { "--model NAME", AT(model), "its model (llm.PROVIDER.model)" },
    { "-p TEXT", AT(say), "say this and end; \"-\": what standard input has, all of it" },
    { "--json", AT(json), "JSON lines: each piece of the answer, and at its end how it went" },
    { "--config FILE", AT(config), "another maki.yaml" },
    { "--help", AT(help), NULL },
    { "-h", AT(help), NULL },
};

maki_status maki_chat_options_read(int argc, char **argv, maki_chat_options *out, maki_err *err)
{
    maki_option_list list = MAKI_OPTIONS("maki chat", flags, argc, argv);
    char *word;
    size_t words;
    *out = (maki_chat_options){ .json = false };
    maki_status st = maki_options_read(&list, out, &word, 1, &words, err);
    if (st == MAKI_OK && words)
        return maki_fail(err, MAKI_INVALID,
                         "unexpected argument %.60s; maki chat -p TEXT sends a text", word);
    const char *const texts[] = { out->session, out->provider, out->model, out->say, out->config };
    for (size_t i = 0; st == MAKI_OK && i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i] && !*texts[i])
            st = maki_fail(err, MAKI_INVALID, "a value is missing; see maki chat --help");
    }
    return st;
}

void maki_chat_options_help(maki_sink out)
{
    maki_err err;
    maki_option_list list = MAKI_OPTIONS("maki chat", flags, 0, NULL);
    out.write(out.ctx, (maki_str){ usage, sizeof usage - 1 }, &err);
    maki_options_help(&list, out);
    out.write(out.ctx, (maki_str){ notes, sizeof notes - 1 }, &err);
}
