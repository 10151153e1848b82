/* main.c -- maki-chat: a chat as a program.  `maki chat` starts it. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/str_util.h"
#include "chat/chat.h"
#include "chat/terminal.h"

enum { MESSAGE_MAX = 64 << 20, CHUNK = 1 << 16 };

/* Widths and typed characters are the locale's; a machine without one still speaks UTF-8. */
static void speak_utf8(void)
{
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

static int fail(const maki_err *err)
{
    fprintf(stderr, "maki chat: %s\n", err->msg);
    return maki_status_exit(err->status);
}

/* ---- in a pipe ------------------------------------------------------------------------------------- */

/* More of standard input into `buf`; false at its end. */
static bool read_more(maki_buf *buf)
{
    char *capacity = maki_buf_reserve(buf, CHUNK);
    ssize_t n = -1;
    while (capacity && (n = read(STDIN_FILENO, capacity, CHUNK)) < 0 && errno == EINTR) {
        if (maki_terminal_interrupted()) break; /* nobody is answering: it ends the program */
    }
    if (n > 0) buf->len += (size_t)n;
    return n > 0;
}

/* All of standard input as one message. */
static maki_status say_all(maki_chat *chat, const maki_env *env, maki_err *err)
{
    maki_buf all = maki_buf_new(env->alloc, MESSAGE_MAX);
    while (read_more(&all)) {
    }
    maki_str text = maki_buf_str(&all);
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    maki_status st = maki_buf_status(&all, err);
    if (st == MAKI_OK) maki_chat_say(chat, text);
    maki_buf_free(&all);
    return st;
}

/* A line that ends with a backslash goes on in the next: the backslash goes. */
static bool goes_on(maki_str line)
{
    return line.len && line.ptr[line.len - 1] == '\\';
}

/* Take one message out of what was read; false: its end has not come yet. */
static bool next_message(maki_buf *read, bool ended, maki_buf *message)
{
    maki_str all = maki_buf_str(read);
    size_t from = 0;
    maki_buf_clear(message);
    while (from < all.len) {
        const char *end = memchr(all.ptr + from, '\n', all.len - from);
        if (!end && !ended) return false;
        size_t to = end ? (size_t)(end - all.ptr) : all.len;
        maki_str line = { all.ptr + from, to - from };
        from = end ? to + 1 : to;
        bool more = goes_on(line) && from < all.len;
        if (goes_on(line) && !more && !ended) return false;
        if (more) line.len--;
        maki_buf_add(message, line);
        if (more) maki_buf_add_byte(message, '\n');
        if (!more) break;
    }
    if (from == 0) return false;
    memmove(read->ptr, read->ptr + from, read->len - from);
    read->len -= from;
    return true;
}

static maki_status chat_in_pipe(maki_chat *chat, const maki_env *env, maki_err *err)
{
    maki_buf read = maki_buf_new(env->alloc, MESSAGE_MAX);
    maki_buf message = maki_buf_new(env->alloc, MESSAGE_MAX);
    bool go_on = true, ended = false;
    while (go_on && !(ended && read.len == 0)) {
        if (next_message(&read, ended, &message)) {
            maki_chat_line(chat, maki_buf_str(&message), &go_on);
        } else {
            ended = !read_more(&read);
        }
        if (read.status != MAKI_OK || message.status != MAKI_OK) break;
    }
    maki_status st = maki_buf_status(&read, err);
    if (st == MAKI_OK) st = maki_buf_status(&message, err);
    maki_buf_free(&read);
    maki_buf_free(&message);
    return st;
}

/* ---- in a terminal --------------------------------------------------------------------------------- */

/* A message of one or more lines. */
static maki_editor_end read_message(maki_chat *chat, maki_editor *editor, maki_buf *message)
{
    maki_editor_bar bar = maki_chat_bar(chat);
    maki_str line;
    const char *prompt = "> ";
    maki_editor_end end;
    maki_buf_clear(message);
    while ((end = maki_editor_read(editor, prompt, &bar, &line)) == MAKI_EDITOR_LINE) {
        bool more = goes_on(line);
        if (more) line.len--;
        maki_buf_add(message, line);
        if (!more) break;
        maki_buf_add_byte(message, '\n');
        prompt = ". ";
    }
    return end;
}

static maki_status chat_in_terminal(maki_chat *chat, const maki_env *env, maki_err *err)
{
    maki_editor *editor = NULL;
    maki_buf message = maki_buf_new(env->alloc, MESSAGE_MAX);
    bool go_on = true;
    maki_status st = maki_editor_open(env, &editor, err);
    if (st != MAKI_OK) return st;
    maki_chat_greet(chat);
    while (go_on) {
        switch (read_message(chat, editor, &message)) {
        case MAKI_EDITOR_LINE:
            st = maki_buf_status(&message, err); /* nothing is sent that is a part only */
            if (st == MAKI_OK) maki_chat_line(chat, maki_buf_str(&message), &go_on);
            go_on = go_on && st == MAKI_OK;
            break;
        case MAKI_EDITOR_INTERRUPTED: break;
        case MAKI_EDITOR_LEAVING: printf("Ctrl-D or /quit leaves.\n"); break;
        case MAKI_EDITOR_END: go_on = false; break;
        }
        fflush(stdout);
    }
    maki_chat_part(chat);
    maki_editor_close(editor);
    maki_buf_free(&message);
    return st;
}

/* ---- which of them --------------------------------------------------------------------------------- */

static int run(const maki_env *env, const maki_chat_options *options)
{
    maki_chat *chat = NULL;
    maki_err err;
    maki_status st = maki_chat_open(env, options, &chat, &err);
    if (st != MAKI_OK) return fail(&err);
    bool terminal = isatty(STDIN_FILENO) && maki_terminal_styled() && !options->json;
    if (options->say && strcmp(options->say, "-") == 0) {
        st = say_all(chat, env, &err);
    } else if (options->say) {
        maki_chat_say(chat, maki_str_of(options->say));
    } else if (terminal) {
        st = chat_in_terminal(chat, env, &err);
    } else {
        st = chat_in_pipe(chat, env, &err);
    }
    int code = terminal && !options->say ? 0 : maki_chat_exit_code(chat);
    maki_chat_close(chat);
    return st == MAKI_OK ? code : fail(&err);
}

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_fd_sink out = { env.files, STDOUT_FILENO };
    maki_chat_options options;
    maki_err err;
    signal(SIGPIPE, SIG_IGN);
    speak_utf8();
    if (maki_chat_options_read(argc, argv, &options, &err) != MAKI_OK) return fail(&err);
    if (options.help) {
        maki_chat_options_help(maki_fd_sink_of(&out));
        return 0;
    }
    maki_terminal_watch();
    return run(&env, &options);
}
