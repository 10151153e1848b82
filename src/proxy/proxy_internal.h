/* proxy_internal.h -- struct maki_proxy and struct maki_exchange, and functions shared by proxy.c, exchange.c and
 * record_reply.c. */
#ifndef MAKI_PROXY_PROXY_INTERNAL_H
#define MAKI_PROXY_PROXY_INTERNAL_H

#include "base/limits.h"
#include "base/mask.h"
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
    maki_tokenizer *tokenizer; /* of MAKI_LOG_ENCODING, for all conversations */
    maki_prefixes prefixes;
    maki_body_cache *body_cache;
    maki_journal *journal;
    maki_live_conversation **live; /* the open ones, in no order; capacity options.open_max */
    size_t live_count;
    maki_exchange *unwritten; /* exchanges whose reply is complete and not in the log yet: a list */
};

struct maki_exchange {
    maki_proxy *proxy;
    maki_protocol protocol;
    unsigned char head_scope[MAKI_PREFIX_LEN]; /* from the HTTP header alone: for body_cache.h */
    unsigned char scope[MAKI_PREFIX_LEN];      /* from header and body: for prefixes.h */
    unsigned char credential_scope[MAKI_PREFIX_LEN]; /* the credential alone */
    maki_credential credential;
    char reason[128]; /* why upstream gave no reply; "": unknown */
    bool named;       /* x-maki-session */
    bool has_id;      /* the client names its conversations */
    char upstream[64], path[160], model[96], client[40];
    char name[160]; /* the session key of a new conversation, a JSON string; "" for none */
    char client_id[128];

    bool recorded;     /* the request is in the log */
    bool by_reference; /* it has only the new messages: no prefix can be computed */
    bool stored;       /* the provider stores the conversation; */
    unsigned char stored_key[MAKI_PREFIX_LEN]; /* its end is in the table under this key */
    unsigned char session[MAKI_SESSION_BYTES];
    maki_point tip;           /* the reply's parent */
    maki_canon_prefix prefix; /* P at the tip */
    uint64_t body_hash, body_bytes;
    uint64_t system_tokens, tool_tokens;

    int64_t began_ms, first_ms;
    int status; /* of HTTP; 0: no reply */
    uint64_t reply_bytes;
    maki_wire_reply *reply;      /* NULL: the reply is not recorded */
    bool written, too_long;      /* the reply is in the log; a row of it exceeds the limit */
    maki_err failure;            /* of writing it before the exchange ended */
    maki_exchange *next, **link; /* in proxy->unwritten; link NULL: not in the list */
};

/* The conversation of this session, opened if it is not open; with `creator` a new one, of that exchange.  Borrowed until
 * the next call. */
maki_status maki_proxy_open_conversation(maki_proxy *proxy,
                                         const unsigned char session[MAKI_SESSION_BYTES],
                                         const maki_exchange *creator, maki_live_conversation **out,
                                         maki_err *err);

/* Close and delete a conversation that was created for an exchange that could not be recorded. */
void maki_proxy_discard(maki_proxy *proxy, maki_live_conversation *live);

/* Insert an entry into the table of prefixes: this prefix, or key, is at `point`.  `purpose`: prefixes.h. */
maki_status maki_exchange_insert(maki_exchange *x, const maki_canon_prefix *prefix,
                                 const maki_point *point, uint32_t purpose, maki_err *err);
/* The same for the prefix of a reply without reminders, if there were any. */
maki_status maki_exchange_insert_stripped(maki_exchange *x, const maki_canon_prefix *prefix,
                                          const maki_point *point, maki_err *err);
maki_status maki_exchange_insert_key(maki_exchange *x, const unsigned char key[MAKI_PREFIX_LEN],
                                     const maki_point *point, uint32_t purpose, maki_err *err);

/* The key of a reference that a later request may have: `kind` is "reply" (previous_response_id) or "conversation". */
maki_status maki_reference_key(const maki_exchange *x, const char *kind, maki_str id,
                               unsigned char out[MAKI_PREFIX_LEN], maki_err *err);
/* Write the replies in proxy->unwritten that the request of `x`, with `count` prefixes, continues: its client did not
 * wait for the end of the connection. */
void maki_exchange_write_continued(maki_exchange *x, const maki_canon_prefix *prefixes,
                                   size_t count);

/* A row for the log: `message`, a JSON object, with `fields` (",\"createdAt\":...") before its closing
 * brace, in one line. */
maki_status maki_proxy_row(maki_spool *out, maki_str message, maki_str fields, maki_str *row,
                           maki_err *err);

/* Emit an event for /maki/events; printf.  Strings must be JSON already. */
void maki_proxy_emit(maki_proxy *proxy, const char *fmt, ...) MAKI_PRINTF(2, 3);

#endif
