/* chat.c -- open a session, run turns, print their outcome, the greeting and the status bar.
 *
 * In:    the options; the lines of the user: messages and slash commands.
 * Out:   turns of the engine (engine/turn.h), shown by output.c; commands are in chat_command.c.
 * Always: chat->path is the path of an existing conversation, or of the one that the first message creates; if it is "",
 *         the first message creates the session of chat->key. */
#include "chat/chat.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/random.h"
#include "base/str_util.h"
#include "base/text.h"
#include "chat/chat_internal.h"
#include "chat/status_bar.h"
#include "chat/terminal.h"
#include "ops/operation.h"

/* ---- errors ------------------------------------------------------------------------------------- */

static const char setup[] =
    "No provider is configured yet.  Put three lines like these into maki.yaml, in this directory\n"
    "or in ~/.config/maki, and set ANTHROPIC_API_KEY:\n"
    "\n"
    "  llm:\n"
    "    provider: anthropic\n"
    "    anthropic: {model: claude-sonnet-4-5}\n"
    "\n"
    "The same for openai, gemini, openrouter, deepseek and zai; ollama and lmstudio on this\n"
    "machine need no key.  To try it without a model, use the fake provider, which repeats\n"
    "what you write: start `maki-fake-provider --port 4748` and write\n"
    "\n"
    "  llm:\n"
    "    provider: fake\n"
    "    fake: {model: fake-1, base_url: \"http://127.0.0.1:4748\"}\n";

/* Set the exit code; the first error wins. */
static void set_exit_code(maki_chat *chat, const maki_err *err)
{
    if (chat->exit_code == 0) chat->exit_code = maki_status_exit(err->status);
}

/* Is no provider set, by option or configuration? */
static bool is_unconfigured(const maki_chat *chat)
{
    maki_provider provider;
    maki_err why;
    return chat->provider[0] == '\0' && maki_config_text(chat->config, "llm.provider").len == 0 &&
           maki_chat_provider(chat, &provider, &why) == MAKI_NOTFOUND;
}

void maki_chat_fail(maki_chat *chat, const maki_err *err)
{
    set_exit_code(chat, err);
    if (err->status == MAKI_IO && maki_terminal_output_closed()) return;
    maki_output_error(&chat->output, err);
    if (err->status == MAKI_NOTFOUND && is_unconfigured(chat)) maki_chat_note(chat, "\n%s", setup);
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

/* Log lines are printed only if log.level is set. */
static const maki_logger *open_log(maki_chat *chat)
{
    maki_config_value level;
    if (!maki_config_find_value(chat->config, "log.level", &level) ||
        level.source == MAKI_CONFIG_DEFAULT)
        return NULL;
    chat->logger =
        (maki_logger){ chat->env->clock, maki_fd_sink_of(&chat->output.notes), MAKI_INFO };
    maki_level_parse(maki_config_text(chat->config, "log.level"), &chat->logger.min_level);
    maki_set_logger(chat->m, chat->logger.sink, NULL);
    return &chat->logger;
}

static bool interrupted(void *ctx)
{
    (void)ctx;
    return maki_terminal_interrupted();
}

/* `background`: prepare summaries in a thread. */
static maki_status open_engine(maki_chat *chat, bool background, maki_err *err)
{
    (void)maki_home(chat->home,
                    sizeof chat->home); /* not needed for a conversation given by its path */
    maki_options options = { sizeof options, *chat->env, MAKI_MAX_MEMORY, chat->home };
    maki_status st = maki_open(&options, &chat->m, err);
    if (st != MAKI_OK) return st;
    maki_set_config(chat->m, chat->config);
    maki_set_cancel(chat->m, interrupted, NULL);
    maki_turns_options turns = { .env = chat->env,
                                 .config = chat->config,
                                 .home = chat->home,
                                 .logger = open_log(chat),
                                 .durability = MAKI_DURABILITY_SYNC,
                                 .background = background };
    st = maki_turns_open(&turns, &chat->turns, err);
    if (st == MAKI_OK) maki_set_model(chat->m, maki_turns_model(chat->turns));
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

bool maki_chat_exists(const maki_chat *chat)
{
    return chat->path[0] && access(chat->path, F_OK) == 0;
}

/* Set chat->key to `name`, and chat->path to its session, or "" if the first message will create it. */
static maki_status set_key(maki_chat *chat, const char *name, maki_err *err)
{
    bool key = strncmp(name, "agent:", 6) == 0;
    int n = snprintf(chat->key, sizeof chat->key, "%s%s",
                     key ? "" : "agent:" MAKI_AGENT_DEFAULT ":", name);
    if (n < 0 || (size_t)n >= sizeof chat->key)
        return maki_fail(err, MAKI_INVALID, "the session's name is longer than %d bytes",
                         MAKI_KEY_MAX - 1);
    maki_status st = maki_conversation_path(chat->m, chat->key, chat->path, sizeof chat->path, err);
    if (st != MAKI_NOTFOUND) return st;
    chat->path[0] = '\0';
    return MAKI_OK;
}

/* Set chat->path or chat->key by `name`: an existing session, a path, or a new name.  A directory is not a session:
 * nothing is written to it. */
static maki_status select_session(maki_chat *chat, const char *name, maki_err *err)
{
    size_t n = strlen(name);
    bool file = n > 6 && strcmp(name + n - 6, ".jsonl") == 0;
    maki_status st = maki_conversation_path(chat->m, name, chat->path, sizeof chat->path, err);
    if (st != MAKI_OK && st != MAKI_NOTFOUND) return st;
    if (st == MAKI_OK && (file || maki_chat_exists(chat))) return MAKI_OK;
    if (strchr(name, '/'))
        return maki_fail(err, MAKI_NOTFOUND,
                         "%.100s is not a conversation; the path of a new one ends with .jsonl",
                         name);
    return set_key(chat, name, err);
}

static maki_status open_all(maki_chat *chat, const maki_chat_options *options, maki_err *err)
{
    snprintf(chat->provider, sizeof chat->provider, "%s",
             options->provider ? options->provider : "");
    snprintf(chat->model, sizeof chat->model, "%s", options->model ? options->model : "");
    maki_status st = open_config(chat, options->config, err);
    /* no background summaries: the chat ends after one message */
    if (st == MAKI_OK) st = open_engine(chat, !options->message, err);
    if (st != MAKI_OK) return st;
    chat->name = options->session;
    return options->session ? select_session(chat, options->session, err)
                            : maki_chat_new_path(chat, chat->path, err);
}

maki_status maki_chat_open(const maki_env *env, const maki_chat_options *options, maki_chat **out,
                           maki_err *err)
{
    maki_chat *chat = maki_new(env->alloc, maki_chat);
    if (!chat) return maki_fail_nomem(err);
    maki_output_format format = options->json            ? MAKI_OUTPUT_JSON
                                : maki_terminal_styled() ? MAKI_OUTPUT_TERMINAL
                                                         : MAKI_OUTPUT_PLAIN;
    chat->env = env;
    chat->output = maki_output_new(env->files, format);
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

static void update_usage(maki_chat *chat, const maki_turn_result *result)
{
    if (result->path[0]) snprintf(chat->path, sizeof chat->path, "%s", result->path);
    if (result->model[0]) snprintf(chat->answering, sizeof chat->answering, "%s", result->model);
    chat->usage = (maki_status_bar){ result->context, result->window, (double)result->visible,
                                     chat->answering, result->visible > 0 };
}

/* Warn once about each bootstrap file that was not read, or was changed (invalid UTF-8). */
static void warn_bootstrap(maki_chat *chat)
{
    for (unsigned i = 0; i < MAKI_BOOTSTRAP_COUNT; i++) {
        const maki_bootstrap_report *file = &chat->result.bootstrap[i];
        unsigned bit = 1u << i, warning = file->why[0] || file->repaired ? bit : 0;
        if (warning & ~chat->warned)
            maki_chat_note(chat,
                           file->why[0] ? "(%s was not read: %s)\n" : "(%s is not valid UTF-8%s)\n",
                           file->name, file->why);
        chat->warned = (chat->warned & ~bit) | warning;
    }
}

/* Warn once if the context window is smaller than window.warning. */
static void warn_window(maki_chat *chat)
{
    const maki_turn_result *r = &chat->result;
    char window[MAKI_GROUPED_MAX], warning[MAKI_GROUPED_MAX];
    if (chat->warned_window || !(r->window > 0 && r->window < r->warning)) return;
    chat->warned_window = true;
    maki_chat_note(
        chat,
        "(the window of %s has %s tokens, under %s: long conversations are condensed often)\n",
        r->model, maki_grouped((uint64_t)r->window, window),
        maki_grouped((uint64_t)r->warning, warning));
}

/* Print the outcome of a turn, except its answer. */
static void print_outcome(maki_chat *chat, maki_status st, const maki_err *err)
{
    warn_bootstrap(chat);
    warn_window(chat);
    bool stopped =
        maki_terminal_take_interrupt(); /* clears the flag also after the turn has ended */
    if (st == MAKI_OK) {
        maki_output_stop(&chat->output, chat->result.stop);
    } else if (chat->output.format == MAKI_OUTPUT_JSON) {
        set_exit_code(chat, err); /* the line `end` has the error */
    } else if (st == MAKI_CANCELLED && stopped) {
        maki_chat_note(chat, chat->result.last > chat->result.asked
                                 ? "(stopped; the part received is kept)\n"
                                 : "(stopped before the answer began)\n");
        set_exit_code(chat, err);
    } else {
        maki_chat_fail(chat, err);
    }
}

/* Run a turn and print its answer while it is received. */
static maki_status answer(maki_chat *chat, maki_str text, maki_err *err)
{
    maki_turn_callbacks calls;
    maki_err output_err;
    maki_turn_request request = { .path = chat->path[0] ? chat->path : NULL,
                                  .key = chat->key,
                                  .client = "maki chat",
                                  .text = text,
                                  .provider = maki_str_of(chat->provider),
                                  .model = maki_str_of(chat->model) };
    maki_output_begin(&chat->output, &calls);
    maki_status st = maki_turn(chat->turns, &request, &calls, &chat->result, err);
    update_usage(chat, &chat->result);
    if (!chat->usage.known)
        maki_chat_refresh_usage(chat); /* it failed before the tokens were counted */
    maki_status printed =
        maki_output_end(&chat->output, st, err, &chat->result, &chat->usage, &output_err);
    if (st != MAKI_OK || printed == MAKI_OK) return st;
    *err = output_err;
    return printed;
}

void maki_chat_turn(maki_chat *chat, maki_str text)
{
    maki_err err;
    maki_terminal_take_interrupt();
    bool terminal = chat->output.format == MAKI_OUTPUT_TERMINAL;
    if (terminal) maki_terminal_echo(false);
    maki_status st = answer(chat, text, &err);
    if (terminal) maki_terminal_echo(true);
    print_outcome(chat, st, &err);
}

void maki_chat_send(maki_chat *chat, maki_str text)
{
    maki_err err;
    if (text.len) {
        maki_chat_turn(chat, text);
        return;
    }
    maki_fail(&err, MAKI_INVALID, "the message is empty");
    maki_chat_fail(chat, &err);
}

void maki_chat_line(maki_chat *chat, maki_str line, bool *quit)
{
    while (line.len && isspace((unsigned char)line.ptr[line.len - 1]))
        line.len--;
    if (maki_slash_command_is(line)) {
        maki_chat_command(chat, line);
    } else if (line.len) {
        maki_chat_send(chat, line);
    }
    *quit = chat->quit;
}

/* ---- greeting and farewell ------------------------------------------------------------------------------ */

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
    maki_chat_refresh_usage(chat);
    if (maki_chat_provider(chat, &provider, &err) != MAKI_OK) {
        maki_chat_note(chat, "maki chat: %s\n", err.msg);
        if (is_unconfigured(chat)) maki_chat_note(chat, "\n%s\n", setup);
        return;
    }
    maki_str model = chat->model[0] ? maki_str_of(chat->model) : provider.model;
    snprintf(chat->answering, sizeof chat->answering, "%.*s", MAKI_PRINTED(model));
    maki_chat_note(chat, "%s answers.  /help lists the commands, Ctrl-D leaves.\n",
                   chat->answering);
}

void maki_chat_farewell(maki_chat *chat)
{
    maki_session_location location;
    if (!maki_chat_exists(chat)) return;
    bool session = maki_session_location_of(chat->path, &location);
    bool plain = chat->name && !chat->name[strcspn(chat->name, " \t\"'\\$`&|;<>()*?[]#~!")];
    maki_chat_note(chat, "maki chat --session %s continues it.\n",
                   plain     ? chat->name
                   : session ? location.id
                             : chat->path);
}

/* ---- status bar ------------------------------------------------------------------------------------ */

maki_editor_bar maki_chat_bar(maki_chat *chat)
{
    if (chat->usage.known)
        return (maki_editor_bar){ maki_status_bar_text(&chat->usage, chat->bar),
                                  maki_terminal_coloured() ? maki_status_bar_colour(&chat->usage)
                                                           : "" };
    int n = snprintf(chat->bar, sizeof chat->bar, "a new session%s%s",
                     chat->answering[0] ? " · " : "", chat->answering);
    return (maki_editor_bar){ { chat->bar, (size_t)n }, "\033[2m" };
}
