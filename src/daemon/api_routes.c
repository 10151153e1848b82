/* api_routes.c -- one function for each route: operations, sessions, token counts, metrics, health, events, the page.
 *
 * Each writes its response's body into the spool; an error replaces what was written.  File paths in the input of
 * operations are refused: a client of the daemon may lack the right to read the files of its user. */
#include "daemon/api_routes.h"

#include <stdio.h>
#include <string.h>

#include <maki/maki.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/platform.h"
#include "base/str_util.h"
#include "daemon/client_identity.h"
#include "daemon/demo.h"
#include "daemon/page.h"
#include "daemon/routes.h"
#include "send/model_send.h"
#include "wire/wire.h"

enum { INPUT_MAX = 1 << 16, ID_MAX = 128 };

struct maki_api_routes {
    maki_env env;
    maki_api_routes_options options;
    maki *m;
    maki_provider_models sender;
    maki_model model; /* the providers of the configuration */
};

maki_status maki_api_routes_open(const maki_env *env, const maki_api_routes_options *options,
                                 maki_api_routes **out, maki_err *err)
{
    maki_options library = { sizeof library, *env, MAKI_MAX_MEMORY, options->home };
    maki_api_routes *routes = maki_new(env->alloc, maki_api_routes);
    if (!routes) return maki_fail_nomem(err);
    *routes = (maki_api_routes){ .env = *env, .options = *options };
    maki_status st = maki_open(&library, &routes->m, err);
    if (st != MAKI_OK) {
        maki_api_routes_close(routes);
        return st;
    }
    routes->sender = (maki_provider_models){ .env = &routes->env,
                                             .config = options->config,
                                             .logger = options->logger };
    routes->model = maki_model_of_providers(&routes->sender);
    maki_set_config(routes->m, options->config);
    maki_set_model(routes->m, &routes->model);
    maki_set_notify(routes->m, options->on_event, options->on_event_ctx);
    maki_deny_paths(routes->m);
    if (options->logger)
        maki_set_logger(routes->m, options->logger->sink,
                        maki_level_name(options->logger->min_level));
    *out = routes;
    return MAKI_OK;
}

void maki_api_routes_close(maki_api_routes *routes)
{
    if (!routes) return;
    maki_close(routes->m);
    maki_delete(routes->env.alloc, routes);
}

/* ---- answers ----------------------------------------------------------------------------------------- */

static void answer_status(maki_api_routes_response *response, maki_status st)
{
    response->status = maki_status_http(st);
    response->type = "application/json";
}

/* The body becomes this error, in place of what was written. */
static void answer_error(maki_api_routes_response *response, const maki_err *error)
{
    maki_jw w;
    maki_spool_clear(response->body);
    maki_jw_init(&w, maki_spool_sink(response->body), NULL);
    maki_jw_print(&w, "{'error':{'code':%z,'message':%s}}", maki_status_name(error->status),
                  maki_str_of(error->msg));
    answer_status(response, error->status);
    if (maki_jw_end(&w) != MAKI_OK)
        maki_spool_clear(response->body); /* an empty body; the HTTP status is set */
}

static void fail(maki_api_routes_response *response, maki_status status, const char *message)
{
    maki_err error = { 0 };
    maki_fail(&error, status, "%s", message);
    answer_error(response, &error);
}

static void answer_text(maki_api_routes_response *response, const char *type, maki_str text)
{
    maki_err err = { 0 };
    response->status = 200;
    response->type = type;
    if (maki_spool_add(response->body, text, &err) != MAKI_OK) answer_error(response, &err);
}

/* ---- operations -------------------------------------------------------------------------------------- */

static void run_op(maki_api_routes *routes, maki_str name, maki_str input,
                   maki_api_routes_response *response)
{
    maki_err err = { 0 };
    maki_status st = maki_op(routes->m, name, input, maki_spool_sink(response->body), &err);
    answer_status(response, st);
    if (st != MAKI_OK && response->body->size == 0) answer_error(response, &err);
}

static void post_op(maki_api_routes *routes, const maki_api_routes_request *request, maki_str name,
                    maki_api_routes_response *response)
{
    maki_err err = { 0 };
    maki_str body = request->body.len ? request->body : MAKI_LIT("{}");
    if (!maki_op_find(name)) {
        const char *near = maki_op_suggest(name);
        maki_fail(&err, MAKI_NOTFOUND, "no operation %.*s%s%s; GET /maki/ops lists them",
                  (int)(name.len < 60 ? name.len : 60), name.ptr, near ? "; did you mean " : "",
                  near ? near : "");
        answer_error(response, &err);
    } else {
        run_op(routes, name, body, response);
    }
}

static void list_ops(maki_api_routes_response *response)
{
    maki_jw w;
    maki_err err = { 0 };
    maki_jw_init(&w, maki_spool_sink(response->body), &err);
    maki_jw_print(&w, "{'ops':[");
    for (size_t i = 0; i < maki_op_count(); i++) {
        maki_jw_begin_value(&w);
        if (maki_op_describe(maki_op_at(i), maki_jw_sink(&w), &err) != MAKI_OK) break;
    }
    maki_jw_print(&w, "]}");
    answer_status(response, MAKI_OK);
    if (maki_jw_end(&w) != MAKI_OK) answer_error(response, &err);
}

/* ---- sessions ---------------------------------------------------------------------------------------- */

static bool is_number(maki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!maki_is_digit(text.ptr[i])) return false;
    }
    return text.len > 0 && text.len < 10;
}

/* {"FIELD": TEXT, "limit": N} for an operation about sessions. */
static void sessions_op(maki_api_routes *routes, const char *op, const char *field, maki_str text,
                        const maki_api_routes_request *request, maki_api_routes_response *response)
{
    maki_str limit = maki_query_value(request->query, "limit");
    maki_buf input = maki_buf_new(routes->env.alloc, INPUT_MAX);
    maki_jw w;
    maki_err err = { 0 };
    maki_jw_init(&w, maki_buf_sink(&input), &err);
    maki_jw_begin_object(&w);
    if (text.len) maki_jw_field_string(&w, field, text);
    maki_jw_print(&w, "'limit':%v}", is_number(limit) ? limit : MAKI_LIT(""));
    if (maki_jw_end(&w) != MAKI_OK)
        answer_error(response, &err);
    else
        run_op(routes, maki_str_of(op), maki_buf_str(&input), response);
    maki_buf_free(&input);
}

/* An id or a key has letters, digits, '-', '_', '.' and ':' only. */
static bool is_id(maki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!maki_is_word_char(c) && c != '-' && c != ':' && !(c == '.' && i > 0)) return false;
    }
    return text.len > 0 && text.len < ID_MAX;
}

static void get_session(maki_api_routes *routes, maki_str id,
                        const maki_api_routes_request *request, maki_api_routes_response *response)
{
    if (is_id(id)) sessions_op(routes, "session.show", "conversation", id, request, response);
    if (!is_id(id) || response->status == maki_status_http(MAKI_DENIED))
        fail(response, MAKI_NOTFOUND, "no such session; GET /maki/sessions lists them");
}

/* ---- counting ---------------------------------------------------------------------------------------- */

/* Count the tokens of a request, and answer in the format of its protocol. */
static void count_tokens(maki_api_routes *routes, const maki_api_routes_request *request,
                         const maki_route *route, maki_api_routes_response *response)
{
    char text[MAKI_WIRE_COUNT_MAX];
    maki_wire_tokens tokens;
    maki_err err = { 0 };
    if (maki_wire_count(&routes->env, route->protocol, request->body, route->model, &tokens,
                        &err) != MAKI_OK) {
        answer_error(response, &err);
        return;
    }
    size_t n = maki_wire_print_count(route->protocol, tokens.all, text);
    answer_text(response, "application/json", (maki_str){ text, n });
}

/* ---- routes ------------------------------------------------------------------------------------------ */

static void get_metrics(maki_api_routes *routes, maki_api_routes_response *response)
{
    maki_err err = { 0 };
    response->status = 200;
    response->type = "text/plain; version=0.0.4; charset=utf-8";
    if (maki_metrics_write(routes->options.metrics, maki_spool_sink(response->body), &err) !=
        MAKI_OK)
        answer_error(response, &err);
}

static void get_health(maki_api_routes *routes, maki_api_routes_response *response)
{
    const maki_api_routes_options *o = &routes->options;
    maki_last_failure failure = maki_last_failure_get(o->failure);
    maki_err err = { 0 }, off;
    maki_jw w;
    bool on = maki_recording_state_is_on(o->recording, &off);
    maki_jw_init(&w, maki_spool_sink(response->body), &err);
    maki_jw_print(&w, "{'ok':true,'version':%z,'recording':%b,'why':%z,", maki_version(), on,
                  on ? NULL : off.msg);
    maki_jw_print(&w, "'address':%z,'home':%z,'pid':%i,'started':%i,", o->address, o->home,
                  maki_process_id(), o->started_ms);
    maki_jw_print(
        &w, "'requests':%i,'exchanges':%i,'open':%i,", MAKI_COUNTED(o->metrics, requests_total),
        MAKI_COUNTED(o->metrics, exchanges_total), MAKI_COUNTED(o->metrics, open_exchanges));
    if (failure.ts)
        maki_jw_print(&w, "'lastFailure':{'ts':%i,'text':%z}}", failure.ts, failure.text);
    else
        maki_jw_print(&w, "'lastFailure':null}");
    if (maki_jw_end(&w) != MAKI_OK) answer_error(response, &err);
}

static void get_events(maki_api_routes_response *response)
{
    response->events = true;
    response->type = "text/event-stream";
    response->fields = "Cache-Control: no-store\r\n";
}

static void post_demo(maki_api_routes *routes, maki_api_routes_response *response)
{
    maki_err err = { 0 };
    if (maki_demo_start(routes->options.demo, &err) != MAKI_OK)
        answer_error(response, &err);
    else
        answer_text(response, "application/json", MAKI_LIT("{\"playing\":true}"));
}

/* False: no file of the page has this path. */
static bool get_file(const maki_api_routes_request *request, maki_api_routes_response *response)
{
    const maki_page_file *file = maki_page_find(request->path);
    if (!file) return false;
    bool gzip = maki_page_accepts_gzip(request->accept_encoding);
    bool cached = maki_page_is_cached(file, request->if_none_match);
    response->fields = gzip ? file->gzip_fields : file->fields;
    answer_text(response, file->type, cached ? (maki_str){ "", 0 } : maki_page_body(file, gzip));
    if (cached) response->status = 304;
    return true;
}

static void get(maki_api_routes *routes, const maki_api_routes_request *request,
                maki_api_routes_response *response)
{
    static const maki_str sessions = { "/maki/sessions/", 15 };
    maki_str path = request->path;
    if (get_file(request, response)) return;
    if (maki_str_equal(path, MAKI_LIT("/maki/health")))
        get_health(routes, response);
    else if (maki_str_equal(path, MAKI_LIT("/maki/metrics")))
        get_metrics(routes, response);
    else if (maki_str_equal(path, MAKI_LIT("/maki/events")))
        get_events(response);
    else if (maki_str_equal(path, MAKI_LIT("/maki/ops")))
        list_ops(response);
    else if (maki_str_equal(path, MAKI_LIT("/maki/sessions")))
        sessions_op(routes, "session.list", "agent", maki_query_value(request->query, "agent"),
                    request, response);
    else if (maki_str_starts(path, sessions))
        get_session(routes, maki_str_skip(path, sessions.len), request, response);
    else
        fail(response, MAKI_NOTFOUND,
             "nothing is served at this path; / is the page, /maki/ops lists the operations");
}

void maki_api_routes_answer(maki_api_routes *routes, const maki_api_routes_request *request,
                            maki_api_routes_response *response)
{
    static const maki_str ops = { "/maki/ops/", 10 };
    response->status = 200;
    response->type = "application/json";
    response->fields = "";
    response->events = false;
    bool reads = maki_str_equal(request->method, MAKI_LIT("GET")) ||
                 maki_str_equal(request->method, MAKI_LIT("HEAD"));
    bool posts = maki_str_equal(request->method, MAKI_LIT("POST"));
    maki_route route = maki_route_find(request->method, request->path, true, false);
    if (posts && maki_str_starts(request->path, ops)) {
        post_op(routes, request, maki_str_skip(request->path, ops.len), response);
    } else if (posts && maki_str_equal(request->path, MAKI_LIT("/maki/demo"))) {
        post_demo(routes, response);
    } else if (route.kind == MAKI_ROUTE_COUNT) {
        count_tokens(routes, request, &route, response);
    } else if (reads) {
        get(routes, request, response);
    } else {
        fail(response, MAKI_INVALID,
             "only GET is allowed here, or POST under /maki/ops/ and to /maki/demo");
        response->status = 405;
        response->fields = "Allow: GET, HEAD\r\n";
    }
}
