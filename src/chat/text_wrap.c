/* text_wrap.c -- wrap text: a word and the spaces before it stay pending until the word or the line is complete.
 *
 * Output is buffered in wrap->out; write_bytes flushes it when full. */
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

static void flush_buffer(maki_text_wrap *wrap)
{
    if (wrap->fill && wrap->status == MAKI_OK) {
        wrap->status =
            wrap->sink.write(wrap->sink.ctx, (maki_str){ wrap->out, wrap->fill }, &wrap->err);
    }
    wrap->fill = 0;
}

static void write_bytes(maki_text_wrap *wrap, const char *bytes, size_t n)
{
    if (n > sizeof wrap->out - wrap->fill) flush_buffer(wrap);
    memcpy(wrap->out + wrap->fill, bytes, n); /* at most a prefix or an escape sequence */
    wrap->fill += n;
}

static void write_text(maki_text_wrap *wrap, const char *text)
{
    write_bytes(wrap, text, strlen(text));
}

/* Reset, then set every style: simpler than computing the difference. */
static void set_style(maki_text_wrap *wrap, unsigned style)
{
    static const struct {
        unsigned style;
        const char *sequence;
    } sequences[] = {
        { MAKI_STYLE_BOLD, "\033[1m" },       { MAKI_STYLE_DIM, "\033[2m" },
        { MAKI_STYLE_ITALIC, "\033[3m" },     { MAKI_STYLE_LINK, "\033[4m" },
        { MAKI_STYLE_STRIKE, "\033[9m" },     { MAKI_STYLE_CODE, "\033[36m" },
        { MAKI_STYLE_HEADING, "\033[1;35m" },
    };
    if (style == wrap->style || !wrap->styled) return;
    if (wrap->style) write_text(wrap, "\033[0m");
    for (size_t i = 0; i < sizeof sequences / sizeof sequences[0]; i++) {
        if (style & sequences[i].style) write_text(wrap, sequences[i].sequence);
    }
    wrap->style = style;
}

static void write_char(maki_text_wrap *wrap, uint32_t code, unsigned style, unsigned width)
{
    char bytes[4];
    set_style(wrap, style);
    write_bytes(wrap, bytes, maki_utf8_encode(code, bytes));
    wrap->column += width;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

static void break_line(maki_text_wrap *wrap)
{
    set_style(wrap, MAKI_STYLE_PLAIN);
    write_text(wrap, "\n");
    wrap->column = 0;
    wrap->spaces = 0;
}

static void continue_line(maki_text_wrap *wrap)
{
    break_line(wrap);
    if (wrap->prefix_len) set_style(wrap, MAKI_STYLE_DIM);
    write_bytes(wrap, wrap->prefix, wrap->prefix_len);
    wrap->column = wrap->prefix_width;
}

static void write_word(maki_text_wrap *wrap)
{
    if (wrap->word_len == 0) return;
    if (wrap->column > wrap->prefix_width &&
        wrap->column + wrap->spaces + wrap->word_width > wrap->width)
        continue_line(wrap);
    for (; wrap->spaces > 0; wrap->spaces--)
        write_char(wrap, ' ', wrap->space_style, 1);
    for (size_t i = 0; i < wrap->word_len; i++) {
        const maki_text_wrap_char *c = &wrap->word[i];
        if (wrap->column + c->width > wrap->width && wrap->column > wrap->prefix_width)
            continue_line(wrap);
        write_char(wrap, c->code, c->style, c->width);
    }
    wrap->word_len = 0;
    wrap->word_width = 0;
}

void maki_text_wrap_prefix(maki_text_wrap *wrap, maki_str text, bool repeats)
{
    size_t len = 0;
    for (size_t offset = 0; offset < text.len; offset += len) {
        uint32_t code = maki_utf8_decode(text, offset, &len);
        unsigned width = maki_text_wrap_columns(code);
        maki_str repeated =
            repeats ? (maki_str){ text.ptr + offset, len } : (maki_str){ "  ", width };
        write_char(wrap, code, MAKI_STYLE_DIM, width);
        if (repeated.len > sizeof wrap->prefix - wrap->prefix_len) continue;
        if (wrap->prefix_width + width > wrap->width / 2)
            continue; /* leave half of the line for the text */
        memcpy(wrap->prefix + wrap->prefix_len, repeated.ptr, repeated.len);
        wrap->prefix_len += repeated.len;
        wrap->prefix_width += width;
    }
}

/* ---- characters ----------------------------------------------------------------------------------- */

static bool is_one_of(uint32_t code, const wchar_t *set)
{
    return code && wcschr(set, (wchar_t)code) != NULL;
}

static bool is_closing(uint32_t code)
{
    return is_one_of(
        code, L"、。，．・：；？！」』）】〉》〕］｝”’ー…‥々ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
              L",.:;?!)]}%");
}

static bool is_opening(uint32_t code)
{
    return is_one_of(code, L"「『（【〈《〔［｛“‘([{");
}

/* May the line break before this character? */
static bool may_break(const maki_text_wrap *wrap, uint32_t code, unsigned width)
{
    if (wrap->word_len == 0) return false;
    const maki_text_wrap_char *last = &wrap->word[wrap->word_len - 1];
    bool skin_tone = code >= 0x1f3fb && code <= 0x1f3ff;
    if (width == 0 || skin_tone || last->code == ZWJ) return false;
    if (width < 2 && last->width < 2) return false;
    return !is_closing(code) && !is_opening(last->code);
}

static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

void maki_text_wrap_put(maki_text_wrap *wrap, uint32_t code, unsigned style)
{
    if (code == ' ' || code == '\t') {
        write_word(wrap);
        wrap->spaces++;
        wrap->space_style = style;
        return;
    }
    if (is_control(code)) code = REPLACEMENT;
    unsigned width = maki_text_wrap_columns(code);
    /* Terminals display the character before it as an emoji, most of them two columns wide. */
    if (code == EMOJI_STYLE && wrap->word_len && wrap->word[wrap->word_len - 1].width == 1)
        width = 1;
    if (may_break(wrap, code, width) || wrap->word_len == MAKI_TEXT_WRAP_WORD) write_word(wrap);
    wrap->word[wrap->word_len++] = (maki_text_wrap_char){ code, style, width };
    wrap->word_width += width;
    if (wrap->word_width >= wrap->width) write_word(wrap); /* it must be split anyway */
}

void maki_text_wrap_unwrapped(maki_text_wrap *wrap, uint32_t code, unsigned style)
{
    write_word(wrap);
    for (; wrap->spaces > 0; wrap->spaces--)
        write_char(wrap, ' ', wrap->space_style, 1);
    if (is_control(code) && code != '\t') code = REPLACEMENT;
    write_char(wrap, code, style, maki_text_wrap_columns(code));
}

void maki_text_wrap_newline(maki_text_wrap *wrap)
{
    write_word(wrap);
    break_line(wrap);
    wrap->prefix_len = 0;
    wrap->prefix_width = 0;
}

maki_status maki_text_wrap_flush(maki_text_wrap *wrap, maki_err *err)
{
    flush_buffer(wrap);
    if (wrap->status != MAKI_OK && err) *err = wrap->err;
    return wrap->status;
}
