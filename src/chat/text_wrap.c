/* text_wrap.c -- see text_wrap.h. */
#include "chat/text_wrap.h"

#include <string.h>
#include <utf8proc.h>
#include <wchar.h>

#include "base/text.h"

enum { ZWJ = 0x200d, EMOJI_STYLE = 0xfe0f, REPLACEMENT = 0xfffd };

maki_text_wrap maki_text_wrap_new(maki_sink sink, unsigned width, bool styled)
{
    if (width < MAKI_TEXT_WRAP_MIN) width = MAKI_TEXT_WRAP_MIN;
    return (maki_text_wrap){ .sink = sink, .width = width, .styled = styled };
}

unsigned maki_text_wrap_columns(uint32_t code)
{
    return code < 0x20 ? 1 : (unsigned)utf8proc_charwidth((utf8proc_int32_t)code);
}

/* ---- bytes ---------------------------------------------------------------------------------------- */

static void send_out(maki_text_wrap *flow)
{
    if (flow->fill && flow->status == MAKI_OK) {
        flow->status =
            flow->sink.write(flow->sink.ctx, (maki_str){ flow->out, flow->fill }, &flow->err);
    }
    flow->fill = 0;
}

static void write_bytes(maki_text_wrap *flow, const char *bytes, size_t n)
{
    if (n > sizeof flow->out - flow->fill) send_out(flow);
    memcpy(flow->out + flow->fill, bytes, n); /* never more than a hang or an escape sequence */
    flow->fill += n;
}

static void write_text(maki_text_wrap *flow, const char *text)
{
    write_bytes(flow, text, strlen(text));
}

/* Everything off, then what is wanted: few bytes more than the difference, and nothing to get wrong. */
static void set_look(maki_text_wrap *flow, unsigned look)
{
    static const struct {
        unsigned look;
        const char *sequence;
    } sequences[] = {
        { MAKI_LOOK_BOLD, "\033[1m" },       { MAKI_LOOK_DIM, "\033[2m" },
        { MAKI_LOOK_ITALIC, "\033[3m" },     { MAKI_LOOK_LINK, "\033[4m" },
        { MAKI_LOOK_STRIKE, "\033[9m" },     { MAKI_LOOK_CODE, "\033[36m" },
        { MAKI_LOOK_HEADING, "\033[1;35m" },
    };
    if (look == flow->look || !flow->styled) return;
    if (flow->look) write_text(flow, "\033[0m");
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        if (look & sequences[i].look) write_text(flow, sequences[i].sequence);
    }
    flow->look = look;
}

static void write_char(maki_text_wrap *flow, uint32_t code, unsigned look, unsigned width)
{
    char bytes[4];
    set_look(flow, look);
    write_bytes(flow, bytes, maki_utf8_encode(code, bytes));
    flow->column += width;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

static void break_line(maki_text_wrap *flow)
{
    set_look(flow, MAKI_LOOK_PLAIN);
    write_text(flow, "\n");
    flow->column = 0;
    flow->spaces = 0;
}

static void wrap(maki_text_wrap *flow)
{
    break_line(flow);
    if (flow->hang_len) set_look(flow, MAKI_LOOK_DIM);
    write_bytes(flow, flow->hang, flow->hang_len);
    flow->column = flow->hang_width;
}

static void write_word(maki_text_wrap *flow)
{
    if (flow->word_len == 0) return;
    if (flow->column > flow->hang_width &&
        flow->column + flow->spaces + flow->word_width > flow->width)
        wrap(flow);
    for (; flow->spaces > 0; flow->spaces--)
        write_char(flow, ' ', flow->space_look, 1);
    for (size_t i = 0; i < flow->word_len; i++) {
        const maki_text_wrap_char *c = &flow->word[i];
        if (flow->column + c->width > flow->width && flow->column > flow->hang_width) wrap(flow);
        write_char(flow, c->code, c->look, c->width);
    }
    flow->word_len = 0;
    flow->word_width = 0;
}

void maki_text_wrap_begin(maki_text_wrap *flow, maki_str text, bool repeats)
{
    size_t len = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_decode(text, at, &len);
        unsigned width = maki_text_wrap_columns(code);
        maki_str kept = repeats ? (maki_str){ text.ptr + at, len } : (maki_str){ "  ", width };
        write_char(flow, code, MAKI_LOOK_DIM, width);
        if (kept.len > sizeof flow->hang - flow->hang_len) continue;
        if (flow->hang_width + width > flow->width / 2) continue; /* leave room for the text */
        memcpy(flow->hang + flow->hang_len, kept.ptr, kept.len);
        flow->hang_len += kept.len;
        flow->hang_width += width;
    }
}

/* ---- characters ----------------------------------------------------------------------------------- */

static bool one_of(uint32_t code, const wchar_t *set)
{
    return code && wcschr(set, (wchar_t)code) != NULL;
}

static bool never_begins(uint32_t code)
{
    return one_of(
        code, L"、。，．・：；？！」』）】〉》〕］｝”’ー…‥々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
              L",.:;?!)]}%");
}

static bool never_ends(uint32_t code)
{
    return one_of(code, L"「『（【〈《〔［｛“‘([{");
}

/* May a line end between what waits and this character? */
static bool may_break(const maki_text_wrap *flow, uint32_t code, unsigned width)
{
    if (flow->word_len == 0) return false;
    const maki_text_wrap_char *last = &flow->word[flow->word_len - 1];
    bool skin = code >= 0x1f3fb && code <= 0x1f3ff;
    if (width == 0 || skin || last->code == ZWJ) return false;
    if (width < 2 && last->width < 2) return false;
    return !never_begins(code) && !never_ends(last->code);
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

void maki_text_wrap_put(maki_text_wrap *flow, uint32_t code, unsigned look)
{
    if (code == ' ' || code == '\t') {
        write_word(flow);
        flow->spaces++;
        flow->space_look = look;
        return;
    }
    if (is_control(code)) code = REPLACEMENT;
    unsigned width = maki_text_wrap_columns(code);
    /* Terminals show the character before it as an emoji then, most of them two columns wide. */
    if (code == EMOJI_STYLE && flow->word_len && flow->word[flow->word_len - 1].width == 1)
        width = 1;
    if (may_break(flow, code, width) || flow->word_len == MAKI_TEXT_WRAP_WORD) write_word(flow);
    flow->word[flow->word_len++] = (maki_text_wrap_char){ code, look, width };
    flow->word_width += width;
    if (flow->word_width >= flow->width) write_word(flow); /* it has to be cut anyway */
}

void maki_text_wrap_raw(maki_text_wrap *flow, uint32_t code, unsigned look)
{
    write_word(flow);
    for (; flow->spaces > 0; flow->spaces--)
        write_char(flow, ' ', flow->space_look, 1);
    if (is_control(code) && code != '\t') code = REPLACEMENT;
    write_char(flow, code, look, maki_text_wrap_columns(code));
}

void maki_text_wrap_line(maki_text_wrap *flow)
{
    write_word(flow);
    break_line(flow);
    flow->hang_len = 0;
    flow->hang_width = 0;
}

maki_status maki_text_wrap_flush(maki_text_wrap *flow, maki_err *err)
{
    send_out(flow);
    if (flow->status != MAKI_OK && err) *err = flow->err;
    return flow->status;
}
