/* stub_summarizer.c -- the stubs that an input may define in place of a model: a summarizer whose answer is given in
 * the input, and token counters of three kinds.  With them a pure operation depends on its input alone. */
#include "base/err.h"
#include "base/json_builder.h"
#include "base/str_util.h"
#include "ops/operation.h"

maki_status maki_field_counter(const maki_op_call *call, const char *fallback, maki_counter *out,
                               maki_err *err)
{
    maki_str spec, kind;
    maki_str name = maki_str_of(fallback);
    if (maki_input_value(call, "counter", &spec) && maki_field(spec, "kind", &kind)) {
        maki_status st = maki_field_check_kind(call, kind, "counter.kind", MAKI_JSON_STRING, err);
        if (st != MAKI_OK) return st;
        name = maki_json_text(kind, call->arena);
    }
    if (maki_str_equal(name, MAKI_LIT("chars4"))) {
        *out = maki_counter_chars4();
    } else if (maki_str_equal(name, MAKI_LIT("o200k"))) {
        maki_tokenizer *t = NULL;
        maki_status st = maki_tokenizer_of(call->m, maki_encoding_find("o200k_base"), &t, err);
        if (st != MAKI_OK) return st;
        *out = maki_counter_o200k(t);
    } else if (maki_str_equal(name, MAKI_LIT("const"))) {
        static const maki_nested_field fields[] = { { "value", MAKI_JSON_NUMBER, 0 }, { 0 } };
        double value = 0;
        maki_status st = maki_field_nested(call, spec, "counter", fields, &value, err);
        if (st != MAKI_OK) return st;
        *out = maki_counter_fixed(value);
    } else {
        return maki_fail(err, MAKI_INVALID, "counter.kind must be chars4, const or o200k");
    }
    return maki_arena_status(call->arena, err);
}

/* ---- the summarizer -------------------------------------------------------------------------- */

/* The last item of `usage` counts, as in a stream; without it the fields next to `chunks`. */
static void read_usage(maki_str spec, maki_summary *out)
{
    maki_str usage = spec, list;
    if (maki_field(spec, "usage", &list)) {
        MAKI_JSON_EACH(item, maki_json_items(list))
            usage = item.value;
    }
    out->usage.cost = maki_json_number(usage, "cost", 0);
    out->usage.output = maki_json_number(usage, "outputTokens", 0);
}

static maki_status stub_run(const maki_summarizer *self, const maki_summary_request *request,
                            maki_arena *arena, maki_summary *out, maki_err *err)
{
    maki_str spec = ((const maki_stub_summarizer *)self->ctx)->spec;
    maki_str chunks;
    (void)request;
    read_usage(spec, out);
    if (maki_json_field_is(spec, "kind", "throws"))
        return maki_fail(err, MAKI_UPSTREAM, "the stub fails, as its kind says");
    if (!maki_field(spec, "chunks", &chunks)) return MAKI_OK;
    maki_json_builder build;
    maki_str joined;
    maki_json_builder_begin(&build, arena, err);
    maki_jw_begin_value(&build.w);
    maki_jw_bytes(&build.w, MAKI_LIT("\"")); /* joined escaped: a character may span two chunks */
    MAKI_JSON_EACH(chunk, maki_json_items(chunks))
        maki_jw_bytes(&build.w, maki_json_strip_quotes(chunk.value));
    maki_jw_bytes(&build.w, MAKI_LIT("\""));
    maki_status st = maki_json_builder_end(&build, arena, &joined, err);
    if (st == MAKI_OK) out->text = maki_json_text(joined, arena);
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}

static maki_status check_usage(const maki_op_call *call, maki_str usage, const char *name,
                               maki_err *err)
{
    static const maki_nested_field fields[] = { { "cost", MAKI_JSON_NUMBER, 0 },
                                                { "outputTokens", MAKI_JSON_NUMBER, 0 },
                                                { 0 } };
    double ignored = 0;
    return maki_field_nested(call, usage, name, fields, &ignored, err);
}

static maki_status check_spec(const maki_op_call *call, maki_str spec, const char *name,
                              maki_err *err)
{
    maki_str value;
    maki_status st = check_usage(call, spec, name, err);
    if (st == MAKI_OK && maki_field(spec, "kind", &value)) {
        st = maki_field_check_kind(call, value, "the kind of a summarizer", MAKI_JSON_STRING, err);
    }
    if (st == MAKI_OK && maki_field(spec, "usage", &value)) {
        st = maki_field_check_kind(call, value, "usage", MAKI_JSON_ARRAY, err);
        MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(value)) {
            st = maki_field_check_kind(call, item.value, "usage[]", MAKI_JSON_OBJECT, err);
            if (st == MAKI_OK) st = check_usage(call, item.value, "usage[]", err);
        }
    }
    if (st == MAKI_OK && maki_field(spec, "chunks", &value)) {
        st = maki_field_check_kind(call, value, "chunks", MAKI_JSON_ARRAY, err);
        MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(value))
            st = maki_field_check_kind(call, item.value, "chunks[]", MAKI_JSON_STRING, err);
    }
    return st;
}

maki_status maki_field_summarizer(const maki_op_call *call, const char *name,
                                  maki_stub_summarizer *out, maki_err *err)
{
    maki_str spec;
    *out = (maki_stub_summarizer){ .base = { .usable = false, .run = stub_run, .ctx = out } };
    if (!maki_input_value(call, name, &spec)) return MAKI_OK;
    maki_status st = check_spec(call, spec, name, err);
    if (st != MAKI_OK) return st;
    out->spec = spec;
    out->base.usable = !maki_json_field_is(spec, "kind", "invalid");
    return MAKI_OK;
}
