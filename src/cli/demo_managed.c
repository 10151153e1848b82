/* demo_managed.c -- a long conversation of a migration: appended, then condensed, trimmed and undone by operations.
 *
 * The same messages every time; the summary is the offline one, so no model and no network is needed.  Its model is one
 * with a small window, so that a few long results of tools fill it. */
#include "demo_managed.h"

#include <stdio.h>

#include "base/json_access.h"
#include "base/json_print.h"
#include "cli.h"

#define MODEL "gpt-3.5-turbo" /* its window has 16,385 tokens */

enum { LOG_LINES = 110, ID_MAX = 64 };

/* Who speaks, and what; with a tool, the call is of the assistant, and its result is a log of LOG_LINES lines. */
static const struct demo_row {
    const char *role, *text, *tool, *arguments;
} rows[] = {
    { "user",
      "We move the recipe site to the new server this week. Help me plan it and keep track.", NULL,
      NULL },
    { "assistant", "Gladly. Which parts are there, and is there a fixed date?", NULL, NULL },
    { "user",
      "A PostgreSQL 15 database, 412 MB, the images, and the search index. We switch over on Friday at 22:00. "
      "Rules: never delete anything on the old server before Monday, and always take a backup before each step.",
      NULL, NULL },
    { "assistant",
      "Understood: nothing is deleted on the old server before Monday, and each step begins with a backup. "
      "I will look at the database first.",
      "run_command", "{\"command\":\"pg_dump --verbose recipes > backup/recipes.sql\"}" },
    { "assistant",
      "The backup is in backup/recipes.sql. The largest table is ingredients with 1,204,331 rows.",
      NULL, NULL },
    { "user", "Good. Restore it on the new server and compare the row counts.", NULL, NULL },
    { "assistant", "Restoring it now.", "run_command",
      "{\"command\":\"psql recipes < backup/recipes.sql\"}" },
    { "assistant", "All 31 tables have the same number of rows on both servers.", NULL, NULL },
    { "user",
      "We decided to keep the images in object storage instead of /var/www/images. 画像は WebP にしてください。",
      NULL, NULL },
    { "assistant", "Decided: the images go to object storage, as WebP. I convert them first.",
      "run_command", "{\"command\":\"scripts/convert-images --to webp\"}" },
    { "assistant", "8,214 images are converted; 3 failed and are listed in logs/convert.txt.", NULL,
      NULL },
    { "user", "Look at those three tomorrow. Now the search index, please.", NULL, NULL },
    { "assistant", "I build it on the new server.", "run_command",
      "{\"command\":\"bin/reindex --all\"}" },
    { "assistant", "The index has 18,902 recipes. Searching for \"miso soup\" takes 9 ms.", NULL,
      NULL },
    { "user", "Great. What is still open before Friday?", NULL, NULL },
    { "assistant",
      "Two things: the three images in logs/convert.txt, and lowering the DNS time to live to 300 seconds by Thursday.",
      NULL, NULL },
    { "user", "I will do the DNS. Remind me of the rule about the old server.", NULL, NULL },
    { "assistant", "Nothing on the old server is deleted before Monday.", NULL, NULL },
};

/* A row, and with a tool the result that follows it. */
static void write_row(maki_jw *w, const struct demo_row *row, int number)
{
    bool reply = row->role[0] == 'a';
    maki_jw_print(w, "{'role':%z,'content':[{'type':'text','text':%z}", row->role, row->text);
    if (row->tool) {
        char id[ID_MAX];
        snprintf(id, sizeof id, "call_%d", number);
        maki_jw_print(w, "{'type':'tool_use','id':%z,'name':%z,'input':%v}", id, row->tool,
                      maki_str_of(row->arguments));
    }
    maki_jw_print(w, "]");
    if (reply) maki_jw_print(w, "'meta':{'model':%z}", MODEL);
    maki_jw_print(w, "}");
}

static void write_result(maki_jw *w, int number)
{
    char id[ID_MAX], line[120];
    maki_buf log = cli_buf();
    snprintf(id, sizeof id, "call_%d", number);
    for (int i = 1; i <= LOG_LINES; i++) {
        snprintf(line, sizeof line, "%02d:%02d:%02d step %d, part %d of %d: done in %d ms\n",
                 9 + number / 4, i % 60, (i * 7) % 60, number, i, LOG_LINES,
                 40 + (i * 37 + number * 11) % 900);
        maki_buf_add(&log, maki_str_of(line));
    }
    maki_jw_print(
        w, "{'role':'user','content':[{'type':'tool_result','tool_use_id':%z,'content':%s}]}", id,
        cli_text(&log));
    maki_buf_free(&log);
}

typedef struct managed {
    const cli_url *daemon;
    char id[ID_MAX];
    maki_err *err;
} managed;

/* Run an operation: the input is the fields, with the conversation once it is known. */
static int run_op(managed *m, const char *name, const char *fields, maki_str more)
{
    char path[80];
    maki_buf body = cli_buf(), answer = cli_buf();
    maki_str value;
    snprintf(path, sizeof path, "/maki/ops/%s", name);
    maki_buf_print(&body, "{");
    if (m->id[0])
        maki_buf_print(&body, "\"conversation\":\"%s\"%s", m->id, fields[0] || more.len ? "," : "");
    maki_buf_print(&body, "%s", fields);
    maki_buf_add(&body, more);
    maki_buf_print(&body, "}");
    int status = cli_http_request(m->daemon, "POST", path, "Content-Type: application/json\r\n",
                                  cli_text(&body), &answer, m->err);
    if (status == 200 && !m->id[0] && maki_json_check(cli_text(&answer), &value, m->err) == MAKI_OK)
        maki_json_text_field(value, "id", m->id, sizeof m->id);
    maki_buf_free(&body);
    maki_buf_free(&answer);
    return status;
}

static int append_rows(managed *m)
{
    maki_buf messages = cli_buf();
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&messages), NULL);
    maki_jw_begin_array(&w);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_row(&w, &rows[i], (int)i);
        if (rows[i].tool) write_result(&w, (int)i);
    }
    maki_jw_end_array(&w);
    int status = maki_jw_end(&w) == MAKI_OK
                     ? run_op(m, "history.append", "\"messages\":", cli_text(&messages))
                     : 0;
    maki_buf_free(&messages);
    return status;
}

int cli_demo_managed(const cli_url *daemon, maki_err *err)
{
    static const char *const steps[][2] = {
        { "history.pin", "\"seq\":3" }, /* the rules */
        { "history.trim", "\"seq\":5,\"head\":400,\"tail\":400" },
        { "history.condense", "\"keepCount\":10" },
        { "history.delete", "\"seq\":21" }, /* by mistake: */
        { "history.undo", "" },
        { "session.set", "\"threshold\":60" },
    };
    managed m = { .daemon = daemon, .err = err };
    const maki_str none = { "", 0 };
    int status = run_op(
        &m, "session.resolve",
        "\"channel\":\"demo\",\"sender\":\"maki\",\"new\":true,\"client\":\"maki demo\"", none);
    if (status == 200) status = append_rows(&m);
    for (size_t i = 0; status == 200 && i < sizeof steps / sizeof steps[0]; i++)
        status = run_op(&m, steps[i][0], steps[i][1], none);
    return status;
}
