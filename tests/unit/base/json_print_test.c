/* json_print_test.c -- the output looks like the format. */
#include "base/json_print.h"

#include "base/buf.h"
#include "base/json_access.h"
#include "fake_env.h"
#include "tap.h"

static const maki_str none = { "", 0 };

/* End the text: it is this, and valid JSON. */
static void is(maki_jw *w, maki_buf *out, const char *want)
{
    maki_err err;
    maki_str value;
    CHECK_STATUS(maki_jw_end(w), MAKI_OK, &err);
    CHECK_TEXT(maki_buf_str(out), maki_str_of(want));
    CHECK_STATUS(maki_json_check(maki_buf_str(out), &value, &err), MAKI_OK, &err);
    maki_buf_clear(out);
    maki_jw_init(w, maki_buf_sink(out), NULL);
}

int main(void)
{
    fake_env fe;
    maki_jw w;
    fake_env_init(&fe);
    maki_buf out = maki_buf_new(fe.env.alloc, 1 << 20);
    maki_jw_init(&w, maki_buf_sink(&out), NULL);

    tap_row("values of every kind");
    maki_jw_print(&w, "{'a':%v,'b':%s,'c':%z,'d':%q,'e':%i,'f':%f,'g':%b,'h':null,'i':-1,'j':'x'}",
                  MAKI_LIT("[1]"), MAKI_LIT("海\"\n"), "韓국\t", MAKI_LIT("\\u6d77🍣"), INT64_C(-7),
                  0.5, 1);
    is(&w, &out,
       "{\"a\":[1],\"b\":\"海\\\"\\n\",\"c\":\"韓국\\t\",\"d\":\"\\u6d77🍣\",\"e\":-7,\"f\":0.5,"
       "\"g\":true,\"h\":null,\"i\":-1,\"j\":\"x\"}");

    tap_row("empty values are omitted with their keys, or written empty");
    maki_jw_print(&w, "{'a':%v,'b':%S,'c':%z,'d':%Q,'e':%I,'f':%s,'g':%q,'h':%i,'i':%z}", none,
                  none, "", none, INT64_C(0), none, none, INT64_C(0), (const char *)NULL);
    is(&w, &out, "{\"f\":\"\",\"g\":\"\",\"h\":0}");
    maki_jw_print(&w, "[%v,%v,%v]", none, MAKI_LIT("1,2"), none);
    is(&w, &out, "[1,2]");

    tap_row("containers that other calls continue");
    maki_jw_print(&w, "{'a':[{'b':'c'},[],{}],'d':{'e':");
    maki_jw_string(&w, MAKI_LIT("f"));
    maki_jw_key(&w, MAKI_LIT("g"));
    maki_jw_print(&w, "%i},'h':", INT64_C(1));
    maki_jw_print(&w, "[]}");
    is(&w, &out, "{\"a\":[{\"b\":\"c\"},[],{}],\"d\":{\"e\":\"f\",\"g\":1},\"h\":[]}");

    tap_row("names at every offset of the writer's buffer");
    for (size_t size = 1; size < 40; size++) {
        char capacity[40];
        maki_jw_set_buffer(&w, capacity, size);
        maki_jw_print(&w, "{'name':'海','other':[%q,true]}", MAKI_LIT("x"));
        is(&w, &out, "{\"name\":\"海\",\"other\":[\"x\",true]}");
    }
    maki_buf_free(&out);
    tap_row("everything is freed");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    return tap_end();
}
