/* chat.c -- see chat.h. */
#include "chat/chat.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/random.h"
#include "base/str.h"
#include "chat/chat_internal.h"
#include "chat/status_bar.h"
#include "chat/terminal.h"
#include "ops/op.h"

/* ---- failures ------------------------------------------------------------------------------------- */

/* Three lines are enough; which ones is what people do not know. */
static const char setup[] =
    "No provider is configured yet.  Put three lines like these into maki.yaml, in this directory or\n"
    "in ~/.config/maki, and set ANTHROPIC_API_KEY:\n"
    "\n"
    "  llm:\n"
    "    provider: anthropic\n"
    "    anthropic: {model: claude-sonnet-4-5}\n"
    "\n"
    "openai, gemini, openrouter, deepseek and zai work in the same way; ollama and lmstudio on\n"
    "this machine need no key.  To try it without a model, start the demo's provider with\n"
    "`maki-fake-provider --port 4748` and write\n"
    "\n"
    "  llm:\n"
    "    provider: fake\n"
    "    fake: {model: fake-1, base_url: \"http://127.0.0.1:4748\"}\n";

/* The first failure is what the program ends with. */
static void keep_code(maki_chat *chat, const maki_err *err)
{
    if (chat->exit_code == 0) chat->exit_code = maki_status_exit(err->status);
}

/* Nobody was chosen, here or in the configuration: what to write there is worth telling. */
static bool is_unset(const maki_chat *chat)
{
    maki_provider provider;
    maki_err why;
    return chat->provider[0] == '\0' && maki_config_text(chat->config, "llm.provider").len == 0 &&
           maki_chat_provider(chat, &provider, &why) == MAKI_NOTFOUND;
}

void maki_chat_fail(maki_chat *chat, const maki_err *err)
{
    keep_code(chat, err);
    if (err->status == MAKI_IO && maki_terminal_reader_gone()) return; /* it knows */
    maki_output_error(&chat->showing, err);
    if (err->status == MAKI_NOTFOUND && is_unset(chat)) maki_chat_note(chat, "\n%s", setup);
}

int maki_chat_exit_code(const maki_chat *chat)
{
    return chat->exit_code;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static maki_status open_config(maki_chat *chat, const char *file, maki_err *err)
{
    maki_config_options options = { sizeof options, *chat->env, file, environ, NULL, NULL };
    return maki_config_open(&options, &chat->config, err);
}

/* A person sees answers; the lines for machines come when they were asked for. */
static const maki_logger *open_log(maki_chat *chat)
{
    maki_config_value level;
    bool asked = maki_config_find_value(chat->config, "log.level", &level) &&
                 level.source != MAKI_CONFIG_DEFAULT;
    if (!asked) return NULL;
    chat->logger =
        (maki_logger){ chat->env->clock, maki_fd_sink_of(&chat->showing.notes), MAKI_INFO };
    maki_level_parse(maki_config_text(chat->config, "log.level"), &chat->logger.min_level);
    maki_use_log(chat->m, chat->logger.sink, NULL);
    return &chat->logger;
}

static bool interrupted(void *ctx)
{
    (void)ctx;
    return maki_terminal_interrupted();
}

static maki_status open_engine(maki_chat *chat, maki_err *err)
{
    (void)maki_home(chat->home, sizeof chat->home); /* without one a path may still be named */
    maki_options how = { sizeof how, *chat->env, MAKI_MAX_MEMORY, chat->home };
    maki_status st = maki_open(&how, &chat->m, err);
    if (st != MAKI_OK) return st;
    maki_use_config(chat->m, chat->config);
    maki_watch_cancel(chat->m, interrupted, NULL);
    maki_turns_options options = { .env = chat->env,
                                   .config = chat->config,
                                   .home = chat->home,
                                   .logger = open_log(chat),
                                   .durability = MAKI_SYNC,
                                   .background = true };
    st = maki_turns_open(&options, &chat->turns, err);
    if (st == MAKI_OK) maki_use_model(chat->m, maki_turns_model(chat->turns));
    return st;
}

maki_status maki_chat_new_path(maki_chat *chat, char out[MAKI_PATH_MAX], maki_err *err)
{
    char id[MAKI_UUID_LEN + 1], directory[MAKI_PATH_MAX];
    maki_status st = maki_uuid(chat->env->random, id, err);
    if (st == MAKI_OK)
        st = maki_agent_directory(chat->env->files, chat->home, MAKI_AGENT_DEFAULT, "sessions",
                                  directory, sizeof directory, err);
    if (st == MAKI_OK)
        st = maki_session_file(chat->home, MAKI_AGENT_DEFAULT, id, out, MAKI_PATH_MAX, err);
    return st;
}

bool maki_chat_began(const maki_chat *chat)
{
    return chat->path[0] && access(chat->path, F_OK) == 0;
}

/* A name of the user's own: a key, whose session is made by the first message. */
static maki_status find_key(maki_chat *chat, const char *name, maki_err *err)
{
    bool whole = strncmp(name, "agent:", 6) == 0;
    int n = snprintf(chat->key, sizeof chat->key, "%s%s",
                     whole ? "" : "agent:" MAKI_AGENT_DEFAULT ":", name);
    if (n < 0 || (size_t)n >= sizeof chat->key)
        return maki_fail(err, MAKI_INVALID, "the session's name is longer than %d bytes",
                         MAKI_KEY_MAX - 1);
    maki_status st = maki_conversation_path(chat->m, chat->key, chat->path, sizeof chat->path, err);
    if (st != MAKI_NOTFOUND) return st;
    chat->path[0] = '\0';
    return MAKI_OK;
}

/* One that is there, a path, or a name.  A folder that happens to be called like the session is none: nothing is
 * written into it. */
static maki_status find_session(maki_chat *chat, const char *name, maki_err *err)
{
    size_t n = strlen(name);
    bool file = n > 6 && strcmp(name + n - 6, ".jsonl") == 0;
    maki_status st = maki_conversation_path(chat->m, name, chat->path, sizeof chat->path, err);
    if (st != MAKI_OK && st != MAKI_NOTFOUND) return st;
    if (st == MAKI_OK && (file || maki_chat_began(chat))) return MAKI_OK;
    if (strchr(name, '/'))
        return maki_fail(err, MAKI_NOTFOUND,
                         "there is no conversation %.100s; the path of a new one ends with .jsonl",
                         name);
    return find_key(chat, name, err);
}

static maki_status open_all(maki_chat *chat, const maki_chat_options *options, maki_err *err)
{
    snprintf(chat->provider, sizeof chat->provider, "%s",
             options->provider ? options->provider : "");
    snprintf(chat->model, sizeof chat->model, "%s", options->model ? options->model : "");
    maki_status st = open_config(chat, options->config, err);
    if (st == MAKI_OK) st = open_engine(chat, err);
    if (st != MAKI_OK) return st;
    chat->name = options->session;
    return options->session ? find_session(chat, options->session, err)
                            : maki_chat_new_path(chat, chat->path, err);
}

maki_status maki_chat_open(const maki_env *env, const maki_chat_options *options, maki_chat **out,
                           maki_err *err)
{
    maki_chat *chat = maki_new(env->alloc, maki_chat);
    if (!chat) return maki_fail_nomem(err);
    maki_output_form form = options->json            ? MAKI_OUTPUT_JSON
                            : maki_terminal_styled() ? MAKI_OUTPUT_TERMINAL
                                                     : MAKI_OUTPUT_PLAIN;
    chat->env = env;
    chat->showing = maki_output_new(env->files, form);
    chat->input = maki_buf_new(env->alloc, MAKI_CHAT_ANSWER_MAX);
    chat->reply = maki_buf_new(env->alloc, MAKI_CHAT_ANSWER_MAX);
    maki_status st = open_all(chat, options, err);
    if (st != MAKI_OK) {
        maki_chat_close(chat);
        return st;
    }
    *out = chat;
    return MAKI_OK;
}

void maki_chat_close(maki_chat *chat)
{
    if (!chat) return;
    maki_turns_close(chat->turns);
    maki_close(chat->m);
    maki_config_close(chat->config);
    maki_buf_free(&chat->input);
    maki_buf_free(&chat->reply);
    maki_delete(chat->env->alloc, chat);
}

/* ---- a turn ---------------------------------------------------------------------------------------- */

static void keep_result(maki_chat *chat, const maki_turn_result *result)
{
    if (result->path[0]) snprintf(chat->path, sizeof chat->path, "%s", result->path);
    if (result->model[0]) snprintf(chat->answering, sizeof chat->answering, "%s", result->model);
    chat->figures = (maki_status_bar){ result->context, result->window, (double)result->visible,
                                       chat->answering, result->visible > 0 };
}

/* Once for each: an agent that was not told its rules behaves like one that has none. */
static void tell_unread(maki_chat *chat)
{
    for (unsigned i = 0; i < MAKI_BOOTSTRAP_COUNT; i++) {
        const maki_boot_report *told = &chat->result.bootstrap[i];
        bool bad = told->why[0] != '\0';
        if ((bad || told->repaired) && !(chat->unread & 1u << i))
            maki_chat_note(chat,
                           bad ? "(%s was not read: %s)\n" : "(%s is not UTF-8 throughout%s)\n",
                           told->name, told->why);
        chat->unread = bad || told->repaired ? chat->unread | 1u << i : chat->unread & ~(1u << i);
    }
}

/* How a turn ended, besides its answer. */
static void tell_end(maki_chat *chat, maki_status st, const maki_err *err)
{
    tell_unread(chat);
    bool stopped = maki_terminal_take_interrupt(); /* even if it came too late to stop anything */
    if (st == MAKI_OK) {
        maki_output_stop(&chat->showing, chat->result.stop);
    } else if (chat->showing.form == MAKI_OUTPUT_JSON) {
        keep_code(chat, err); /* the line of the end told it */
    } else if (st == MAKI_CANCELLED && stopped) {
        maki_chat_note(chat, chat->result.last > chat->result.asked
                                 ? "(stopped; what came is kept)\n"
                                 : "(stopped before anything came)\n");
        keep_code(chat, err);
    } else {
        maki_chat_fail(chat, err);
    }
}

/* The turn, and its answer as it comes. */
static maki_status answer(maki_chat *chat, maki_str text, maki_err *err)
{
    maki_turn_callbacks calls;
    maki_err ended;
    maki_turn_request request = { .path = chat->path[0] ? chat->path : NULL,
                                  .key = chat->key,
                                  .text = text,
                                  .provider = maki_str_of(chat->provider),
                                  .model = maki_str_of(chat->model) };
    maki_output_begin(&chat->showing, &calls);
    maki_status st = maki_turn(chat->turns, &request, &calls, &chat->result, err);
    keep_result(chat, &chat->result);
    if (!chat->figures.known) maki_chat_measure(chat); /* it ended before anything was counted */
    maki_status shown =
        maki_output_end(&chat->showing, st, err, &chat->result, &chat->figures, &ended);
    if (st != MAKI_OK || shown == MAKI_OK) return st;
    *err = ended;
    return shown;
}

void maki_chat_turn(maki_chat *chat, maki_str text)
{
    maki_err err;
    maki_terminal_take_interrupt();
    bool terminal = chat->showing.form == MAKI_OUTPUT_TERMINAL;
    if (terminal) maki_terminal_echo(false);
    maki_status st = answer(chat, text, &err);
    if (terminal) maki_terminal_echo(true);
    tell_end(chat, st, &err);
}

void maki_chat_say(maki_chat *chat, maki_str text)
{
    maki_err err;
    if (text.len) {
        maki_chat_turn(chat, text);
        return;
    }
    maki_fail(&err, MAKI_INVALID, "there is nothing to say: the message is empty");
    maki_chat_fail(chat, &err);
}

void maki_chat_line(maki_chat *chat, maki_str line, bool *go_on)
{
    while (line.len && isspace((unsigned char)line.ptr[line.len - 1]))
        line.len--;
    if (maki_slash_command_is(line)) {
        maki_chat_command(chat, line);
    } else if (line.len) {
        maki_chat_say(chat, line);
    }
    *go_on = !chat->leaving;
}

/* ---- hello and goodbye ------------------------------------------------------------------------------ */

maki_status maki_chat_provider(const maki_chat *chat, maki_provider *out, maki_err *err)
{
    return maki_provider_from_config(chat->config, MAKI_LIT(MAKI_AGENT_DEFAULT),
                                     maki_str_of(chat->provider), maki_str_of(chat->model), out,
                                     err);
}

void maki_chat_greet(maki_chat *chat)
{
    maki_provider provider;
    maki_err err;
    maki_chat_measure(chat);
    if (maki_chat_provider(chat, &provider, &err) != MAKI_OK) {
        maki_chat_note(chat, "maki chat: %s\n", err.msg);
        if (is_unset(chat)) maki_chat_note(chat, "\n%s\n", setup);
        return;
    }
    maki_str model = chat->model[0] ? maki_str_of(chat->model) : provider.model;
    snprintf(chat->answering, sizeof chat->answering, "%.*s", MAKI_PRINTED(model));
    maki_chat_note(chat, "%s answers.  /help lists the commands, Ctrl-D leaves.\n",
                   chat->answering);
}

void maki_chat_part(maki_chat *chat)
{
    maki_session_location place;
    if (!maki_chat_began(chat)) return;
    bool session = maki_session_location_of(chat->path, &place);
    bool plain = chat->name && !chat->name[strcspn(chat->name, " \t\"'\\$`&|;<>()*?[]#~!")];
    maki_chat_note(chat, "maki chat --session %s goes on with it.\n",
                   plain     ? chat->name
                   : session ? place.id
                             : chat->path);
}

/* ---- the bar --------------------------------------------------------------------------------------- */

maki_editor_bar maki_chat_bar(maki_chat *chat)
{
    if (chat->figures.known)
        return (maki_editor_bar){ maki_status_bar_text(&chat->figures, chat->bar),
                                  maki_terminal_coloured() ? maki_status_bar_colour(&chat->figures)
                                                           : "" };
    int n = snprintf(chat->bar, sizeof chat->bar, "a new conversation%s%s",
                     chat->answering[0] ? " · " : "", chat->answering);
    return (maki_editor_bar){ { chat->bar, (size_t)n }, "\033[2m" };
}
