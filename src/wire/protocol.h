/* protocol.h -- the descriptor of a protocol: everything in which protocols differ, in the protocol's own file.
 *
 * To add a protocol: its files, a row of MAKI_PROTOCOL_MAP (wire.h), and their names in src/meson.build.  No other
 * code compares protocols: each difference is a field here. */
#ifndef MAKI_WIRE_PROTOCOL_H
#define MAKI_WIRE_PROTOCOL_H

#include "base/json_print.h"
#include "token/tool_list.h"
#include "wire/message_writer_internal.h"
#include "wire/read.h"
#include "wire/reply.h"
#include "wire/request_fields.h"

/* A path of the API, as a pattern: a star matches one segment or a part of it. */
typedef struct maki_api_path {
    const char *path; /* NULL: end of the list */
    bool counts;      /* the response is the token count of the request, not a message */
} maki_api_path;

/* How to query a model's context window. */
typedef struct maki_window_query {
    const char *method; /* NULL: no query; POST: the body is {"model": ...} */
    const char *version, *path;
    bool model_in_path; /* the model's name is appended to the path */
    uint64_t (*read)(maki_str answer, maki_str model); /* 0: unknown */
} maki_window_query;

typedef struct maki_request_format maki_request_format;

enum { MAKI_WINDOW_MAX = 1000000000 }; /* tokens; a larger value is not a window */

struct maki_protocol_spec {
    const char *name;

    /* ---- addresses ---- */
    const char *upstream;   /* the provider whose API it is */
    maki_api_path paths[4]; /* its endpoints, POST */
    bool model_in_path;  /* the last star of a path is the model's name, not a field of the body */
    const char *version; /* "/v1": left out when the base URL has a version */
    const char *target;  /* path of a request, after the version */
    const char *target_end;    /* after the model's name, when that is in the path ... */
    const char *target_stream; /* ... and the reply should be a stream */
    const char *key_header; /* start of the header line with the key; NULL: Authorization: Bearer */
    const char *head;       /* an extra header line; NULL: none */
    maki_window_query window;
    const char *pull; /* the command that downloads a model; NULL: none */

    /* ---- requests, read ---- */
    const char *messages; /* the field with the messages; "": none */
    const char
        *fields[MAKI_FIELDS]; /* names of each; model, tools and stream are the same in all */
    bool streams_by_default;  /* default of the field `stream` */
    maki_status (*read_item)(maki_request_reader *r, maki_str item, bool single);
    maki_status (*read_end)(maki_request_reader *r); /* after the last item; NULL: nothing to do */
    const char *count_field;    /* the field of count_tokens' response; NULL: input_tokens */
    const char *count_wrappers; /* fields of a count_tokens request that may wrap the counted one */

    /* ---- replies ---- */
    /* An event of a stream; the body of a reply that is not a stream; the end, which writes the rows. */
    void (*on_event)(maki_wire_reply *r, maki_str value);
    void (*on_body)(maki_wire_reply *r, maki_str value);
    void (*on_end)(maki_wire_reply *r);
    maki_wire_usage (*usage)(maki_str usage); /* an object */
    bool continues_by_id;                     /* a request may name the reply that it continues */

    const maki_request_format
        *request_format; /* NULL: requests are only read, not written (generate) */
};

/* Where the system prompt goes. */
typedef enum maki_system_location {
    MAKI_SYSTEM_IN_MESSAGES, /* as messages */
    MAKI_SYSTEM_STRING, /* one string in the field `system_field`; system messages of the log stay messages */
    MAKI_SYSTEM_SEPARATE /* a list outside the messages, between `system_prefix` and `system_suffix` */
} maki_system_location;

/* How a request is written.  Formats: base/json_print.h. */
struct maki_request_format {
    maki_message_format format; /* of messages */
    size_t id_max;              /* characters of an id; 0: no limit */
    bool ids_unique;            /* ids must be unique in a request */
    bool ids_alphanumeric;      /* only letters, digits, _ and - */
    maki_system_location system_location;
    const char *system_field, *system_prefix, *system_suffix;
    bool system_blocks; /* items of the list are blocks with a type */
    bool old_functions; /* it has the older form of tools (maki_request.functions) */
    /* Write the fields before the system prompt and the messages; those after the tools (NULL: none). */
    void (*first_fields)(maki_jw *w, const maki_request *request);
    void (*last_fields)(maki_jw *w, const maki_request *request);
    const char *tools_prefix,
        *tools_suffix; /* around the tools that the client runs; NULL: nothing */
    void (*tool)(maki_jw *w, const maki_request *request, const maki_tool *tool);
    bool (*is_provider_run)(
        const maki_tool *tool); /* does the provider run this tool itself?  NULL: none */
    void (*choice)(maki_jw *w, const maki_request *request); /* NULL: it has no tool_choice */
};

/* For a value outside the enum: that of MAKI_WIRE_NONE. */
const maki_protocol_spec *maki_protocol_of(maki_protocol protocol);
/* Advance to the next protocol, beginning with MAKI_WIRE_NONE; false: that was the last. */
bool maki_protocol_next(maki_protocol *protocol);
/* MAKI_WIRE_NONE: unknown name. */
maki_protocol maki_protocol_parse(maki_str name);
#define MAKI_DECLARE(NAME, name)                            \
    extern const maki_protocol_spec maki_##name##_protocol; \
    extern const maki_request_format maki_##name##_request_format;
MAKI_PROTOCOL_MAP(MAKI_DECLARE)
#undef MAKI_DECLARE

#endif
