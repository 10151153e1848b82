/* main.c -- maki-chat, which `maki chat` starts: read messages from the command line, a pipe or the line editor. */
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

enum { MESSAGE_MAX = 64 << 20, READ_SIZE = 1 << 16 };

/* The line editor reads characters of the locale; without one, use UTF-8. */
static void set_utf8_locale(void)
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

/* Read more of standard input; false at its end. */
static bool read_more(maki_buf *buf)
{
    char *space = maki_buf_reserve(buf, READ_SIZE);
    ssize_t n = -1;
    while (space && (n = read(STDIN_FILENO, space, READ_SIZE)) < 0 && errno == EINTR) {
        if (maki_terminal_interrupted()) break; /* no turn is running: end the program */
    }
    if (n > 0) buf->len += (size_t)n;
    return n > 0;
}

/* Send all of standard input as one message. */
static maki_status send_stdin(maki_chat *chat, const maki_env *env, maki_err *err)
{
    maki_buf input = maki_buf_new(env->alloc, MESSAGE_MAX);
    while (read_more(&input)) {
    }
    maki_str text = maki_buf_str(&input);
    while (text.len && text.ptr[text.len - 1] == '\n')
        text.len--;
    maki_status st = maki_buf_status(&input, err);
    if (st == MAKI_OK) maki_chat_send(chat, text);
    maki_buf_free(&input);
    return st;
}

/* A line that ends with a backslash is continued by the next one. */
static bool is_continued(maki_str line)
{
    return line.len && line.ptr[line.len - 1] == '\\';
}

/* The next line of standard input, without its newline, from `in` at *offset; false at the end. */
static bool next_line(maki_buf *in, size_t *offset, maki_str *line)
{
    for (;;) {
        maki_str rest = maki_str_skip(maki_buf_str(in), *offset);
        if (maki_str_take(&rest, '\n', line)) {
            *offset += line->len + 1;
            return true;
        }
        if (*offset) memmove(in->ptr, line->ptr, line->len);
        in->len = line->len;
        *offset = 0;
        if (read_more(in)) continue;
        *line = maki_buf_str(in);
        *offset = line->len;
        return line->len > 0;
    }
}

static maki_status chat_in_pipe(maki_chat *chat, const maki_env *env, maki_err *err)
{
    maki_buf in = maki_buf_new(env->alloc, MESSAGE_MAX);
    maki_buf message = maki_buf_new(env->alloc, MESSAGE_MAX);
    bool quit = false, continued = false;
    size_t offset = 0;
    maki_str line;
    while (!quit && message.status == MAKI_OK && next_line(&in, &offset, &line)) {
        if (continued) message.ptr[message.len - 1] = '\n'; /* in place of the backslash */
        maki_buf_add(&message, line);
        continued = is_continued(line);
        if (continued || message.status != MAKI_OK) continue;
        maki_chat_line(chat, maki_buf_str(&message), &quit);
        maki_buf_clear(&message);
    }
    maki_status st = maki_buf_status(&in, err);
    if (st == MAKI_OK) st = maki_buf_status(&message, err);
    if (st == MAKI_OK && continued) maki_chat_line(chat, maki_buf_str(&message), &quit);
    maki_buf_free(&in);
    maki_buf_free(&message);
    return st;
}

/* ---- in a terminal --------------------------------------------------------------------------------- */

/* Read a message of one or more lines from the editor. */
static maki_editor_end read_message(maki_chat *chat, maki_editor *editor, maki_buf *message)
{
    maki_editor_bar bar = maki_chat_bar(chat);
    maki_str line;
    const char *prompt = "> ";
    maki_editor_end end;
    maki_buf_clear(message);
    while ((end = maki_editor_read(editor, prompt, &bar, &line)) == MAKI_EDITOR_LINE) {
        bool more = is_continued(line);
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
    bool quit = false;
    maki_status st = maki_editor_open(env, &editor, err);
    if (st != MAKI_OK) return st;
    maki_chat_greet(chat);
    while (!quit) {
        switch (read_message(chat, editor, &message)) {
        case MAKI_EDITOR_LINE:
            st = maki_buf_status(&message, err); /* an incomplete message is not sent */
            if (st == MAKI_OK) maki_chat_line(chat, maki_buf_str(&message), &quit);
            quit = quit || st != MAKI_OK;
            break;
        case MAKI_EDITOR_INTERRUPTED: break;
        case MAKI_EDITOR_INTERRUPTED_EMPTY: printf("Ctrl-D or /quit ends the chat.\n"); break;
        case MAKI_EDITOR_END: quit = true; break;
        }
        fflush(stdout);
    }
    maki_chat_farewell(chat);
    maki_editor_close(editor);
    maki_buf_free(&message);
    return st;
}

/* ---- the program --------------------------------------------------------------------------------- */

static int run(const maki_env *env, const maki_chat_options *options)
{
    maki_chat *chat = NULL;
    maki_err err;
    maki_status st = maki_chat_open(env, options, &chat, &err);
    if (st != MAKI_OK) return fail(&err);
    bool terminal = isatty(STDIN_FILENO) && maki_terminal_styled() && !options->json;
    if (options->message && strcmp(options->message, "-") == 0) {
        st = send_stdin(chat, env, &err);
    } else if (options->message) {
        maki_chat_send(chat, maki_str_of(options->message));
    } else if (terminal) {
        st = chat_in_terminal(chat, env, &err);
    } else {
        st = chat_in_pipe(chat, env, &err);
    }
    int code = terminal && !options->message ? 0 : maki_chat_exit_code(chat);
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
    set_utf8_locale();
    if (maki_chat_options_read(argc, argv, &options, &err) != MAKI_OK) return fail(&err);
    if (options.help) {
        maki_chat_options_help(maki_fd_sink_of(&out));
        return 0;
    }
    maki_terminal_watch();
    return run(&env, &options);
}
