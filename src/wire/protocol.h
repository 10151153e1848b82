/* protocol.h -- what is particular to a protocol: one descriptor each, in the protocol's own file.
 *
 * To add a protocol: its files, a row of MAKI_PROTOCOL_MAP (wire.h), and their names in src/meson.build.  Nobody else
 * asks which protocol it is: what differs is a field here. */
#ifndef MAKI_WIRE_PROTOCOL_H
#define MAKI_WIRE_PROTOCOL_H

#include "base/json_print.h"
#include "token/tool_list.h"
#include "wire/read.h"
#include "wire/reply.h"
#include "wire/request_fields.h"
#include "wire/write_internal.h"

/* A path of the API, as a pattern: a star stands for one segment or a part of it. */
typedef struct maki_api_path {
    const char *path; /* NULL: no more */
    bool counts;      /* its answer is how many tokens the request has, not a message */
} maki_api_path;

/* How to ask who runs a model for its window. */
typedef struct maki_window_query {
    const char *method; /* NULL: it does not say; POST: the body is {"model": ...} */
    const char *version, *path;
    bool model_in_path;                                /* the model's name follows the path */
    uint64_t (*read)(maki_str answer, maki_str model); /* 0: it does not say */
} maki_window_query;

typedef struct maki_protocol_writing maki_protocol_writing;

enum { MAKI_WINDOW_MAX = 1000000000 }; /* tokens; what says more means something else */

struct maki_protocol_spec {
    const char *name;

    /* ---- addresses ---- */
    const char *upstream;   /* the provider whose API it is */
    maki_api_path paths[4]; /* at which it is spoken, POST */
    bool model_in_path;  /* the last star of a path is the model's name, not a field of the body */
    const char *version; /* "/v1": left out where a base URL has one of its own */
    const char *target;  /* where a request goes, behind the version */
    const char *target_end;    /* behind the model's name, when it stands in the path ... */
    const char *target_stream; /* ... and the reply is to be a stream */
    const char *key_line;      /* the beginning of the header line with the key; NULL: a bearer's */
    const char *head;          /* another header line; NULL: none */
    maki_window_query window;
    const char *pull; /* the command that gets a model; NULL: there is none */

    /* ---- requests, read ---- */
    const char *messages; /* the field that has them; "": no such field */
    const char
        *fields[MAKI_FIELDS]; /* the names of each; model, tools and stream are so called by all */
    bool streams;             /* unless the request says no */
    maki_status (*item)(maki_request_reader *r, maki_str item, bool single);
    maki_status (*last)(maki_request_reader *r); /* after the last; NULL: nothing to do */
    const char *counted;     /* the field of count_tokens' answer; NULL: input_tokens */
    const char *count_wraps; /* fields of such a request that may have the one it is about */

    /* ---- replies ---- */
    /* One event of a stream; the whole body of a reply that is none; when nothing more comes, the rows. */
    void (*event)(maki_wire_reply *r, maki_str value);
    void (*whole)(maki_wire_reply *r, maki_str value);
    void (*finish)(maki_wire_reply *r);
    maki_wire_usage (*usage)(maki_str usage); /* an object */
    bool goes_on_by_id; /* a request may name the reply that it goes on from */

    const maki_protocol_writing *writing; /* NULL: no request is written in it (generate) */
};

/* Where the system's texts stand. */
typedef enum maki_system_place {
    MAKI_SYSTEM_AMONG, /* among the messages */
    MAKI_SYSTEM_TEXT, /* one text in the field `system_open`; those of the log stay among the messages */
    MAKI_SYSTEM_APART /* a list outside the messages, between `system_open` and `system_close` */
} maki_system_place;

/* How a request is written.  Shapes: base/json_print.h. */
struct maki_protocol_writing {
    maki_shape shape; /* of messages */
    size_t id_most;   /* characters of an id; 0: any number */
    bool ids_once;    /* no id may stand twice in a request */
    bool ids_plain;   /* letters, digits, _ and - alone */
    maki_system_place system_place;
    const char *system_open, *system_close;
    bool system_blocks; /* texts of the list are blocks with a type */
    bool old_functions; /* there is an older form of tools (maki_request.functions) */
    /* The fields before the system's and the messages; those after the tools (NULL: none). */
    void (*first_fields)(maki_jw *w, const maki_request *request);
    void (*last_fields)(maki_jw *w, const maki_request *request);
    const char *tools_open, *tools_close; /* around the tools that the caller runs; NULL: nothing */
    void (*tool)(maki_jw *w, const maki_request *request, const maki_tool *tool);
    bool (*runs)(const maki_tool *tool); /* does its provider run this one itself?  NULL: none */
    void (*choice)(maki_jw *w, const maki_request *request); /* NULL: it cannot be said */
};

/* Of a value outside the enum it is that of MAKI_WIRE_NONE. */
const maki_protocol_spec *maki_protocol_of(maki_protocol protocol);
/* From MAKI_WIRE_NONE to each in turn; false: that was the last. */
bool maki_protocol_next(maki_protocol *protocol);
/* MAKI_WIRE_NONE: there is no such name. */
maki_protocol maki_protocol_named(maki_str name);
#define MAKI_DECLARE(NAME, name)                            \
    extern const maki_protocol_spec maki_##name##_protocol; \
    extern const maki_protocol_writing maki_##name##_writing;
MAKI_PROTOCOL_MAP(MAKI_DECLARE)
#undef MAKI_DECLARE

#endif
