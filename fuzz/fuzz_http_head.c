/* fuzz_http_head.c -- a head that is parsed lies in its bytes, is the same whatever follows it, and no part of it
 * is a head. */
#include "fuzz.h"

#include <string.h>

#include "base/str_util.h"
#include "net/http_head.h"

static void inside(maki_str span, maki_str bytes)
{
    if (span.len) MUST(span.ptr >= bytes.ptr && span.ptr + span.len <= bytes.ptr + bytes.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static maki_http_head head, again;
    maki_str bytes = { (const char *)data, size };
    maki_err err = { 0 };
    size_t used = 0, used_again = 0;
    fuzz_chance chance = fuzz_chance_of(data, size);
    maki_status st = maki_http_head_parse(bytes, 4096, &head, &used, &err);
    MUST(st == MAKI_OK || (used == 0 && err.msg[0]));
    MUST(used <= size);
    if (st != MAKI_OK || used == 0) return 0;

    bytes.len = used;
    inside(head.method, bytes);
    inside(head.target, bytes);
    MUST(!head.chunked || !head.has_length);
    for (size_t i = 0; i < head.field_count; i++) {
        inside(head.fields[i].name, bytes);
        inside(head.fields[i].value, bytes);
        MUST(head.fields[i].name.len > 0);
        MUST(maki_http_field_find(&head, head.fields[i].name) != NULL);
        maki_http_hop_field(&head, head.fields[i].name);
    }
    MUST(maki_http_head_parse(bytes, 4096, &again, &used_again, NULL) == MAKI_OK);
    MUST(used_again == used && again.field_count == head.field_count);
    bytes.len = fuzz_draw(&chance, used);
    MUST(maki_http_head_parse(bytes, 4096, &again, &used_again, NULL) == MAKI_OK);
    MUST(used_again == 0);
    return 0;
}
