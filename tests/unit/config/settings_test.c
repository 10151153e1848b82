/* settings_test.c -- every row of the table: it is read with its type, and a bad value is refused. */
#include "config/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "config/value.h"
#include "config_kit.h"
#include "tap.h"

/* "agents.*.maxTurns" with a name that has a dot in it, a # as 0. */
static void concrete(const char *pattern, char *out, size_t capacity)
{
    size_t n = 0;
    for (; *pattern; pattern++) {
        const char one[] = { *pattern, '\0' };
        const char *part = *pattern == '*' ? "gpt-3.5-エージェント" : *pattern == '#' ? "0" : one;
        n += (size_t)snprintf(out + n, capacity - n, "%s", part);
    }
}

/* A value that the row takes. */
static void sample(const maki_config_setting *row, char *out, size_t capacity)
{
    switch (row->type) {
    case MAKI_CONFIG_FLAG: snprintf(out, capacity, "yes"); break;
    case MAKI_CONFIG_INTEGER:
        snprintf(out, capacity, "%s", row->initial ? row->initial : "1000");
        break;
    case MAKI_CONFIG_NUMBER: snprintf(out, capacity, "%g", (row->min + row->max) / 2); break;
    case MAKI_CONFIG_CHOICE:
        snprintf(out, capacity, "%.*s", (int)strcspn(row->choices, "|"), row->choices);
        break;
    case MAKI_CONFIG_LIST: snprintf(out, capacity, "[甲, b*]"); break;
    case MAKI_CONFIG_BYTES: snprintf(out, capacity, "512k"); break;
    case MAKI_CONFIG_DURATION: snprintf(out, capacity, "90s"); break;
    case MAKI_CONFIG_URL: snprintf(out, capacity, "http://127.0.0.1:1/v1"); break;
    case MAKI_CONFIG_ADDRESSES: snprintf(out, capacity, "['127.0.0.1:1', '[::1]:0']"); break;
    case MAKI_CONFIG_POLICY: snprintf(out, capacity, "roo"); break;
    default:
        snprintf(out, capacity, strstr(row->path, "provider") ? "openai" : "日本語 中文 한국어 🍣");
        break;
    }
}

static void check_typed(const maki_config *config, const maki_config_setting *row, const char *path,
                        const char *text)
{
    maki_str entry, secret = { "", 0 };
    maki_err err;
    switch (row->type) {
    case MAKI_CONFIG_FLAG: CHECK(maki_config_flag(config, path)); break;
    case MAKI_CONFIG_INTEGER:
    case MAKI_CONFIG_NUMBER: {
        char number[40];
        snprintf(number, sizeof number, "%g", maki_config_number(config, path));
        if (row->type == MAKI_CONFIG_INTEGER)
            snprintf(number, sizeof number, "%lld", (long long)maki_config_integer(config, path));
        CHECK_CSTR(number, text);
        break;
    }
    case MAKI_CONFIG_BYTES: CHECK_EQ(maki_config_integer(config, path), 512 << 10); break;
    case MAKI_CONFIG_DURATION: CHECK_EQ(maki_config_integer(config, path), 90000); break;
    case MAKI_CONFIG_LIST:
        CHECK(maki_config_entry(config, path, 0, &entry) && maki_str_equal(entry, MAKI_LIT("甲")));
        CHECK(maki_config_entry(config, path, 1, &entry) && maki_str_equal(entry, MAKI_LIT("b*")));
        CHECK(!maki_config_entry(config, path, 2, &entry));
        break;
    case MAKI_CONFIG_ADDRESSES:
        CHECK(maki_config_entry(config, path, 1, &entry) &&
              maki_str_equal(entry, MAKI_LIT("[::1]:0")));
        break;
    case MAKI_CONFIG_SECRET:
        CHECK_STATUS(maki_config_secret(config, path, &secret, &err), MAKI_OK, &err);
        CHECK_TEXT(secret, maki_str_of(text));
        break;
    default: CHECK_TEXT(maki_config_text(config, path), maki_str_of(text)); break;
    }
}

static void check_source(const maki_config *config, const char *path)
{
    maki_config_value value;
    if (!CHECK(maki_config_find_value(config, path, &value))) return;
    CHECK_EQ(value.source, MAKI_CONFIG_FILE);
    CHECK_EQ(value.line, 3);
    if (value.setting->type == MAKI_CONFIG_SECRET) CHECK_STR(value.text, "********");
}

/* The third line of a file: the two before make it complete. */
static maki_status read_line(config_kit *kit, const char *path, const char *value)
{
    char text[1000], step[300] = "# no step";
    const char *hash = strstr(path, ".0.");
    if (hash && strcmp(hash, ".0.step") != 0) {
        snprintf(step, sizeof step, "\"%.*s.0.step\": condense", (int)(hash - path), path);
    }
    snprintf(text, sizeof text, "# 設定\n%s\n\"%s\": %s\n", step, path, value);
    return config_text(kit, text);
}

static void run_row(config_kit *kit, const maki_config_setting *row)
{
    const maki_config_setting *target = row;
    char path[300], own[300], value[300];
    if (row->type == MAKI_CONFIG_ALIAS) target = maki_setting_find(maki_str_of(row->choices));
    if (!CHECK(target != NULL)) return;
    concrete(row->path, path, sizeof path);
    concrete(target->path, own, sizeof own);
    sample(target, value, sizeof value);
    maki_status st = read_line(kit, path, value);
    if (!strstr(path, ".models")) {
        CHECK_STATUS(st, MAKI_OK, &kit->err);
        if (st != MAKI_OK) return;
        check_typed(kit->config, target, own, value);
        check_source(kit->config, own);
    }
    CHECK_STATUS(read_line(kit, path, "{ nonsense: { 一: 二 } }"), MAKI_INVALID, &kit->err);
    CHECK(strstr(kit->err.msg, ":3:") != NULL);
}

/* Wrong in kind: words where a number is wanted, and so on. */
static void run_wrong(config_kit *kit, const maki_config_setting *row)
{
    char path[300];
    concrete(row->path, path, sizeof path);
    const char *bad = row->type == MAKI_CONFIG_FLAG ? "7" : "\"そんな物\"";
    bool any = row->type == MAKI_CONFIG_STRING || row->type == MAKI_CONFIG_SECRET ||
               row->type == MAKI_CONFIG_LIST || row->type == MAKI_CONFIG_ALIAS;
    if (any) return;
    CHECK_STATUS(read_line(kit, path, bad), MAKI_INVALID, &kit->err);
    CHECK(strstr(kit->err.msg, ":3:") != NULL);
    if (row->type != MAKI_CONFIG_FLAG) CHECK(strstr(kit->problems, "そんな物") != NULL);
}

static bool takes(const maki_config_setting *row, double number)
{
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, 1 << 16);
    maki_value value = { .row = row };
    const char *unit = row->type == MAKI_CONFIG_DURATION ? "ms" : "";
    maki_str text =
        maki_arena_print(&arena, row->type == MAKI_CONFIG_NUMBER ? "%g%s" : "%.0f%s", number, unit);
    bool good = maki_value_read(&value, text, MAKI_VALUE_PLAIN, &arena).len == 0;
    maki_arena_free(&arena);
    return good;
}

static void run_range(const maki_config_setting *row)
{
    if (row->min == 0 && row->max == 0) return;
    double step = row->type == MAKI_CONFIG_NUMBER ? 0.001 : 1;
    CHECK(row->min < row->max);
    CHECK(takes(row, row->min));
    CHECK(takes(row, row->max));
    if (row->inherits) {
        CHECK(takes(row, -1) && takes(row, 0) && takes(row, 101)); /* with a warning */
        return;
    }
    CHECK(!takes(row, row->min - step));
    CHECK(!takes(row, row->max + step));
}

static void run_choices(config_kit *kit, const maki_config_setting *row)
{
    char path[300], value[60];
    if (row->type != MAKI_CONFIG_CHOICE) return;
    concrete(row->path, path, sizeof path);
    for (const char *at = row->choices; *at;) {
        int n = (int)strcspn(at, "|");
        snprintf(value, sizeof value, "%.*s", n, at);
        CHECK_STATUS(read_line(kit, path, value), MAKI_OK, &kit->err);
        at += n + (at[n] == '|');
    }
}

static void run_editor(config_kit *kit, const maki_config_setting *row)
{
    static const char *const prefixes[] = { "rooCode", "roo-code" };
    const maki_config_setting *target = row;
    char path[300], long_path[300], own[300], value[300];
    if (!row->editor) return;
    if (row->type == MAKI_CONFIG_ALIAS) target = maki_setting_find(maki_str_of(row->choices));
    concrete(row->path, path, sizeof path);
    concrete(target->path, own, sizeof own);
    sample(target, value, sizeof value);
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        snprintf(long_path, sizeof long_path, "%s.%s", prefixes[i], path);
        CHECK_STATUS(read_line(kit, long_path, value), MAKI_OK, &kit->err);
        if (kit->config) check_typed(kit->config, target, own, value);
    }
}

static void run_default(const maki_config *config, const maki_config_setting *row)
{
    maki_config_value value;
    char path[300];
    if (row->type == MAKI_CONFIG_ALIAS) return;
    concrete(row->path, path, sizeof path);
    CHECK_EQ(maki_config_is_set(config, path), row->initial != NULL);
    if (!row->initial || strpbrk(row->path, "*#")) return;
    if (CHECK(maki_config_find_value(config, path, &value))) {
        CHECK_EQ(value.source, MAKI_CONFIG_DEFAULT);
        CHECK_TEXT(value.text, maki_str_of(row->initial));
    }
}

static void run_variable(config_kit *kit, const maki_config_setting *row)
{
    char good[100], bad[100], text[300];
    maki_env env = maki_env_system();
    maki_config_value value;
    if (!row->variable) return;
    sample(row, text, sizeof text);
    snprintf(good, sizeof good, "%s=%s", row->variable, text);
    snprintf(bad, sizeof bad, "%s=?", row->variable);
    char *right[] = { good, NULL }, *wrong[] = { bad, NULL };
    CHECK_STATUS(config_read(kit, &env, right, MAKI_LIT("# nothing")), MAKI_OK, &kit->err);
    if (CHECK(kit->config && maki_config_find_value(kit->config, row->path, &value))) {
        CHECK_EQ(value.source, MAKI_CONFIG_ENVIRONMENT);
        CHECK_CSTR(value.variable, row->variable);
    }
    if (row->type == MAKI_CONFIG_SECRET) return;
    CHECK_STATUS(config_read(kit, &env, wrong, MAKI_LIT("# nothing")), MAKI_INVALID, &kit->err);
    CHECK(strstr(kit->problems, row->variable) != NULL);
}

/* Rows of one beginning stand together, paths are unique, everything is explained. */
static void check_row(size_t index, const maki_config_setting *row)
{
    const maki_config_setting *other, *before = index ? maki_setting_at(index - 1) : NULL;
    size_t first = strcspn(row->path, ".");
    bool begins = !before || strncmp(before->path, row->path, first + 1) != 0;
    CHECK(row->help && row->help[0] && row->help[strlen(row->help) - 1] != '.');
    for (size_t i = 0; i < index && (other = maki_setting_at(i)) != NULL; i++) {
        CHECK(strcmp(other->path, row->path) != 0);
        if (begins && row->path[first] == '.')
            CHECK(strncmp(other->path, row->path, first + 1) != 0);
    }
}

static void run_named_defaults(config_kit *kit)
{
    const char *path, *initial;
    char text[][24] = { "OPENAI_API_KEY=a",     "GEMINI_API_KEY=b",   "ANTHROPIC_API_KEY=c",
                        "OPENROUTER_API_KEY=d", "DEEPSEEK_API_KEY=e", "ZAI_API_KEY=f" };
    char *keys[] = { text[0], text[1], text[2], text[3], text[4], text[5], NULL };
    maki_env env = maki_env_system();
    maki_config_value value;
    CHECK_STATUS(config_read(kit, &env, keys, MAKI_LIT("")), MAKI_OK, &kit->err);
    for (size_t i = 0; maki_config_named_default(i, &path, &initial), path; i++) {
        tap_row("the default of %s", path);
        if (!CHECK(maki_config_find_value(kit->config, path, &value))) continue;
        bool variable = strstr(initial, "${") != NULL;
        CHECK_EQ(value.source, variable ? MAKI_CONFIG_ENVIRONMENT : MAKI_CONFIG_DEFAULT);
        if (!variable) CHECK_TEXT(value.text, maki_str_of(initial));
    }
}

int main(void)
{
    static config_kit kit, defaults;
    const maki_config_setting *row;
    config_kit_open(&kit);
    config_kit_open(&defaults);
    CHECK_STATUS(config_text(&defaults, ""), MAKI_OK, &defaults.err);
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        tap_row("%s", row->path);
        check_row(i, row);
        run_row(&kit, row);
        run_wrong(&kit, row);
        run_range(row);
        run_choices(&kit, row);
        run_editor(&kit, row);
        run_variable(&kit, row);
        run_default(defaults.config, row);
    }
    run_named_defaults(&kit);
    config_kit_close(&kit);
    config_kit_close(&defaults);
    return tap_end();
}
