/* protocol.c -- the table of protocols, in the order of MAKI_PROTOCOL_MAP, and lookups by number and by name.
 * Every lookup by number returns a descriptor, `none` for an unknown protocol. */
#include "wire/protocol.h"

static const maki_protocol_spec none = {
    .name = "none", .version = "", .target = "", .messages = ""
};

static const maki_protocol_spec *const specs[] = { &none,
#define MAKI_PROTOCOL_ROW(NAME, name) &maki_##name##_protocol,
                                                   MAKI_PROTOCOL_MAP(MAKI_PROTOCOL_ROW)
#undef MAKI_PROTOCOL_ROW
};
enum { PROTOCOLS = sizeof specs / sizeof specs[0] };

const maki_protocol_spec *maki_protocol_of(maki_protocol protocol)
{
    return (unsigned)protocol < PROTOCOLS ? specs[protocol] : &none;
}

const char *maki_protocol_name(maki_protocol protocol)
{
    return maki_protocol_of(protocol)->name;
}

bool maki_protocol_next(maki_protocol *protocol)
{
    *protocol = (maki_protocol)(*protocol + 1);
    return (unsigned)*protocol < PROTOCOLS;
}

maki_protocol maki_protocol_parse(maki_str name)
{
    for (maki_protocol p = MAKI_WIRE_NONE; maki_protocol_next(&p);) {
        if (maki_str_equal(name, maki_str_of(specs[p]->name))) return p;
    }
    return MAKI_WIRE_NONE;
}
