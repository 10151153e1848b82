/* request_tools.c -- tool definitions in the shape of each protocol.
 *
 * A definition comes as {name, description, input_schema} or in the shape of any provider (MCP's too).  Of what
 * else stands in it only what the protocol knows goes along: most refuse fields they do not know. */
#include "assemble/request_inside.h"

#include "base/str.h"
#include "wire/row.h"

/* ---- a definition, whatever its shape -------------------------------------------------------------------- */

typedef struct tool {
    maki_str given;       /* the object as it stands */
    maki_str name, about; /* JSON strings; len 0: none */
    maki_str schema;      /* an object; len 0: none */
    maki_str type;        /* a JSON string; len 0: none */
    maki_str strict;      /* a JSON value; len 0: not said */
    bool gemini; /* it stood in functionDeclarations, whose schemas are of their own kind */
} tool;

static maki_str schema_of(maki_str object)
{
    static const maki_str names[] = { { "input_schema", 12 },
                                      { "parameters", 10 },
                                      { "parametersJsonSchema", 20 },
                                      { "inputSchema", 11 } };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        maki_str schema = maki_get(object, names[i]);
        if (maki_is_object(schema)) return schema;
    }
    return (maki_str){ "", 0 };
}

static tool read_tool(maki_str given)
{
    maki_str function = maki_get(given, MAKI_LIT("function"));
    maki_str body = maki_is_object(function) ? function : given;
    tool t = { .given = given, .type = maki_get_string(given, MAKI_LIT("type")) };
    t.name = maki_get_string(body, MAKI_LIT("name"));
    t.about = maki_get_string(body, MAKI_LIT("description"));
    t.schema = schema_of(body);
    t.strict = maki_get(body, MAKI_LIT("strict"));
    return t;
}

/* Do we run it?  Else the provider does. */
static bool is_ours(const tool *t)
{
    bool function = t->type.len == 0 || maki_is_text(t->type, MAKI_LIT("function"));
    return t->name.len > 2 && (t->schema.len > 0 || function);
}

/* The protocol whose provider runs it: Gemini's have no type, Anthropic's a name. */
static maki_protocol runs_at(const tool *t)
{
    if (t->type.len == 0) return MAKI_WIRE_GEMINI;
    bool custom = maki_is_text(t->type, MAKI_LIT("custom"));
    return t->name.len && !custom ? MAKI_WIRE_ANTHROPIC : MAKI_WIRE_RESPONSES;
}

/* Walks the tools, those inside of functionDeclarations too. */
typedef struct tools {
    maki_json_iter outer, inner;
} tools;

static tools tools_of(maki_str array)
{
    return (tools){ .outer =
                        maki_is_array(array) ? maki_json_items(array) : (maki_json_iter){ 0 } };
}

static bool next_tool(tools *all, tool *out)
{
    maki_json_item item;
    for (;;) {
        if (maki_json_next(&all->inner, &item)) {
            *out = read_tool(item.value);
            out->gemini = true;
            return true;
        }
        if (!maki_json_next(&all->outer, &item)) return false;
        maki_str declared = maki_get_or(item.value, MAKI_LIT("functionDeclarations"),
                                        MAKI_LIT("function_declarations"));
        *out = read_tool(item.value);
        if (!maki_is_array(declared)) return true;
        all->inner = maki_json_items(declared);
    }
}

/* Does it go into this request? */
static bool goes(const tool *t, const maki_request *r)
{
    return is_ours(t) || (runs_at(t) == r->protocol && maki_is_object(t->given));
}

/* ---- writing --------------------------------------------------------------------------------------------- */

static void put(maki_jw *w, const char *name, maki_str value)
{
    if (value.len) maki_write_field(w, maki_str_of(name), value);
}

static void write_body(maki_jw *w, const tool *t, const char *schema)
{
    put(w, "name", t->name);
    put(w, "description", t->about);
    put(w, schema, t->schema.len ? t->schema : MAKI_LIT("{\"type\":\"object\",\"properties\":{}}"));
}

static void write_chat(maki_jw *w, const tool *t, const maki_request *r)
{
    maki_jw_object(w);
    if (r->functions) {
        write_body(w, t, "parameters");
    } else {
        put(w, "type", MAKI_LIT("\"function\""));
        maki_jw_key(w, MAKI_LIT("function"));
        maki_jw_object(w);
        write_body(w, t, "parameters");
        if (r->protocol == MAKI_WIRE_CHAT) put(w, "strict", t->strict);
        maki_jw_end_object(w);
    }
    maki_jw_end_object(w);
}

/* There a schema is strict unless told otherwise, and few are written for that. */
static void write_responses(maki_jw *w, const tool *t)
{
    maki_jw_object(w);
    put(w, "type", MAKI_LIT("\"function\""));
    write_body(w, t, "parameters");
    put(w, "strict", t->strict.len ? t->strict : MAKI_LIT("false"));
    maki_jw_end_object(w);
}

static void write_anthropic(maki_jw *w, const tool *t)
{
    maki_jw_object(w);
    write_body(w, t, "input_schema");
    put(w, "cache_control", maki_get(t->given, MAKI_LIT("cache_control")));
    maki_jw_end_object(w);
}

static void write_gemini(maki_jw *w, const tool *t)
{
    if (t->gemini) {
        maki_jw_raw(w, t->given);
        return;
    }
    maki_jw_object(w);
    write_body(w, t, "parametersJsonSchema");
    maki_jw_end_object(w);
}

static void write_tool(maki_jw *w, const tool *t, const maki_request *r)
{
    if (!is_ours(t)) {
        maki_jw_raw(w, t->given);
        return;
    }
    switch (r->protocol) {
    case MAKI_WIRE_ANTHROPIC: write_anthropic(w, t); break;
    case MAKI_WIRE_RESPONSES: write_responses(w, t); break;
    case MAKI_WIRE_GEMINI: write_gemini(w, t); break;
    default: write_chat(w, t, r); break;
    }
}

/* Those that we run (`ours`), or those that the provider does. */
static void write_tools(maki_jw *w, const maki_request *r, bool ours)
{
    tools all = tools_of(r->tools);
    tool t;
    while (next_tool(&all, &t)) {
        if (goes(&t, r) && is_ours(&t) == ours) write_tool(w, &t, r);
    }
}

static void count_tools(const maki_request *r, size_t *ours, size_t *theirs)
{
    tools all = tools_of(r->tools);
    tool t;
    *ours = *theirs = 0;
    while (next_tool(&all, &t)) {
        if (!goes(&t, r)) continue;
        if (is_ours(&t))
            ++*ours;
        else
            ++*theirs;
    }
}

/* ---- which to choose ------------------------------------------------------------------------------------- */

static bool chooses(const maki_request *r, const char *word)
{
    return maki_str_is(r->tool_choice, maki_str_of(word));
}

static bool chooses_word(const maki_request *r)
{
    return chooses(r, "auto") || chooses(r, "none") || chooses(r, "required");
}

bool maki_request_forces(const maki_request *r)
{
    return r->tools.len && r->tool_choice.len && !chooses(r, "auto") && !chooses(r, "none");
}

static void put_text(maki_jw *w, const char *name, maki_str text)
{
    maki_jw_key(w, maki_str_of(name));
    maki_jw_string(w, text);
}

/* "auto", or {"type":"function","function":{"name"}}; in the older form and in Responses flatter. */
static void choose_openai(maki_jw *w, const maki_request *r)
{
    bool required = r->functions && chooses(r, "required"); /* which the older form cannot say */
    maki_jw_key(w, r->functions ? MAKI_LIT("function_call") : MAKI_LIT("tool_choice"));
    if (r->tool_choice.len == 0 || required || chooses_word(r)) {
        maki_jw_string(w, r->tool_choice.len == 0 || required ? MAKI_LIT("auto") : r->tool_choice);
        return;
    }
    maki_jw_object(w);
    if (!r->functions) put_text(w, "type", MAKI_LIT("function"));
    bool nested = !r->functions && r->protocol == MAKI_WIRE_CHAT;
    if (nested) {
        maki_jw_key(w, MAKI_LIT("function"));
        maki_jw_object(w);
    }
    put_text(w, "name", r->tool_choice);
    if (nested) maki_jw_end_object(w);
    maki_jw_end_object(w);
}

static void choose_anthropic(maki_jw *w, const maki_request *r)
{
    bool word = chooses_word(r);
    maki_jw_key(w, MAKI_LIT("tool_choice"));
    maki_jw_object(w);
    if (word)
        put_text(w, "type", chooses(r, "required") ? MAKI_LIT("any") : r->tool_choice);
    else
        put_text(w, "type", MAKI_LIT("tool"));
    if (!word) put_text(w, "name", r->tool_choice);
    maki_jw_end_object(w);
}

static void choose_gemini(maki_jw *w, const maki_request *r)
{
    maki_str mode = MAKI_LIT("ANY");
    if (chooses(r, "auto")) mode = MAKI_LIT("AUTO");
    if (chooses(r, "none")) mode = MAKI_LIT("NONE");
    maki_jw_key(w, MAKI_LIT("toolConfig"));
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("functionCallingConfig"));
    maki_jw_object(w);
    put_text(w, "mode", mode);
    if (!chooses_word(r)) {
        maki_jw_key(w, MAKI_LIT("allowedFunctionNames"));
        maki_jw_array(w);
        maki_jw_string(w, r->tool_choice);
        maki_jw_end_array(w);
    }
    maki_jw_end_object(w);
    maki_jw_end_object(w);
}

/* The chat API is told in any case: task requests end in "tool_choice":"auto". */
static void write_choice(maki_jw *w, const maki_request *r)
{
    bool said = r->tool_choice.len > 0;
    switch (r->protocol) {
    case MAKI_WIRE_CHAT: choose_openai(w, r); break;
    case MAKI_WIRE_RESPONSES:
        if (said) choose_openai(w, r);
        break;
    case MAKI_WIRE_ANTHROPIC:
        if (said) choose_anthropic(w, r);
        break;
    case MAKI_WIRE_GEMINI:
        if (said) choose_gemini(w, r);
        break;
    default: break; /* Ollama has no such field */
    }
}

void maki_request_tools(maki_jw *w, const maki_request *r)
{
    size_t ours, theirs;
    bool gemini = r->protocol == MAKI_WIRE_GEMINI;
    count_tools(r, &ours, &theirs);
    if (ours + theirs == 0) return;
    if (r->protocol == MAKI_WIRE_OLLAMA && chooses(r, "none")) return;
    maki_jw_key(w, r->functions ? MAKI_LIT("functions") : MAKI_LIT("tools"));
    maki_jw_array(w);
    if (gemini && ours) {
        maki_jw_object(w);
        maki_jw_key(w, MAKI_LIT("functionDeclarations"));
        maki_jw_array(w);
    }
    write_tools(w, r, true);
    if (gemini && ours) {
        maki_jw_end_array(w);
        maki_jw_end_object(w);
    }
    write_tools(w, r, false);
    maki_jw_end_array(w);
    write_choice(w, r);
}
