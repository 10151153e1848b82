/* exchange_event.c -- see exchange_event.h. */
#include "history/exchange_event.h"

void maki_exchange_event_write(maki_jw *w, const maki_exchange_event *e)
{
    maki_jw_print(w,
                  "'of':'exchange','protocol':%z,'upstream':%z,'path':%z,'model':%z,'body':%z,"
                  "'bytes':%i",
                  maki_protocol_name(e->protocol), e->upstream, e->path, e->model, e->body,
                  e->bytes);
    if (e->put_spans) e->put_spans(w, e->ctx);
    maki_jw_print(w, "'systemTokens':%i,'toolTokens':%i", e->system_tokens, e->tool_tokens);
    if (e->put_bootstrap) e->put_bootstrap(w, e->ctx);
    maki_jw_print(w,
                  "'messageTokens':%i,'status':%i,'end':%z,'stop':%v,'stop':%z,'requestId':%z,"
                  "'error':%v,'error':%z,'window':%I,'firstMs':%i,'ms':%i",
                  e->message_tokens, (int64_t)e->status, e->end, e->stop, e->stop_word,
                  e->request_id, e->error, e->error_code, e->window, e->first_ms, e->ms);
}

void maki_usage_event_write(maki_jw *w, const maki_usage_event *e)
{
    const maki_wire_usage *u = e->usage;
    maki_jw_print(w,
                  "'model':%z,'input':%i,'output':%i,'cacheRead':%i,'cacheWrite':%i,"
                  "'reasoning':%i",
                  e->model, u->input, u->output, u->cache_read, u->cache_write, u->reasoning);
    if (e->cost) maki_jw_print(w, "'cost':%f", *e->cost);
    if (!e->calibration) return;
    maki_jw_print(w, "'counted':%i,'calibration':", e->counted);
    maki_calibration_write(w, e->calibration);
}
