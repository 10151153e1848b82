/* send_kit.c -- see send_kit.h. */
#include "send_kit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str_util.h"
#include "tap.h"

/* ---- the provider ------------------------------------------------------------------------------------- */

static void add(char *out, size_t capacity, maki_str text)
{
    size_t used = strlen(out), left = capacity - used - 1;
    size_t n = text.len < left ? text.len : left;
    memcpy(out + used, text.ptr, n);
    out[used + n] = '\0';
}

static maki_status add_log(void *ctx, maki_str bytes, maki_err *err)
{
    send_kit *kit = ctx;
    (void)err;
    add(kit->log, sizeof kit->log, bytes);
    return MAKI_OK;
}

static void sleep_fast(void *ctx, uint32_t ms)
{
    send_kit *kit = ctx;
    kit->slept += ms;
    if (kit->cancel_after && kit->slept >= kit->cancel_after) kit->cancelled = true;
}

bool send_kit_start(const char *program, const char *record, pid_t *pid, char url[64])
{
    int out[2];
    char line[128];
    if (pipe(out) != 0) return false;
    *pid = fork();
    if (*pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execl(program, program, "--port", "0", record ? "--record" : NULL, record, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *said = fdopen(out[0], "r");
    bool good =
        said && fgets(line, sizeof line, said) && sscanf(line, "listening on %63s", url) == 1;
    if (said) fclose(said);
    return good;
}

bool send_kit_open(send_kit *kit, int argc, char **argv)
{
    static maki_logger log;
    memset(kit, 0, sizeof *kit);
    fake_env_init(&kit->fe);
    fake_random_seed(&kit->fe, 42);
    log = (maki_logger){ kit->fe.env.clock, { add_log, kit }, MAKI_DEBUG };
    kit->options = (maki_send_options){ .env = &kit->fe.env,
                                        .provider = &kit->provider,
                                        .log = &log,
                                        .sleep = sleep_fast,
                                        .sleep_ctx = kit };
    signal(SIGPIPE, SIG_IGN);
    tap_row("the fake provider runs");
    return CHECK(argc == 2 && send_kit_start(argv[1], NULL, &kit->pid, kit->url));
}

void send_kit_close(send_kit *kit)
{
    if (kit->pid <= 0) return;
    kill(kit->pid, SIGTERM);
    waitpid(kit->pid, NULL, 0);
}

void send_kit_is(send_kit *kit, maki_protocol protocol, const char *scenario)
{
    snprintf(kit->scenario_line, sizeof kit->scenario_line, "x-fake: %s", scenario);
    kit->scenario = maki_str_of(kit->scenario_line);
    kit->provider = (maki_provider){ .protocol = protocol,
                                     .key = MAKI_LIT(KIT_KEY),
                                     .model = MAKI_LIT("fake"),
                                     .headers = scenario[0] ? &kit->scenario : NULL,
                                     .header_count = scenario[0] ? 1 : 0 };
    snprintf(kit->provider.name, sizeof kit->provider.name, "%s", maki_protocol_name(protocol));
    CHECK_STATUS(maki_provider_set_url(&kit->provider, maki_str_of(kit->url), &kit->err), MAKI_OK,
                 &kit->err);
}

const char *send_kit_body(maki_protocol protocol, bool stream, const char *text)
{
    static _Thread_local char body[8192];
    const char *yes = stream ? "true" : "false";
    const char *shape =
        "{\"model\":\"fake\",\"max_tokens\":99,\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
    if (protocol == MAKI_WIRE_CHAT && stream)
        shape = "{\"model\":\"fake\",\"stream\":%s,\"stream_options\":{\"include_usage\":true},"
                "\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}";
    if (protocol == MAKI_WIRE_RESPONSES)
        shape = "{\"model\":\"fake\",\"stream\":%s,\"input\":\"%s\"}";
    if (protocol == MAKI_WIRE_GENERATE)
        shape = "{\"model\":\"fake\",\"stream\":%s,\"prompt\":\"%s\"}";
    if (protocol == MAKI_WIRE_GEMINI) {
        snprintf(body, sizeof body,
                 "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"%s\"}]}]}", text);
        return body;
    }
    snprintf(body, sizeof body, shape, yes, text);
    return body;
}

/* ---- asking --------------------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    send_kit *kit = ctx;
    (void)err;
    kit->pieces++;
    switch (piece->kind) {
    case MAKI_DELTA_TEXT: add(kit->text, sizeof kit->text, piece->text); break;
    case MAKI_DELTA_REASONING: add(kit->reasoning, sizeof kit->reasoning, piece->text); break;
    case MAKI_DELTA_INPUT: add(kit->input, sizeof kit->input, piece->text); break;
    case MAKI_DELTA_CALL:
        add(kit->calls, sizeof kit->calls, piece->text);
        add(kit->calls, sizeof kit->calls, piece->id.len ? MAKI_LIT("/id ") : MAKI_LIT(" "));
        break;
    }
    return kit->stop_after && kit->pieces >= kit->stop_after ? MAKI_CANCELLED : MAKI_OK;
}

static maki_status on_row(void *ctx, maki_str row, bool whole, maki_err *err)
{
    send_kit *kit = ctx;
    (void)err;
    kit->rows++;
    kit->parts += !whole;
    add(kit->row, sizeof kit->row, row);
    return MAKI_OK;
}

static maki_status on_retry(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                            maki_err *err)
{
    send_kit *kit = ctx;
    char text[64];
    (void)nth, (void)err;
    CHECK(!strstr(why->msg, KIT_KEY));
    int n = snprintf(text, sizeof text, "%d:%u ", kit->result.http_status, (unsigned)pause_ms);
    add(kit->retries, sizeof kit->retries, (maki_str){ text, (size_t)n });
    return MAKI_OK;
}

static bool is_cancelled(void *ctx)
{
    const send_kit *kit = ctx;
    return kit->cancelled;
}

static void forget(send_kit *kit)
{
    kit->text[0] = kit->reasoning[0] = kit->input[0] = kit->calls[0] = '\0';
    kit->row[0] = kit->retries[0] = kit->log[0] = '\0';
    kit->pieces = kit->rows = kit->parts = 0;
    kit->slept = 0;
    kit->cancelled = false;
    kit->err = (maki_err){ .msg = "" };
}

maki_status send_kit_ask_with(send_kit *kit, maki_sender *sender, bool stream, unsigned retries,
                              const char *text)
{
    maki_str body = maki_str_of(send_kit_body(kit->provider.protocol, stream, text));
    maki_send_request request = { .stream = stream,
                                  .body = maki_send_text(&body),
                                  .retries = retries,
                                  .cancelled = is_cancelled,
                                  .cancelled_ctx = kit };
    maki_send_callbacks calls = { kit, kit->deaf ? NULL : on_delta, on_row, on_retry };
    forget(kit);
    maki_status st = maki_send(sender, &request, &calls, &kit->result, &kit->err);
    CHECK(!strstr(kit->err.msg, KIT_KEY) && !strstr(kit->log, KIT_KEY));
    return st;
}

maki_status send_kit_ask(send_kit *kit, bool stream, unsigned retries, const char *text)
{
    maki_sender *sender = NULL;
    maki_status st = maki_sender_open(&kit->options, &sender, &kit->err);
    if (!CHECK_STATUS(st, MAKI_OK, &kit->err)) return st;
    st = send_kit_ask_with(kit, sender, stream, retries, text);
    maki_sender_close(sender);
    CHECK_EQ(fake_alloc_live(&kit->fe), 0);
    CHECK_EQ(fake_files_live(&kit->fe), 0);
    return st;
}
