/* op_common.c -- the fields of a condense, which summarizer a call uses, and answers that are an error.
 *
 * A summarizer in the input has precedence over a model, and a model over the offline summary; in each case the share
 * of facts that the summary preserves is measured. */
#include "ops/op_common.h"

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "manage/policy_config.h"
#include "store/context_use.h"
#include "summary/measure.h"

maki_status maki_condense_fields_read(const maki_op_call *call, maki_msgs list,
                                      maki_condense_fields *out, maki_err *err)
{
    *out = (maki_condense_fields){ 0 };
    maki_status st = maki_field_counter(call, "chars4", &out->counter, err);
    if (st == MAKI_OK) st = maki_field_summarizer(call, "summarizer", &out->summarizer, err);
    if (st == MAKI_OK)
        st = maki_field_summarizer(call, "condensingSummarizer", &out->dedicated, err);
    out->condense = (maki_condense_input){
        .messages = list,
        .system_prompt = maki_input_string(call, "systemPrompt"),
        .tokens_before = maki_input_number(call, "prevContextTokens", 0),
        .native_tools = maki_input_bool(call, "useNativeTools", false),
        .supports_images = maki_input_bool(call, "supportsImages", false),
        .custom_prompt = maki_input_string(call, "customPrompt"),
        .summarizer = &out->summarizer.base,
        .dedicated = &out->dedicated.base,
        .counter = &out->counter,
        .random = call->m->env.random,
        .now = maki_field_now(call),
    };
    return st;
}

maki_status maki_choose_summarizer(const maki_op_call *call, const maki_run_limits *limits,
                                   bool task, maki_chosen_summarizer *out, maki_err *err)
{
    const maki *m = call->m;
    maki_summarizer_options in = { .env = &m->env,
                                   .config = m->config,
                                   .model = m->model,
                                   .logger = maki_logger_of(m),
                                   .agent = maki_str_of(limits->agent),
                                   .profile = maki_str_of(limits->profile),
                                   .task = task,
                                   .focus = maki_input_text(call, "focus"),
                                   .provider = maki_str_of(limits->provider),
                                   .answering = maki_str_of(limits->model),
                                   .window = limits->window,
                                   .cancelled = m->cancelled,
                                   .cancelled_ctx = m->cancel_ctx };
    maki_status st = maki_field_summarizer(call, "summarizer", &out->stub, err);
    if (st == MAKI_OK && out->stub.spec.len) in.model = NULL;
    if (st == MAKI_OK) st = maki_summarizer_choose(&in, &out->choice, err);
    out->measured =
        out->stub.spec.len ? maki_summarizer_measured(&out->stub.base) : out->choice.measured;
    return st;
}

maki_status maki_summarizer_of(const maki_op_call *call, maki_conv *conv,
                               maki_chosen_summarizer *out, maki_err *err)
{
    maki_context_use use;
    maki_policy policy;
    maki_run_limits_options given = { .config = call->m->config,
                                      .logger = maki_logger_of(call->m) };
    maki_status st = maki_context_use_of(conv, &given, &use, err);
    if (st == MAKI_OK)
        st = maki_policy_from_config(given.config, maki_str_of(use.limits.agent), "maki",
                                     call->arena, &policy, err);
    if (st != MAKI_OK) return st;
    return maki_choose_summarizer(call, &use.limits, policy.flags & MAKI_POLICY_TASKS, out, err);
}

maki_status maki_answer_messages(maki_jw *out, maki_msgs list)
{
    maki_jw_print(out, "{'messages':");
    maki_msgs_write(out, list);
    maki_jw_end_object(out);
    return MAKI_OK;
}

void maki_answer_error(maki_jw *out, const maki_err *error)
{
    maki_jw_print(out, "'error':{'code':%s,'message':%s}", maki_str_of(error->code),
                  maki_str_of(error->msg));
}

maki_status maki_write_error_response(maki_sink out, const maki_err *error, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, out, err);
    maki_jw_begin_object(&w);
    maki_answer_error(&w, error);
    maki_jw_end_object(&w);
    maki_status st = maki_jw_end(&w);
    if (st != MAKI_OK) return st;
    if (err) *err = *error;
    return error->status;
}

maki_status maki_role_check(maki_str message, maki_err *err)
{
    maki_str role = maki_json_string(message, "role");
    if (!role.len) return maki_fail(err, MAKI_INVALID, "a message must be an object with a role");
    if (maki_json_text_in(role, "user|assistant|system|developer|tool|function|model"))
        return MAKI_OK;
    return maki_fail(err, MAKI_INVALID,
                     "unknown role %.*s; the roles are user, assistant, system, "
                     "developer, tool, function and model",
                     (int)(role.len < 60 ? role.len : 60), role.ptr);
}
