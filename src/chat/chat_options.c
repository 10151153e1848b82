/* chat_options.c -- parse the command line by a table of options, refuse empty values, print the help. */
#include "chat/chat_options.h"

#include <stddef.h>

#include "base/command_line.h"
#include "base/err.h"

static const char usage[] =
    "maki chat [--session NAME] [--provider NAME] [--model NAME]     chat in a terminal or a pipe\n"
    "maki chat -p TEXT [--json]                                      send one message, print the answer\n"
    "\n"
    "The conversation is stored as a session; what does not fit the model's window is condensed.\n"
    "\n";

static const char notes[] =
    "\n"
    "In a terminal /help lists the commands; Ctrl-C stops an answer, Ctrl-D ends the chat.  In a pipe each line is\n"
    "a message or a command.  A line that ends with a backslash is continued by the next one.\n"
    "\n"
    "Example:\n"
    "  maki chat\n"
    "  maki chat -p 'What is nori?' --session cooking\n"
    "  git diff | maki chat -p - --json\n";

#define OFFSET(member) offsetof(maki_chat_options, member)
static const maki_option flags[] = {
    { "--session NAME", OFFSET(session),
      "continue a session: its id or the beginning of it, its key, a path, or a new\n"
      "name, which is created.  Without it a new session begins" },
    { "--provider NAME", OFFSET(provider), "one of `llm` in maki.yaml (llm.provider)" },
    { "--model NAME", OFFSET(model), "its model (llm.PROVIDER.model)" },
    { "-p TEXT", OFFSET(message),
      "send this message, print the answer, exit; \"-\": read it from standard input" },
    { "--json", OFFSET(json),
      "print JSON lines: the answer as it comes, then one line with the result" },
    { "--config FILE", OFFSET(config), "the configuration file" },
    { "--help", OFFSET(help), NULL },
    { "-h", OFFSET(help), NULL },
};

maki_status maki_chat_options_read(int argc, char **argv, maki_chat_options *out, maki_err *err)
{
    maki_option_list list = MAKI_OPTIONS("maki chat", flags, argc, argv);
    char *argument;
    size_t positional;
    *out = (maki_chat_options){ .json = false };
    maki_status st = maki_options_read(&list, out, &argument, 1, &positional, err);
    if (st == MAKI_OK && positional)
        return maki_fail(err, MAKI_INVALID,
                         "unexpected argument %.60s; maki chat -p TEXT sends a message", argument);
    const char *const values[] = { out->session, out->provider, out->model, out->message,
                                   out->config };
    for (size_t i = 0; st == MAKI_OK && i < sizeof values / sizeof values[0]; i++) {
        if (values[i] && !*values[i])
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
