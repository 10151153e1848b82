/* status.h -- status codes and error messages.
 *
 * One table gives the enum, the name, the HTTP status and the exit code, so they cannot disagree.  The message of an error
 * is in a maki_err on the caller's stack: nothing is allocated.  A caller that only needs the status passes NULL. */
#ifndef MAKI_STATUS_H
#define MAKI_STATUS_H

#if defined(__GNUC__)
#define MAKI_API               __attribute__((visibility("default")))
#define MAKI_MUST_CHECK        __attribute__((warn_unused_result))
#define MAKI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define MAKI_API
#define MAKI_MUST_CHECK
#define MAKI_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
#define MAKI_BEGIN_DECLS extern "C" {
#define MAKI_END_DECLS   }
#else
#define MAKI_BEGIN_DECLS
#define MAKI_END_DECLS
#endif

MAKI_BEGIN_DECLS

#define MAKI_STATUS_MAP(X)                                                                       \
    /* name       http exit meaning                                                           */ \
    X(OK, 200, 0, "ok")                                                                          \
    X(INVALID, 400, 2, "the caller sent something malformed")                                    \
    X(REFUSED, 409, 3, "understood, but not possible now; the code says why")                    \
    X(TOOBIG, 413, 4, "a configured limit was passed")                                           \
    X(NOTFOUND, 404, 5, "there is nothing of that name")                                         \
    X(CONFLICT, 409, 6, "somebody else changed it first; read again")                            \
    X(IO, 500, 7, "disk or database failure")                                                    \
    X(NOMEM, 500, 8, "out of memory")                                                            \
    X(CORRUPT, 500, 9, "stored data is damaged")                                                 \
    X(DENIED, 403, 10, "not allowed")                                                            \
    X(UPSTREAM, 502, 11, "the provider failed")                                                  \
    X(TIMEOUT, 504, 12, "it took too long")                                                      \
    X(UNSUPPORTED, 501, 13, "this build or this provider cannot do that")                        \
    X(FULL, 507, 14, "no space left")                                                            \
    X(CANCELLED, 499, 15, "the caller gave up")

typedef enum maki_status {
#define MAKI_STATUS_ENUM(name, http, exit, meaning) MAKI_##name,
    MAKI_STATUS_MAP(MAKI_STATUS_ENUM)
#undef MAKI_STATUS_ENUM
} maki_status;

/* What went wrong.  `code` is the status name or, for MAKI_REFUSED, a reason for programs (NOT_ENOUGH_MESSAGES ...).
 * `msg` is one line for people: valid UTF-8, no control characters, no secrets, no message bodies. */
typedef struct maki_err {
    maki_status status;
    char code[32];
    char msg[200];
} maki_err;

/* None of these can fail; an unknown status counts as MAKI_IO. */
MAKI_API const char *maki_status_name(maki_status status);
MAKI_API const char *maki_status_meaning(maki_status status);
MAKI_API int maki_status_http(maki_status status);
MAKI_API int maki_status_exit(maki_status status);

/* As perror(3): "action: message (CODE)" and a newline on standard error. */
MAKI_API void maki_perror(const char *action, const maki_err *err);

MAKI_END_DECLS

#endif
