/* proxy_internal.h -- the inside of a proxy, for proxy.c, exchange.c and record_reply.c. */
#ifndef MAKI_PROXY_PROXY_INTERNAL_H
#define MAKI_PROXY_PROXY_INTERNAL_H

#include "base/limits.h"
#include "base/spool.h"
#include "proxy/body_cache.h"
#include "proxy/journal.h"
#include "proxy/proxy.h"
#include "proxy/scope.h"

struct maki_proxy {
    maki_env env;
    maki_proxy_options options;
    char sessions[MAKI_PATH_MAX], blobs[MAKI_PATH_MAX], table[MAKI_PATH_MAX];
    unsigned char secret[MAKI_SECRET_LEN];
    maki_tokenizer *tokenizer; /* of MAKI_FAMILY, for all conversations */
    maki_prefixes prefixes;
    maki_body_cache *known;
    maki_journal *journal;
    maki_live_conversation **talks; /* those that are open, in no order; options.open_most places */
    size_t talk_count;
    maki_exchange *said; /* exchanges whose reply is complete and not in the log yet */
};

struct maki_exchange {
    maki_proxy *proxy;
    maki_protocol protocol;
    unsigned char near[MAKI_PREFIX_LEN];   /* scope by what the head says: for body_cache.h */
    unsigned char scope[MAKI_PREFIX_LEN];  /* with what the body says as well: for prefixes.h */
    unsigned char caller[MAKI_PREFIX_LEN]; /* the credential alone */
    bool named;                            /* x-maki-session */
    bool has_id;                           /* the client names its conversations */
    char upstream[64], path[160], model[96];
    char name[160]; /* the session key of a new one, a JSON string; "" for none */
    char client_id[128];

    bool recorded;     /* the request is in the log: so may the reply be */
    bool by_reference; /* its messages are not all it says: they make no prefix */
    bool kept;         /* the provider keeps the conversation, */
    unsigned char kept_key[MAKI_PREFIX_LEN]; /* whose end is in the table under this */
    unsigned char session[MAKI_SESSION_BYTES];
    maki_point tip;                        /* where the reply goes on */
    unsigned char prefix[MAKI_PREFIX_LEN]; /* P at the tip */
    uint64_t body_hash, body_bytes;
    uint64_t system_tokens, tool_tokens;

    int64_t began, first; /* ms */
    int status;           /* of HTTP; 0: no reply */
    uint64_t reply_bytes;
    maki_wire_reply *reply; /* NULL: not recorded */
    bool written, too_long; /* the reply is in the log; or a row of it is longer than one may be */
    maki_err failure;       /* of writing it before its end */
    maki_exchange *next, **link; /* in proxy->said; link NULL: it is not there */
};

/* The open conversation of this session; with `create` made.  Borrowed until the next call. */
maki_status maki_proxy_open_conversation(maki_proxy *proxy,
                                         const unsigned char session[MAKI_SESSION_BYTES],
                                         bool create, maki_str key, maki_live_conversation **out,
                                         maki_err *err);

/* One that was made for an exchange that could not be recorded: nothing of it stays. */
void maki_proxy_discard(maki_proxy *proxy, maki_live_conversation *talk);

/* From now on a prefix, or a key of the table, leads to `point`.  `kin`: prefixes.h. */
maki_status maki_exchange_know(maki_exchange *x, const unsigned char prefix[MAKI_PREFIX_LEN],
                               const maki_point *point, uint32_t kin, maki_err *err);
maki_status maki_exchange_know_key(maki_exchange *x, const unsigned char key[MAKI_PREFIX_LEN],
                                   const maki_point *point, uint32_t kin, maki_err *err);

/* The key of what a later request may name: `what` is "reply" (previous_response_id) or "conversation". */
maki_status maki_reference_key(const maki_exchange *x, const char *what, maki_str id,
                               unsigned char out[MAKI_PREFIX_LEN], maki_err *err);
/* Write the reply of an exchange in proxy->said that the request of `x` goes on from, with `count` prefixes: its
 * client did not wait for the end of the connection. */
void maki_exchange_write_said(maki_exchange *x, const unsigned char (*prefixes)[MAKI_PREFIX_LEN],
                              size_t count);

/* A row for the log: `message`, a JSON object, with `fields` (",\"createdAt\":...") before its closing
 * brace, in one line. */
maki_status maki_proxy_row(maki_spool *out, maki_str message, maki_str fields, maki_str *row,
                           maki_err *err);

/* Tell /maki/events; printf.  Strings must be JSON already. */
void maki_proxy_log(maki_proxy *proxy, const char *fmt, ...) MAKI_PRINTF(2, 3);

#endif
